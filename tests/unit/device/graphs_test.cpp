// Repeated loop bodies as graphs, on a device without a GPU: the same values as without graphs, and
// as many launches of graphs as the program repeats a body.
#include <gtest/gtest.h>

#include <string>

#include "hostir/api/open/backends.h"
#include "interp/core/interpreter.h"
#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

struct Ran {
  std::vector<Tensor> outputs;
  std::string graphs;  // what the backend says
};

// `backend` "": the device, with graphs; else the name of another backend.
Ran run_text(const std::string& text, const std::string& backend) {
  Ran out;
  const auto prepared = prepare_text(text);
  if (prepared == nullptr) return out;
  interp::RunOptions options;
  interp::BackendFactory factory = api::make_backend_factory();
  if (backend.empty()) {
    factory = [](const interp::BackendRequest&) -> Expected<std::unique_ptr<interp::Backend>> {
      BackendOptions with_graphs;
      with_graphs.graphs = true;
      return make_device_backend(with_graphs, host_devices<3>);
    };
  } else {
    api::name_backend(options.backend, backend);
    options.backend.reference_kernels = true;
    options.backend.machine = default_machine();
  }
  options.ended = [&](const interp::Interpreter& interpreter) {
    for (const auto& [name, value] : interpreter.backend().properties()) {
      if (name == "graphs") out.graphs = value;
    }
  };
  const auto result = interp::run(*prepared, factory, options);
  EXPECT_TRUE(result) << result.error().message();
  if (!result) return out;
  EXPECT_EQ(result->worst(), nullptr) << result->worst()->record.sentence;
  for (const auto& output : result->outputs) out.outputs.push_back(output.global);
  return out;
}

void expect_graphs(const std::string& text, const std::string& expected) {
  const Ran with = run_text(text, "");
  const Ran without = run_text(text, "sim");
  EXPECT_EQ(with.outputs, without.outputs);
  EXPECT_FALSE(with.outputs.empty());
  EXPECT_EQ(with.graphs, expected);
}

const std::string kKernels = R"(
kernel @twice(%a: tensor<4x4xf32>) -> (%b: tensor<4x4xf32>) {
  %b = add %a, %a
  return %b
}
kernel @half(%a: tensor<4x4xf32>) -> (%b: tensor<4x4xf32>) {
  %c = constant {value = 0.5} : tensor<4x4xf32>
  %b = mul %a, %c
  return %b
}
)";

// The first iteration is submitted as it is, the second one captured.
TEST(Graphs, RepeatABodyThatAllocates) {
  expect_graphs("mesh @m = <r=1>" + kKernels + R"(
host @f on @m (%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %s = stream "s"
  %y = alloc on %s : tensor<4x4xf32>
  launch @half ro(%x) wo(%y) on %s
  for %i in 0..10 {
    %t = alloc on %s : tensor<4x4xf32>
    launch @twice ro(%y) wo(%t) on %s
    launch @half ro(%t) wo(%y) on %s
    launch @twice ro(%y) wo(%t) on %s
    launch @half ro(%t) wo(%y) on %s
    free %t on %s
  }
  return %y
})",
                "1 captured, launched 9 times");
}

// 260 loops of one iteration each.
TEST(Graphs, SayWhenThereAreTooMany) {
  std::string text = "mesh @m = <r=1>" + kKernels + R"(
host @f on @m (%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %s = stream "s"
  %y = alloc on %s : tensor<4x4xf32>
  launch @half ro(%x) wo(%y) on %s
)";
  for (int i = 0; i < 260; ++i) {
    text += "  for %i" + std::to_string(i) + " in 0..1 {\n    launch @twice rw(%y) on %s\n  }\n";
  }
  const Ran ran = run_text(text + "  return %y\n}", "");
  EXPECT_EQ(ran.graphs,
            "0 captured, launched 0 times; no loop body was repeated with the same buffers; "
            "4 bodies were not compared, because the limit of 256 different ones was reached");
}

