module @jit_collectives attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}) -> (tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>) {
    %0:4 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"tp"}, {}]>] out_shardings=[<@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"tp"}, {}]>] manual_axes={"tp"} (%arg1: tensor<1x8xf32>) {
      %1 = "stablehlo.reduce_scatter"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %5 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<1x8xf32>) -> tensor<1x2xf32>
      %2 = "stablehlo.all_to_all"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "tp">]>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<1x8xf32>) -> tensor<4x2xf32>
      %3 = "stablehlo.all_gather"(%1) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x2xf32>) -> tensor<1x8xf32>
      %4 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
      sdy.return %1, %2, %3, %4 : tensor<1x2xf32>, tensor<4x2xf32>, tensor<1x8xf32>, tensor<1x8xf32>
    } : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<1x8xf32>, tensor<16x2xf32>, tensor<1x8xf32>, tensor<4x8xf32>
  }
}
