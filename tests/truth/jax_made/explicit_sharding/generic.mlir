"builtin.module"() <{sym_name = "jit_f"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["dp"=2, "tp"=2]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "dp", size = 2 : i64}, {name = "tp", size = 2 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>}, {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>}], function_type = (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x4xf32>), res_attrs = [{jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}, {jax.result_info = "result[1]", sdy.sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}, {jax.result_info = "result[2]", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}]>}, {jax.result_info = "result[3]", sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {"dp"}]>}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<16x8xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = "stablehlo.multiply"(%1, %1) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %3 = "stablehlo.multiply"(%2, %1) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %4 = "sdy.sharding_constraint"(%3) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %5 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %7 = "sdy.sharding_constraint"(%6) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %8 = "stablehlo.multiply"(%7, %4) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %9 = "sdy.sharding_constraint"(%8) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %10 = "stablehlo.add"(%1, %9) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %11 = "sdy.sharding_constraint"(%10) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %12 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %14 = "sdy.sharding_constraint"(%13) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %15 = "stablehlo.multiply"(%14, %11) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %16 = "sdy.sharding_constraint"(%15) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %17 = "stablehlo.tanh"(%16) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %18 = "sdy.sharding_constraint"(%17) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %21 = "sdy.sharding_constraint"(%20) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %22 = "stablehlo.add"(%21, %18) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %23 = "sdy.sharding_constraint"(%22) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %24 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x16xf32>
    %26 = "sdy.sharding_constraint"(%25) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %27 = "stablehlo.multiply"(%26, %23) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %28 = "sdy.sharding_constraint"(%27) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %29 = "stablehlo.multiply"(%1, %28) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %30 = "sdy.sharding_constraint"(%29) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %31 = "stablehlo.dot_general"(%30, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    %32 = "sdy.sharding_constraint"(%31) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %33 = "sdy.sharding_constraint"(%32) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %34 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
    %36 = "sdy.sharding_constraint"(%35) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %37 = "stablehlo.multiply"(%33, %36) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %38 = "sdy.sharding_constraint"(%37) <{sharding = #sdy.sharding<@mesh, [{"dp"}, {"tp"}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%33, %39) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %44 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%44) : (tensor<f32>) -> ()
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    %41 = "sdy.sharding_constraint"(%40) <{sharding = #sdy.sharding<@mesh, [{"tp"}]>}> : (tensor<8xf32>) -> tensor<8xf32>
    %42 = "stablehlo.transpose"(%33) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %43 = "sdy.sharding_constraint"(%42) <{sharding = #sdy.sharding<@mesh, [{"tp"}, {"dp"}]>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%32, %38, %41, %43) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
