module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  sdy.mesh @mesh_0 = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<16x8xf32> {jax.result_info = "result[1]"}) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>) {
      %1 = stablehlo.complex %arg2, %arg3 : tensor<4x8xcomplex<f32>>
      %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> : (tensor<4x8xcomplex<f32>>) -> tensor<16x8xcomplex<f32>>
      %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
      %4 = stablehlo.multiply %1, %3 : tensor<4x8xcomplex<f32>>
      %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<complex<f32>>, %arg5: tensor<complex<f32>>):
        %30 = stablehlo.add %arg4, %arg5 : tensor<complex<f32>>
        stablehlo.return %30 : tensor<complex<f32>>
      }) : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
      %cst_0 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
      %7 = stablehlo.multiply %1, %6 : tensor<4x8xcomplex<f32>>
      %8 = "stablehlo.all_to_all"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4x8xcomplex<f32>>) -> tensor<1x32xcomplex<f32>>
      %cst_1 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
      %10 = stablehlo.add %1, %9 : tensor<4x8xcomplex<f32>>
      %11 = "stablehlo.collective_permute"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
      %cst_2 = stablehlo.constant dense<(0.000000e+00,3.000000e+00)> : tensor<complex<f32>>
      %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<complex<f32>>) -> tensor<4x8xcomplex<f32>>
      %13 = stablehlo.multiply %1, %12 : tensor<4x8xcomplex<f32>>
      %14 = "stablehlo.reduce_scatter"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<complex<f32>>, %arg5: tensor<complex<f32>>):
        %30 = stablehlo.add %arg4, %arg5 : tensor<complex<f32>>
        stablehlo.return %30 : tensor<complex<f32>>
      }) : (tensor<4x8xcomplex<f32>>) -> tensor<1x8xcomplex<f32>>
      %15 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x8xcomplex<f32>>) -> tensor<8x4xcomplex<f32>>
      %16 = stablehlo.dot_general %2, %15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xcomplex<f32>>, tensor<8x4xcomplex<f32>>) -> tensor<16x4xcomplex<f32>>
      %cst_3 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      %18 = stablehlo.transpose %8, dims = [1, 0] : (tensor<1x32xcomplex<f32>>) -> tensor<32x1xcomplex<f32>>
      %19 = stablehlo.dot_general %8, %18, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x32xcomplex<f32>>, tensor<32x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
      %cst_4 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %20 = stablehlo.reduce(%19 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      %21 = stablehlo.add %17, %20 : tensor<complex<f32>>
      %22 = stablehlo.multiply %11, %5 : tensor<4x8xcomplex<f32>>
      %cst_5 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %23 = stablehlo.reduce(%22 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      %24 = stablehlo.add %21, %23 : tensor<complex<f32>>
      %cst_6 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
      %25 = stablehlo.reduce(%14 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      %26 = stablehlo.add %24, %25 : tensor<complex<f32>>
      %27 = stablehlo.real %26 : (tensor<complex<f32>>) -> tensor<f32>
      %28 = "stablehlo.all_reduce"(%27) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %30 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %30 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %29 = stablehlo.imag %11 : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
      sdy.return %28, %29 : tensor<f32>, tensor<4x8xf32>
    } : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<f32>, tensor<16x8xf32>)
    return %0#0, %0#1 : tensor<f32>, tensor<16x8xf32>
  }
}
