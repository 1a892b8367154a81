module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4x3xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<3x1xi32>, %arg2: tensor<3x3xbf16>) -> (tensor<4x3xbf16>, tensor<4xbf16>) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %c = stablehlo.convert %a : (tensor<bf16>) -> tensor<f32>
      %d = stablehlo.convert %b : (tensor<bf16>) -> tensor<f32>
      %e = stablehlo.add %c, %d : tensor<f32>
      %f = stablehlo.convert %e : (tensor<f32>) -> tensor<bf16>
      stablehlo.return %f : tensor<bf16>
    }) : (tensor<4x3xbf16>, tensor<3x1xi32>, tensor<3x3xbf16>) -> tensor<4x3xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %1 = "stablehlo.reduce"(%0, %cst) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %c = stablehlo.convert %a : (tensor<bf16>) -> tensor<f32>
      %d = stablehlo.convert %b : (tensor<bf16>) -> tensor<f32>
      %e = stablehlo.add %c, %d : tensor<f32>
      %f = stablehlo.convert %e : (tensor<f32>) -> tensor<bf16>
      stablehlo.return %f : tensor<bf16>
    }) : (tensor<4x3xbf16>, tensor<bf16>) -> tensor<4xbf16>
    return %0, %1 : tensor<4x3xbf16>, tensor<4xbf16>
  }
}
