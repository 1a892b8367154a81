module @jit_scan_grad attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg1: tensor<3x3x3xf32>) -> (tensor<3x3x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %0, %iterArg_2 = %0) : tensor<i32>, tensor<4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.dynamic_slice %arg1, %iterArg, %c_3, %c_3, sizes = [1, 3, 3] : (tensor<3x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
      %6 = stablehlo.reshape %5 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %7 = stablehlo.dot_general %iterArg_0, %6, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
      %8 = stablehlo.tanh %7 : tensor<4x3xf32>
      %9 = stablehlo.broadcast_in_dim %iterArg_0, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
      %10 = stablehlo.dynamic_update_slice %iterArg_1, %9, %iterArg, %c_3, %c_3 : (tensor<3x4x3xf32>, tensor<1x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x3xf32>
      %11 = stablehlo.broadcast_in_dim %8, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<1x4x3xf32>
      %12 = stablehlo.dynamic_update_slice %iterArg_2, %11, %iterArg, %c_3, %c_3 : (tensor<3x4x3xf32>, tensor<1x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x3xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.add %iterArg, %c_4 : tensor<i32>
      stablehlo.return %13, %8, %10, %12 : tensor<i32>, tensor<4x3xf32>, tensor<3x4x3xf32>, tensor<3x4x3xf32>
    }
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3x3xf32>
    %4:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %2, %iterArg_1 = %3) : tensor<i32>, tensor<4x3xf32>, tensor<3x3x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %c_3 = stablehlo.constant dense<2> : tensor<i32>
      %5 = stablehlo.subtract %c_3, %iterArg : tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %6 = stablehlo.dynamic_slice %1#3, %5, %c_4, %c_4, sizes = [1, 4, 3] : (tensor<3x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
      %7 = stablehlo.reshape %6 : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %8 = stablehlo.multiply %7, %7 : tensor<4x3xf32>
      %9 = stablehlo.subtract %2, %8 : tensor<4x3xf32>
      %10 = stablehlo.multiply %iterArg_0, %9 : tensor<4x3xf32>
      %11 = stablehlo.dynamic_slice %1#2, %5, %c_4, %c_4, sizes = [1, 4, 3] : (tensor<3x4x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x3xf32>
      %12 = stablehlo.reshape %11 : (tensor<1x4x3xf32>) -> tensor<4x3xf32>
      %13 = stablehlo.dot_general %12, %10, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
      %15 = stablehlo.dynamic_update_slice %iterArg_1, %14, %5, %c_4, %c_4 : (tensor<3x3x3xf32>, tensor<1x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3x3xf32>
      %16 = stablehlo.dynamic_slice %arg1, %5, %c_4, %c_4, sizes = [1, 3, 3] : (tensor<3x3x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x3xf32>
      %17 = stablehlo.reshape %16 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %18 = stablehlo.dot_general %10, %17, contracting_dims = [1] x [1] : (tensor<4x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %19 = stablehlo.add %iterArg, %c_5 : tensor<i32>
      stablehlo.return %19, %18, %15 : tensor<i32>, tensor<4x3xf32>, tensor<3x3x3xf32>
    }
    return %4#2 : tensor<3x3x3xf32>
  }
}
