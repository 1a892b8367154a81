module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x6xf32>, %arg1: tensor<2xi32>) -> (tensor<3x2xf32>, tensor<6x5xf32>, tensor<4x5x6xf32>, tensor<7x6xf32>, tensor<4x3xi32>, tensor<2x6xf32>) {
    %s = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
    %l = stablehlo.constant dense<[4, 4]> : tensor<2xi32>
    %t = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = "stablehlo.real_dynamic_slice"(%arg0, %s, %l, %t) : (tensor<5x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
    %sh = stablehlo.constant dense<[6, 5]> : tensor<2xi32>
    %1 = stablehlo.dynamic_reshape %arg0, %sh : (tensor<5x6xf32>, tensor<2xi32>) -> tensor<6x5xf32>
    %bs = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %arg0, %bs, dims = [1, 2] : (tensor<5x6xf32>, tensor<3xi32>) -> tensor<4x5x6xf32>
    %pv = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %p0 = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
    %p1 = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
    %3 = stablehlo.dynamic_pad %arg0, %pv, %p0, %p1, %p1 : (tensor<5x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<7x6xf32>
    %ish = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
    %4 = stablehlo.dynamic_iota %ish, dim = 1 : (tensor<2xi32>) -> tensor<4x3xi32>
    %ss = stablehlo.constant dense<[1, 6]> : tensor<2xi32>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %6 = "stablehlo.dynamic_gather"(%arg0, %5, %ss) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<5x6xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x6xf32>
    return %0, %1, %2, %3, %4, %6 : tensor<3x2xf32>, tensor<6x5xf32>, tensor<4x5x6xf32>, tensor<7x6xf32>, tensor<4x3xi32>, tensor<2x6xf32>
  }
}
