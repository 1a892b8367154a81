module @jit_sort_topk attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<2x4xf32>, tensor<2x4xi32>, tensor<2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x6xf32>) {
    %0 = stablehlo.iota dim = 1 : tensor<2x4xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.compare  EQ, %arg1, %cst_9,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst_9, %arg1 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare  EQ, %arg2, %cst_9,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %10 = stablehlo.select %9, %cst_9, %arg2 : tensor<i1>, tensor<f32>
      %11 = stablehlo.compare  LT, %8, %10,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    }) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %7 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.compare  NE, %arg1, %arg1,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %9 = stablehlo.or %7, %8 : tensor<i1>
      %10 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %12 = stablehlo.and %10, %11 : tensor<i1>
      %13 = stablehlo.or %9, %12 : tensor<i1>
      %14 = stablehlo.select %9, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %15 = stablehlo.select %13, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %14, %15 : tensor<f32>, tensor<i32>
    }
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %3 = stablehlo.reverse %arg0, dims = [1] : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<9.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %3, %cst_0, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_1 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.clamp %cst_1, %4, %cst_2 : (tensor<f32>, tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    return %1#0, %1#1, %2#1, %values, %indices, %5 : tensor<2x4xf32>, tensor<2x4xi32>, tensor<2xi32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x6xf32>
  }
}
