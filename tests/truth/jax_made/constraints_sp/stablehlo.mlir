module @jit_sp attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}, %arg1: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg2: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<2x4x6xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"dp"}, {"tp"}, {}]> : tensor<2x4x6xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x6xf32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
    %2 = call @silu(%1) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"dp"}, {}, {"tp"}]> : tensor<2x4x8xf32>
    %4 = stablehlo.dot_general %3, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8xf32>, tensor<8x6xf32>) -> tensor<2x4x6xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{"dp"}, {"tp"}, {}]> : tensor<2x4x6xf32>
    return %5 : tensor<2x4x6xf32>
  }
  func.func private @silu(%arg0: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x4x8xf32>
    %1 = stablehlo.exponential %0 : tensor<2x4x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %3 = stablehlo.add %2, %1 : tensor<2x4x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %5 = stablehlo.divide %4, %3 : tensor<2x4x8xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<2x4x8xf32>
    return %6 : tensor<2x4x8xf32>
  }
}
