module @jit_threefry_bits attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>, tensor<2xui64>, tensor<3x5xui32>, tensor<2xui64>, tensor<3x5x2xui32>, tensor<2xui64>, tensor<2x3xui64>, tensor<2xui64>, tensor<5xui16>, tensor<2xui64>, tensor<8xui8>, tensor<2xui64>, tensor<ui32>) {
    %0, %1 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
    %2, %3 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %4, %5 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5x2xui32>)
    %6, %7 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui64>)
    %8, %9 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui16>)
    %10, %11 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui8>)
    %12, %13 = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<2xui64>, tensor<4x6xui32>, tensor<2xui64>, tensor<3x5xui32>, tensor<2xui64>, tensor<3x5x2xui32>, tensor<2xui64>, tensor<2x3xui64>, tensor<2xui64>, tensor<5xui16>, tensor<2xui64>, tensor<8xui8>, tensor<2xui64>, tensor<ui32>
  }
}
