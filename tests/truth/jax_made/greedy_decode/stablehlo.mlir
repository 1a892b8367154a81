module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg1: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg2: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg3: tensor<4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}]>}) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<4x12xi32> {jax.result_info = "result[1]"}, tensor<4x16xf32> {jax.result_info = "result[2]"}, tensor<4xi1> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x12xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = "stablehlo.scatter"(%0, %1, %arg3) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
      stablehlo.return %arg5 : tensor<i32>
    }) : (tensor<4x12xi32>, tensor<1xi32>, tensor<4xi32>) -> tensor<4x12xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<4xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5:7 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %arg1, %iterArg_4 = %arg2, %iterArg_5 = %c_2, %iterArg_6 = %2, %iterArg_7 = %3, %iterArg_8 = %4) : tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>, tensor<i32>, tensor<4x12xi32>, tensor<4x16xf32>, tensor<4xi1>
    cond {
      %c_9 = stablehlo.constant dense<11> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_5, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_10 = stablehlo.constant dense<true> : tensor<i1>
      %7 = stablehlo.reduce(%iterArg_8 init: %c_10) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
      %8 = stablehlo.not %7 : tensor<i1>
      %c_11 = stablehlo.constant dense<false> : tensor<i1>
      %9 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i1>) -> tensor<i1>
      %10 = stablehlo.compare NE, %6, %9, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %11 = stablehlo.convert %10 : tensor<i1>
      %12 = stablehlo.and %11, %8 : tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg_6, %iterArg_5) : (tensor<4x12xi32>, tensor<i32>) -> tensor<4xi32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %8 = stablehlo.compare LT, %6, %7, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %c_10 = stablehlo.constant dense<8> : tensor<i32>
      %9 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %10 = stablehlo.add %6, %9 : tensor<4xi32>
      %11 = stablehlo.select %8, %10, %6 : tensor<4xi1>, tensor<4xi32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
      %13 = "stablehlo.gather"(%iterArg, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<8x16xf32>, tensor<4x1xi32>) -> tensor<4x16xf32>
      %14 = stablehlo.dot_general %iterArg_7, %iterArg_3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
      %15 = stablehlo.add %14, %13 : tensor<4x16xf32>
      %16 = stablehlo.tanh %15 : tensor<4x16xf32>
      %17 = stablehlo.dot_general %16, %iterArg_4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
      %18 = func.call @argmax(%17) : (tensor<4x8xf32>) -> tensor<4xi32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %19 = func.call @_where(%iterArg_8, %c_11, %18) : (tensor<4xi1>, tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %20 = stablehlo.add %iterArg_5, %c_12 : tensor<i32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_5, %c_13 : tensor<i32>
      %22 = func.call @dynamic_update_index_in_dim(%iterArg_6, %19, %21) : (tensor<4x12xi32>, tensor<4xi32>, tensor<i32>) -> tensor<4x12xi32>
      %c_14 = stablehlo.constant dense<3> : tensor<i32>
      %23 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %24 = stablehlo.compare EQ, %19, %23, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %25 = stablehlo.or %iterArg_8, %24 : tensor<4xi1>
      stablehlo.return %iterArg, %iterArg_3, %iterArg_4, %20, %22, %16, %25 : tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>, tensor<i32>, tensor<4x12xi32>, tensor<4x16xf32>, tensor<4xi1>
    }
    return %5#3, %5#4, %5#5, %5#6 : tensor<i32>, tensor<4x12xi32>, tensor<4x16xf32>, tensor<4xi1>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x12xi32>, %arg1: tensor<i32>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.convert %arg1 : tensor<i32>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.add %1, %c_0 : tensor<i32>
    %3 = stablehlo.select %0, %2, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_slice %arg0, %c_1, %3, sizes = [4, 1] : (tensor<4x12xi32>, tensor<i32>, tensor<i32>) -> tensor<4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4xi32>
    return %5 : tensor<4xi32>
  }
  func.func private @argmax(%arg0: tensor<4x8xf32>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x8xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<4xi32>
  }
  func.func private @_where(%arg0: tensor<4xi1>, %arg1: tensor<i32>, %arg2: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<4xi1>, tensor<4xi32>
    return %2 : tensor<4xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x12xi32>, %arg1: tensor<4xi32>, %arg2: tensor<i32>) -> tensor<4x12xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %arg2 : tensor<i32>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %3 = stablehlo.add %2, %c_0 : tensor<i32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg0, %0, %c_1, %4 : (tensor<4x12xi32>, tensor<4x1xi32>, tensor<i32>, tensor<i32>) -> tensor<4x12xi32>
    return %5 : tensor<4x12xi32>
  }
}
