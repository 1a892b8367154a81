func.func @later(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error[mlir_syntax]@+1 {{%z is not defined before its use}}
  %y = stablehlo.negate %z : tensor<4xf32>
  //                    ^~
  %z = stablehlo.negate %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
