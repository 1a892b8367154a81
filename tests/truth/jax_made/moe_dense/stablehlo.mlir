module @jit_moe_dense attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<6x3xf32>, %arg1: tensor<4x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}, {}]>}, %arg2: tensor<6xi32>) -> (tensor<6x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<"0x0000803F0000003F00000040000080BF"> : tensor<4xf32>
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<6xi32>) -> tensor<6x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<6x4xi32>
    %2 = stablehlo.compare EQ, %0, %1, SIGNED : (tensor<6x4xi32>, tensor<6x4xi32>) -> tensor<6x4xi1>
    %3 = stablehlo.convert %2 : (tensor<6x4xi1>) -> tensor<6x4xf32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<4xf32>) -> tensor<6x4xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<6x4xf32>
    %6 = stablehlo.dot_general %5, %arg0, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<6x4x3xf32>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [1, 2] x [0, 1] : (tensor<6x4x3xf32>, tensor<4x3x2xf32>) -> tensor<6x2xf32>
    return %7 : tensor<6x2xf32>
  }
}
