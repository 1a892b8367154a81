module @jit_attention attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<5x4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {}]>}, %arg1: tensor<5x4x2xf32>, %arg2: tensor<5x4x2xf32>) -> (tensor<5x4x2xf32> {jax.result_info = ""}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<5x4x2xf32>, tensor<5x4x2xf32>) -> tensor<4x5x5xf32>
    %1 = stablehlo.iota dim = 0 : tensor<5xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<5xi32>) -> tensor<5x5xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<5xi32>) -> tensor<5x5xi32>
    %4 = stablehlo.compare  GE, %2, %3,  SIGNED : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<5x5xi1>) -> tensor<4x5x5xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = call @_where(%5, %0, %cst) : (tensor<4x5x5xi1>, tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5x5xf32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x5xf32>
    %9 = stablehlo.subtract %6, %8 : tensor<4x5x5xf32>
    %10 = stablehlo.exponential %9 : tensor<4x5x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_0) across dimensions = [2] : (tensor<4x5x5xf32>, tensor<f32>) -> tensor<4x5xf32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %15 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %15 : tensor<f32>
    }
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5x5xf32>
    %13 = stablehlo.divide %10, %12 : tensor<4x5x5xf32>
    %14 = stablehlo.dot_general %13, %arg2, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<4x5x5xf32>, tensor<5x4x2xf32>) -> tensor<4x5x2xf32>
    %16 = stablehlo.transpose %14, dims = [1, 0, 2] : (tensor<4x5x2xf32>) -> tensor<5x4x2xf32>
    return %16 : tensor<5x4x2xf32>
  }
  func.func private @_where(%arg0: tensor<4x5x5xi1>, %arg1: tensor<4x5x5xf32>, %arg2: tensor<f32>) -> tensor<4x5x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x5x5xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<4x5x5xi1>, tensor<4x5x5xf32>
    return %1 : tensor<4x5x5xf32>
  }
}
