// Programs on a device without a GPU, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hostir/api/open/backends.h"
#include "hostir/text/parse/parser.h"
#include "interp/cuda/backend.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::cuda {

/// One device whose events report completion only at the `kLate`-th query.
template <int kLate>
std::vector<std::unique_ptr<Device>> host_devices(const RunClock& clock) {
  std::vector<std::unique_ptr<Device>> out;
  out.push_back(make_host_device(0, clock, int64_t{1} << 40, kLate));
  return out;
}

/// The backend "sim", or for any other name one device without a GPU.
inline Expected<std::unique_ptr<interp::Backend>> device_or_sim(
    const interp::BackendRequest& request) {
  if (request.name == "sim") return api::make_backend_factory()(request);
  BackendOptions options;
  options.stepwise = request.stepwise;
  return make_device_backend(options, host_devices<0>);
}

/// Function @f with `x` counting up from 0; null and a failed test if that is not possible.
inline std::shared_ptr<const interp::Prepared> prepare_text(const std::string& text) {
  const auto program = text::parse_program(text);
  EXPECT_TRUE(program) << program.error().message();
  if (!program) return nullptr;
  interp::PrepareOptions prepare;
  prepare.function = "f";
  ValueSpec x;
  x.kind = ValueSpec::Kind::kIota;
  auto prepared = interp::prepare(*program, {{"x", x}}, prepare);
  EXPECT_TRUE(prepared) << prepared.error().message();
  return prepared ? *prepared : nullptr;
}

}  // namespace hostir::cuda
