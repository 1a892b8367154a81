// What happens inside an instruction. The predicted numbers equal the bits that the simulator then
// writes, for every launch and communication of the example programs. For large operands only what
// one element needs is computed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "hostir/api/open/example_inputs.h"
#include "hostir/io/files.h"
#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/text/parse/parser.h"
#include "interp/core/forwarding_sink.h"
#include "interp/session/inside/live_inside.h"
#include "interp/session/live/live_session.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/session/snapshots/snapshot_builder.h"
#include "interp/sim/sim_backend.h"
#include "tests/unit/state_digest.h"

namespace hostir::interp {
namespace {

Expected<std::unique_ptr<Backend>> make_either_sim(const BackendRequest& request) {
  sim::SimOptions options;
  options.machine = request.machine;
  options.kernels = request.reference_kernels ? cpu::KernelSet::kReference : cpu::KernelSet::kFast;
  return sim::make_sim_backend(options);
}

Expected<std::shared_ptr<const Prepared>> prepared(const Program& program,
                                                   const std::string& function) {
  PrepareOptions options;
  options.function = function;
  std::vector<NamedInput> inputs;
  HOSTIR_TRY(api::add_example_inputs(program, function, "tests/programs", inputs, options.sizes));
  return prepare(program, inputs, options);
}

// Instrumented code takes ten times as long: it gets fewer elements and steps, one kernel set and
// no whole models.
#ifdef HOSTIR_SANITIZED
constexpr int kElements = 1;
constexpr int kStepsLookedInside = 60;
constexpr bool kLargeToo = false;
constexpr std::array kKernelSets = {false};
#else
constexpr int kElements = 3;
constexpr int kStepsLookedInside = 400;
constexpr bool kLargeToo = true;
constexpr std::array kKernelSets = {false, true};
#endif

// A number predicted before its instruction ran.
struct Told {
  Inside inside;
  BufferRef buffer;
};

// Compares predictions with memory when an instruction completes. There is one list per execution
// of an instruction, because executions on one rank finish in order.
class Checker final : public ForwardingSink {
 public:
  Checker() : ForwardingSink(nullptr) {}

  void check(Interpreter& interpreter) { interpreter_ = &interpreter; }

  void tell(Rank rank, CodeIndex code, std::vector<Told> told) {
    // All members of a group finish with its single task.
    const CodeIndex group = interpreter_->code().instructions[code].group;
    auto& queue = told_[{rank, group != kNoCode ? group : code}];
    if (group != kNoCode && !queue.empty()) {
      queue.back().insert(queue.back().end(), told.begin(), told.end());
    } else {
      queue.push_back(std::move(told));
    }
  }

  void finished(const FinishedRecord& record) override {
    const auto task = interpreter_->task(record.task);
    if (!task) return;
    const auto found = told_.find({record.rank, task->code});
    if (found == told_.end() || found->second.empty()) return;
    for (const Told& told : found->second.front()) compare(told);
    found->second.pop_front();
  }

  int compared = 0;
  std::vector<std::string> different;

 private:
  void compare(const Told& told) {
    Box box{told.inside.element, told.inside.element};
    for (int64_t& hi : box.hi) ++hi;
    const auto now = interpreter_->backend().read(told.inside.rank, told.buffer, box);
    ++compared;
    if (!now) {
      different.push_back(told.inside.address + ": " + now.error().message());
    } else if (now->data != told.inside.result.data) {
      different.push_back(fmt::format("{} rank {} %{}: told {}, left {}\n{}", told.inside.address,
                                      told.inside.rank, told.inside.value, told.inside.number,
                                      format_number(*now, 0), inside_text(told.inside)));
    }
  }

