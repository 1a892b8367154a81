func.func @two_of_three(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  // expected-error[import_c2]@+1 {{stablehlo.transpose: dims = [1, 1] is not a permutation of the operand's dimensions; its operands are tensor<4x6xf32>}}
  %y = stablehlo.transpose %x, dims = [1, 1] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  //   ^~~~~~~~~~~~~~~~~~~
  return %y : tensor<6x4xf32>
}
