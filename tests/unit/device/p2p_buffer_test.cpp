// Sends between ranks of one device through buffers, as in the simulator.
#include <gtest/gtest.h>

#include <string>

#include "hostir/api/open/backends.h"
#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

struct Sent {
  std::vector<Tensor> outputs;
  std::string fault;
};

Sent run_with_buffer(const std::string& text, const std::string& backend, double buffer_bytes,
                     uint64_t schedule = 0) {
  Sent out;
  const auto prepared = prepare_text(text);
  if (prepared == nullptr) return out;
  interp::RunOptions options;
  options.backend.name = backend;
  options.backend.machine = default_machine();
  options.backend.machine.p2p_buffer_bytes = buffer_bytes;
  options.backend.schedule = schedule;
  interp::BackendFactory factory = api::make_backend_factory();
  if (backend != "sim") {
    factory =
        [](const interp::BackendRequest& request) -> Expected<std::unique_ptr<interp::Backend>> {
      BackendOptions device;
      device.machine = request.machine;
      device.graphs = request.name == "graphs";
      device.schedule = request.schedule;
      return make_device_backend(device, host_devices<3>);
    };
  }
  const auto result = interp::run(*prepared, factory, options);
  EXPECT_TRUE(result) << result.error().message();
  if (!result) return out;
  if (const interp::Fault* fault = result->worst()) out.fault = fault->record.kind;
  for (const auto& output : result->outputs) out.outputs.push_back(output.global);
  return out;
}

// Both ranks send three messages of 32 bytes and overwrite %x between them, before they receive.
const std::string kCrossing = R"(mesh @m = <r=2>
kernel @twice(%a: tensor<16xf32>) -> (%b: tensor<16xf32>) {
  %b = add %a, %a
  return %b
}
host @f on @m (inout %x: shard<16xf32, @m, [{r}]>) -> (%t: shard<16xf32, @m, [{r}]>) {
  %c = comm over {r}
  %s = stream "s"
  %t = alloc on %s : shard<16xf32, @m, [{r}]>
  for %i in 0..4 {
    for %j in 0..3 {
      send %c peer(1 - coord(r)) ro(%x) on %s
      launch @twice rw(%x) on %s
    }
    for %j in 0..3 {
      recv %c peer(1 - coord(r)) wo(%t) on %s
    }
  }
  return %t
})";

TEST(P2pBuffer, SendsThatFindRoomDoNotWait) {
  for (const double bytes : {96, 97, 1000}) {
    const Sent expected = run_with_buffer(kCrossing, "sim", bytes);
    EXPECT_EQ(expected.fault, "");
    for (const char* backend : {"device", "graphs"}) {
      for (const uint64_t schedule : {uint64_t{0}, uint64_t{1}}) {
        const Sent sent = run_with_buffer(kCrossing, backend, bytes, schedule);
        EXPECT_EQ(sent.fault, "") << backend << " " << bytes;
        EXPECT_EQ(sent.outputs, expected.outputs) << backend << " " << bytes;
      }
    }
  }
}

TEST(P2pBuffer, SendsWithoutRoomWait) {
  for (const double bytes : {0, 31, 64, 95}) {
    const Sent expected = run_with_buffer(kCrossing, "sim", bytes);
    const Sent sent = run_with_buffer(kCrossing, "device", bytes);
    EXPECT_NE(sent.fault, "") << bytes;
    EXPECT_EQ(sent.fault, expected.fault) << bytes;
  }
}

// Rank 0 sends six messages through a buffer for two while rank 1 receives them: a recv makes room.
TEST(P2pBuffer, ReceivingMakesRoom) {
  const std::string text = R"(mesh @m = <r=2>
host @f on @m (%x: shard<16xf32, @m, [{r}]>) -> (%t: shard<16xf32, @m, [{r}]>) {
  %c = comm over {r}
  %s = stream "s"
  %t = alloc on %s : shard<16xf32, @m, [{r}]>
  for %i in 0..6 {
    where coord(r) == 0 {
      send %c peer(1) ro(%x) on %s
    }
    where coord(r) == 1 {
      recv %c peer(0) wo(%t) on %s
    }
  }
  where coord(r) == 1 {
    send %c peer(0) ro(%x) on %s
  }
  where coord(r) == 0 {
    recv %c peer(1) wo(%t) on %s
  }
  return %t
})";
  const Sent expected = run_with_buffer(text, "sim", 64);
  EXPECT_EQ(expected.fault, "");
  EXPECT_EQ(run_with_buffer(text, "device", 64).outputs, expected.outputs);
  EXPECT_EQ(run_with_buffer(text, "graphs", 64).outputs, expected.outputs);
  EXPECT_EQ(run_with_buffer(text, "device", 0).outputs, expected.outputs);
}

}  // namespace
}  // namespace hostir::cuda
