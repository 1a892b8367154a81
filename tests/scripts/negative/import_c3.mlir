// A branch is given no arguments.
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "stablehlo.if"(%c) ({
    ^bb0(%a: tensor<4xf32>):
      // expected-error[import_c3]@+1 {{stablehlo.negate: %a has no value: its region is not given this argument}}
      %b = stablehlo.negate %a : tensor<4xf32>
      //   ^~~~~~~~~~~~~~~~
      stablehlo.return %b : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
