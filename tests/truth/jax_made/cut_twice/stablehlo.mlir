module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<4x32xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4x8xf32>, tensor<8x8xf32>) -> tensor<4x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {}, {"b"}]> : tensor<4x4x8xf32>
    %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<4x4x8xf32>) -> tensor<4x8x4xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"c"}, {"a", "b"}, {}]> : tensor<4x8x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x8x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{}, {"a"}]> : tensor<4x8xf32>
    %6 = stablehlo.reshape %3 : (tensor<4x8x4xf32>) -> tensor<4x32xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"a", "c"}, {}]> : tensor<4x32xf32>
    return %5, %7 : tensor<4x8xf32>, tensor<4x32xf32>
  }
}
