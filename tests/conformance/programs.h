// A program that several files of cases run: two streams, events that a loop carries, a group, a
// wait on the host, allocations that come and go. It has no race, so its values do not depend on
// the order in which ranks are stepped.
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
