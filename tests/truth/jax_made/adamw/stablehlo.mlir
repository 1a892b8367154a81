module @jit_adamw attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<8x3xf32>, %arg2: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>, tf.aliasing_output = 1 : i32}, %arg3: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>, tf.aliasing_output = 2 : i32}, %arg4: tensor<i32>) -> (tensor<8x3xf32> {jax.result_info = "result['w']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, tensor<8x3xf32> {jax.result_info = "result['m']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, tensor<8x3xf32> {jax.result_info = "result['v']", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) {
    %b1 = stablehlo.constant dense<9.000000e-01> : tensor<f32>
    %b1_b = stablehlo.broadcast_in_dim %b1, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %c1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %c1_b = stablehlo.broadcast_in_dim %c1, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %b2 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %b2_b = stablehlo.broadcast_in_dim %b2, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %c2 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %c2_b = stablehlo.broadcast_in_dim %c2, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %lr = stablehlo.constant dense<1.000000e-02> : tensor<f32>
    %lr_b = stablehlo.broadcast_in_dim %lr, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %eps = stablehlo.constant dense<1.000000e-08> : tensor<f32>
    %eps_b = stablehlo.broadcast_in_dim %eps, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %wd = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %wd_b = stablehlo.broadcast_in_dim %wd, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %0 = stablehlo.multiply %b1_b, %arg2 : tensor<8x3xf32>
    %1 = stablehlo.multiply %c1_b, %arg1 : tensor<8x3xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x3xf32>
    %3 = chlo.square %arg1 : tensor<8x3xf32> -> tensor<8x3xf32>
    %4 = stablehlo.multiply %b2_b, %arg3 : tensor<8x3xf32>
    %5 = stablehlo.multiply %c2_b, %3 : tensor<8x3xf32>
    %6 = stablehlo.add %4, %5 : tensor<8x3xf32>
    %7 = stablehlo.convert %arg4 : (tensor<i32>) -> tensor<f32>
    %8 = stablehlo.power %b1, %7 : tensor<f32>
    %9 = stablehlo.power %b2, %7 : tensor<f32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %one, %8 : tensor<f32>
    %11 = stablehlo.subtract %one, %9 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %14 = stablehlo.divide %2, %12 : tensor<8x3xf32>
    %15 = stablehlo.divide %6, %13 : tensor<8x3xf32>
    %16 = stablehlo.sqrt %15 : tensor<8x3xf32>
    %17 = stablehlo.add %16, %eps_b : tensor<8x3xf32>
    %18 = stablehlo.divide %14, %17 : tensor<8x3xf32>
    %19 = stablehlo.multiply %wd_b, %arg0 : tensor<8x3xf32>
    %20 = stablehlo.add %18, %19 : tensor<8x3xf32>
    %21 = stablehlo.multiply %lr_b, %20 : tensor<8x3xf32>
    %22 = stablehlo.subtract %arg0, %21 : tensor<8x3xf32>
    return %22, %2, %6 : tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>
  }
}