  Interpreter* interpreter_ = nullptr;
  std::map<std::pair<Rank, CodeIndex>, std::deque<std::vector<Told>>> told_;
};

struct Walked {
  int compared = 0;
  int untold = 0;  // instructions without a prediction
  std::set<std::string> ops;
};

// The buffer that the instruction is about to write for `value`.
std::optional<BufferRef> written_buffer(Interpreter& interpreter, const Inside& inside) {
  auto now = interpreter.operands_now(inside.rank, inside.code);
  if (!now) return std::nullopt;
  const Code& code = interpreter.code();
  const Function& function = *code.functions[code.instructions[inside.code].function];
  for (size_t i = 0; i < now->buffers.size(); ++i) {
    BufferRef& ref = now->buffers[i];
    const Operand& operand = code.source(inside.code).operands[now->operands[i]];
    if (function.value(operand.value).name != inside.value || operand.access == Access::kRead)
      continue;
    if (ref.after != nullptr) ref.placement = ref.after;
    return ref;
  }
  return std::nullopt;
}

Walked look_along(const Prepared& program, bool reference) {
  Walked out;
  BackendRequest request;
  request.machine = default_machine();
  request.reference_kernels = reference;
  auto backend = make_either_sim(request);
  Checker checker;
  auto made = Interpreter::create(program.code, **backend, &checker,
                                  {.issue_ns = issue_ns(request.machine)});
  EXPECT_TRUE(made) << made.error().message();
  Interpreter& interpreter = **made;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    EXPECT_TRUE(interpreter.bind(i, program.inputs[i].second));
  SnapshotBuilder builder(interpreter, program.view);
  checker.check(interpreter);
  std::mt19937 random(7);
  for (int step = 0; step < kStepsLookedInside; ++step) {
    const auto rank = interpreter.next_rank();
    if (!rank) break;
    const uint64_t before = digest_of(interpreter);
    const CodeIndex code = *interpreter.next_code(*rank);
    std::vector<Told> told;
    const auto snapshot = builder.build(0);
    for (int element = 0; element < kElements; ++element) {
      InsideQuery query{.rank = *rank};
      const auto first = look_inside(interpreter, snapshot, query);
      EXPECT_TRUE(first) << first.error().message();
      if (!first || first->kind == Inside::Kind::kNothing) break;
      const auto buffer = written_buffer(interpreter, *first);
      if (!buffer || buffer->placement->box.empty()) break;
      if (element > 0) {
        const Box& box = buffer->placement->box;
        query.value = first->value;
        query.element =
            box.index_at(static_cast<int64_t>(random() % static_cast<uint64_t>(box.volume())));
      }
      auto inside = look_inside(interpreter, snapshot, query);
      EXPECT_TRUE(inside) << inside.error().message();
      if (!inside) break;
      // Inputs of ranks that have not arrived may still change.
      const bool told_now = !inside->number.empty() && !inside->provisional;
      out.untold += told_now ? 0 : 1;
      if (!told_now) break;
      for (const InsideStep& s : inside->steps) out.ops.insert(s.op);
      if (inside->kind == Inside::Kind::kCollective)
        out.ops.insert(std::string(record(interpreter.code().source(code).kind).mnemonic));
      // For an op with several results, the last step does not say which one was requested.
      const bool one = !inside->steps.empty() && inside->steps.back().made.count == 1 &&
                       record(*find_op(inside->steps.back().op)).results.size() == 1;
      if (one) {
        EXPECT_EQ(inside->steps.back().made.number, inside->number) << inside_text(*inside);
      }
      told.push_back({std::move(*inside), *buffer});
    }
    checker.tell(*rank, code, std::move(told));
    EXPECT_EQ(digest_of(interpreter), before) << "looking changed the run";
    EXPECT_TRUE(interpreter.step(*rank));
  }
  out.compared = checker.compared;
  EXPECT_TRUE(checker.different.empty()) << checker.different.size() << " of " << checker.compared
                                         << ": " << checker.different.front();
  return out;
}

std::vector<std::string> programs_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".hir") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Covered {
  int compared = 0;
  std::set<std::string> ops;
};

// Every function in a folder's files whose inputs can be generated, with both kernel sets.
Covered look_at_all(const std::string& folder) {
  Covered out;
  for (const std::string& path : programs_in(folder)) {
    const auto text = io::read_file(path);
    if (!text) continue;
    const auto program = text::parse_program(*text);
    if (!program) continue;  // the file has several pieces
    for (const Function& function : program->functions) {
      if (function.kind == FunctionKind::kKernel) continue;
      const auto ready = prepared(*program, function.name);
      if (!ready) continue;  // needs inputs that cannot be generated
      const auto& kernels = (*ready)->code->program->functions;
      const bool unknown = std::any_of(kernels.begin(), kernels.end(), [](const Function& f) {
        return std::any_of(f.instructions.begin(), f.instructions.end(),
                           [](const Instruction& i) { return i.kind == OpKind::opaque; });
      });
      if (unknown) continue;  // it cannot be computed
      SCOPED_TRACE(path + " @" + function.name);
      // Whole models take long with the reference kernels, and small functions have the same ops.
      const bool is_large = function.instructions.size() > 100;
      for (const bool reference : kKernelSets) {
        if (is_large && (reference || !kLargeToo)) continue;
        const Walked walked = look_along(**ready, reference);
        out.compared += walked.compared;
        out.ops.insert(walked.ops.begin(), walked.ops.end());
      }
    }
  }
  return out;
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += word + " ";
  return out;
}

TEST(Inside, NumbersAreTheBitsThatTheSimulatorWritesInEveryExampleProgram) {
  const Covered covered = look_at_all("tests/programs");
  EXPECT_GT(covered.compared, 150 * kElements);
  EXPECT_GT(covered.ops.size(), 10u) << joined(covered.ops);
}

TEST(Inside, NumbersAreTheBitsThatTheSimulatorWritesForEveryOp) {
  const Covered covered = look_at_all("tests/scripts/ops");
  EXPECT_GT(covered.compared, 150 * kElements);
  std::set<std::string> missing;
  for (const std::string& path : programs_in("tests/scripts/ops")) {
    const std::string op = std::filesystem::path(path).stem().string();
    const auto kind = find_op(op);
    // Composite ops are expanded and do not run; apply runs the ops of a kernel.
    const bool runs =
        !kind || (record(*kind).shape != OpShape::kComposite && *kind != OpKind::apply);
    if (runs && !covered.ops.contains(op)) missing.insert(op);
  }
  RecordProperty("missing", joined(missing));
  EXPECT_LT(missing.size(), 6u) << joined(missing);
}

TEST(Inside, NumbersAreTheBitsThatTheSimulatorWritesForEveryCollective) {
  const Covered covered = look_at_all("tests/scripts/collectives");
  RecordProperty("ops", joined(covered.ops));
  EXPECT_GT(covered.compared, 30 * kElements);
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
                         "permute", "gather", "scatter", "reduce", "recv"})
    EXPECT_TRUE(covered.ops.contains(op)) << op << " of " << joined(covered.ops);
}

