module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg2: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<4x8xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, tensor<4x8xf32> {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}, tensor<8xf32> {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}, tensor<8x4xf32> {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {"dp"}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %2 = stablehlo.multiply %1, %1 : tensor<4x16xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<4x16xf32>
    %4 = sdy.sharding_constraint %3 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<4x16xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %9 = stablehlo.add %1, %8 : tensor<4x16xf32>
    %10 = sdy.sharding_constraint %9 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %12 = sdy.sharding_constraint %11 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<4x16xf32>
    %14 = sdy.sharding_constraint %13 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %15 = stablehlo.tanh %14 : tensor<4x16xf32>
    %16 = sdy.sharding_constraint %15 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %18 = sdy.sharding_constraint %17 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %19 = stablehlo.add %18, %16 : tensor<4x16xf32>
    %20 = sdy.sharding_constraint %19 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %22 = sdy.sharding_constraint %21 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %23 = stablehlo.multiply %22, %20 : tensor<4x16xf32>
    %24 = sdy.sharding_constraint %23 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %25 = stablehlo.multiply %1, %24 : tensor<4x16xf32>
    %26 = sdy.sharding_constraint %25 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x16xf32>
    %27 = stablehlo.dot_general %26, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %28 = sdy.sharding_constraint %27 <@mesh, [{"dp"}, {}]> : tensor<4x8xf32>
    %29 = sdy.sharding_constraint %28 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x8xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %31 = sdy.sharding_constraint %30 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x8xf32>
    %32 = stablehlo.multiply %29, %31 : tensor<4x8xf32>
    %33 = sdy.sharding_constraint %32 <@mesh, [{"dp"}, {"tp"}]> : tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%29 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %35 = sdy.sharding_constraint %34 <@mesh, [{"tp"}]> : tensor<8xf32>
    %36 = stablehlo.transpose %29, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %37 = sdy.sharding_constraint %36 <@mesh, [{"tp"}, {"dp"}]> : tensor<8x4xf32>
    return %28, %33, %35, %37 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x4xf32>
  }
}
