module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x7xf32>, %arg1: tensor<2xi32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<2x12xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x12xi32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %0, %1, %c_0, %c_0 : (tensor<2x12xi32>, tensor<2x1xi32>, tensor<i32>, tensor<i32>) -> tensor<2x12xi32>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<2xi1>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %4:5 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %c_2, %iterArg_4 = %2, %iterArg_5 = %arg1, %iterArg_6 = %3) : tensor<7x7xf32>, tensor<i32>, tensor<2x12xi32>, tensor<2xi32>, tensor<2xi1>
     cond {
      %c_7 = stablehlo.constant dense<12> : tensor<i32>
      %5 = stablehlo.compare  LT, %iterArg_3, %c_7,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<true> : tensor<i1>
      %6 = stablehlo.reduce(%iterArg_6 init: %c_8) applies stablehlo.and across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
      %7 = stablehlo.not %6 : tensor<i1>
      %8 = stablehlo.and %5, %7 : tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %5 = func.call @body(%iterArg, %iterArg_5) : (tensor<7x7xf32>, tensor<2xi32>) -> tensor<2xi32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %6 = func.call @_where(%iterArg_6, %c_7, %5) : (tensor<2xi1>, tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %c_9 = stablehlo.constant dense<12> : tensor<i32>
      %8 = stablehlo.compare  LT, %iterArg_3, %c_8,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %9 = stablehlo.add %iterArg_3, %c_9 : tensor<i32>
      %10 = stablehlo.select %8, %9, %iterArg_3 : tensor<i1>, tensor<i32>
      %11 = stablehlo.dynamic_update_slice %iterArg_4, %7, %c_8, %10 : (tensor<2x12xi32>, tensor<2x1xi32>, tensor<i32>, tensor<i32>) -> tensor<2x12xi32>
      %12 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
      %13 = stablehlo.compare  EQ, %6, %12,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      %14 = stablehlo.or %iterArg_6, %13 : tensor<2xi1>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %15 = stablehlo.add %iterArg_3, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %15, %11, %6, %14 : tensor<7x7xf32>, tensor<i32>, tensor<2x12xi32>, tensor<2xi32>, tensor<2xi1>
    }
    return %4#1, %4#2 : tensor<i32>, tensor<2x12xi32>
  }
  func.func private @body(%arg0: tensor<7x7xf32>, %arg1: tensor<2xi32>) -> tensor<2xi32> {
    %0 = call @_take(%arg0, %arg1) : (tensor<7x7xf32>, tensor<2xi32>) -> tensor<2x7xf32>
    %1 = call @argmax(%0) : (tensor<2x7xf32>) -> tensor<2xi32>
    return %1 : tensor<2xi32>
  }
  func.func private @_take(%arg0: tensor<7x7xf32>, %arg1: tensor<2xi32>) -> tensor<2x7xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.compare  LT, %arg1, %0,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_0 = stablehlo.constant dense<7> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2xi32>
    %4 = call @_where_1(%1, %3, %arg1) : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %c_1 = stablehlo.constant dense<6> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
    %7 = stablehlo.compare  GE, %5, %6,  SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [1] : (tensor<1xi32>) -> tensor<1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xi32>) -> tensor<2x1xi32>
    %10 = stablehlo.compare  LE, %5, %9,  SIGNED : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<2x1xi1>, tensor<i1>) -> tensor<2xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 7>}> : (tensor<7x7xf32>, tensor<2x1xi32>) -> tensor<2x7xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<2xi1>) -> tensor<2x7xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x7xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<2x7xi1>, tensor<2x7xf32>
    return %16 : tensor<2x7xf32>
  }
  func.func private @_where_1(%arg0: tensor<2xi1>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func private @argmax(%arg0: tensor<2x7xf32>) -> tensor<2xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<2x7xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x7xf32>, tensor<2x7xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<2xi32>
  }
  func.func private @_where(%arg0: tensor<2xi1>, %arg1: tensor<i32>, %arg2: tensor<2xi32>) -> tensor<2xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<2xi1>, tensor<2xi32>
    return %1 : tensor<2xi32>
  }
}
