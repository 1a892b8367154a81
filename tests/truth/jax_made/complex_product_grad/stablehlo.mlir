module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %arg3: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg4: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1][0]"}, tensor<8x8xf32> {jax.result_info = "result[1][1]"}, tensor<8x4xf32> {jax.result_info = "result[1][2]"}, tensor<8x4xf32> {jax.result_info = "result[1][3]"}) {
    %0 = stablehlo.complex %arg1, %arg2 : tensor<8x8xcomplex<f32>>
    %1 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %2 = stablehlo.convert %0 : tensor<8x8xcomplex<f32>>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xcomplex<f32>>, tensor<8x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %4 = stablehlo.abs %3 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %5 = stablehlo.real %3 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %6 = stablehlo.imag %3 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %7 = stablehlo.negate %6 : tensor<4x8xf32>
    %8 = stablehlo.complex %5, %7 : tensor<4x8xcomplex<f32>>
    %9 = stablehlo.convert %4 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
    %11 = stablehlo.compare EQ, %9, %10, FLOAT : (tensor<4x8xcomplex<f32>>, tensor<4x8xcomplex<f32>>) -> tensor<4x8xi1>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
    %13 = stablehlo.select %11, %12, %9 : tensor<4x8xi1>, tensor<4x8xcomplex<f32>>
    %14 = stablehlo.divide %8, %13 : tensor<4x8xcomplex<f32>>
    %15 = stablehlo.convert %4 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %16 = stablehlo.multiply %3, %15 : tensor<4x8xcomplex<f32>>
    %17 = stablehlo.complex %arg3, %arg4 : tensor<8x4xcomplex<f32>>
    %18 = stablehlo.dot_general %16, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xcomplex<f32>>, tensor<8x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
    %19 = stablehlo.abs %18 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %20 = stablehlo.real %18 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %21 = stablehlo.imag %18 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %22 = stablehlo.negate %21 : tensor<4x4xf32>
    %23 = stablehlo.complex %20, %22 : tensor<4x4xcomplex<f32>>
    %24 = stablehlo.convert %19 : (tensor<4x4xf32>) -> tensor<4x4xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %25 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %26 = stablehlo.compare EQ, %24, %25, FLOAT : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xi1>
    %cst_2 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %27 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<complex<f32>>) -> tensor<4x4xcomplex<f32>>
    %28 = stablehlo.select %26, %27, %24 : tensor<4x4xi1>, tensor<4x4xcomplex<f32>>
    %29 = stablehlo.divide %23, %28 : tensor<4x4xcomplex<f32>>
    %30 = stablehlo.multiply %19, %19 : tensor<4x4xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %32 = stablehlo.multiply %31, %19 : tensor<4x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%30 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %34 = stablehlo.divide %33, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %35 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %37 = stablehlo.multiply %36, %32 : tensor<4x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %39 = stablehlo.complex %37, %38 : tensor<4x4xcomplex<f32>>
    %40 = stablehlo.multiply %39, %29 : tensor<4x4xcomplex<f32>>
    %41 = stablehlo.dot_general %40, %16, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f32>>, tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %42 = stablehlo.transpose %41, dims = [1, 0] : (tensor<4x8xcomplex<f32>>) -> tensor<8x4xcomplex<f32>>
    %43 = stablehlo.dot_general %40, %17, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f32>>, tensor<8x4xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %44 = stablehlo.real %42 : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
    %45 = stablehlo.negate %42 : tensor<8x4xcomplex<f32>>
    %46 = stablehlo.imag %45 : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
    %47 = stablehlo.multiply %3, %43 : tensor<4x8xcomplex<f32>>
    %48 = stablehlo.multiply %43, %15 : tensor<4x8xcomplex<f32>>
    %49 = stablehlo.real %47 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
    %50 = stablehlo.convert %49 : tensor<4x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %52 = stablehlo.complex %50, %51 : tensor<4x8xcomplex<f32>>
    %53 = stablehlo.multiply %52, %14 : tensor<4x8xcomplex<f32>>
    %54 = stablehlo.add %48, %53 : tensor<4x8xcomplex<f32>>
    %55 = stablehlo.convert %54 : tensor<4x8xcomplex<f32>>
    %56 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xcomplex<f32>>
    %57 = stablehlo.dot_general %55, %56, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xcomplex<f32>>, tensor<4x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %58 = stablehlo.transpose %57, dims = [1, 0] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
    %59 = stablehlo.real %58 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    %60 = stablehlo.negate %58 : tensor<8x8xcomplex<f32>>
    %61 = stablehlo.imag %60 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    return %34, %59, %61, %44, %46 : tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}
