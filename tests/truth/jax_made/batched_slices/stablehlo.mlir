module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<4x6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<4xi32>, %arg2: tensor<4x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<4x6x3xf32>) {
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2, 3>}> : (tensor<4x6x3xf32>, tensor<4x1xi32>) -> tensor<4x2x3xf32>
    %lo = stablehlo.constant dense<0> : tensor<4x1xi32>
    %hi = stablehlo.constant dense<4> : tensor<4x1xi32>
    %cl = stablehlo.clamp %lo, %1, %hi : tensor<4x1xi32>
    %3 = "stablehlo.scatter"(%arg0, %cl, %arg2) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<4x6x3xf32>, tensor<4x1xi32>, tensor<4x2x3xf32>) -> tensor<4x6x3xf32>
    return %2, %3 : tensor<4x2x3xf32>, tensor<4x6x3xf32>
  }
}
