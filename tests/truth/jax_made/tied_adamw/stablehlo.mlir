module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=2, "tp"=2]> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg1: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}, %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg4: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg5: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg7: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg8: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}, %arg9: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg10: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg11: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg12: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg13: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg14: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, %arg15: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}, %arg16: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg17: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg18: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}, %arg19: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg20: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg21: tensor<4x7xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<8x32xf32> {jax.result_info = "result[1]['a']"}, tensor<32xf32> {jax.result_info = "result[1]['ab']"}, tensor<8xf32> {jax.result_info = "result[1]['b']"}, tensor<32x8xf32> {jax.result_info = "result[1]['c']"}, tensor<12x8xf32> {jax.result_info = "result[1]['e']"}, tensor<8xf32> {jax.result_info = "result[1]['g']"}, tensor<6x8xf32> {jax.result_info = "result[1]['pos']"}, tensor<8x32xf32> {jax.result_info = "result[2]['a']"}, tensor<32xf32> {jax.result_info = "result[2]['ab']"}, tensor<8xf32> {jax.result_info = "result[2]['b']"}, tensor<32x8xf32> {jax.result_info = "result[2]['c']"}, tensor<12x8xf32> {jax.result_info = "result[2]['e']"}, tensor<8xf32> {jax.result_info = "result[2]['g']"}, tensor<6x8xf32> {jax.result_info = "result[2]['pos']"}, tensor<8x32xf32> {jax.result_info = "result[3]['a']"}, tensor<32xf32> {jax.result_info = "result[3]['ab']"}, tensor<8xf32> {jax.result_info = "result[3]['b']"}, tensor<32x8xf32> {jax.result_info = "result[3]['c']"}, tensor<12x8xf32> {jax.result_info = "result[3]['e']"}, tensor<8xf32> {jax.result_info = "result[3]['g']"}, tensor<6x8xf32> {jax.result_info = "result[3]['pos']"}) {
    %0 = stablehlo.slice %arg21 [0:4, 0:6] : (tensor<4x7xi32>) -> tensor<4x6xi32>
    %1:2 = call @_take(%arg4, %0) : (tensor<12x8xf32>, tensor<4x6xi32>) -> (tensor<4x6x8xf32>, tensor<4x6x1xi32>)
    %2 = stablehlo.broadcast_in_dim %arg6, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x6x8xf32>) -> tensor<4x6x8xf32>
    %4 = stablehlo.add %1#0, %3 : tensor<4x6x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<4x6x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9:4 = call @_var(%4, %c) : (tensor<4x6x8xf32>, tensor<i32>) -> (tensor<4x6x1xf32>, tensor<4x6x8xf32>, tensor<f32>, tensor<i1>)
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %11 = stablehlo.subtract %4, %10 : tensor<4x6x8xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %13 = stablehlo.add %9#0, %12 : tensor<4x6x1xf32>
    %14 = stablehlo.sqrt %13 : tensor<4x6x1xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %16 = stablehlo.divide %15, %14 : tensor<4x6x1xf32>
    %17 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %18 = stablehlo.divide %11, %17 : tensor<4x6x8xf32>
    %19 = stablehlo.multiply %14, %14 : tensor<4x6x1xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %21 = stablehlo.divide %20, %19 : tensor<4x6x1xf32>
    %22 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x6x8xf32>
    %24 = stablehlo.multiply %18, %23 : tensor<4x6x8xf32>
    %25 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x6x8xf32>
    %27 = stablehlo.add %24, %26 : tensor<4x6x8xf32>
    %28 = stablehlo.dot_general %27, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x8xf32>, tensor<8x32xf32>) -> tensor<4x6x32xf32>
    %29 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<4x6x32xf32>
    %31 = stablehlo.add %28, %30 : tensor<4x6x32xf32>
    %32 = stablehlo.multiply %31, %31 : tensor<4x6x32xf32>
    %33 = stablehlo.multiply %32, %31 : tensor<4x6x32xf32>
    %34 = stablehlo.multiply %31, %31 : tensor<4x6x32xf32>
    %cst_4 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<4x6x32xf32>
    %cst_5 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %38 = stablehlo.multiply %37, %33 : tensor<4x6x32xf32>
    %39 = stablehlo.add %31, %38 : tensor<4x6x32xf32>
    %cst_6 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %41 = stablehlo.multiply %40, %39 : tensor<4x6x32xf32>
    %42 = stablehlo.tanh %41 : tensor<4x6x32xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %44 = stablehlo.add %43, %42 : tensor<4x6x32xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %46 = stablehlo.subtract %45, %42 : tensor<4x6x32xf32>
    %47 = stablehlo.multiply %44, %46 : tensor<4x6x32xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %49 = stablehlo.add %48, %42 : tensor<4x6x32xf32>
    %cst_10 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %51 = stablehlo.multiply %50, %49 : tensor<4x6x32xf32>
    %52 = stablehlo.multiply %31, %51 : tensor<4x6x32xf32>
    %53 = stablehlo.dot_general %52, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x32xf32>, tensor<32x8xf32>) -> tensor<4x6x8xf32>
    %54 = stablehlo.add %4, %53 : tensor<4x6x8xf32>
    %55 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<12x8xf32>) -> tensor<8x12xf32>
    %56 = stablehlo.dot_general %54, %55, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6x8xf32>, tensor<8x12xf32>) -> tensor<4x6x12xf32>
    %57 = stablehlo.slice %arg21 [0:4, 1:7] : (tensor<4x7xi32>) -> tensor<4x6xi32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %58 = stablehlo.reduce(%56 init: %cst_11) applies stablehlo.maximum across dimensions = [2] : (tensor<4x6x12xf32>, tensor<f32>) -> tensor<4x6xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %60 = stablehlo.maximum %59, %58 : tensor<4x6xf32>
    %61 = stablehlo.is_finite %60 : (tensor<4x6xf32>) -> tensor<4x6xi1>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %63 = stablehlo.select %61, %60, %62 : tensor<4x6xi1>, tensor<4x6xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x12xf32>
    %66 = stablehlo.subtract %56, %65 : tensor<4x6x12xf32>
    %67 = stablehlo.exponential %66 : tensor<4x6x12xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_14) applies stablehlo.add across dimensions = [2] : (tensor<4x6x12xf32>, tensor<f32>) -> tensor<4x6xf32>
    %69 = stablehlo.abs %68 : tensor<4x6xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %71 = stablehlo.compare GE, %68, %70, FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %72 = stablehlo.log %69 : tensor<4x6xf32>
    %73 = stablehlo.add %72, %63 : tensor<4x6xf32>
    %74 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %75:2 = call @take_along_axis(%56, %74) : (tensor<4x6x12xf32>, tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>)
    %76 = stablehlo.reshape %75#0 : (tensor<4x6x1xf32>) -> tensor<4x6xf32>
    %77 = stablehlo.subtract %73, %76 : tensor<4x6xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %78 = stablehlo.reduce(%77 init: %cst_16) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %79 = stablehlo.divide %78, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %80 = stablehlo.divide %cst_18, %cst_19 : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %82 = stablehlo.negate %81 : tensor<4x6xf32>
    %83 = stablehlo.broadcast_in_dim %82, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %84 = call @take_along_axis_1(%75#1, %83) : (tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x12xf32>
    %85 = stablehlo.divide %81, %69 : tensor<4x6xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %87 = stablehlo.select %71, %86, %85 : tensor<4x6xi1>, tensor<4x6xf32>
    %88 = stablehlo.select %71, %85, %86 : tensor<4x6xi1>, tensor<4x6xf32>
    %89 = stablehlo.negate %87 : tensor<4x6xf32>
    %90 = stablehlo.add %88, %89 : tensor<4x6xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x12xf32>
    %92 = stablehlo.multiply %91, %67 : tensor<4x6x12xf32>
    %93 = stablehlo.add %84, %92 : tensor<4x6x12xf32>
    %94 = stablehlo.dot_general %93, %54, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<4x6x8xf32>) -> tensor<12x8xf32>
    %95 = stablehlo.transpose %94, dims = [1, 0] : (tensor<12x8xf32>) -> tensor<8x12xf32>
    %96 = stablehlo.dot_general %93, %55, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x12xf32>, tensor<8x12xf32>) -> tensor<4x6x8xf32>
    %97 = stablehlo.transpose %95, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
    %98 = stablehlo.dot_general %96, %52, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x8xf32>, tensor<4x6x32xf32>) -> tensor<8x32xf32>
    %99 = stablehlo.transpose %98, dims = [1, 0] : (tensor<8x32xf32>) -> tensor<32x8xf32>
    %100 = stablehlo.dot_general %96, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x8xf32>, tensor<32x8xf32>) -> tensor<4x6x32xf32>
    %101 = stablehlo.multiply %31, %100 : tensor<4x6x32xf32>
    %102 = stablehlo.multiply %100, %51 : tensor<4x6x32xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %104 = stablehlo.multiply %103, %101 : tensor<4x6x32xf32>
    %105 = stablehlo.multiply %104, %47 : tensor<4x6x32xf32>
    %cst_22 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %107 = stablehlo.multiply %106, %105 : tensor<4x6x32xf32>
    %108 = stablehlo.add %102, %107 : tensor<4x6x32xf32>
    %cst_23 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<4x6x32xf32>
    %110 = stablehlo.multiply %109, %107 : tensor<4x6x32xf32>
    %111 = stablehlo.multiply %110, %36 : tensor<4x6x32xf32>
    %112 = stablehlo.add %108, %111 : tensor<4x6x32xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_24) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6x32xf32>, tensor<f32>) -> tensor<32xf32>
    %114 = stablehlo.reshape %113 : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %115 = stablehlo.reduce(%114 init: %cst_25) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %116 = stablehlo.dot_general %112, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x32xf32>, tensor<4x6x8xf32>) -> tensor<32x8xf32>
    %117 = stablehlo.transpose %116, dims = [1, 0] : (tensor<32x8xf32>) -> tensor<8x32xf32>
    %118 = stablehlo.dot_general %112, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x6x32xf32>, tensor<8x32xf32>) -> tensor<4x6x8xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %119 = stablehlo.reduce(%118 init: %cst_26) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %120 = stablehlo.reshape %119 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_27) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %122 = stablehlo.multiply %18, %118 : tensor<4x6x8xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %123 = stablehlo.reduce(%122 init: %cst_28) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %124 = stablehlo.reshape %123 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %125 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<4x6x8xf32>
    %126 = stablehlo.multiply %118, %125 : tensor<4x6x8xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %127 = stablehlo.reduce(%124 init: %cst_29) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %128 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %129 = stablehlo.multiply %126, %128 : tensor<4x6x8xf32>
    %130 = stablehlo.multiply %129, %11 : tensor<4x6x8xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %131 = stablehlo.reduce(%130 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %132 = stablehlo.reshape %131 : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %133 = stablehlo.negate %132 : tensor<4x6x1xf32>
    %134 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %135 = stablehlo.divide %126, %134 : tensor<4x6x8xf32>
    %136 = stablehlo.multiply %133, %16 : tensor<4x6x1xf32>
    %137 = stablehlo.negate %135 : tensor<4x6x8xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.reduce(%137 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %139 = stablehlo.reshape %138 : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %140 = stablehlo.add %96, %135 : tensor<4x6x8xf32>
    %141 = call @_var_2(%9#1, %9#2, %9#3, %136) : (tensor<4x6x8xf32>, tensor<f32>, tensor<i1>, tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %142 = stablehlo.add %140, %141 : tensor<4x6x8xf32>
    %cst_32 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %144 = stablehlo.divide %139, %143 : tensor<4x6x1xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<4x6x1xf32>, tensor<f32>) -> tensor<4x6xf32>
    %146 = stablehlo.broadcast_in_dim %145, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
    %147 = stablehlo.add %142, %146 : tensor<4x6x8xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %148 = stablehlo.reduce(%147 init: %cst_34) applies stablehlo.add across dimensions = [0] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
    %149 = stablehlo.reshape %148 : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %150 = stablehlo.reduce(%149 init: %cst_35) applies stablehlo.add across dimensions = [0] : (tensor<1x6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
    %151 = call @_take_4(%1#1, %147) : (tensor<4x6x1xi32>, tensor<4x6x8xf32>) -> tensor<12x8xf32>
    %152 = stablehlo.add %97, %151 : tensor<12x8xf32>
    %153 = stablehlo.multiply %117, %117 : tensor<8x32xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %154 = stablehlo.reduce(%153 init: %cst_36) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %155 = stablehlo.add %cst_37, %154 : tensor<f32>
    %156 = stablehlo.multiply %115, %115 : tensor<32xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %157 = stablehlo.reduce(%156 init: %cst_38) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %158 = stablehlo.add %155, %157 : tensor<f32>
    %159 = stablehlo.multiply %121, %121 : tensor<8xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_39) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %161 = stablehlo.add %158, %160 : tensor<f32>
    %162 = stablehlo.multiply %99, %99 : tensor<32x8xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %163 = stablehlo.reduce(%162 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x8xf32>, tensor<f32>) -> tensor<f32>
    %164 = stablehlo.add %161, %163 : tensor<f32>
    %165 = stablehlo.multiply %152, %152 : tensor<12x8xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %166 = stablehlo.reduce(%165 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x8xf32>, tensor<f32>) -> tensor<f32>
    %167 = stablehlo.add %164, %166 : tensor<f32>
    %168 = stablehlo.multiply %127, %127 : tensor<8xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.reduce(%168 init: %cst_42) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %170 = stablehlo.add %167, %169 : tensor<f32>
    %171 = stablehlo.multiply %150, %150 : tensor<6x8xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %172 = stablehlo.reduce(%171 init: %cst_43) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x8xf32>, tensor<f32>) -> tensor<f32>
    %173 = stablehlo.add %170, %172 : tensor<f32>
    %174 = stablehlo.sqrt %173 : tensor<f32>
    %cst_44 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %175 = stablehlo.divide %cst_44, %174 : tensor<f32>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %176 = stablehlo.minimum %cst_45, %175 : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %178 = stablehlo.multiply %117, %177 : tensor<8x32xf32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %179 = stablehlo.divide %cst_46, %174 : tensor<f32>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %180 = stablehlo.minimum %cst_47, %179 : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %180, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %182 = stablehlo.multiply %115, %181 : tensor<32xf32>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %183 = stablehlo.divide %cst_48, %174 : tensor<f32>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %184 = stablehlo.minimum %cst_49, %183 : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %186 = stablehlo.multiply %121, %185 : tensor<8xf32>
    %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %187 = stablehlo.divide %cst_50, %174 : tensor<f32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %188 = stablehlo.minimum %cst_51, %187 : tensor<f32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %190 = stablehlo.multiply %99, %189 : tensor<32x8xf32>
    %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %191 = stablehlo.divide %cst_52, %174 : tensor<f32>
    %cst_53 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %192 = stablehlo.minimum %cst_53, %191 : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %192, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %194 = stablehlo.multiply %152, %193 : tensor<12x8xf32>
    %cst_54 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %195 = stablehlo.divide %cst_54, %174 : tensor<f32>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %196 = stablehlo.minimum %cst_55, %195 : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %198 = stablehlo.multiply %127, %197 : tensor<8xf32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %199 = stablehlo.divide %cst_56, %174 : tensor<f32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %200 = stablehlo.minimum %cst_57, %199 : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %200, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %202 = stablehlo.multiply %150, %201 : tensor<6x8xf32>
    %cst_58 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %204 = stablehlo.multiply %203, %arg7 : tensor<8x32xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %206 = stablehlo.multiply %205, %178 : tensor<8x32xf32>
    %207 = stablehlo.add %204, %206 : tensor<8x32xf32>
    %cst_60 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %208 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %209 = stablehlo.multiply %208, %arg8 : tensor<32xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %211 = stablehlo.multiply %210, %182 : tensor<32xf32>
    %212 = stablehlo.add %209, %211 : tensor<32xf32>
    %cst_62 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %214 = stablehlo.multiply %213, %arg9 : tensor<8xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %216 = stablehlo.multiply %215, %186 : tensor<8xf32>
    %217 = stablehlo.add %214, %216 : tensor<8xf32>
    %cst_64 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %218 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %219 = stablehlo.multiply %218, %arg10 : tensor<32x8xf32>
    %cst_65 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %221 = stablehlo.multiply %220, %190 : tensor<32x8xf32>
    %222 = stablehlo.add %219, %221 : tensor<32x8xf32>
    %cst_66 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %224 = stablehlo.multiply %223, %arg11 : tensor<12x8xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %226 = stablehlo.multiply %225, %194 : tensor<12x8xf32>
    %227 = stablehlo.add %224, %226 : tensor<12x8xf32>
    %cst_68 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %229 = stablehlo.multiply %228, %arg12 : tensor<8xf32>
    %cst_69 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %231 = stablehlo.multiply %230, %198 : tensor<8xf32>
    %232 = stablehlo.add %229, %231 : tensor<8xf32>
    %cst_70 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %234 = stablehlo.multiply %233, %arg13 : tensor<6x8xf32>
    %cst_71 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %236 = stablehlo.multiply %235, %202 : tensor<6x8xf32>
    %237 = stablehlo.add %234, %236 : tensor<6x8xf32>
    %cst_72 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %238 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %239 = stablehlo.multiply %238, %arg14 : tensor<8x32xf32>
    %cst_73 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %241 = stablehlo.multiply %240, %178 : tensor<8x32xf32>
    %242 = stablehlo.multiply %241, %178 : tensor<8x32xf32>
    %243 = stablehlo.add %239, %242 : tensor<8x32xf32>
    %cst_74 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %245 = stablehlo.multiply %244, %arg15 : tensor<32xf32>
    %cst_75 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %247 = stablehlo.multiply %246, %182 : tensor<32xf32>
    %248 = stablehlo.multiply %247, %182 : tensor<32xf32>
    %249 = stablehlo.add %245, %248 : tensor<32xf32>
    %cst_76 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %251 = stablehlo.multiply %250, %arg16 : tensor<8xf32>
    %cst_77 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %253 = stablehlo.multiply %252, %186 : tensor<8xf32>
    %254 = stablehlo.multiply %253, %186 : tensor<8xf32>
    %255 = stablehlo.add %251, %254 : tensor<8xf32>
    %cst_78 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %256 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %257 = stablehlo.multiply %256, %arg17 : tensor<32x8xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %259 = stablehlo.multiply %258, %190 : tensor<32x8xf32>
    %260 = stablehlo.multiply %259, %190 : tensor<32x8xf32>
    %261 = stablehlo.add %257, %260 : tensor<32x8xf32>
    %cst_80 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %263 = stablehlo.multiply %262, %arg18 : tensor<12x8xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %265 = stablehlo.multiply %264, %194 : tensor<12x8xf32>
    %266 = stablehlo.multiply %265, %194 : tensor<12x8xf32>
    %267 = stablehlo.add %263, %266 : tensor<12x8xf32>
    %cst_82 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %269 = stablehlo.multiply %268, %arg19 : tensor<8xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %271 = stablehlo.multiply %270, %198 : tensor<8xf32>
    %272 = stablehlo.multiply %271, %198 : tensor<8xf32>
    %273 = stablehlo.add %269, %272 : tensor<8xf32>
    %cst_84 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %274 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %275 = stablehlo.multiply %274, %arg20 : tensor<6x8xf32>
    %cst_85 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %277 = stablehlo.multiply %276, %202 : tensor<6x8xf32>
    %278 = stablehlo.multiply %277, %202 : tensor<6x8xf32>
    %279 = stablehlo.add %275, %278 : tensor<6x8xf32>
    %cst_86 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %281 = stablehlo.divide %207, %280 : tensor<8x32xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %283 = stablehlo.divide %243, %282 : tensor<8x32xf32>
    %284 = stablehlo.sqrt %283 : tensor<8x32xf32>
    %cst_88 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %286 = stablehlo.add %284, %285 : tensor<8x32xf32>
    %287 = stablehlo.divide %281, %286 : tensor<8x32xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %289 = stablehlo.multiply %288, %arg0 : tensor<8x32xf32>
    %290 = stablehlo.add %287, %289 : tensor<8x32xf32>
    %cst_90 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %292 = stablehlo.multiply %291, %290 : tensor<8x32xf32>
    %293 = stablehlo.subtract %arg0, %292 : tensor<8x32xf32>
    %cst_91 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %294 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %295 = stablehlo.divide %212, %294 : tensor<32xf32>
    %cst_92 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %297 = stablehlo.divide %249, %296 : tensor<32xf32>
    %298 = stablehlo.sqrt %297 : tensor<32xf32>
    %cst_93 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %300 = stablehlo.add %298, %299 : tensor<32xf32>
    %301 = stablehlo.divide %295, %300 : tensor<32xf32>
    %cst_94 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %303 = stablehlo.multiply %302, %arg1 : tensor<32xf32>
    %304 = stablehlo.add %301, %303 : tensor<32xf32>
    %cst_95 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %306 = stablehlo.multiply %305, %304 : tensor<32xf32>
    %307 = stablehlo.subtract %arg1, %306 : tensor<32xf32>
    %cst_96 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %309 = stablehlo.divide %217, %308 : tensor<8xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %311 = stablehlo.divide %255, %310 : tensor<8xf32>
    %312 = stablehlo.sqrt %311 : tensor<8xf32>
    %cst_98 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %314 = stablehlo.add %312, %313 : tensor<8xf32>
    %315 = stablehlo.divide %309, %314 : tensor<8xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %317 = stablehlo.multiply %316, %arg2 : tensor<8xf32>
    %318 = stablehlo.add %315, %317 : tensor<8xf32>
    %cst_100 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %319 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %320 = stablehlo.multiply %319, %318 : tensor<8xf32>
    %321 = stablehlo.subtract %arg2, %320 : tensor<8xf32>
    %cst_101 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %323 = stablehlo.divide %222, %322 : tensor<32x8xf32>
    %cst_102 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %325 = stablehlo.divide %261, %324 : tensor<32x8xf32>
    %326 = stablehlo.sqrt %325 : tensor<32x8xf32>
    %cst_103 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %328 = stablehlo.add %326, %327 : tensor<32x8xf32>
    %329 = stablehlo.divide %323, %328 : tensor<32x8xf32>
    %cst_104 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %331 = stablehlo.multiply %330, %arg3 : tensor<32x8xf32>
    %332 = stablehlo.add %329, %331 : tensor<32x8xf32>
    %cst_105 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %333 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<32x8xf32>
    %334 = stablehlo.multiply %333, %332 : tensor<32x8xf32>
    %335 = stablehlo.subtract %arg3, %334 : tensor<32x8xf32>
    %cst_106 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %336 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %337 = stablehlo.divide %227, %336 : tensor<12x8xf32>
    %cst_107 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %339 = stablehlo.divide %267, %338 : tensor<12x8xf32>
    %340 = stablehlo.sqrt %339 : tensor<12x8xf32>
    %cst_108 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %342 = stablehlo.add %340, %341 : tensor<12x8xf32>
    %343 = stablehlo.divide %337, %342 : tensor<12x8xf32>
    %cst_109 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %345 = stablehlo.multiply %344, %arg4 : tensor<12x8xf32>
    %346 = stablehlo.add %343, %345 : tensor<12x8xf32>
    %cst_110 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %348 = stablehlo.multiply %347, %346 : tensor<12x8xf32>
    %349 = stablehlo.subtract %arg4, %348 : tensor<12x8xf32>
    %cst_111 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %350 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %351 = stablehlo.divide %232, %350 : tensor<8xf32>
    %cst_112 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %353 = stablehlo.divide %273, %352 : tensor<8xf32>
    %354 = stablehlo.sqrt %353 : tensor<8xf32>
    %cst_113 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %356 = stablehlo.add %354, %355 : tensor<8xf32>
    %357 = stablehlo.divide %351, %356 : tensor<8xf32>
    %cst_114 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %359 = stablehlo.multiply %358, %arg5 : tensor<8xf32>
    %360 = stablehlo.add %357, %359 : tensor<8xf32>
    %cst_115 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %361 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %362 = stablehlo.multiply %361, %360 : tensor<8xf32>
    %363 = stablehlo.subtract %arg5, %362 : tensor<8xf32>
    %cst_116 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %365 = stablehlo.divide %237, %364 : tensor<6x8xf32>
    %cst_117 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %366 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %367 = stablehlo.divide %279, %366 : tensor<6x8xf32>
    %368 = stablehlo.sqrt %367 : tensor<6x8xf32>
    %cst_118 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %370 = stablehlo.add %368, %369 : tensor<6x8xf32>
    %371 = stablehlo.divide %365, %370 : tensor<6x8xf32>
    %cst_119 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %372 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %373 = stablehlo.multiply %372, %arg6 : tensor<6x8xf32>
    %374 = stablehlo.add %371, %373 : tensor<6x8xf32>
    %cst_120 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %376 = stablehlo.multiply %375, %374 : tensor<6x8xf32>
    %377 = stablehlo.subtract %arg6, %376 : tensor<6x8xf32>
    return %79, %293, %307, %321, %335, %349, %363, %377, %207, %212, %217, %222, %227, %232, %237, %243, %249, %255, %261, %267, %273, %279 : tensor<f32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8xf32>, tensor<32x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<6x8xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8xf32>, tensor<32x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<6x8xf32>, tensor<8x32xf32>, tensor<32xf32>, tensor<8xf32>, tensor<32x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<6x8xf32>
  }
  func.func private @_take(%arg0: tensor<12x8xf32>, %arg1: tensor<4x6xi32>) -> (tensor<4x6x8xf32>, tensor<4x6x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x6xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<4x6xi1>, tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
    %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x6x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x6x1xi32>, tensor<4x6x1xi32>) -> tensor<4x6x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x6x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x6x1xi32>, tensor<4x6x1xi32>) -> tensor<4x6x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x6x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<4x6x1xi1>, tensor<i1>) -> tensor<4x6xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<12x8xf32>, tensor<4x6x1xi32>) -> tensor<4x6x8xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<4x6xi1>) -> tensor<4x6x8xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x8xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<4x6x8xi1>, tensor<4x6x8xf32>
    return %16, %5 : tensor<4x6x8xf32>, tensor<4x6x1xi32>
  }
  func.func private @_where(%arg0: tensor<4x6xi1>, %arg1: tensor<4x6xi32>, %arg2: tensor<4x6xi32>) -> tensor<4x6xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x6xi1>, tensor<4x6xi32>
    return %0 : tensor<4x6xi32>
  }
  func.func private @_var(%arg0: tensor<4x6x8xf32>, %arg1: tensor<i32>) -> (tensor<4x6x1xf32>, tensor<4x6x8xf32>, tensor<f32>, tensor<i1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %cst_0 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x6x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x6x1xf32>) -> tensor<4x6x8xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x6x8xf32>
    %6 = chlo.square %5 : tensor<4x6x8xf32> -> tensor<4x6x8xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6x8xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<4x6x8xf32>
    %9 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.subtract %cst_2, %9 : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%6 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %13 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<4x6x1xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %10, %cst_4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16 = call @_where_0(%15, %14, %cst_5) : (tensor<i1>, tensor<4x6x1xf32>, tensor<f32>) -> tensor<4x6x1xf32>
    return %16, %8, %10, %15 : tensor<4x6x1xf32>, tensor<4x6x8xf32>, tensor<f32>, tensor<i1>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<4x6x1xf32>, %arg2: tensor<f32>) -> tensor<4x6x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x6x1xf32>
    return %2 : tensor<4x6x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x6x12xf32>, %arg1: tensor<4x6x1xi32>) -> (tensor<4x6x1xf32>, tensor<4x6x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x6x1xi32>, tensor<4x6x1xi32>) -> tensor<4x6x1xi1>
    %c_0 = stablehlo.constant dense<12> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x6x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x6x1xi1>, tensor<4x6x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x6x1xi32>) -> tensor<4x6x1x1xi32>
    %c_1 = stablehlo.constant dense<11> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x6x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x6x1x1xi32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<4x6x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x6x1x1xi32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x6x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<4x6x1x1xi1>, tensor<i1>) -> tensor<4x6x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x6x12xf32>, tensor<4x6x1x1xi32>) -> tensor<4x6x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x6x1xi1>, tensor<4x6x1xf32>
    return %15, %5 : tensor<4x6x1xf32>, tensor<4x6x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<4x6x1x1xi32>, %arg1: tensor<4x6x1xf32>) -> tensor<4x6x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x12xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x6x12xf32>, tensor<4x6x1x1xi32>, tensor<4x6x1xf32>) -> tensor<4x6x12xf32>
    return %1 : tensor<4x6x12xf32>
  }
  func.func private @_var_2(%arg0: tensor<4x6x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i1>, %arg3: tensor<4x6x1xf32>) -> tensor<4x6x8xf32> {
    %0 = call @_where_3(%arg2, %arg3) : (tensor<i1>, tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %2 = stablehlo.divide %0, %1 : tensor<4x6x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x6x1xf32>, tensor<f32>) -> tensor<4x6xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
    %5 = stablehlo.multiply %4, %arg0 : tensor<4x6x8xf32>
    %6 = stablehlo.negate %5 : tensor<4x6x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x6xf32>
    %8 = stablehlo.reshape %7 : (tensor<4x6xf32>) -> tensor<4x6x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<4x6x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x6x1xf32>, tensor<f32>) -> tensor<4x6xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x6xf32>) -> tensor<4x6x8xf32>
    %13 = stablehlo.add %5, %12 : tensor<4x6x8xf32>
    return %13 : tensor<4x6x8xf32>
  }
  func.func private @_where_3(%arg0: tensor<i1>, %arg1: tensor<4x6x1xf32>) -> tensor<4x6x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6x1xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<i1>, tensor<4x6x1xf32>
    return %1 : tensor<4x6x1xf32>
  }
  func.func private @_take_4(%arg0: tensor<4x6x1xi32>, %arg1: tensor<4x6x8xf32>) -> tensor<12x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<12x8xf32>, tensor<4x6x1xi32>, tensor<4x6x8xf32>) -> tensor<12x8xf32>
    return %1 : tensor<12x8xf32>
  }
}
