module @jit_linear_algebra attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4x5x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<4x5x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg2: tensor<5x5xf32>, %arg3: tensor<5x5xf32>) -> (tensor<4x5x5xf32> {jax.result_info = "result[0]"}, tensor<4x5x2xf32>, tensor<5x5xf32>, tensor<i32>, tensor<i32>, tensor<2x5xf32>, tensor<5x2xf32>, tensor<4x5x5xf32>) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x5x5xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x5x5xf32>, tensor<4x5x2xf32>) -> tensor<4x5x2xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:5, 0:5] : (tensor<4x5x5xf32>) -> tensor<1x5x5xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x5x5xf32>) -> tensor<5x5xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%3) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<i32>)
    %5:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg3) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<i32>)
    %6 = stablehlo.slice %arg1 [0:1, 0:5, 0:2] : (tensor<4x5x2xf32>) -> tensor<1x5x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x5x2xf32>) -> tensor<5x2xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<5x2xf32>) -> tensor<2x5xf32>
    %9 = stablehlo.custom_call @lapack_strsm_ffi(%arg2, %8) {mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<5x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
    %10 = stablehlo.slice %arg1 [1:2, 0:5, 0:2] : (tensor<4x5x2xf32>) -> tensor<1x5x2xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x5x2xf32>) -> tensor<5x2xf32>
    %12 = stablehlo.custom_call @lapack_strsm_ffi(%arg2, %11) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<5x5xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
    %13 = stablehlo.cholesky %arg0 : tensor<4x5x5xf32>
    return %0, %1, %4#0, %4#1, %5#1, %9, %12, %13 : tensor<4x5x5xf32>, tensor<4x5x2xf32>, tensor<5x5xf32>, tensor<i32>, tensor<i32>, tensor<2x5xf32>, tensor<5x2xf32>, tensor<4x5x5xf32>
  }
}
