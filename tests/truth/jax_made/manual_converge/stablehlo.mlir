module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %arg1: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, []>, <@mesh, [{}]>] manual_axes={"x", "y"} (%arg2: tensor<2x8xf32>, %arg3: tensor<8xf32>) {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %big = stablehlo.constant dense<1.000000e+09> : tensor<f32>
      %w:4 = stablehlo.while(%it = %c, %v = %arg3, %d = %big, %a = %arg2) : tensor<i32>, tensor<8xf32>, tensor<f32>, tensor<2x8xf32>
       cond {
        %n = stablehlo.constant dense<12> : tensor<i32>
        %1 = stablehlo.compare  LT, %it, %n,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %t = stablehlo.constant dense<1.000000e-01> : tensor<f32>
        %2 = stablehlo.compare  GT, %d, %t,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %3 = stablehlo.and %1, %2 : tensor<i1>
        stablehlo.return %3 : tensor<i1>
      } do {
        %1 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2xf32>
        %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<8xf32>
        %3 = stablehlo.multiply %2, %2 : tensor<8xf32>
        %z = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
        %5 = stablehlo.sqrt %4 : tensor<f32>
        %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8xf32>
        %7 = stablehlo.divide %2, %6 : tensor<8xf32>
        %8 = stablehlo.subtract %7, %v : tensor<8xf32>
        %9 = stablehlo.abs %8 : tensor<8xf32>
        %10 = stablehlo.reduce(%9 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %11 = stablehlo.add %it, %one : tensor<i32>
        stablehlo.return %11, %7, %10, %a : tensor<i32>, tensor<8xf32>, tensor<f32>, tensor<2x8xf32>
      }
      sdy.return %w#0, %w#1 : tensor<i32>, tensor<8xf32>
    } : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
    return %0#0, %0#1 : tensor<i32>, tensor<8xf32>
  }
}
