module @jit_bf16_mlp attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<3x4xbf16>, %arg1: tensor<4x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}) -> (tensor<3x8xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xbf16>, tensor<4x8xbf16>) -> tensor<3x8xf32>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.convert %cst : (tensor<bf16>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.maximum %1, %cst_0 : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %4 = stablehlo.maximum %0, %3 : tensor<3x8xf32>
    %5 = stablehlo.convert %4 : (tensor<3x8xf32>) -> tensor<3x8xbf16>
    return %5 : tensor<3x8xbf16>
  }
}
