func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error[import_c6]@+1 {{func.call: there is no function @layer}}
  %y = call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  //   ^~~~
  return %y : tensor<4xf32>
}
