module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  sdy.mesh @mesh_0 = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}, %arg1: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}) -> (tensor<8x4xf32> {jax.result_info = "result"}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"dp", ?}, {?}]>, <@mesh, [{"dp", ?}, {?}]>] out_shardings=[<@mesh, [{"dp", ?}, {?}]>, <@mesh, [{"dp", ?}]>, <@mesh, [{?}]>] manual_axes={"dp"} (%arg2: tensor<4x4xf32>, %arg3: tensor<2x8xf32>) {
      %2 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "dp">]>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
      %3 = stablehlo.dot_general %arg3, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      %4 = sdy.sharding_constraint %3 <@mesh, [{?}, {?}]> : tensor<2x4xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %6 = sdy.sharding_constraint %5 <@mesh, [{?}, {?}]> : tensor<2x4xf32>
      %7 = stablehlo.multiply %6, %4 : tensor<2x4xf32>
      %8 = sdy.sharding_constraint %7 <@mesh, [{?}, {?}]> : tensor<2x4xf32>
      %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %10 = sdy.sharding_constraint %9 <@mesh, [{?}]> : tensor<1xf32>
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %12 = sdy.sharding_constraint %11 <@mesh, [{?}]> : tensor<1xf32>
      sdy.return %8, %10, %12 : tensor<2x4xf32>, tensor<1xf32>, tensor<1xf32>
    } : (tensor<8x4xf32>, tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<2xf32>, tensor<1xf32>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = sdy.manual_computation(%cst, %arg1, %0#0, %0#1, %0#2) in_shardings=[<@mesh, []>, <@mesh, [{"dp", ?}, {?}]>, <@mesh, [{"dp", ?}, {?}]>, <@mesh, [{"dp", ?}]>, <@mesh, [{?}]>] out_shardings=[<@mesh, [{"dp", ?}, {?}]>] manual_axes={"dp"} (%arg2: tensor<f32>, %arg3: tensor<2x8xf32>, %arg4: tensor<2x4xf32>, %arg5: tensor<1xf32>, %arg6: tensor<1xf32>) {
      %2 = stablehlo.reshape %arg5 : (tensor<1xf32>) -> tensor<f32>
      %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<f32>
      %4 = stablehlo.reshape %arg6 : (tensor<1xf32>) -> tensor<f32>
      %5 = sdy.sharding_constraint %4 <@mesh, []> : tensor<f32>
      %6 = stablehlo.divide %arg2, %5 : tensor<f32>
      %7 = sdy.sharding_constraint %6 <@mesh, []> : tensor<f32>
      %8 = stablehlo.divide %7, %3 : tensor<f32>
      %9 = sdy.sharding_constraint %8 <@mesh, []> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
      %11 = sdy.sharding_constraint %10 <@mesh, [{?}, {?}]> : tensor<2x4xf32>
      %12 = stablehlo.multiply %11, %arg4 : tensor<2x4xf32>
      %13 = sdy.sharding_constraint %12 <@mesh, [{?}, {?}]> : tensor<2x4xf32>
      %14 = stablehlo.dot_general %13, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
      %15 = sdy.sharding_constraint %14 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %17 = sdy.sharding_constraint %16 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
      %18 = "stablehlo.reduce_scatter"(%17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "dp">]>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %19 = stablehlo.add %arg7, %arg8 : tensor<f32>
        %20 = sdy.sharding_constraint %19 <@mesh, []> : tensor<f32>
        stablehlo.return %20 : tensor<f32>
      }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
      sdy.return %18 : tensor<4x4xf32>
    } : (tensor<f32>, tensor<4x8xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<1xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
