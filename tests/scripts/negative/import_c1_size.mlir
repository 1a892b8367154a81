func.func @any_batch(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
//                   ^~
// expected-error[import_c1]@-2 {{tensor<?x4xf32> has a size that is not known; export the module with fixed sizes}}
  return %x : tensor<?x4xf32>
}
