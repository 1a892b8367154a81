module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<8x12xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
    %0 = call @_roll_static(%arg0) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    return %0 : tensor<8x12xf32>
  }
  func.func private @_roll_static(%arg0: tensor<8x12xf32>) -> tensor<8x12xf32> {
    %0 = stablehlo.slice %arg0 [7:8, 0:12] : (tensor<8x12xf32>) -> tensor<1x12xf32>
    %1 = stablehlo.slice %arg0 [0:7, 0:12] : (tensor<8x12xf32>) -> tensor<7x12xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x12xf32>, tensor<7x12xf32>) -> tensor<8x12xf32>
    return %2 : tensor<8x12xf32>
  }
}
