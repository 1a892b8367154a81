module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["dp"=8]> {stablehlo.mesh = {axes = [{name = "dp", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<3x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg5: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg7: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg8: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg9: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg10: tensor<3x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg11: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg12: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, %arg13: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}) -> (tensor<16x6xf32> {jax.result_info = "result[0].layers[0].weight"}, tensor<16xf32> {jax.result_info = "result[0].layers[0].bias"}, tensor<16x16xf32> {jax.result_info = "result[0].layers[1].weight"}, tensor<16xf32> {jax.result_info = "result[0].layers[1].bias"}, tensor<3x16xf32> {jax.result_info = "result[0].layers[2].weight"}, tensor<3xf32> {jax.result_info = "result[0].layers[2].bias"}, tensor<16x6xf32> {jax.result_info = "result[1][0].nu.layers[0].weight"}, tensor<16xf32> {jax.result_info = "result[1][0].nu.layers[0].bias"}, tensor<16x16xf32> {jax.result_info = "result[1][0].nu.layers[1].weight"}, tensor<16xf32> {jax.result_info = "result[1][0].nu.layers[1].bias"}, tensor<3x16xf32> {jax.result_info = "result[1][0].nu.layers[2].weight"}, tensor<3xf32> {jax.result_info = "result[1][0].nu.layers[2].bias"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg12, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x16xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<16x16xf32>
    %4 = stablehlo.add %1, %3 : tensor<16x16xf32>
    %5 = call @relu(%4) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
    %10 = stablehlo.dot_general %arg2, %5, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %12 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<16x16xf32>
    %14 = stablehlo.add %11, %13 : tensor<16x16xf32>
    %15 = call @relu(%14) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %17 = stablehlo.compare GT, %14, %16, FLOAT : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<16xf32>) -> tensor<16x16xf32>
    %20 = stablehlo.dot_general %arg4, %15, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<3x16xf32>) -> tensor<16x3xf32>
    %22 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<16x3xf32>
    %24 = stablehlo.add %21, %23 : tensor<16x3xf32>
    %25 = stablehlo.subtract %24, %arg13 : tensor<16x3xf32>
    %26 = stablehlo.multiply %25, %25 : tensor<16x3xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
    %28 = stablehlo.multiply %27, %25 : tensor<16x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%26 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x3xf32>, tensor<f32>) -> tensor<f32>
    %cst_5 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
    %30 = stablehlo.divide %29, %cst_5 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_7 = stablehlo.constant dense<4.800000e+01> : tensor<f32>
    %31 = stablehlo.divide %cst_6, %cst_7 : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<f32>) -> tensor<16x3xf32>
    %33 = stablehlo.multiply %32, %28 : tensor<16x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<16x3xf32>, tensor<f32>) -> tensor<3xf32>
    %35 = stablehlo.reshape %34 : (tensor<3xf32>) -> tensor<1x3xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<3xf32>
    %37 = stablehlo.transpose %33, dims = [1, 0] : (tensor<16x3xf32>) -> tensor<3x16xf32>
    %38 = stablehlo.dot_general %37, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<16x16xf32>
    %39 = stablehlo.dot_general %37, %15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %41 = stablehlo.select %17, %38, %40 : tensor<16x16xi1>, tensor<16x16xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %43 = stablehlo.reshape %42 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%43 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %45 = stablehlo.transpose %41, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %46 = stablehlo.dot_general %45, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %47 = stablehlo.dot_general %45, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %49 = stablehlo.select %7, %46, %48 : tensor<16x16xi1>, tensor<16x16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<16x16xf32>, tensor<f32>) -> tensor<16xf32>
    %51 = stablehlo.reshape %50 : (tensor<16xf32>) -> tensor<1x16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_15) applies stablehlo.add across dimensions = [0] : (tensor<1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %53 = stablehlo.transpose %49, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %54 = stablehlo.dot_general %53, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %55 = stablehlo.multiply %54, %54 : tensor<16x6xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %57 = stablehlo.multiply %56, %55 : tensor<16x6xf32>
    %cst_17 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %59 = stablehlo.multiply %58, %arg6 : tensor<16x6xf32>
    %60 = stablehlo.add %57, %59 : tensor<16x6xf32>
    %61 = stablehlo.multiply %52, %52 : tensor<16xf32>
    %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<16xf32>
    %cst_19 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %65 = stablehlo.multiply %64, %arg7 : tensor<16xf32>
    %66 = stablehlo.add %63, %65 : tensor<16xf32>
    %67 = stablehlo.multiply %47, %47 : tensor<16x16xf32>
    %cst_20 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %69 = stablehlo.multiply %68, %67 : tensor<16x16xf32>
    %cst_21 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %71 = stablehlo.multiply %70, %arg8 : tensor<16x16xf32>
    %72 = stablehlo.add %69, %71 : tensor<16x16xf32>
    %73 = stablehlo.multiply %44, %44 : tensor<16xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %75 = stablehlo.multiply %74, %73 : tensor<16xf32>
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %77 = stablehlo.multiply %76, %arg9 : tensor<16xf32>
    %78 = stablehlo.add %75, %77 : tensor<16xf32>
    %79 = stablehlo.multiply %39, %39 : tensor<3x16xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<3x16xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<3x16xf32>
    %cst_25 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<3x16xf32>
    %83 = stablehlo.multiply %82, %arg10 : tensor<3x16xf32>
    %84 = stablehlo.add %81, %83 : tensor<3x16xf32>
    %85 = stablehlo.multiply %36, %36 : tensor<3xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<3xf32>
    %cst_27 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %89 = stablehlo.multiply %88, %arg11 : tensor<3xf32>
    %90 = stablehlo.add %87, %89 : tensor<3xf32>
    %cst_28 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %92 = stablehlo.add %60, %91 : tensor<16x6xf32>
    %93 = stablehlo.rsqrt %92 : tensor<16x6xf32>
    %cst_29 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %95 = stablehlo.add %66, %94 : tensor<16xf32>
    %96 = stablehlo.rsqrt %95 : tensor<16xf32>
    %cst_30 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %98 = stablehlo.add %72, %97 : tensor<16x16xf32>
    %99 = stablehlo.rsqrt %98 : tensor<16x16xf32>
    %cst_31 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %101 = stablehlo.add %78, %100 : tensor<16xf32>
    %102 = stablehlo.rsqrt %101 : tensor<16xf32>
    %cst_32 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<3x16xf32>
    %104 = stablehlo.add %84, %103 : tensor<3x16xf32>
    %105 = stablehlo.rsqrt %104 : tensor<3x16xf32>
    %cst_33 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %107 = stablehlo.add %90, %106 : tensor<3xf32>
    %108 = stablehlo.rsqrt %107 : tensor<3xf32>
    %109 = stablehlo.multiply %93, %54 : tensor<16x6xf32>
    %110 = stablehlo.multiply %96, %52 : tensor<16xf32>
    %111 = stablehlo.multiply %99, %47 : tensor<16x16xf32>
    %112 = stablehlo.multiply %102, %44 : tensor<16xf32>
    %113 = stablehlo.multiply %105, %39 : tensor<3x16xf32>
    %114 = stablehlo.multiply %108, %36 : tensor<3xf32>
    %cst_34 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<16x6xf32>
    %116 = stablehlo.multiply %115, %109 : tensor<16x6xf32>
    %cst_35 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %118 = stablehlo.multiply %117, %110 : tensor<16xf32>
    %cst_36 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %119 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %120 = stablehlo.multiply %119, %111 : tensor<16x16xf32>
    %cst_37 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %121 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %122 = stablehlo.multiply %121, %112 : tensor<16xf32>
    %cst_38 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<3x16xf32>
    %124 = stablehlo.multiply %123, %113 : tensor<3x16xf32>
    %cst_39 = stablehlo.constant dense<-0.00999999977> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %126 = stablehlo.multiply %125, %114 : tensor<3xf32>
    %127 = stablehlo.add %arg0, %116 : tensor<16x6xf32>
    %128 = stablehlo.add %arg1, %118 : tensor<16xf32>
    %129 = stablehlo.add %arg2, %120 : tensor<16x16xf32>
    %130 = stablehlo.add %arg3, %122 : tensor<16xf32>
    %131 = stablehlo.add %arg4, %124 : tensor<3x16xf32>
    %132 = stablehlo.add %arg5, %126 : tensor<3xf32>
    return %127, %128, %129, %130, %131, %132, %60, %66, %72, %78, %84, %90, %30 : tensor<16x6xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<3x16xf32>, tensor<3xf32>, tensor<16x6xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<3x16xf32>, tensor<3xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x16xf32>
    return %1 : tensor<16x16xf32>
  }
}
