module @jit_bitwise_reducers attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<3x2xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4xf32>, %arg2: tensor<3xf32>) -> (tensor<2xi32> {jax.result_info = "result[0]"}, tensor<2xi32> {jax.result_info = "result[1]"}, tensor<2xi32> {jax.result_info = "result[2]"}, tensor<2xi32> {jax.result_info = "result[3]"}, tensor<2x2xi32> {jax.result_info = "result[4]"}, tensor<4xf32> {jax.result_info = "result[5]"}, tensor<3x2xi32> {jax.result_info = "result[6]"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %ones = stablehlo.constant dense<-1> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.or across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
    %1 = stablehlo.reduce(%arg0 init: %ones) applies stablehlo.and across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
    %2 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.xor across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.reduce(%arg0 init: %one) applies stablehlo.and across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
    %4 = "stablehlo.reduce_window"(%arg0, %zero) <{window_dimensions = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.or %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<3x2xi32>, tensor<i32>) -> tensor<2x2xi32>
    %5 = "stablehlo.select_and_scatter"(%arg1, %arg2, %none) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.compare LE, %b, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
    %6 = stablehlo.slice %arg0 [0:0, 0:2] : (tensor<3x2xi32>) -> tensor<0x2xi32>
    %7 = stablehlo.pad %6, %one, low = [2, 0], high = [1, 0], interior = [3, 0] : (tensor<0x2xi32>, tensor<i32>) -> tensor<3x2xi32>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>, tensor<4xf32>, tensor<3x2xi32>
  }
}
