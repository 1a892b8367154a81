// expected-error[import_c5]@+1 {{a region of @open does not end with a return}}
func.func @open(%x: tensor<4xf32>) -> tensor<4xf32> {
//        ^~~~~
  %y = stablehlo.negate %x : tensor<4xf32>
}
