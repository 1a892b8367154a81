module @jit_fsdp attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  sdy.mesh @mesh_0 = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<4x8xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}) {
    %0:4 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{}]>] manual_axes={"x"} (%arg2: tensor<2x4xf32>, %arg3: tensor<1x8xf32>) {
      %2 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<2x4xf32>) -> tensor<8x4xf32>
      %3 = stablehlo.dot_general %arg3, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
      %4 = stablehlo.multiply %3, %3 : tensor<1x4xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4xf32>
      %6 = stablehlo.multiply %5, %3 : tensor<1x4xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x4xf32>, tensor<f32>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %8 = stablehlo.divide %7, %cst_2 : tensor<f32>
      %9 = "stablehlo.all_reduce"(%8) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %13 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %13 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_3 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %10 = stablehlo.divide %9, %cst_3 : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1xf32>
      sdy.return %10, %6, %11, %12 : tensor<f32>, tensor<1x4xf32>, tensor<1xf32>, tensor<1xf32>
    } : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<f32>, tensor<4x4xf32>, tensor<4xf32>, tensor<1xf32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = sdy.manual_computation(%cst, %arg1, %0#1, %0#2, %0#3) in_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<f32>, %arg3: tensor<1x8xf32>, %arg4: tensor<1x4xf32>, %arg5: tensor<1xf32>, %arg6: tensor<1xf32>) {
      %2 = stablehlo.reshape %arg5 : (tensor<1xf32>) -> tensor<f32>
      %3 = stablehlo.reshape %arg6 : (tensor<1xf32>) -> tensor<f32>
      %4 = stablehlo.divide %arg2, %3 : tensor<f32>
      %5 = stablehlo.divide %4, %2 : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<1x4xf32>
      %7 = stablehlo.multiply %6, %arg4 : tensor<1x4xf32>
      %8 = stablehlo.dot_general %7, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x4xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
      %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %10 = "stablehlo.reduce_scatter"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %11 = stablehlo.add %arg7, %arg8 : tensor<f32>
        stablehlo.return %11 : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<2x4xf32>
      sdy.return %10 : tensor<2x4xf32>
    } : (tensor<f32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<8x4xf32>
    return %0#0, %1 : tensor<f32>, tensor<8x4xf32>
  }
}
