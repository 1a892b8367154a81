func.func @narrow(%x: tensor<4xf80>) -> tensor<4xf80> {
//                ^~
// expected-error[import_c1]@-2 {{there is no dtype for elements of type f80}}
  return %x : tensor<4xf80>
}
