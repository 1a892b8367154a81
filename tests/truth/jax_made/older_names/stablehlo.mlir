module @jit_older_names attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0, %arg0) {api_version = 4 : i32, has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    %2 = stablehlo.after_all %1, %0 : !stablehlo.token
    %3 = stablehlo.custom_call @mhlo.asin(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @mhlo.sinh(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.custom_call @mhlo.erf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %6 = stablehlo.custom_call @chlo.is_inf(%arg0) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xi1>
    return %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
  }
}
