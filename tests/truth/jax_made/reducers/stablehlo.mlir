module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6xui32>, %arg1: tensor<5x6xi1>) -> (tensor<5xui32>, tensor<5xi1>, tensor<6xi1>) {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [1] : (tensor<5x6xui32>, tensor<ui32>) -> tensor<5xui32>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %1 = stablehlo.reduce(%arg1 init: %c_0) applies stablehlo.xor across dimensions = [1] : (tensor<5x6xi1>, tensor<i1>) -> tensor<5xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.reduce(%arg1 init: %c_1) across dimensions = [0] : (tensor<5x6xi1>, tensor<i1>) -> tensor<6xi1>
     reducer(%a: tensor<i1>, %b: tensor<i1>)  {
      %3 = stablehlo.xor %a, %b : tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }
    return %0, %1, %2 : tensor<5xui32>, tensor<5xi1>, tensor<6xi1>
  }
}
