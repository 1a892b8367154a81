module @jit_manual_algebra attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg1: tensor<3x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %arg2: tensor<12xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x8xf32>, tensor<3x4x8xf32>, tensor<3x8x4xf32>, tensor<4x16xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8x16xf32>
    %1:4 = sdy.manual_computation(%0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{}, {}, {"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{}, {}, {"x"}]>, <@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}]>] manual_axes={"x"} (%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %c: tensor<3xi32>) {
      %2 = "chlo.ragged_dot"(%a, %b, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<8x2xf32>
      %3 = stablehlo.slice %a [0:8, 0:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
      %4 = "chlo.ragged_dot"(%a, %3, %c) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>}> : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<3xi32>) -> tensor<3x4x2xf32>
      %5 = stablehlo.dot_general %b, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x4x2xf32>, tensor<3x4x2xf32>) -> tensor<3x2x2xf32>
      %6 = stablehlo.cholesky %5, lower = true : tensor<3x2x2xf32>
      %7 = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<3x4x2xf32>) -> tensor<3x2x4xf32>
      %8 = "stablehlo.triangular_solve"(%6, %7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x2x2xf32>, tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
      %9 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %10:2 = stablehlo.custom_call @lapack_spotrf_ffi(%9) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
      sdy.return %2, %4, %8, %10#0 : tensor<8x2xf32>, tensor<3x4x2xf32>, tensor<3x2x4xf32>, tensor<4x4xf32>
    } : (tensor<8x16xf32>, tensor<3x4x8xf32>, tensor<12xi32>) -> (tensor<8x8xf32>, tensor<3x4x8xf32>, tensor<3x8x4xf32>, tensor<4x16xf32>)
    return %1#0, %1#1, %1#2, %1#3 : tensor<8x8xf32>, tensor<3x4x8xf32>, tensor<3x8x4xf32>, tensor<4x16xf32>
  }
}
