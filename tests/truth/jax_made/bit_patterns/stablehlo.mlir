module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x6xi32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}, tensor<4x6xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %1 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xui32>
    %c = stablehlo.constant dense<4294901760> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<4x6xui32>
    %3 = stablehlo.and %1, %2 : tensor<4x6xui32>
    %4 = stablehlo.bitcast_convert %3 : (tensor<4x6xui32>) -> tensor<4x6xf32>
    %5 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6x2xui16>
    %6 = stablehlo.bitcast_convert %5 : (tensor<4x6x2xui16>) -> tensor<4x6xf32>
    return %0, %4, %6 : tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
}
