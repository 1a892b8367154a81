// A run of a program on the simulator, for tests that walk its history.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/io/files.h"
#include "hostir/io/generate.h"
#include "hostir/text/parse/parser.h"
#include "interp/session/live/live_session.h"
#include "interp/sim/sim_backend.h"

namespace hostir::interp {

inline Expected<std::unique_ptr<Backend>> make_sim(const BackendRequest& request) {
  sim::SimOptions options;
  options.machine = request.machine;
  options.schedule = request.schedule;
  options.seed = request.seed;
  options.kernels = cpu::KernelSet::kReference;
  return sim::make_sim_backend(options);
}

inline NamedInput generated(const std::string& name, const std::string& text) {
  const auto spec = io::parse_value_spec(text);
  EXPECT_TRUE(spec) << text;
  return {name, *spec};
}

inline std::unique_ptr<LiveSession> open(const std::string& path, const std::string& function,
                                         const std::vector<NamedInput>& inputs,
                                         std::optional<int64_t> ranks,
                                         const BackendFactory& make = make_sim) {
  const auto text = io::read_file(path);
  EXPECT_TRUE(text) << path;
  const auto program = text::parse_program(*text);
  EXPECT_TRUE(program) << program.error().message();
  PrepareOptions options;
  options.function = function;
  options.ranks = ranks;
  const auto prepared = prepare(*program, inputs, options);
  EXPECT_TRUE(prepared) << prepared.error().message();
  LiveOptions live;
  live.backend.machine = *find_builtin_machine("h200x8");
  auto session = LiveSession::create(*prepared, make, live);
  EXPECT_TRUE(session) << session.error().message();
  return std::move(*session);
}

}  // namespace hostir::interp
