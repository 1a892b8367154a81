module @jit_branches attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.case"(%arg0) ({
      %3 = stablehlo.sine %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }, {
      %3 = stablehlo.cosine %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }, {
      %3 = stablehlo.multiply %arg1, %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %arg0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = "stablehlo.if"(%1) ({
      stablehlo.return %arg1 : tensor<4xf32>
    }, {
      %3 = stablehlo.negate %arg1 : tensor<4xf32>
      stablehlo.return %3 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
}
