module @jit_window_reducers attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4x7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<4x4x4xf32> {jax.result_info = "result[0]"}, tensor<4x13x4xf32> {jax.result_info = "result[1]"}, tensor<4x7x6xf32> {jax.result_info = "result[2]"}, tensor<7xf32> {jax.result_info = "result[3]"}) {
    %c0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %c0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [1, 2], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.maximum %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x7x6xf32>, tensor<f32>) -> tensor<4x4x4xf32>
    %c1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %c1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [2, 0], [1, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x7x6xf32>, tensor<f32>) -> tensor<4x13x4xf32>
    %c2 = stablehlo.constant dense<-5.000000e+01> : tensor<f32>
    %2 = "stablehlo.reduce_window"(%arg0, %c2) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 0], [3, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 1, 4>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %m = stablehlo.maximum %l, %r : tensor<f32>
      %n = stablehlo.minimum %l, %r : tensor<f32>
      %d = stablehlo.subtract %n, %m : tensor<f32>
      %e = stablehlo.exponential %d : tensor<f32>
      %p = stablehlo.log_plus_one %e : tensor<f32>
      %s = stablehlo.add %m, %p : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x7x6xf32>, tensor<f32>) -> tensor<4x7x6xf32>
    %3 = stablehlo.reduce(%arg0 init: %c2) across dimensions = [0, 2] : (tensor<4x7x6xf32>, tensor<f32>) -> tensor<7xf32>
     reducer(%l: tensor<f32>, %r: tensor<f32>)  {
      %m = stablehlo.maximum %l, %r : tensor<f32>
      %n = stablehlo.minimum %l, %r : tensor<f32>
      %d = stablehlo.subtract %n, %m : tensor<f32>
      %e = stablehlo.exponential %d : tensor<f32>
      %p = stablehlo.log_plus_one %e : tensor<f32>
      %s = stablehlo.add %m, %p : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
    return %0, %1, %2, %3 : tensor<4x4x4xf32>, tensor<4x13x4xf32>, tensor<4x7x6xf32>, tensor<7xf32>
  }
}
