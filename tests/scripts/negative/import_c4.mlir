func.func @endless(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %most = stablehlo.constant dense<1000000000> : tensor<i32>
  // expected-error[import_c4]@+1 {{stablehlo.while: runs more than 100000 times, and loops are unrolled}}
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
  //     ^~~~~~~~~~~~~~~
    cond {
      %c = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %v : tensor<i32>, tensor<f32>
    }
  return %r#1 : tensor<f32>
}
