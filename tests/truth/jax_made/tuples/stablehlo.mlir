module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6xf32>, %arg1: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<5x6xf32>) {
    %0:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<5x6xf32>, tensor<5x6xf32>
    %1 = stablehlo.tuple %0#0, %0#1 : tuple<tensor<5x6xf32>, tensor<5x6xf32>>
    %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<5x6xf32>, tensor<5x6xf32>>) -> tensor<5x6xf32>
    %3 = stablehlo.reduce_precision %0#0, format = e8m7 : tensor<5x6xf32>
    return %2, %3 : tensor<5x6xf32>, tensor<5x6xf32>
  }
}
