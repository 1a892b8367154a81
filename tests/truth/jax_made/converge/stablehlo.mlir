module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg0) : tensor<4xf32>, tensor<i32>, tensor<4xf32>
     cond {
      %a1 = stablehlo.multiply %iterArg_1, %iterArg_1 : tensor<4xf32>
      %a2 = stablehlo.subtract %a1, %iterArg : tensor<4xf32>
      %a3 = stablehlo.abs %a2 : tensor<4xf32>
      %ninf = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %a4 = stablehlo.reduce(%a3 init: %ninf) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %tol = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %a5 = stablehlo.compare  GT, %a4, %tol,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %a5 : tensor<i1>
    } do {
      %1 = stablehlo.divide %iterArg, %iterArg_1 : tensor<4xf32>
      %2 = stablehlo.add %iterArg_1, %1 : tensor<4xf32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %4 = stablehlo.multiply %3, %2 : tensor<4xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %5, %4 : tensor<4xf32>, tensor<i32>, tensor<4xf32>
    }
    return %0#1, %0#2 : tensor<i32>, tensor<4xf32>
  }
}
