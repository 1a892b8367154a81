func.func @narrow(%x: tensor<4xf4E2M1FN>) -> tensor<4xf4E2M1FN> {
//                ^~
// expected-error[import_c1]@-2 {{there is no dtype for elements of type f4E2M1FN}}
  return %x : tensor<4xf4E2M1FN>
}
