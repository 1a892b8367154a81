func.func @weights() -> tensor<4xf32> {
  // expected-error[import_c7]@+1 {{stablehlo.constant: the data of the constant is not in the text}}
  %y = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  //   ^~~~~~~~~~~~~~~~~~
  return %y : tensor<4xf32>
}
