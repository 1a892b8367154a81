module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["s"=4]> {stablehlo.mesh = {axes = [{name = "s", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"s"}, {}]>}) -> (tensor<8x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"s"}, {}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    return %0 : tensor<8x12xf32>
  }
  func.func private @_roll_static(%arg0: tensor<8x12xf32>) -> tensor<8x12xf32> {
    %0 = stablehlo.slice %arg0 [5:8, 0:12] : (tensor<8x12xf32>) -> tensor<3x12xf32>
    %1 = stablehlo.slice %arg0 [0:5, 0:12] : (tensor<8x12xf32>) -> tensor<5x12xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<3x12xf32>, tensor<5x12xf32>) -> tensor<8x12xf32>
    return %2 : tensor<8x12xf32>
  }
}
