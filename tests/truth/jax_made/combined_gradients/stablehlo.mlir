module @jit_ddp attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  sdy.mesh @mesh_0 = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<6x8xf32>, %arg1: tensor<8x2xf32>, %arg2: tensor<8x6xf32>, %arg3: tensor<8x2xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<6x8xf32> {jax.result_info = "result[1][0]"}, tensor<8x2xf32> {jax.result_info = "result[1][1]"}) {
    %0:3 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, []>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"} (%arg4: tensor<6x8xf32>, %arg5: tensor<8x2xf32>, %arg6: tensor<2x6xf32>, %arg7: tensor<2x2xf32>) {
      %7 = stablehlo.dot_general %arg6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<6x8xf32>) -> tensor<2x8xf32>
      %8 = func.call @relu(%7) : (tensor<2x8xf32>) -> tensor<2x8xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
      %10 = stablehlo.compare GT, %7, %9, FLOAT : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
      %11 = stablehlo.dot_general %8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
      %12 = stablehlo.subtract %11, %arg7 : tensor<2x2xf32>
      %13 = stablehlo.multiply %12, %12 : tensor<2x2xf32>
      %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      %15 = stablehlo.multiply %14, %12 : tensor<2x2xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %16 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
      %cst_4 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %17 = stablehlo.divide %16, %cst_4 : tensor<f32>
      %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_6 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %18 = stablehlo.divide %cst_5, %cst_6 : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      %20 = stablehlo.multiply %19, %15 : tensor<2x2xf32>
      %21 = stablehlo.dot_general %20, %8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
      %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
      %23 = stablehlo.dot_general %20, %arg5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<8x2xf32>) -> tensor<2x8xf32>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %24 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
      %25 = stablehlo.select %10, %23, %24 : tensor<2x8xi1>, tensor<2x8xf32>
      %26 = stablehlo.dot_general %25, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<2x6xf32>) -> tensor<8x6xf32>
      %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
      %28 = "stablehlo.all_reduce"(%17) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %36 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %36 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %29 = stablehlo.divide %28, %cst_8 : tensor<f32>
      %30 = "stablehlo.all_reduce"(%27) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %36 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %36 : tensor<f32>
      }) : (tensor<6x8xf32>) -> tensor<6x8xf32>
      %cst_9 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %31 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
      %32 = stablehlo.divide %30, %31 : tensor<6x8xf32>
      %33 = "stablehlo.all_reduce"(%22) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %36 = stablehlo.add %arg8, %arg9 : tensor<f32>
        stablehlo.return %36 : tensor<f32>
      }) : (tensor<8x2xf32>) -> tensor<8x2xf32>
      %cst_10 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
      %35 = stablehlo.divide %33, %34 : tensor<8x2xf32>
      sdy.return %29, %32, %35 : tensor<f32>, tensor<6x8xf32>, tensor<8x2xf32>
    } : (tensor<6x8xf32>, tensor<8x2xf32>, tensor<8x6xf32>, tensor<8x2xf32>) -> (tensor<f32>, tensor<6x8xf32>, tensor<8x2xf32>)
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %2 = stablehlo.multiply %1, %0#1 : tensor<6x8xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<6x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x2xf32>
    %5 = stablehlo.multiply %4, %0#2 : tensor<8x2xf32>
    %6 = stablehlo.subtract %arg1, %5 : tensor<8x2xf32>
    return %0#0, %3, %6 : tensor<f32>, tensor<6x8xf32>, tensor<8x2xf32>
  }
  func.func private @relu(%arg0: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x8xf32>
    return %1 : tensor<2x8xf32>
  }
}
