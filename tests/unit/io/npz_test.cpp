// Archives with false directory entries.
#include "hostir/io/npz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

namespace hostir::io {
namespace {

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Found by fuzzing: a member of a few bytes claims a size of gigabytes.
TEST(Npz, AClaimTakesNoMemory) {
  const std::string path = "tests/fuzz/corpus/npz_fuzz/claims_2_gib";
  ASSERT_TRUE(std::filesystem::exists(path)) << "runs from the repository's root";
  const int64_t before = peak_kib();
  EXPECT_FALSE(read_npz(path));
  EXPECT_LT(peak_kib() - before, 512 * 1024);
}

}  // namespace
}  // namespace hostir::io
