module @jit_pooling_gradients attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4x6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<4x3x5xf32>, %arg2: tensor<4x3x3xf32>) -> (tensor<4x6x5xf32> {jax.result_info = "result[0]"}, tensor<4x6x5xf32> {jax.result_info = "result[1]"}) {
    %c0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %c0) <{padding = dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  GE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x6x5xf32>, tensor<4x3x5xf32>, tensor<f32>) -> tensor<4x6x5xf32>
    %c1 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = "stablehlo.select_and_scatter"(%arg0, %arg2, %c1) <{padding = dense<[[0, 0], [0, 0], [0, 1]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.compare  LE, %l, %r,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x6x5xf32>, tensor<4x3x3xf32>, tensor<f32>) -> tensor<4x6x5xf32>
    return %0, %1 : tensor<4x6x5xf32>, tensor<4x6x5xf32>
  }
}
