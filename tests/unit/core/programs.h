// Host functions shared by several tests.
#pragma once

namespace hostir::interp::test {

inline const char* kMlp = R"(
mesh @m = <dp=2, tp=4>
kernel @up(%x: tensor<16x32xf32>, %w: tensor<32x64xf32>) -> (%y: tensor<16x64xf32>) {
  %y = matmul %x, %w
  return %y
}
kernel @down(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (%y: tensor<16x32xf32>) {
  %y = matmul %x, %w
  return %y
}
host @mlp on @m (%x: shard<16x32xf32, @m, [{dp}, {}]>, %w1: shard<32x64xf32, @m, [{}, {tp}]>,
                 %w2: shard<64x32xf32, @m, [{tp}, {}]>) -> (%y: shard<16x32xf32, @m, [{dp}, {}]>) {
  %c = comm over {tp}
  %s = stream "compute"
  %n = stream "comm"
  %g = alloc on %s : shard<16x64xf32, @m, [{dp}, {tp}]>
  launch @up ro(%x, %w1) wo(%g) on %s
  %y = alloc on %s : shard<16x32xf32, @m, [{dp}, {}], unreduced={tp}>
  %e = launch @down ro(%g, %w2) wo(%y) on %s
  free %g on %s
  wait %e on %n
  all_reduce sum %c rw(%y -> [{dp}, {}]) on %n
  return %y
}
)";

// A ring over two streams, with host waits, a group, a branch and nested loops.
inline const char* kRing = R"(
mesh @m = <x=3>
kernel @k(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @ring on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = comm over {x}
  %s = stream "compute"
  %n = stream "comm"
  %b, %e0 = alloc on %s : tensor<4xf32>
  %t, %et = alloc on %n : tensor<4xf32>
  %last = for %i in 0..6 carry(%p = %e0) {
    wait %p on %s
    %e = launch @k ro(%a) wo(%b) on %s
    wait %e on %n
    %g = group {
      send %c peer((rank + 1) % 3) ro(%b) on %n
      recv %c peer((rank + 2) % 3) wo(%t) on %n
    }
    where coord(x) == 1 {
      wait %g on host
      for %j in 0..2 {
        %u = alloc on %s : tensor<4xf32>
        free %u on %s
      }
    }
    %r = all_reduce sum %c rw(%t) on %n
    yield %r
  }
  wait %last on host
  free %t on %n
  return %b
}
)";

}  // namespace hostir::interp::test
