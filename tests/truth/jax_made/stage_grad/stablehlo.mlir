module @jit__lambda attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["pp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "pp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  sdy.mesh @mesh_0 = <["pp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "pp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"pp"}, {}, {"tp"}]>}, %arg1: tensor<3x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> (tensor<2x8x8xf32> {jax.result_info = "result"}) {
    %0:10 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{?}, {?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>] manual_axes={"pp"} (%arg2: tensor<1x8x8xf32>, %arg3: tensor<3x4x8xf32>) {
      %7 = stablehlo.reshape %arg2 : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
      %8 = sdy.sharding_constraint %7 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
      %9 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"tp"} () {
        %c_26 = stablehlo.constant dense<2> : tensor<ui32>
        %c_27 = stablehlo.constant dense<2> : tensor<ui32>
        %66 = stablehlo.partition_id : tensor<ui32>
        %67 = stablehlo.divide %66, %c_26 : tensor<ui32>
        %68 = stablehlo.remainder %67, %c_27 : tensor<ui32>
        %69 = stablehlo.convert %68 : (tensor<ui32>) -> tensor<i32>
        sdy.return %69 : tensor<i32>
      } : () -> tensor<i32>
      %10 = sdy.sharding_constraint %9 <@mesh, []> : tensor<i32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %12 = sdy.sharding_constraint %11 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
      %14 = sdy.sharding_constraint %13 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
      %15 = stablehlo.iota dim = 0 : tensor<4xi32>
      %16 = sdy.sharding_constraint %15 <@mesh, [{?}]> : tensor<4xi32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %17 = stablehlo.compare EQ, %10, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %c_5 = stablehlo.constant dense<2> : tensor<i32>
      %18:2 = func.call @clip(%c_4, %c_5) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %19 = sdy.sharding_constraint %18#0 <@mesh, []> : tensor<i32>
      %20 = sdy.sharding_constraint %18#1 <@mesh, []> : tensor<i32>
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.compare LT, %c_6, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<0> : tensor<i32>
      %c_9 = stablehlo.constant dense<4> : tensor<i32>
      %22 = stablehlo.add %c_8, %c_9 : tensor<i32>
      %23 = sdy.sharding_constraint %22 <@mesh, []> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %24 = stablehlo.select %21, %23, %c_10 : tensor<i1>, tensor<i32>
      %25 = sdy.sharding_constraint %24 <@mesh, []> : tensor<i32>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %26 = stablehlo.compare LT, %c_11, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %c_14 = stablehlo.constant dense<8> : tensor<i32>
      %27 = stablehlo.add %c_13, %c_14 : tensor<i32>
      %28 = sdy.sharding_constraint %27 <@mesh, []> : tensor<i32>
      %c_15 = stablehlo.constant dense<0> : tensor<i32>
      %29 = stablehlo.select %26, %28, %c_15 : tensor<i1>, tensor<i32>
      %30 = sdy.sharding_constraint %29 <@mesh, []> : tensor<i32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %31 = stablehlo.compare EQ, %10, %c_16, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %c_18 = stablehlo.constant dense<2> : tensor<i32>
      %32:2 = func.call @clip(%c_17, %c_18) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %33 = sdy.sharding_constraint %32#0 <@mesh, []> : tensor<i32>
      %34 = sdy.sharding_constraint %32#1 <@mesh, []> : tensor<i32>
      %35:2 = func.call @dynamic_update_index_in_dim() : () -> (tensor<i32>, tensor<i32>)
      %36 = sdy.sharding_constraint %35#0 <@mesh, []> : tensor<i32>
      %37 = sdy.sharding_constraint %35#1 <@mesh, []> : tensor<i32>
      %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %38 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<4x4x8xf32>
      %39 = sdy.sharding_constraint %38 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
      %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %40 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x4x8xf32>
      %41 = sdy.sharding_constraint %40 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %42 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %43 = sdy.sharding_constraint %42 <@mesh, [{?}]> : tensor<4xi32>
      %c_22 = stablehlo.constant dense<false> : tensor<i1>
      %44 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i1>) -> tensor<4xi1>
      %45 = sdy.sharding_constraint %44 <@mesh, [{?}]> : tensor<4xi1>
      %c_23 = stablehlo.constant dense<0> : tensor<i32>
      %46:20 = stablehlo.while(%iterArg = %16, %iterArg_26 = %arg3, %iterArg_27 = %19, %iterArg_28 = %20, %iterArg_29 = %25, %iterArg_30 = %30, %iterArg_31 = %17, %iterArg_32 = %8, %iterArg_33 = %31, %iterArg_34 = %33, %iterArg_35 = %34, %iterArg_36 = %36, %iterArg_37 = %37, %iterArg_38 = %c_23, %iterArg_39 = %12, %iterArg_40 = %14, %iterArg_41 = %39, %iterArg_42 = %41, %iterArg_43 = %43, %iterArg_44 = %45) : tensor<4xi32>, tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>
      cond {
        %c_45 = stablehlo.constant dense<4> : tensor<i32>
        %66 = sdy.sharding_constraint %iterArg_38 <@mesh, []> : tensor<i32>
        %67 = sdy.sharding_constraint %c_45 <@mesh, []> : tensor<i32>
        %68 = stablehlo.compare LT, %66, %67, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %68 : tensor<i1>
      } do {
        %66 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_38) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        %67 = sdy.sharding_constraint %66 <@mesh, []> : tensor<i32>
        %68 = func.call @clip_0(%67, %iterArg_27, %iterArg_28) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %69 = sdy.sharding_constraint %68 <@mesh, []> : tensor<i32>
        %c_45 = stablehlo.constant dense<0> : tensor<i32>
        %70 = stablehlo.compare LT, %69, %c_45, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %c_46 = stablehlo.constant dense<3> : tensor<i32>
        %71 = stablehlo.add %69, %c_46 : tensor<i32>
        %72 = sdy.sharding_constraint %71 <@mesh, []> : tensor<i32>
        %73 = stablehlo.select %70, %72, %69 : tensor<i1>, tensor<i32>
        %74 = sdy.sharding_constraint %73 <@mesh, []> : tensor<i32>
        %75 = stablehlo.dynamic_slice %iterArg_26, %74, %iterArg_29, %iterArg_30, sizes = [1, 4, 8] : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
        %76 = sdy.sharding_constraint %75 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
        %77 = stablehlo.reshape %76 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
        %78 = sdy.sharding_constraint %77 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %79 = func.call @_where(%78, %iterArg_39, %iterArg_31) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>) -> tensor<4x8xf32>
        %80 = sdy.sharding_constraint %79 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %81 = stablehlo.dot_general %80, %iterArg_32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
        %82 = sdy.sharding_constraint %81 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %83 = stablehlo.tanh %82 : tensor<4x8xf32>
        %84 = sdy.sharding_constraint %83 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %85 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
        %86 = sdy.sharding_constraint %85 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %87 = stablehlo.add %86, %84 : tensor<4x8xf32>
        %88 = sdy.sharding_constraint %87 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
        %89 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
        %90 = sdy.sharding_constraint %89 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %91 = stablehlo.subtract %90, %84 : tensor<4x8xf32>
        %92 = sdy.sharding_constraint %91 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %93 = stablehlo.multiply %88, %92 : tensor<4x8xf32>
        %94 = sdy.sharding_constraint %93 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %c_49 = stablehlo.constant dense<1> : tensor<i32>
        %95 = stablehlo.compare GE, %67, %c_49, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %96 = stablehlo.and %iterArg_33, %95 : tensor<i1>
        %97 = sdy.sharding_constraint %96 <@mesh, []> : tensor<i1>
        %c_50 = stablehlo.constant dense<1> : tensor<i32>
        %98 = stablehlo.subtract %67, %c_50 : tensor<i32>
        %99 = sdy.sharding_constraint %98 <@mesh, []> : tensor<i32>
        %100 = func.call @clip_0(%99, %iterArg_34, %iterArg_35) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %101 = sdy.sharding_constraint %100 <@mesh, []> : tensor<i32>
        %102:2 = func.call @dynamic_update_index_in_dim_1(%iterArg_40, %84, %101, %iterArg_36, %iterArg_37) : (tensor<3x4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<3x4x8xf32>, tensor<i32>)
        %103 = sdy.sharding_constraint %102#0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %104 = sdy.sharding_constraint %102#1 <@mesh, []> : tensor<i32>
        %105 = func.call @_where_2(%97, %103, %iterArg_40) : (tensor<i1>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
        %106 = sdy.sharding_constraint %105 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %107 = "stablehlo.collective_permute"(%84) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %108 = sdy.sharding_constraint %107 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %109 = sdy.sharding_constraint %106 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %110 = sdy.sharding_constraint %80 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %111 = sdy.sharding_constraint %94 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %112 = sdy.sharding_constraint %104 <@mesh, []> : tensor<i32>
        %113 = sdy.sharding_constraint %97 <@mesh, []> : tensor<i1>
        %114 = func.call @dynamic_update_index_in_dim_3(%iterArg_41, %110, %iterArg_38) : (tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x4x8xf32>
        %115 = sdy.sharding_constraint %114 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
        %116 = func.call @dynamic_update_index_in_dim_3(%iterArg_42, %111, %iterArg_38) : (tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x4x8xf32>
        %117 = sdy.sharding_constraint %116 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
        %118 = func.call @dynamic_update_index_in_dim_4(%iterArg_43, %112, %iterArg_38) : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
        %119 = sdy.sharding_constraint %118 <@mesh, [{?}]> : tensor<4xi32>
        %120 = func.call @dynamic_update_index_in_dim_5(%iterArg_44, %113, %iterArg_38) : (tensor<4xi1>, tensor<i1>, tensor<i32>) -> tensor<4xi1>
        %121 = sdy.sharding_constraint %120 <@mesh, [{?}]> : tensor<4xi1>
        %c_51 = stablehlo.constant dense<1> : tensor<i32>
        %122 = sdy.sharding_constraint %iterArg_38 <@mesh, []> : tensor<i32>
        %123 = sdy.sharding_constraint %c_51 <@mesh, []> : tensor<i32>
        %124 = stablehlo.add %122, %123 : tensor<i32>
        %125 = sdy.sharding_constraint %124 <@mesh, []> : tensor<i32>
        stablehlo.return %iterArg, %iterArg_26, %iterArg_27, %iterArg_28, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %125, %108, %109, %115, %117, %119, %121 : tensor<4xi32>, tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<8x8xf32>, tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>
      }
      %47 = sdy.sharding_constraint %46#13 <@mesh, []> : tensor<i32>
      %48 = sdy.sharding_constraint %46#14 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      %49 = sdy.sharding_constraint %46#15 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
      %50 = sdy.sharding_constraint %46#16 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
      %51 = sdy.sharding_constraint %46#17 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
      %52 = sdy.sharding_constraint %46#18 <@mesh, [{?}]> : tensor<4xi32>
      %53 = sdy.sharding_constraint %46#19 <@mesh, [{?}]> : tensor<4xi1>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %54 = stablehlo.compare EQ, %10, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_25 = stablehlo.constant dense<0> : tensor<i32>
      %55 = func.call @_where_6(%54, %49, %c_25) : (tensor<i1>, tensor<3x4x8xf32>, tensor<i32>) -> tensor<3x4x8xf32>
      %56 = sdy.sharding_constraint %55 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
      %57 = "stablehlo.all_reduce"(%56) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "pp">]>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %66 = stablehlo.add %arg4, %arg5 : tensor<f32>
        %67 = sdy.sharding_constraint %66 <@mesh, []> : tensor<f32>
        stablehlo.return %67 : tensor<f32>
      }) : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %58 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %59 = sdy.sharding_constraint %58 <@mesh, [{?}]> : tensor<1xi1>
      %60 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %61 = sdy.sharding_constraint %60 <@mesh, [{?}]> : tensor<1xi32>
      %62 = stablehlo.broadcast_in_dim %37, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %63 = sdy.sharding_constraint %62 <@mesh, [{?}]> : tensor<1xi32>
      %64 = stablehlo.broadcast_in_dim %54, dims = [] : (tensor<i1>) -> tensor<1xi1>
      %65 = sdy.sharding_constraint %64 <@mesh, [{?}]> : tensor<1xi1>
      sdy.return %57, %59, %8, %61, %63, %50, %51, %52, %53, %65 : tensor<3x4x8xf32>, tensor<1xi1>, tensor<8x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<1xi1>
    } : (tensor<2x8x8xf32>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<2xi1>, tensor<16x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8xi32>, tensor<8xi1>, tensor<2xi1>)
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
    %2 = stablehlo.multiply %1, %0#0 : tensor<3x4x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %3 = stablehlo.divide %cst_0, %cst_1 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
    %5 = stablehlo.multiply %4, %2 : tensor<3x4x8xf32>
    %6 = sdy.manual_computation(%5, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9) in_shardings=[<@mesh, [{?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}, {?}, {?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>, <@mesh, [{"pp", ?}]>] out_shardings=[<@mesh, [{"pp", ?}, {?}, {?}]>] manual_axes={"pp"} (%arg2: tensor<3x4x8xf32>, %arg3: tensor<1xi1>, %arg4: tensor<8x8xf32>, %arg5: tensor<1xi32>, %arg6: tensor<1xi32>, %arg7: tensor<4x4x8xf32>, %arg8: tensor<4x4x8xf32>, %arg9: tensor<4xi32>, %arg10: tensor<4xi1>, %arg11: tensor<1xi1>) {
      %7 = stablehlo.reshape %arg3 : (tensor<1xi1>) -> tensor<i1>
      %8 = sdy.sharding_constraint %7 <@mesh, []> : tensor<i1>
      %9 = stablehlo.reshape %arg5 : (tensor<1xi32>) -> tensor<i32>
      %10 = sdy.sharding_constraint %9 <@mesh, []> : tensor<i32>
      %11 = stablehlo.reshape %arg6 : (tensor<1xi32>) -> tensor<i32>
      %12 = sdy.sharding_constraint %11 <@mesh, []> : tensor<i32>
      %13 = stablehlo.reshape %arg11 : (tensor<1xi1>) -> tensor<i1>
      %14 = sdy.sharding_constraint %13 <@mesh, []> : tensor<i1>
      %15 = func.call @_where_7(%14, %arg2) : (tensor<i1>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
      %16 = sdy.sharding_constraint %15 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
      %18 = sdy.sharding_constraint %17 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
      %20 = sdy.sharding_constraint %19 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %21:12 = stablehlo.while(%iterArg = %arg7, %iterArg_4 = %arg8, %iterArg_5 = %arg9, %iterArg_6 = %arg10, %iterArg_7 = %8, %iterArg_8 = %arg4, %iterArg_9 = %10, %iterArg_10 = %12, %iterArg_11 = %c, %iterArg_12 = %20, %iterArg_13 = %18, %iterArg_14 = %16) : tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>
      cond {
        %c_15 = stablehlo.constant dense<4> : tensor<i32>
        %28 = sdy.sharding_constraint %iterArg_11 <@mesh, []> : tensor<i32>
        %29 = sdy.sharding_constraint %c_15 <@mesh, []> : tensor<i32>
        %30 = stablehlo.compare LT, %28, %29, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %30 : tensor<i1>
      } do {
        %c_15 = stablehlo.constant dense<4> : tensor<i32>
        %28 = stablehlo.subtract %c_15, %iterArg_11 : tensor<i32>
        %c_16 = stablehlo.constant dense<1> : tensor<i32>
        %29 = stablehlo.subtract %28, %c_16 : tensor<i32>
        %30 = func.call @dynamic_index_in_dim_8(%iterArg, %29) : (tensor<4x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %31 = sdy.sharding_constraint %30 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %32 = func.call @dynamic_index_in_dim_8(%iterArg_4, %29) : (tensor<4x4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
        %33 = sdy.sharding_constraint %32 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %34 = func.call @dynamic_index_in_dim_9(%iterArg_5, %29) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
        %35 = sdy.sharding_constraint %34 <@mesh, []> : tensor<i32>
        %36 = func.call @dynamic_index_in_dim_10(%iterArg_6, %29) : (tensor<4xi1>, tensor<i32>) -> tensor<i1>
        %37 = sdy.sharding_constraint %36 <@mesh, []> : tensor<i1>
        %38 = "stablehlo.collective_permute"(%iterArg_13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 0], [0, 2], [3, 1], [1, 3]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %39:2 = func.call @_where_11(%37, %iterArg_14) : (tensor<i1>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>)
        %40 = sdy.sharding_constraint %39#0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %41 = sdy.sharding_constraint %39#1 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %42:2 = func.call @dynamic_update_index_in_dim_12(%35, %iterArg_9, %iterArg_10, %40) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<4x8xf32>)
        %43 = sdy.sharding_constraint %42#0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %44 = sdy.sharding_constraint %42#1 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %45 = stablehlo.add %41, %43 : tensor<3x4x8xf32>
        %46 = sdy.sharding_constraint %45 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %47 = stablehlo.add %38, %44 : tensor<4x8xf32>
        %48 = sdy.sharding_constraint %47 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %49 = stablehlo.multiply %48, %33 : tensor<4x8xf32>
        %50 = sdy.sharding_constraint %49 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %51 = stablehlo.dot_general %50, %31, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
        %52 = sdy.sharding_constraint %51 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
        %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %54 = sdy.sharding_constraint %53 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
        %55 = stablehlo.add %iterArg_12, %54 : tensor<8x8xf32>
        %56 = sdy.sharding_constraint %55 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
        %57 = stablehlo.dot_general %50, %iterArg_8, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
        %58 = sdy.sharding_constraint %57 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %59 = func.call @_where_13(%iterArg_7, %58) : (tensor<i1>, tensor<4x8xf32>) -> tensor<4x8xf32>
        %60 = sdy.sharding_constraint %59 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %61 = sdy.sharding_constraint %56 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
        %62 = sdy.sharding_constraint %60 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
        %63 = sdy.sharding_constraint %46 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
        %c_17 = stablehlo.constant dense<1> : tensor<i32>
        %64 = sdy.sharding_constraint %iterArg_11 <@mesh, []> : tensor<i32>
        %65 = sdy.sharding_constraint %c_17 <@mesh, []> : tensor<i32>
        %66 = stablehlo.add %64, %65 : tensor<i32>
        %67 = sdy.sharding_constraint %66 <@mesh, []> : tensor<i32>
        stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %67, %61, %62, %63 : tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4xi32>, tensor<4xi1>, tensor<i1>, tensor<8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<3x4x8xf32>
      }
      %22 = sdy.sharding_constraint %21#8 <@mesh, []> : tensor<i32>
      %23 = sdy.sharding_constraint %21#9 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
      %24 = sdy.sharding_constraint %21#10 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      %25 = sdy.sharding_constraint %21#11 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
      %26 = stablehlo.broadcast_in_dim %23, dims = [1, 2] : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
      %27 = sdy.sharding_constraint %26 <@mesh, [{?}, {?}, {?}]> : tensor<1x8x8xf32>
      sdy.return %27 : tensor<1x8x8xf32>
    } : (tensor<3x4x8xf32>, tensor<2xi1>, tensor<16x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<8x4x8xf32>, tensor<8x4x8xf32>, tensor<8xi32>, tensor<8xi1>, tensor<2xi1>) -> tensor<2x8x8xf32>
    return %6 : tensor<2x8x8xf32>
  }
  func.func private @clip(%arg0: tensor<i32>, %arg1: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = stablehlo.convert %arg0 : tensor<i32>
    %1 = sdy.sharding_constraint %0 <@mesh, []> : tensor<i32>
    %2 = stablehlo.convert %arg1 : tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    return %3, %1 : tensor<i32>, tensor<i32>
  }
  func.func private @dynamic_update_index_in_dim() -> (tensor<i32>, tensor<i32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    return %c, %c_0 : tensor<i32>, tensor<i32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    return %3 : tensor<i32>
  }
  func.func private @clip_0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.maximum %arg2, %arg0 : tensor<i32>
    %1 = sdy.sharding_constraint %0 <@mesh, []> : tensor<i32>
    %2 = stablehlo.minimum %arg1, %1 : tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    return %3 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i1>) -> tensor<4x8xf32> {
    %0 = stablehlo.select %arg2, %arg0, %arg1 : tensor<i1>, tensor<4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<3x4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>) -> (tensor<3x4x8xf32>, tensor<i32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.add %arg2, %c_0 : tensor<i32>
    %4 = sdy.sharding_constraint %3 <@mesh, []> : tensor<i32>
    %5 = stablehlo.select %2, %4, %arg2 : tensor<i1>, tensor<i32>
    %6 = sdy.sharding_constraint %5 <@mesh, []> : tensor<i32>
    %7 = stablehlo.dynamic_update_slice %arg0, %1, %6, %arg3, %arg4 : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %8 = sdy.sharding_constraint %7 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    return %8, %6 : tensor<3x4x8xf32>, tensor<i32>
  }
  func.func private @_where_2(%arg0: tensor<i1>, %arg1: tensor<3x4x8xf32>, %arg2: tensor<3x4x8xf32>) -> tensor<3x4x8xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<3x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    return %1 : tensor<3x4x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_3(%arg0: tensor<4x4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i32>) -> tensor<4x4x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2, %c, %c_0 : (tensor<4x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}, {?}]> : tensor<4x4x8xf32>
    return %3 : tensor<4x4x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_4(%arg0: tensor<4xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<4xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xi32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}]> : tensor<4xi32>
    return %3 : tensor<4xi32>
  }
  func.func private @dynamic_update_index_in_dim_5(%arg0: tensor<4xi1>, %arg1: tensor<i1>, %arg2: tensor<i32>) -> tensor<4xi1> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xi1>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg2 : (tensor<4xi1>, tensor<1xi1>, tensor<i32>) -> tensor<4xi1>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}]> : tensor<4xi1>
    return %3 : tensor<4xi1>
  }
  func.func private @_where_6(%arg0: tensor<i1>, %arg1: tensor<3x4x8xf32>, %arg2: tensor<i32>) -> tensor<3x4x8xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = sdy.sharding_constraint %0 <@mesh, []> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    %4 = stablehlo.select %arg0, %arg1, %3 : tensor<i1>, tensor<3x4x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    return %5 : tensor<3x4x8xf32>
  }
  func.func private @_where_7(%arg0: tensor<i1>, %arg1: tensor<3x4x8xf32>) -> tensor<3x4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<3x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    return %3 : tensor<3x4x8xf32>
  }
  func.func private @dynamic_index_in_dim_8(%arg0: tensor<4x4x8xf32>, %arg1: tensor<i32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 8] : (tensor<4x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
  func.func private @dynamic_index_in_dim_9(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    return %3 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim_10(%arg0: tensor<4xi1>, %arg1: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xi1>, tensor<i32>) -> tensor<1xi1>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}]> : tensor<1xi1>
    %2 = stablehlo.reshape %1 : (tensor<1xi1>) -> tensor<i1>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i1>
    return %3 : tensor<i1>
  }
  func.func private @_where_11(%arg0: tensor<i1>, %arg1: tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<3x4x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    %2 = stablehlo.select %arg0, %1, %arg1 : tensor<i1>, tensor<3x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    %4 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<3x4x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    return %5, %3 : tensor<3x4x8xf32>, tensor<3x4x8xf32>
  }
  func.func private @dynamic_update_index_in_dim_12(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<3x4x8xf32>) -> (tensor<3x4x8xf32>, tensor<4x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
    %2 = stablehlo.dynamic_update_slice %arg3, %1, %arg0, %arg1, %arg2 : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}, {?}]> : tensor<3x4x8xf32>
    %4 = stablehlo.dynamic_slice %arg3, %arg0, %arg1, %arg2, sizes = [1, 4, 8] : (tensor<3x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}, {?}]> : tensor<1x4x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %3, %7 : tensor<3x4x8xf32>, tensor<4x8xf32>
  }
  func.func private @_where_13(%arg0: tensor<i1>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %2 = stablehlo.select %arg0, %1, %arg1 : tensor<i1>, tensor<4x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}
