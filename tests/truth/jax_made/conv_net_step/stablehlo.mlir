module @jit_conv_net_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<3x3x2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {}]>}, %arg1: tensor<36x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<8x6x6x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<3x3x2x4xf32> {jax.result_info = "result[1]"}, tensor<36x3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convolution(%arg2, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<8x6x6x4xf32>
    %1 = call @relu(%0) : (tensor<8x6x6x4xf32>) -> tensor<8x6x6x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = "stablehlo.reduce_window"(%1, %cst) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.maximum %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x6x6x4xf32>, tensor<f32>) -> tensor<8x3x3x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x3x3x4xf32>) -> tensor<8x36xf32>
    %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x36xf32>, tensor<36x3xf32>) -> tensor<8x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<8x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %7 = stablehlo.divide %6, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<8x3xf32>
    %10 = stablehlo.dot_general %9, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x3xf32>, tensor<8x36xf32>) -> tensor<3x36xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<3x36xf32>) -> tensor<36x3xf32>
    %12 = stablehlo.dot_general %9, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x3xf32>, tensor<36x3xf32>) -> tensor<8x36xf32>
    %13 = stablehlo.reshape %12 : (tensor<8x36xf32>) -> tensor<8x3x3x4xf32>
    %14 = stablehlo.pad %1, %cst, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<8x6x6x4xf32>, tensor<f32>) -> tensor<8x6x6x4xf32>
    %15 = "stablehlo.select_and_scatter"(%14, %13, %cst_0) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  GE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x6x6x4xf32>, tensor<8x3x3x4xf32>, tensor<f32>) -> tensor<8x6x6x4xf32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x6x6x4xf32>
    %17 = stablehlo.compare  GT, %0, %16,  FLOAT : (tensor<8x6x6x4xf32>, tensor<8x6x6x4xf32>) -> tensor<8x6x6x4xi1>
    %18 = stablehlo.select %17, %15, %16 : tensor<8x6x6x4xi1>, tensor<8x6x6x4xf32>
    %19 = stablehlo.convolution(%arg2, %18) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x6x6x2xf32>, tensor<8x6x6x4xf32>) -> tensor<3x3x2x4xf32>
    return %7, %19, %11 : tensor<f32>, tensor<3x3x2x4xf32>, tensor<36x3xf32>
  }
  func.func private @relu(%arg0: tensor<8x6x6x4xf32>) -> tensor<8x6x6x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x6x6x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<8x6x6x4xf32>
    return %1 : tensor<8x6x6x4xf32>
  }
}