TEST(Graphs, HoldTheMeetingsOfRanksOnOneDevice) {
  expect_graphs("mesh @m = <r=3>" + kKernels + R"(
host @f on @m (%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %n = stream "n"
  %y = alloc on %s : tensor<4x4xf32>
  %t = alloc on %s : tensor<4x4xf32>
  %e0 = launch @half ro(%x) wo(%y) on %s
  for %i in 0..6 carry(%e = %e0) {
    wait %e on %n
    %d = all_reduce avg %c ro(%y) wo(%t) on %n
    wait %d on %s
    %l = launch @half ro(%t) wo(%y) on %s
    yield %l
  }
  free %t on %s
  return %y
})",
                "1 captured, launched 5 times");
}

// A host wait ends a body; its two parts are graphs of their own.
TEST(Graphs, StopAtHostWaits) {
  expect_graphs("mesh @m = <r=1>" + kKernels + R"(
host @f on @m (%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %s = stream "s"
  %y = alloc on %s : tensor<4x4xf32>
  %t = alloc on %s : tensor<4x4xf32>
  launch @half ro(%x) wo(%y) on %s
  for %i in 0..5 {
    %e = launch @twice ro(%y) wo(%t) on %s
    wait %e on host
    launch @half ro(%t) wo(%y) on %s
  }
  free %t on %s
  return %y
})",
                "2 captured, launched 8 times");
}

TEST(Graphs, SayWhatTheyCannotHold) {
  expect_graphs(
      R"(mesh @m = <r=2>
host @f on @m (%x: shard<4x4xf32, @m, [{r}, {}]>) -> (%y: shard<4x4xf32, @m, [{r}, {}]>) {
  %c = comm over {r}
  %s = stream "s"
  %y = alloc on %s : shard<4x4xf32, @m, [{r}, {}]>
  permute %c shift(1) ro(%x) wo(%y) on %s
  for %i in 0..4 {
    permute %c shift(1) rw(%y) on %s
  }
  return %y
})",
      "0 captured, launched 0 times; the body with @f#6 is not captured: @f#6 exchanges in "
      "place, which needs memory");
}

// The first loop's block is kept for its next iteration, and the second loop needs that memory.
TEST(Graphs, GiveUpSpareBlocksForMemory) {
  const std::string text = "mesh @m = <r=1>" + kKernels + R"(
kernel @many() -> (%b: tensor<64x4xf32>) {
  %b = constant {value = 2.0} : tensor<64x4xf32>
  return %b
}
kernel @more() -> (%b: tensor<96x4xf32>) {
  %b = constant {value = 3.0} : tensor<96x4xf32>
  return %b
}
host @f on @m (%x: tensor<4x4xf32>) -> (%y: tensor<4x4xf32>) {
  %s = stream "s"
  %y = alloc on %s : tensor<4x4xf32>
  launch @half ro(%x) wo(%y) on %s
  for %i in 0..4 {
    %t = alloc on %s : tensor<64x4xf32>
    launch @many wo(%t) on %s
    free %t on %s
  }
  for %i in 0..4 {
    %u = alloc on %s : tensor<96x4xf32>
    launch @more wo(%u) on %s
    free %u on %s
  }
  return %y
}
)";
  const auto with_memory = [&](int64_t bytes) {
    static int64_t memory_bytes = 0;
    memory_bytes = bytes;
    const auto prepared = prepare_text(text);
    if (prepared == nullptr) return std::string("not prepared");
    const auto factory =
        [](const interp::BackendRequest&) -> Expected<std::unique_ptr<interp::Backend>> {
      BackendOptions options;
      options.graphs = true;
      return make_device_backend(options, [](const RunClock& clock) {
        std::vector<std::unique_ptr<Device>> out;
        out.push_back(make_host_device(0, clock, memory_bytes, 3));
        return out;
      });
    };
    const auto result = interp::run(*prepared, factory, {});
    EXPECT_TRUE(result) << result.error().message();
    return result && result->worst() != nullptr ? result->worst()->record.sentence : std::string();
  };
  EXPECT_EQ(with_memory(64 + 64 + 1536), "");
  EXPECT_NE(with_memory(64 + 64 + 1535), "");
}

}  // namespace
}  // namespace hostir::cuda
