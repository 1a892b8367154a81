module @jit_manual_convolution attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]>
  func.func public @main(%arg0: tensor<4x6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}, {}]>}, %arg1: tensor<3x3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"tp"}]>}) -> (tensor<4x3x4xf32> {jax.result_info = "result[0]"}, tensor<4x6x4xf32> {jax.result_info = "result[1]"}) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"dp"}, {}, {}]>, <@mesh, [{}, {}, {}]>] out_shardings=[<@mesh, [{"dp"}, {}, {}]>, <@mesh, [{"dp"}, {}, {}]>] manual_axes={"dp"} (%arg2: tensor<2x6x3xf32>, %arg3: tensor<3x3x4xf32>) {
    %1 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = "stablehlo.reduce_window"(%1, %cst) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.maximum %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x6x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    %3 = stablehlo.add %2, %2 : tensor<2x3x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = "stablehlo.select_and_scatter"(%1, %3, %cst_0) <{padding = dense<0> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  GE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x6x4xf32>, tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x6x4xf32>
    sdy.return %2, %4 : tensor<2x3x4xf32>, tensor<2x6x4xf32>
    } : (tensor<4x6x3xf32>, tensor<3x3x4xf32>) -> (tensor<4x3x4xf32>, tensor<4x6x4xf32>)
    return %0#0, %0#1 : tensor<4x3x4xf32>, tensor<4x6x4xf32>
  }
}
