func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error[import_c8]@+1 {{stablehlo.custom_call: has no counterpart: @decode}}
  %t = stablehlo.custom_call @decode(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
  //   ^~~~~~~~~~~~~~~~~~~~~
  return %x : tensor<4xf32>
}
