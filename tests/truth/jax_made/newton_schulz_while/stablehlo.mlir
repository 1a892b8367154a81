module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  sdy.mesh @mesh_0 = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<i32> {jax.result_info = "result[2]"}) {
    %0:3 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}]>, <@mesh, []>, <@mesh, []>] manual_axes={"x"} (%arg1: tensor<2x6xf32>) {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %cst_0 = stablehlo.constant dense<2.44948983> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %3 = stablehlo.divide %1, %2 : tensor<6xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %4:4 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %3, %iterArg_3 = %cst_1, %iterArg_4 = %c) : tensor<2x6xf32>, tensor<6xf32>, tensor<f32>, tensor<i32>
      cond {
        %cst_5 = stablehlo.constant dense<9.99999974E-5> : tensor<f32>
        %5 = stablehlo.compare GT, %iterArg_3, %cst_5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %c_6 = stablehlo.constant dense<200> : tensor<i32>
        %6 = stablehlo.compare LT, %iterArg_4, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_7 = stablehlo.constant dense<false> : tensor<i1>
        %7 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<i1>
        %8 = stablehlo.compare NE, %6, %7, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %9 = stablehlo.convert %8 : tensor<i1>
        %10 = stablehlo.and %5, %9 : tensor<i1>
        stablehlo.return %10 : tensor<i1>
      } do {
        %5 = stablehlo.transpose %iterArg, dims = [1, 0] : (tensor<2x6xf32>) -> tensor<6x2xf32>
        %6 = stablehlo.dot_general %iterArg, %iterArg_2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<6xf32>) -> tensor<2xf32>
        %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x2xf32>, tensor<2xf32>) -> tensor<6xf32>
        %8 = "stablehlo.all_reduce"(%7) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
        ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
          %15 = stablehlo.add %arg2, %arg3 : tensor<f32>
          stablehlo.return %15 : tensor<f32>
        }) : (tensor<6xf32>) -> tensor<6xf32>
        %9 = func.call @norm(%8) : (tensor<6xf32>) -> tensor<f32>
        %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<6xf32>
        %11 = stablehlo.divide %8, %10 : tensor<6xf32>
        %12 = stablehlo.subtract %11, %iterArg_2 : tensor<6xf32>
        %13 = func.call @norm(%12) : (tensor<6xf32>) -> tensor<f32>
        %c_5 = stablehlo.constant dense<1> : tensor<i32>
        %14 = stablehlo.add %iterArg_4, %c_5 : tensor<i32>
        stablehlo.return %iterArg, %11, %13, %14 : tensor<2x6xf32>, tensor<6xf32>, tensor<f32>, tensor<i32>
      }
      sdy.return %4#1, %4#2, %4#3 : tensor<6xf32>, tensor<f32>, tensor<i32>
    } : (tensor<8x6xf32>) -> (tensor<6xf32>, tensor<f32>, tensor<i32>)
    return %0#0, %0#1, %0#2 : tensor<6xf32>, tensor<f32>, tensor<i32>
  }
  func.func private @norm(%arg0: tensor<6xf32>) -> tensor<f32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.sqrt %1 : tensor<f32>
    return %2 : tensor<f32>
  }
}