std::unique_ptr<LiveSession> session_of(const std::string& text, const std::string& function,
                                        std::vector<NamedInput> inputs) {
  const auto program = text::parse_program(text);
  EXPECT_TRUE(program) << program.error().message();
  PrepareOptions options;
  options.function = function;
  const auto ready = prepare(*program, inputs, options);
  EXPECT_TRUE(ready) << ready.error().message();
  LiveOptions live;
  live.backend.machine = default_machine();
  auto session = LiveSession::create(*ready, make_either_sim, live);
  EXPECT_TRUE(session) << session.error().message();
  return std::move(*session);
}

Tensor random_matrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Tensor out = Tensor::zeros(DType::kF32, {rows, columns});
  for (int64_t i = 0; i < out.element_count(); ++i) out.set_double(i, normal(random));
  return out;
}

void run_to_launch(LiveSession& session) {
  ASSERT_TRUE(session.execute(*parse_command("until launch"), {}));
}

constexpr const char* kProduct =
    "mesh @m = <x=1>\n"
    "fusion @f(%x: tensor<?Mx?Kxf32> <@m, [{}, {}]>, %w: tensor<?Kx?Nxf32> <@m, [{}, {}]>)\n"
    "    -> (%y: tensor<?Mx?Nxf32> <@m, [{}, {}]>) {\n"
    "  %p = matmul %x, %w\n"
    "  %y = neg %p\n"
    "  return %y\n"
    "}\n";

TEST(Inside, ANaNIsTracedToTheTermThatBringsIt) {
  Tensor x = random_matrix(4, 64, 1);
  x.set_double(2 * 64 + 17, std::nan(""));
  const auto session = session_of(kProduct, "f", {{"x", x}, {"w", random_matrix(64, 8, 2)}});
  run_to_launch(*session);
  InsideQuery query;
  query.element = {2, 3};
  const auto inside = session->inside(query);
  ASSERT_TRUE(inside) << inside.error().message();
  ASSERT_EQ(inside->steps.size(), 2u) << inside_text(*inside);
  const auto& terms = inside->steps[0].terms;
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->count, 64);
  EXPECT_EQ(terms->blocks.size(), 8u);
  ASSERT_TRUE(terms->not_finite);
  EXPECT_EQ(terms->not_finite->number, 17);
  ASSERT_EQ(terms->not_finite->operands.size(), 2u);
  EXPECT_EQ(terms->not_finite->operands[0].value, "x");
  EXPECT_EQ(terms->not_finite->operands[0].element, (std::vector<int64_t>{2, 17}));
  EXPECT_TRUE(terms->not_finite->operands[0].not_finite);
  EXPECT_EQ(terms->not_finite->operands[1].element, (std::vector<int64_t>{17, 3}));
  // A row without NaN has no such term.
  query.element = {1, 3};
  const auto clean = session->inside(query);
  ASSERT_TRUE(clean);
  EXPECT_FALSE(clean->steps[0].terms->not_finite);
}

TEST(Inside, OfALargeProductOnlyWhatTheElementNeedsIsComputed) {
  const auto session = session_of(
      kProduct, "f", {{"x", random_matrix(2048, 2048, 1)}, {"w", random_matrix(2048, 2048, 2)}});
  run_to_launch(*session);
  InsideQuery query;
  query.element = {1000, 77};
  const auto inside = session->inside(query);
  ASSERT_TRUE(inside) << inside.error().message();
  EXPECT_FALSE(inside->ran_whole);
  ASSERT_TRUE(session->execute(*parse_command("continue"), {}));
  ValueQuery read;
  read.value = "y";
  read.box = Box{{1000, 77}, {1001, 78}};
  const auto held = session->read(read);
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_NEAR(held->tensor.get_double(0), inside->result.get_double(0), 1e-3);
  RecordProperty("same_bits", held->tensor.data == inside->result.data ? "yes" : "no");
}

