module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<8x8xcomplex<f32>>
    %1 = stablehlo.convert %arg0 : (tensor<8x8xf32>) -> tensor<8x8xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8x8xcomplex<f32>>
    %3 = stablehlo.multiply %2, %1 : tensor<8x8xcomplex<f32>>
    %4 = stablehlo.exponential %3 : tensor<8x8xcomplex<f32>>
    %5 = stablehlo.multiply %0, %4 : tensor<8x8xcomplex<f32>>
    %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<8x8xcomplex<f32>>
    %7 = call @fft(%0) : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %8 = sdy.sharding_constraint %7 <@mesh, [{}, {}]> : tensor<8x8xcomplex<f32>>
    %9 = stablehlo.convert %arg2 : (tensor<8x8xf32>) -> tensor<8x8xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<8x8xcomplex<f32>>
    %11 = stablehlo.multiply %10, %9 : tensor<8x8xcomplex<f32>>
    %12 = stablehlo.convert %arg2 : (tensor<8x8xf32>) -> tensor<8x8xcomplex<f32>>
    %13 = stablehlo.add %12, %11 : tensor<8x8xcomplex<f32>>
    %14 = sdy.sharding_constraint %13 <@mesh, [{}, {}]> : tensor<8x8xcomplex<f32>>
    %15 = stablehlo.dot_general %6, %14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xcomplex<f32>>, tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %16 = stablehlo.transpose %8, dims = [1, 0] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %17 = stablehlo.dot_general %6, %16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xcomplex<f32>>, tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %18 = stablehlo.real %17 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    %19 = stablehlo.multiply %15, %15 : tensor<8x8xcomplex<f32>>
    %20 = stablehlo.imag %19 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    return %18, %20 : tensor<8x8xf32>, tensor<8x8xf32>
  }
  func.func private @fft(%arg0: tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    return %0 : tensor<8x8xcomplex<f32>>
  }
}
