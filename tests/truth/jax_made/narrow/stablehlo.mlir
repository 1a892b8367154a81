module @jit_narrow attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["tp"=4]>
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<6xui64>, %arg2: tensor<6xi16>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xui64>, tensor<6xui64>, tensor<6xi16>, tensor<6xui16>) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %2 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf8E5M2>
    %3 = stablehlo.convert %2 : (tensor<6xf8E5M2>) -> tensor<6xf32>
    %cst = stablehlo.constant dense<"0x3840B07E0044"> : tensor<6xf8E4M3FN>
    %4 = stablehlo.convert %cst : (tensor<6xf8E4M3FN>) -> tensor<6xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<6xf32>
    %5 = stablehlo.multiply %4, %cst_0 : tensor<6xf32>
    %c = stablehlo.constant dense<3> : tensor<6xui64>
    %6 = stablehlo.divide %arg1, %c : tensor<6xui64>
    %7 = stablehlo.maximum %6, %arg1 : tensor<6xui64>
    %8 = stablehlo.negate %arg1 : tensor<6xui64>
    %c_1 = stablehlo.constant dense<4> : tensor<6xi16>
    %9 = stablehlo.shift_right_logical %arg2, %c_1 : tensor<6xi16>
    %10 = stablehlo.convert %arg2 : (tensor<6xi16>) -> tensor<6xui16>
    %c_2 = stablehlo.constant dense<1> : tensor<6xui16>
    %11 = stablehlo.shift_right_arithmetic %10, %c_2 : tensor<6xui16>
    return %1, %3, %5, %7, %8, %9, %11 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xui64>, tensor<6xui64>, tensor<6xi16>, tensor<6xui16>
  }
}
