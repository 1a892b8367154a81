module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8x3xui8>) -> tensor<4x6xf32> {
    %0 = stablehlo.bitcast_convert %arg1 : (tensor<8x3xui8>) -> tensor<8x3x2xi4>
    %1 = stablehlo.reshape %0 : (tensor<8x3x2xi4>) -> tensor<8x6xi4>
    %2 = stablehlo.convert %1 : (tensor<8x6xi4>) -> tensor<8x6xf32>
    %3 = stablehlo.dot_general %arg0, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    return %3 : tensor<4x6xf32>
  }
}
