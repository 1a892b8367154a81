// Errors that no text can reach, because the verifier comes first: programs changed behind its
// back, and wrong arguments of the interpreter.
#include <functional>

#include "core_test.h"
#include "interp/core/code/launch_operands.h"
#include "interp/core/history/history.h"
#include "programs.h"

namespace hostir::interp::test {
namespace {

template <class T>
std::string id_of(const Expected<T>& result) {
  return result ? "no error" : result.error().diagnostics.front().id;
}

std::string id_after(const char* text, const std::function<void(Program&)>& change,
                     const std::string& entry = "") {
  auto program = text::parse_program(text);
  if (!program) return program.error().message();
  change(*program);
  CodeOptions options;
  options.entry = entry;
  return id_of(compile_code(std::make_shared<const Program>(std::move(*program)), options));
}

std::vector<InstrId>& body_of(Program& program, std::string_view name) {
  Function& f = *program.find_function(name);
  return f.region(f.body).instructions;
}

TEST(Refusals, OfCode) {
  const auto nothing = [](Program&) {};
  EXPECT_EQ(id_after(kMlp, nothing), "no error");
  EXPECT_EQ(id_after(kMlp, nothing, "nowhere"), "code_entry");
  EXPECT_EQ(id_after(kMlp, [](Program& p) { p.find_function("mlp")->mesh = "nowhere"; }),
            "code_mesh");
  EXPECT_EQ(id_after(kMlp, [](Program& p) { body_of(p, "mlp").pop_back(); }), "code_op");
  EXPECT_EQ(
      id_after(kMlp, [](Program& p) { std::swap(body_of(p, "mlp")[3], body_of(p, "mlp")[4]); }),
      "code_name");
  constexpr const char* kComm = R"(
mesh @m = <x=2>
host @f on @m () {
  %c = comm over {x}
  return
}
)";
  EXPECT_EQ(id_after(kComm, [](Program& p) { p.meshes.front().axes.front().name = "y"; }),
            "code_comm");
  constexpr const char* kCall = R"(
mesh @m = <x=2>
host @g on @m () {
  return
}
host @f on @m () {
  call @g()
  return
}
)";
  EXPECT_EQ(id_after(
                kCall, [](Program& p) { p.functions.front().name = "h"; }, "f"),
            "code_call");
  constexpr const char* kSize = R"(
mesh @m = <x=2>
host @f on @m (%x: tensor<?Nxf32>) -> (tensor<?Nxf32>) {
  return %x
}
)";
  EXPECT_EQ(id_after(kSize, nothing), "code_size");
}

TEST(Refusals, OfALaunchWithoutAKernel) {
  const auto code = compile(kMlp);
  ASSERT_TRUE(code);
  EXPECT_EQ(id_of(launched_kernel(*code, 0)), "launch_kernel") << "a comm launches nothing";
}

TEST(Refusals, OfMoreRanksThanMemoryHolds) {
  const auto r = start(kMlp);
  ASSERT_TRUE(r);
  auto huge = std::make_shared<Code>(*r->code);
  huge->rank_count = Mesh::kMaxPositions;
  huge->register_count = uint32_t{1} << 30;
  const auto refused = Interpreter::create(huge, r->backend, nullptr, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(id_of(refused), "run_memory");
  EXPECT_NE(refused.error().message().find("16777216 ranks need at least"), std::string::npos)
      << refused.error().message();
}

TEST(Refusals, OfTheInterpreter) {
  const auto r = start(kMlp);
  ASSERT_TRUE(r);
  Interpreter& in = *r->interpreter;
  EXPECT_EQ(id_of(in.bind(9, Tensor::zeros(DType::kF32, {16, 32}))), "bind_parameter");
  EXPECT_EQ(id_of(in.bind(0, Tensor::zeros(DType::kI32, {16, 32}))), "bind_dtype");
  EXPECT_EQ(id_of(in.bind(0, Tensor::zeros(DType::kF32, {16}))), "bind_shape");
  EXPECT_EQ(id_of(in.global_result(9)), "result_index");
  EXPECT_EQ(id_of(in.global_result(0)), "result_missing");
  EXPECT_EQ(id_of(in.step(99)), "step_rank");
  EXPECT_EQ(id_of(in.edit(0, AllocationId(), 0, {})), "edit_range");
  const auto history = History::create(in, {});
  ASSERT_TRUE(history);
  EXPECT_EQ(id_of((*history)->go_to(1'000'000)), "history_position");
}

}  // namespace
}  // namespace hostir::interp::test
