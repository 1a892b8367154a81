module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x5xf32>, %arg1: tensor<f32>) -> tensor<6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) across dimensions = [1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<6xf32>
     reducer(%a: tensor<f32>, %b: tensor<f32>)  {
      %k = stablehlo.constant dense<[2.0]> : tensor<1xf32>
      %k1 = stablehlo.reshape %k : (tensor<1xf32>) -> tensor<f32>
      %m = stablehlo.maximum %a, %b : tensor<f32>
      %n = stablehlo.minimum %m, %k1 : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }
    return %0 : tensor<6xf32>
  }
}
