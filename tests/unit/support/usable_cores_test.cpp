// The number of cores follows the affinity mask.
#include "hostir/support/usable_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace hostir {
namespace {

TEST(UsableCores, AreThoseOfTheAffinityMask) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(usable_cores(), CPU_COUNT(&mask));
  size_t first = 0;
  while (CPU_ISSET(first, &mask) == 0) ++first;
  int seen = 0;
  // On a thread of its own, whose mask ends with it.
  std::jthread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) seen = usable_cores();
  }).join();
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace hostir
