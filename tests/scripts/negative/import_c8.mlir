func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error[import_c8]@+1 {{stablehlo.create_token: has no counterpart}}
  %t = stablehlo.create_token : !stablehlo.token
  //   ^~~~~~~~~~~~~~~~~~~~~~
  return %x : tensor<4xf32>
}
