// A program shared by several files of cases: two streams, loop-carried events, a group, a host
// wait, allocations and frees. It has no race, so its values do not depend on the order of
// stepping.
#pragma once

namespace hostir::conformance {

inline constexpr const char* kBusy = R"(mesh @m = <r=4>
kernel @twice(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (inout %x: shard<7xf32, @m, [{r}]>, %t0: tensor<2xf32>) -> (%x: shard<7xf32, @m, [{r}]>, %t: tensor<2xf32>) {
  %c = comm over {r}
  %s = stream "compute"
  %n = stream "comm"
  %t, %ready = alloc on %n : tensor<2xf32>
  %got = alloc on %n : tensor<2xf32>
  %first = all_reduce max %c ro(%t0) wo(%t) on %n
  %last = for %i in 0..5 carry(%p = %first) {
    wait %p on %s
    %u = alloc on %s : tensor<2xf32>
    launch @twice ro(%t) wo(%u) on %s
    launch @twice rw(%x) on %s
    %e = launch @twice ro(%u) wo(%t) on %s
    free %u on %s
    wait %e on %n
    where rank % 2 == 0 {
      wait %e on host
    }
    all_reduce min %c rw(%t) on %n
    %g = group {
      send %c peer((rank + 1) % 4) ro(%t) on %n
      recv %c peer((rank + 3) % 4) wo(%got) on %n
    }
    yield %g
  }
  wait %last on host
  free %got on %n
  return %x, %t
}
)";

}  // namespace hostir::conformance
