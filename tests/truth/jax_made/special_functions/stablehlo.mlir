module @jit_special_functions attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<8xf32>, %arg2: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8xf32> {jax.result_info = "result[5]"}, tensor<8xf32> {jax.result_info = "result[6]"}) {
    %0 = chlo.lgamma %arg0 : tensor<8xf32> -> tensor<8xf32>
    %1 = chlo.digamma %arg0 : tensor<8xf32> -> tensor<8xf32>
    %2 = chlo.next_after %arg0, %arg1 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    %3 = chlo.next_after %arg2, %arg1 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    %4 = stablehlo.reduce_precision %arg2, format = e5m10 : tensor<8xf32>
    %5 = stablehlo.reduce_precision %arg2, format = e4m3 : tensor<8xf32>
    %6 = stablehlo.reduce_precision %arg2, format = e8m2 : tensor<8xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
