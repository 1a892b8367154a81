module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    %1 = call @fft(%0) : (tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<8x16xcomplex<f32>>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x16xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %4 = call @fft_0(%3) : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<16x8xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %6 = stablehlo.convert %arg1 : (tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %7 = stablehlo.multiply %5, %6 : tensor<8x16xcomplex<f32>>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<8x16xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %9 = call @fft_1(%8) : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<16x8xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %11 = sdy.sharding_constraint %10 <@mesh, [{"x"}, {}]> : tensor<8x16xcomplex<f32>>
    %12 = call @fft_2(%11) : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    %13 = stablehlo.real %12 : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xf32>
    %14 = sdy.sharding_constraint %13 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    return %14 : tensor<8x16xf32>
  }
  func.func private @fft(%arg0: tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<8x16xf32>) -> tensor<8x16xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [16] : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    return %1 : tensor<8x16xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    return %0 : tensor<16x8xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [8] : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
    return %0 : tensor<16x8xcomplex<f32>>
  }
  func.func private @fft_2(%arg0: tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [16] : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>
    return %0 : tensor<8x16xcomplex<f32>>
  }
}
