module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xi32>, %arg2: tensor<3xi32>, %arg3: tensor<3xf32>, %arg4: tensor<3xi32>) -> (tensor<6xf32>, tensor<6xi32>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %1:2 = "stablehlo.scatter"(%arg0, %arg1, %0, %arg3, %arg4) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
      stablehlo.return %r, %s : tensor<f32>, tensor<i32>
    }) : (tensor<6xf32>, tensor<6xi32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<6xf32>, tensor<6xi32>)
    return %1#0, %1#1 : tensor<6xf32>, tensor<6xi32>
  }
}
