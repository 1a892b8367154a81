// interp/cuda/memory.cpp: freed blocks serve later allocations without a call of the driver.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "tests/unit/device/device_programs.h"
#include "tests/unit/device/timeline_device.h"

namespace hostir::cuda {
namespace {

constexpr int kIterations = 100;

/// Allocations that reach the driver while a loop with `body` runs.
int64_t allocations(const std::string& body, int64_t memory_bytes = int64_t{1} << 40) {
  const std::string text = R"(mesh @m = <r=1>
kernel @twice(%a: tensor<256xf32>) -> (%b: tensor<256xf32>) {
  %b = add %a, %a
  return %b
}
host @f on @m (%x: tensor<256xf32>) -> (%y: tensor<256xf32>) {
  %s = stream "s"
  %o = stream "o"
  %y = alloc on %s : tensor<256xf32>
  launch @twice ro(%x) wo(%y) on %s
  for %i in 0..)" + std::to_string(kIterations) +
                           " {\n" + body + "  }\n  return %y\n}\n";
  auto program = text::parse_program(text);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return -1;
  const auto code = interp::compile_code(std::make_shared<Program>(std::move(*program)), {});
  EXPECT_TRUE(code) << code.error().message();
  if (!code) return -1;
  Timeline line;
  line.memory_bytes = memory_bytes;
  const auto backend = make_device_backend({}, [&](const RunClock& clock) {
    std::vector<std::unique_ptr<Device>> out;
    out.push_back(std::make_unique<TimelineDevice>(clock, line));
    return out;
  });
  const auto interpreter = interp::Interpreter::create(*code, *backend, nullptr, {});
  EXPECT_TRUE(interpreter) << interpreter.error().message();
  if (!interpreter) return -1;
  const auto bound = (*interpreter)->bind(0, Tensor::zeros(DType::kF32, {256}));
  EXPECT_TRUE(bound) << bound.error().message();
  EXPECT_EQ((*interpreter)->run(), interp::RunEnd::kFinished);
  return line.allocations;
}

constexpr int64_t kOutside = 2;  // %x, %y

TEST(SpareMemory, AStreamTakesItsOwnBlockAgain) {
  EXPECT_EQ(allocations(R"(    %t = alloc on %s : tensor<256xf32>
    launch @twice ro(%x) wo(%t) on %s
    free %t on %s
)"),
            kOutside + 1);
}

// %o takes the block that %s freed in the iteration before, because %s has recorded an event since.
TEST(SpareMemory, AnotherStreamTakesABlockAfterAnEvent) {
  EXPECT_LE(allocations(R"(    %t, %a = alloc on %o : tensor<256xf32>
    wait %a on %s
    launch @twice ro(%x) wo(%t) on %s
    free %t on %s
    %e = launch @twice ro(%x) wo(%y) on %s
    wait %e on %o
)"),
            kOutside + 2);
}

TEST(SpareMemory, ABlockOfAnotherSizeDoesNotServe) {
  EXPECT_EQ(allocations(R"(    %t = alloc on %s : tensor<256xf32>
    launch @twice ro(%x) wo(%t) on %s
    free %t on %s
    %u = alloc on %s : tensor<128xf32>
    free %u on %s
)"),
            kOutside + 2);
}

TEST(SpareMemory, AQuarterOfTheDeviceIsTheMost) {
  EXPECT_EQ(allocations(R"(    %t = alloc on %s : tensor<256xf32>
    launch @twice ro(%x) wo(%t) on %s
    free %t on %s
)",
                        4 * 256 * 4 - 1),
            kOutside + kIterations);
}

}  // namespace
}  // namespace hostir::cuda
