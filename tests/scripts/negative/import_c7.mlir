func.func @weights() -> tensor<4xf32> {
  // expected-error[import_c7]@+1 {{stablehlo.constant: the text leaves out the 4 values of this constant}}
  %y = stablehlo.constant dense_resource<weights> : tensor<4xf32>
  //   ^~~~~~~~~~~~~~~~~~
  return %y : tensor<4xf32>
}
