#include "interp/session/live/live_session.h"

#include <gtest/gtest.h>

#include "hostir/text/parse/parser.h"
#include "live_run.h"

namespace hostir::interp {
namespace {

// An edit of the program may remove what a breakpoint names.
TEST(LiveSession, NamesTheBreakpointsThatItDrops) {
  const auto program = text::parse_program(
      "mesh @m = <x=1>\n"
      "fusion @f(%x: tensor<2xf32> <@m, [{}]>) -> (%y: tensor<2xf32> <@m, [{}]>) {\n"
      "  %y = neg %x\n"
      "  return %y\n"
      "}\n");
  ASSERT_TRUE(program) << program.error().message();
  const auto ready = prepare(*program, {{"x", Tensor::zeros(DType::kF32, {2})}}, {});
  ASSERT_TRUE(ready) << ready.error().message();
  LiveOptions live;
  live.backend.machine = default_machine();
  live.breakpoints = {"break %y", "break %gone"};
  const auto session = LiveSession::create(*ready, make_sim, live);
  ASSERT_TRUE(session) << session.error().message();
  const SnapshotPtr shot = (*session)->snapshot();
  EXPECT_EQ(shot->breakpoints->size(), 1u);
  EXPECT_NE(shot->stop.sentence.find("Dropped `break %gone`: there is no %gone"), std::string::npos)
      << shot->stop.sentence;
}

}  // namespace
}  // namespace hostir::interp
