module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {jax.result_info = "result[0]"}, tensor<8x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<8x8xcomplex<f32>>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x8xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %1) : tensor<i32>, tensor<8x8xcomplex<f32>>
    cond {
      %c_1 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = sdy.sharding_constraint %iterArg_0 <@mesh, [{}, {}]> : tensor<8x8xcomplex<f32>>
      %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xcomplex<f32>>, tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
      %cst = stablehlo.constant dense<(1.000000e-01,0.000000e+00)> : tensor<complex<f32>>
      %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8x8xcomplex<f32>>
      %8 = stablehlo.multiply %6, %7 : tensor<8x8xcomplex<f32>>
      %9 = stablehlo.add %8, %iterArg_0 : tensor<8x8xcomplex<f32>>
      %10 = sdy.sharding_constraint %9 <@mesh, [{"x"}, {}]> : tensor<8x8xcomplex<f32>>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg, %c_1 : tensor<i32>
      stablehlo.return %11, %10 : tensor<i32>, tensor<8x8xcomplex<f32>>
    }
    %3 = stablehlo.real %2#1 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    %4 = stablehlo.imag %2#1 : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xf32>
    return %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
