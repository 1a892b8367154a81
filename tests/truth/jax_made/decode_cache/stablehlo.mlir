module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"tp"}, {}]>}, %arg1: tensor<2x8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {"tp"}, {}]>}, %arg2: tensor<2x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}, {}]>}, %arg3: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<2x4x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x4x4xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 2, 3] : (tensor<2x4x4xf32>) -> tensor<2x1x4x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %arg0, %0, %c_1, %3, %c_2, %c_3 : (tensor<2x8x4x4xf32>, tensor<2x1x4x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x8x4x4xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %arg3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %6 = stablehlo.add %arg3, %c_5 : tensor<i32>
    %7 = stablehlo.select %5, %6, %arg3 : tensor<i1>, tensor<i32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.scatter"(%arg1, %8, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1, 2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<2x8x4x4xf32>, tensor<1xi32>, tensor<2x4x4xf32>) -> tensor<2x8x4x4xf32>
    %10 = stablehlo.dot_general %arg2, %4, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %12 = stablehlo.divide %10, %11 : tensor<2x4x8xf32>
    %13 = stablehlo.iota dim = 0 : tensor<8xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [2] : (tensor<8xi32>) -> tensor<1x1x8xi32>
    %15 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<i32>) -> tensor<1x1x8xi32>
    %16 = stablehlo.compare LE, %14, %15, SIGNED : (tensor<1x1x8xi32>, tensor<1x1x8xi32>) -> tensor<1x1x8xi1>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = call @_where(%16, %12, %cst_6) : (tensor<1x1x8xi1>, tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<2x4xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    %23 = stablehlo.subtract %17, %22 : tensor<2x4x8xf32>
    %24 = stablehlo.exponential %23 : tensor<2x4x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
    %28 = stablehlo.divide %24, %27 : tensor<2x4x8xf32>
    %29 = stablehlo.dot_general %28, %9, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8xf32>, tensor<2x8x4x4xf32>) -> tensor<2x4x4xf32>
    return %29, %4, %9 : tensor<2x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>
  }
  func.func private @_where(%arg0: tensor<1x1x8xi1>, %arg1: tensor<2x4x8xf32>, %arg2: tensor<f32>) -> tensor<2x4x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<1x1x8xi1>) -> tensor<2x4x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x8xi1>, tensor<2x4x8xf32>
    return %3 : tensor<2x4x8xf32>
  }
}
