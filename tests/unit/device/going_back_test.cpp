// A run on a device steps backwards: the simulator repeats it.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "hostir/api/open/logged_session.h"
#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

const std::string kTwoLaunches = R"(mesh @m = <r=2>
kernel @one_more(%a: tensor<2xf32>) -> (%b: tensor<2xf32>) {
  %one = constant {value = 1.0} : tensor<2xf32>
  %b = add %a, %one
  return %b
}
host @f on @m (%x: tensor<2xf32>) -> (%y: tensor<2xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %t = alloc on %s : tensor<2xf32>
  %y = alloc on %s : tensor<2xf32>
  launch @one_more ro(%x) wo(%t) on %s
  launch @one_more ro(%t) wo(%y) on %s
  free %t on %s
  %e = all_reduce max %c rw(%y) on %s
  wait %e on host
  return %y
})";

class GoingBack : public testing::Test {
 protected:
  void SetUp() override {
    const auto prepared = prepare_text(kTwoLaunches);
    ASSERT_NE(prepared, nullptr);
    interp::LiveOptions options;
    options.backend.name = "device";
    options.backend.stepwise = true;
    options.backend.traits = {interp::ClockDomain::kHost, true, false, ""};
    options.backend.machine = default_machine();
    const auto started = session_.start(prepared, options, {}, "", {});
    ASSERT_TRUE(started) << started.error().message();
  }
  std::string execute(const std::string& line) {
    const auto command = interp::parse_command(line);
    EXPECT_TRUE(command) << line;
    const auto out = session_.execute(*command, {});
    EXPECT_TRUE(out) << line << ": " << out.error().message();
    return out ? out->text + out->stop.sentence : "";
  }
  uint64_t position() const { return session_.snapshot()->position.decision; }

  api::LoggedSession session_{device_or_sim};
};

TEST_F(GoingBack, RepeatsTheDecisionsOnTheSimulator) {
  execute("until end");
  execute("break all_reduce");
  const uint64_t end = position();
  const std::string result = execute("print %y");
  EXPECT_NE(result.find("[2 3]"), std::string::npos) << result;
  const std::string text = execute("reverse-continue");
  EXPECT_NE(text.find("repeats the run"), std::string::npos) << text;
  EXPECT_LT(position(), end);
  EXPECT_EQ(session_.snapshot()->breakpoints->size(), 1U);
  EXPECT_EQ(session_.snapshot()->last_decision, end);
  execute("goto end");
  EXPECT_EQ(position(), end);
  EXPECT_EQ(execute("print %y"), result);
  // It says so once.
  EXPECT_EQ(execute("goto 0").find("repeats the run"), std::string::npos);
}

TEST_F(GoingBack, KeepsEditsAndTheFocus) {
  execute("until end");
  execute("focus 1");
  execute("set %y[0] = 7");
  const uint64_t edited = position();
  const std::string there = execute("print %y");
  EXPECT_NE(there.find("[7 3]"), std::string::npos) << there;
  execute("goto 3");
  EXPECT_EQ(session_.snapshot()->focus, 1);
  execute("goto " + std::to_string(edited));
  EXPECT_EQ(execute("print %y"), there);
}

}  // namespace
}  // namespace hostir::cuda