TEST(Inside, MovedElementsAreFollowedToTheOneThatIsRead) {
  const char* text =
      "mesh @m = <x=1>\n"
      "fusion @f(%a: tensor<4x6xf32> <@m, [{}, {}]>, %b: tensor<3x6xf32> <@m, [{}, {}]>)\n"
      "    -> (%y: tensor<6x7xf32> <@m, [{}, {}]>) {\n"
      "  %c = concat %a, %b {dim = 0}\n"
      "  %y = transpose %c {permutation = [1, 0]}\n"
      "  return %y\n"
      "}\n";
  const auto session =
      session_of(text, "f", {{"a", random_matrix(4, 6, 1)}, {"b", random_matrix(3, 6, 2)}});
  run_to_launch(*session);
  InsideQuery query;
  query.element = {5, 4};
  const auto inside = session->inside(query);
  ASSERT_TRUE(inside) << inside.error().message();
  ASSERT_EQ(inside->steps.size(), 2u) << inside_text(*inside);
  EXPECT_EQ(inside->steps[0].reads[0].count, 0);  // reads nothing of %a
  EXPECT_EQ(inside->steps[0].reads[1].value, "b");
  EXPECT_EQ(inside->steps[0].reads[1].element, (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(inside->steps[0].reads[1].number, inside->number);
}

TEST(Inside, AddendsComeInGroupOrderWithTheirRunningSumAndTheOneThatBringsNaN) {
  const char* text =
      "mesh @m = <x=3>\n"
      "fusion @f(%a: tensor<2x6xf32> <@m, [{}, {x}]>, %b: tensor<6x3xf32> <@m, [{x}, {}]>)\n"
      "    -> (%y: tensor<2x3xf32> <@m, [{}, {}]>) {\n"
      "  %y = matmul %a, %b\n"
      "  return %y\n"
      "}\n";
  Tensor a = random_matrix(2, 6, 1);
  a.set_double(6 + 4, std::nan(""));  // belongs to the last rank
  const auto session = session_of(text, "f", {{"a", a}, {"b", random_matrix(6, 3, 2)}});
  ASSERT_TRUE(session->execute(*parse_command("until rendezvous"), {}));
  InsideQuery query;
  query.element = {0, 1};
  const auto inside = session->inside(query);
  ASSERT_TRUE(inside) << inside.error().message();
  ASSERT_EQ(inside->kind, Inside::Kind::kCollective) << inside_text(*inside);
  ASSERT_EQ(inside->addends.size(), 3u) << inside_text(*inside);
  EXPECT_EQ(inside->members.size(), 3u);
  EXPECT_EQ(inside->members[0].in_bytes, 2 * 3 * 4);
  ASSERT_FALSE(inside->facts.empty());
  EXPECT_NE(inside->facts[0].text.find("latency"), std::string::npos);
  float sum = 0;
  for (Rank r = 0; r < 3; ++r) {
    const InsideAddend& addend = inside->addends[static_cast<size_t>(r)];
    EXPECT_EQ(addend.source.rank, r);
    EXPECT_EQ(addend.source.element, query.element);
    EXPECT_FALSE(addend.source.not_finite);
    sum += std::stof(addend.source.number);
    EXPECT_NEAR(std::stof(addend.running), sum, 1e-5);
  }
  EXPECT_EQ(inside->addends[2].running, inside->number);
  query.element = {1, 1};
  const auto bad = session->inside(query);
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->addends[1].source.not_finite);
  EXPECT_TRUE(bad->addends[2].source.not_finite) << inside_text(*bad);
  EXPECT_NE(inside_text(*bad).find("contributes NaN"), std::string::npos);
}

TEST(Inside, WhatCannotBeToldIsSaidPlainly) {
  const auto session =
      session_of(kProduct, "f", {{"x", random_matrix(4, 8, 1)}, {"w", random_matrix(8, 3, 2)}});
  InsideQuery query;
  query.rank = 5;
  EXPECT_FALSE(session->inside(query));
  query.rank = 0;
  run_to_launch(*session);
  query.value = "nothing";
  const auto other = session->inside(query);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("it writes %y"), std::string::npos)
      << other.error().message();
  query.value = "y";
  query.element = {9, 9};
  const auto outside = session->inside(query);
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message().find("not the element [9, 9]"), std::string::npos);
}

}  // namespace
}  // namespace hostir::interp
