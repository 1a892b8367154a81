module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg1: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}, %arg2: tensor<2x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}) -> (tensor<2x16x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>, <@mesh, [{}, {"x"}, {}]>] out_shardings=[<@mesh, [{}, {"x"}, {}]>] manual_axes={"x"} (%arg3: tensor<2x4x8xf32>, %arg4: tensor<2x4x8xf32>, %arg5: tensor<2x4x8xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x8xf32>
      %6 = stablehlo.multiply %arg3, %5 : tensor<2x4x8xf32>
      %7 = stablehlo.slice %6 [0:2, 0:4, 0:1] : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
      %8 = stablehlo.reshape %7 : (tensor<2x4x1xf32>) -> tensor<2x4xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+30> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %10 = stablehlo.subtract %8, %9 : tensor<2x4xf32>
      %11 = stablehlo.slice %6 [0:2, 0:4, 0:1] : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
      %12 = stablehlo.reshape %11 : (tensor<2x4x1xf32>) -> tensor<2x4xf32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %13:9 = stablehlo.while(%iterArg = %arg3, %iterArg_4 = %4, %iterArg_5 = %c_3, %iterArg_6 = %c_2, %iterArg_7 = %arg4, %iterArg_8 = %arg5, %iterArg_9 = %6, %iterArg_10 = %10, %iterArg_11 = %12) : tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
      cond {
        %c_12 = stablehlo.constant dense<4> : tensor<i32>
        %17 = stablehlo.compare LT, %iterArg_5, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %17 : tensor<i1>
      } do {
        %c_12 = stablehlo.constant dense<1> : tensor<i32>
        %17 = stablehlo.add %iterArg_6, %c_12 : tensor<i32>
        %18 = stablehlo.dot_general %iterArg, %iterArg_7, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x4xf32>
        %cst_13 = stablehlo.constant dense<2.82842708> : tensor<f32>
        %19 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x4x4xf32>
        %20 = stablehlo.divide %18, %19 : tensor<2x4x4xf32>
        %21 = stablehlo.convert %iterArg_6 : tensor<i32>
        %22 = stablehlo.subtract %iterArg_4, %21 : tensor<i32>
        %c_14 = stablehlo.constant dense<4> : tensor<i32>
        %23 = func.call @remainder(%22, %c_14) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %c_15 = stablehlo.constant dense<4> : tensor<i32>
        %24 = stablehlo.multiply %iterArg_4, %c_15 : tensor<i32>
        %25 = stablehlo.iota dim = 0 : tensor<4xi32>
        %26 = stablehlo.broadcast_in_dim %24, dims = [] : (tensor<i32>) -> tensor<4xi32>
        %27 = stablehlo.add %26, %25 : tensor<4xi32>
        %28 = stablehlo.broadcast_in_dim %27, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
        %c_16 = stablehlo.constant dense<4> : tensor<i32>
        %29 = stablehlo.multiply %23, %c_16 : tensor<i32>
        %30 = stablehlo.iota dim = 0 : tensor<4xi32>
        %31 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<i32>) -> tensor<4xi32>
        %32 = stablehlo.add %31, %30 : tensor<4xi32>
        %33 = stablehlo.broadcast_in_dim %32, dims = [1] : (tensor<4xi32>) -> tensor<1x4xi32>
        %34 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x4xi32>
        %35 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<1x4xi32>) -> tensor<4x4xi32>
        %36 = stablehlo.compare GE, %34, %35, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
        %cst_17 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
        %37 = func.call @_where_0(%36, %20, %cst_17) : (tensor<4x4xi1>, tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
        %cst_18 = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %38 = stablehlo.reduce(%37 init: %cst_18) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
        %39 = stablehlo.maximum %iterArg_10, %38 : tensor<2x4xf32>
        %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
        %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x4xf32>
        %42 = stablehlo.subtract %37, %41 : tensor<2x4x4xf32>
        %43 = stablehlo.exponential %42 : tensor<2x4x4xf32>
        %44 = stablehlo.subtract %iterArg_10, %39 : tensor<2x4xf32>
        %45 = stablehlo.exponential %44 : tensor<2x4xf32>
        %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
        %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
        %48 = stablehlo.multiply %iterArg_9, %47 : tensor<2x4x8xf32>
        %49 = stablehlo.dot_general %43, %iterArg_8, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
        %50 = stablehlo.add %48, %49 : tensor<2x4x8xf32>
        %51 = "stablehlo.collective_permute"(%iterArg_7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
        %52 = "stablehlo.collective_permute"(%iterArg_8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
        %53 = stablehlo.multiply %iterArg_11, %45 : tensor<2x4xf32>
        %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %54 = stablehlo.reduce(%43 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4xf32>
        %55 = stablehlo.add %53, %54 : tensor<2x4xf32>
        %c_20 = stablehlo.constant dense<1> : tensor<i32>
        %56 = stablehlo.add %iterArg_5, %c_20 : tensor<i32>
        stablehlo.return %iterArg, %iterArg_4, %56, %17, %51, %52, %50, %39, %55 : tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
      }
      %14 = stablehlo.broadcast_in_dim %13#8, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
      %16 = stablehlo.divide %13#6, %15 : tensor<2x4x8xf32>
      sdy.return %16 : tensor<2x4x8xf32>
    } : (tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
    return %0 : tensor<2x16x8xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<4x4xi1>, %arg1: tensor<2x4x4xf32>, %arg2: tensor<f32>) -> tensor<2x4x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<4x4xi1>) -> tensor<2x4x4xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x4xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x4xi1>, tensor<2x4x4xf32>
    return %3 : tensor<2x4x4xf32>
  }
}
