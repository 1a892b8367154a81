module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]> {stablehlo.mesh = {axes = [{name = "tp", size = 4 : i64}]}}
  sdy.mesh @mesh_0 = <["tp"=4]> {stablehlo.mesh = {axes = [{name = "tp", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg2: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg3: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg4: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x16xf32> {jax.result_info = "result[1][0]"}, tensor<16x8xf32> {jax.result_info = "result[1][1]"}, tensor<8x32xf32> {jax.result_info = "result[1][2]"}) {
    %0:4 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4) in_shardings=[<@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}, {"tp"}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, []>, <@mesh, [{}, {"tp"}]>, <@mesh, [{"tp"}, {}]>, <@mesh, [{}, {"tp"}]>] manual_axes={"tp"} (%arg5: tensor<8x4xf32>, %arg6: tensor<4x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<6x8xf32>, %arg9: tensor<6xi32>) {
      %1 = stablehlo.dot_general %arg8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
      %2 = func.call @relu(%1) : (tensor<6x4xf32>) -> tensor<6x4xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
      %4 = stablehlo.compare GT, %1, %3, FLOAT : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xi1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
      %6 = stablehlo.dot_general %2, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
      %7 = "stablehlo.all_reduce"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "tp">]>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %75 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %75 : tensor<f32>
      }) : (tensor<6x8xf32>) -> tensor<6x8xf32>
      %8 = stablehlo.dot_general %7, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
      %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
      %10 = stablehlo.reshape %9 : (tensor<6xf32>) -> tensor<6x1xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x8xf32>
      %12 = stablehlo.compare EQ, %8, %11, FLOAT : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xi1>
      %13 = stablehlo.convert %12 : (tensor<6x8xi1>) -> tensor<6x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
      %15 = "stablehlo.all_reduce"(%9) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "tp">]>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %75 = stablehlo.maximum %arg10, %arg11 : tensor<f32>
        stablehlo.return %75 : tensor<f32>
      }) : (tensor<6xf32>) -> tensor<6xf32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x8xf32>
      %18 = stablehlo.subtract %8, %17 : tensor<6x8xf32>
      %19 = stablehlo.exponential %18 : tensor<6x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %20 = stablehlo.reduce(%19 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<6xf32>
      %21 = "stablehlo.all_reduce"(%20) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "tp">]>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %75 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %75 : tensor<f32>
      }) : (tensor<6xf32>) -> tensor<6xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_4 = stablehlo.constant dense<4> : tensor<ui32>
      %22 = stablehlo.partition_id : tensor<ui32>
      %23 = stablehlo.divide %22, %c : tensor<ui32>
      %24 = stablehlo.remainder %23, %c_4 : tensor<ui32>
      %25 = stablehlo.convert %24 : (tensor<ui32>) -> tensor<i32>
      %c_5 = stablehlo.constant dense<8> : tensor<i32>
      %26 = stablehlo.multiply %25, %c_5 : tensor<i32>
      %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %28 = stablehlo.subtract %arg9, %27 : tensor<6xi32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %29 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %30 = stablehlo.compare GE, %28, %29, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %c_7 = stablehlo.constant dense<8> : tensor<i32>
      %31 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %32 = stablehlo.compare LT, %28, %31, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %33 = stablehlo.and %30, %32 : tensor<6xi1>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %c_9 = stablehlo.constant dense<7> : tensor<i32>
      %34 = func.call @clip(%28, %c_8, %c_9) : (tensor<6xi32>, tensor<i32>, tensor<i32>) -> tensor<6xi32>
      %35 = stablehlo.broadcast_in_dim %34, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
      %36:2 = func.call @take_along_axis(%8, %35) : (tensor<6x8xf32>, tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>)
      %37 = stablehlo.reshape %36#0 : (tensor<6x1xf32>) -> tensor<6xf32>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %38:2 = func.call @_where(%33, %37, %cst_10) : (tensor<6xi1>, tensor<6xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
      %39 = "stablehlo.all_reduce"(%38#0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "tp">]>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %75 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %75 : tensor<f32>
      }) : (tensor<6xf32>) -> tensor<6xf32>
      %40 = stablehlo.log %21 : tensor<6xf32>
      %41 = stablehlo.add %40, %15 : tensor<6xf32>
      %42 = stablehlo.subtract %41, %39 : tensor<6xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %43 = stablehlo.reduce(%42 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
      %cst_12 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
      %44 = stablehlo.divide %43, %cst_12 : tensor<f32>
      %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %cst_14 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
      %45 = stablehlo.divide %cst_13, %cst_14 : tensor<f32>
      %46 = stablehlo.broadcast_in_dim %45, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %47 = stablehlo.negate %46 : tensor<6xf32>
      %48 = stablehlo.divide %46, %21 : tensor<6xf32>
      %49 = func.call @_where_0(%33, %38#1, %47) : (tensor<6xi1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
      %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
      %51 = func.call @take_along_axis_1(%36#1, %50) : (tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x8xf32>
      %52 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<6xf32>) -> tensor<6x8xf32>
      %53 = stablehlo.multiply %52, %19 : tensor<6x8xf32>
      %54 = stablehlo.add %51, %53 : tensor<6x8xf32>
      %55 = stablehlo.dot_general %54, %7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
      %56 = stablehlo.transpose %55, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %57 = stablehlo.dot_general %54, %arg7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
      %58 = "stablehlo.all_reduce"(%57) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "tp">]>, use_global_device_ids}> ({
      ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
        %75 = stablehlo.add %arg10, %arg11 : tensor<f32>
        stablehlo.return %75 : tensor<f32>
      }) : (tensor<6x8xf32>) -> tensor<6x8xf32>
      %59 = stablehlo.dot_general %58, %2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
      %60 = stablehlo.transpose %59, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
      %61 = stablehlo.dot_general %58, %arg6, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
      %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %62 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
      %63 = stablehlo.select %4, %61, %62 : tensor<6x4xi1>, tensor<6x4xf32>
      %64 = stablehlo.dot_general %63, %arg8, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
      %65 = stablehlo.transpose %64, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %cst_16 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %66 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
      %67 = stablehlo.multiply %66, %65 : tensor<8x4xf32>
      %68 = stablehlo.subtract %arg5, %67 : tensor<8x4xf32>
      %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %69 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %70 = stablehlo.multiply %69, %60 : tensor<4x8xf32>
      %71 = stablehlo.subtract %arg6, %70 : tensor<4x8xf32>
      %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %72 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %73 = stablehlo.multiply %72, %56 : tensor<8x8xf32>
      %74 = stablehlo.subtract %arg7, %73 : tensor<8x8xf32>
      sdy.return %44, %68, %71, %74 : tensor<f32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>
    } : (tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x32xf32>, tensor<6x8xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x32xf32>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<f32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x32xf32>
  }
  func.func private @relu(%arg0: tensor<6x4xf32>) -> tensor<6x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
  func.func private @clip(%arg0: tensor<6xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<6xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<6xi32>
    %3 = stablehlo.convert %arg2 : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %5 = stablehlo.minimum %4, %2 : tensor<6xi32>
    return %5 : tensor<6xi32>
  }
  func.func private @take_along_axis(%arg0: tensor<6x8xf32>, %arg1: tensor<6x1xi32>) -> (tensor<6x1xf32>, tensor<6x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x1xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<6x1xi1>, tensor<6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<6x1xi32>) -> tensor<6x1x1xi32>
    %c_1 = stablehlo.constant dense<7> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<6x1x1xi32>, tensor<6x1x1xi32>) -> tensor<6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<6x1x1xi1>, tensor<i1>) -> tensor<6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<6x8xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<6x1xi1>, tensor<6x1xf32>
    return %15, %5 : tensor<6x1xf32>, tensor<6x1x1xi32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xf32>, %arg2: tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<6xi1>, tensor<6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    return %2, %3 : tensor<6xf32>, tensor<6xf32>
  }
  func.func private @_where_0(%arg0: tensor<6xi1>, %arg1: tensor<6xf32>, %arg2: tensor<6xf32>) -> tensor<6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<6xi1>, tensor<6xf32>
    return %1 : tensor<6xf32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<6x1x1xi32>, %arg1: tensor<6x1xf32>) -> tensor<6x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<6x8xf32>, tensor<6x1x1xi32>, tensor<6x1xf32>) -> tensor<6x8xf32>
    return %1 : tensor<6x8xf32>
  }
}
