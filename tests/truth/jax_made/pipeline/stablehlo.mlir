module @jit_pipeline attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}, {}]>}) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"tp"}, {}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"tp"} (%arg2: tensor<2x3xf32>, %arg3: tensor<1x3x3xf32>) {
      %1 = stablehlo.partition_id : tensor<ui32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.compare EQ, %4, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x3xf32>
      %6 = stablehlo.select %5, %arg2, %cst : tensor<i1>, tensor<2x3xf32>
      %7 = stablehlo.reshape %arg3 : (tensor<1x3x3xf32>) -> tensor<3x3xf32>
      %8:2 = stablehlo.while(%iterArg = %c_1, %iterArg_2 = %6) : tensor<i32>, tensor<2x3xf32>
      cond {
        %c_3 = stablehlo.constant dense<4> : tensor<i32>
        %11 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %11 : tensor<i1>
      } do {
        %11 = stablehlo.dot_general %iterArg_2, %7, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
        %12 = "stablehlo.collective_permute"(%11) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
        %c_3 = stablehlo.constant dense<1> : tensor<i32>
        %13 = stablehlo.add %iterArg, %c_3 : tensor<i32>
        stablehlo.return %13, %12 : tensor<i32>, tensor<2x3xf32>
      }
      %9 = stablehlo.select %5, %8#1, %cst : tensor<i1>, tensor<2x3xf32>
      %10 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %11 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      sdy.return %10 : tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
