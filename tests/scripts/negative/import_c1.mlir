func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
//                 ^~
// expected-error[import_c1]@-2 {{there is no dtype for elements of type complex<f32>}}
  return %x : tensor<4xcomplex<f32>>
}
