// The simulator under the interpreter: values, sharing, order of stepping, schedules, checkpoints.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/sim/backend_state.h"

namespace hostir::sim {
namespace {

// matmul, gelu, matmul, all_reduce by hand; the kernels have no shardings.
constexpr const char* kMlp = R"(mesh @m = <tp=4>
kernel @up(%x: tensor<?Mx?Kxf32>, %w: tensor<?Kx?Nxf32>) -> (%g: tensor<?Mx?Nxf32>) {
  %h = matmul %x, %w
  %g = gelu %h {approximate = tanh}
  return %g
}
kernel @down(%g: tensor<?Mx?Kxf32>, %w: tensor<?Kx?Nxf32>) -> (%y: tensor<?Mx?Nxf32>) {
  %y = matmul %g, %w
  return %y
}
kernel @bias(%b: tensor<?Nxf32>, %y: tensor<?Mx?Nxf32>) -> (%z: tensor<?Mx?Nxf32>) {
  %w = broadcast_in_dim %b {dims = [1], shape = [?M, ?N]} : tensor<?Mx?Nxf32>
  %z = add %y, %w
  return %z
}
host @mlp on @m (%x: shard<6x8xf32, @m, [{}, {}]>, %w1: shard<8x10xf32, @m, [{}, {tp}]>,
                 %w2: shard<10x8xf32, @m, [{tp}, {}]>, %b: shard<8xf32, @m, [{}]>) -> (%y: shard<6x8xf32, @m, [{}, {}]>) {
  %c = comm over {tp}
  %s = stream "compute"
  %n = stream "comm"
  %g = alloc on %s : shard<6x10xf32, @m, [{}, {tp}]>
  launch @up ro(%x, %w1) wo(%g) on %s
  %y = alloc on %s : shard<6x8xf32, @m, [{}, {}], unreduced={tp}>
  %e = launch @down ro(%g, %w2) wo(%y) on %s
  free %g on %s
  wait %e on %n
  %r = all_reduce sum %c rw(%y -> [{}, {}]) on %n
  wait %r on %s
  launch @bias ro(%b) rw(%y) on %s
  return %y
}
)";

// Two streams, a loop that carries events, a ring of send and recv.
constexpr const char* kRing = R"(mesh @m = <r=4>
kernel @twice(%x: tensor<8xf32>) -> (%y: tensor<8xf32>) {
  %y = add %x, %x
  return %y
}
host @ring on @m (inout %x: shard<8xf32, @m, [{r}]>) -> (%x: shard<8xf32, @m, [{r}]>) {
  %c = comm over {r}
  %s = stream "compute"
  %n = stream "comm"
  %t = alloc on %n : shard<8xf32, @m, [{r}]>
  %last = for %i in 0..5 carry(%p = none) {
    wait %p on %s
    %e = launch @twice rw(%x) on %s
    wait %e on %n
    group {
      send %c peer((coord(r) + 1) % 4) ro(%x) on %n
      recv %c peer((coord(r) + 3) % 4) wo(%t) on %n
    }
    %d = all_reduce max %c ro(%t) wo(%x) on %n
    yield %d
  }
  wait %last on host
  free %t on %n
  return %x
}
)";

Tensor random_tensor(Extents extents, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t = Tensor::zeros(DType::kF32, std::move(extents));
  for (int64_t i = 0; i < t.element_count(); ++i) {
    t.set_double(i, static_cast<double>(random() % 2001) / 1000.0 - 1.0);
  }
  return t;
}

struct Recorder : interp::TraceSink {
  std::map<TaskId, std::tuple<int64_t, int64_t, int64_t>> times;
  std::map<std::pair<TaskId, uint16_t>, uint64_t> digests;
  void issued(const interp::IssuedRecord&) override {}
  void finished(const interp::FinishedRecord& r) override {
    times[r.task] = {r.queued_ns, r.started_ns, r.finished_ns};
  }
  void value(const interp::ValueSummary& v) override { digests[{v.task, v.operand}] = v.digest; }
  void decision(const interp::DecisionRecord&) override {}
  void fault(const interp::FaultRecord& f) override { faults.push_back(f.sentence); }
  void loop_path(interp::LoopPathId, interp::LoopPathId, interp::CodeIndex, int64_t) override {}
  std::vector<std::string> faults;
};

struct Simulation {
  std::shared_ptr<const interp::Code> code;
  std::unique_ptr<interp::Backend> backend;
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  std::unique_ptr<interp::Interpreter> interpreter;
};

Simulation start(const char* text, const std::vector<Tensor>& inputs, SimOptions options = {}) {
  options.kernels = cpu::KernelSet::kReference;
  options.threads = 2;
  Simulation run;
  auto program = text::parse_program(text);
  if (!program) {
    ADD_FAILURE() << program.error().message();
    return run;
  }
  auto code = interp::compile_code(std::make_shared<Program>(std::move(*program)), {});
  if (!code) {
    ADD_FAILURE() << code.error().message();
    return run;
  }
  run.code = *code;
  run.backend = make_sim_backend(options);
  interp::InterpreterOptions interpreter_options;
  interpreter_options.issue_ns = static_cast<int64_t>(options.machine.issue_ns);
  auto made =
      interp::Interpreter::create(run.code, *run.backend, run.recorder.get(), interpreter_options);
  if (!made) {
    ADD_FAILURE() << made.error().message();
    return run;
  }
  run.interpreter = std::move(*made);
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(run.interpreter->bind(i, inputs[i]));
  return run;
}

// Steps ranks in random order; one step in four repeats the previous rank.
void run_randomly(interp::Interpreter& interpreter, unsigned seed) {
  std::mt19937 random(seed);
  const Rank ranks = interpreter.code().rank_count;
  Rank focus = 0;
  int idle = 0;
  while (!interpreter.finished() && idle < 1000) {
    if (random() % 4 != 0) focus = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
    const auto step = interpreter.step(focus);
    ASSERT_TRUE(step);
    idle = step->outcome == interp::StepResult::Outcome::kExecuted ? 0 : idle + 1;
  }
}

Tensor result(const Simulation& run) {
  auto value = run.interpreter->global_result(0);
  EXPECT_TRUE(value) << (value ? "" : value.error().message());
  return value ? *value : Tensor{};
}

std::vector<Tensor> mlp_inputs() {
  return {random_tensor({6, 8}, 1), random_tensor({8, 10}, 2), random_tensor({10, 8}, 3),
          random_tensor({8}, 4)};
}

TEST(SimBackend, ReplicasShareMemory) {
  Simulation run = start(kMlp, mlp_inputs());
  ASSERT_TRUE(run.interpreter);
  const auto saved = run.backend->checkpoints()->checkpoint();
  run.interpreter->run();
  // Each of four ranks has its own %x and %b; the sharded weights add up to one copy.
  const int64_t one_copy = (6 * 8 + 8 * 10 + 10 * 8 + 8) * 4;
  State copy = static_cast<const SimCheckpoint*>(saved->get())->state();
  std::map<const Chunk*, int64_t> chunks;
  for (Rank r = 0; r < 4; ++r) {
    for (uint32_t p = 0; p < 4; ++p) {
      const ChunkRef chunk = copy.memory.look(r, AllocationId(p));
      if (chunk) chunks[chunk.get()] = chunk->size_bytes();
    }
  }
  int64_t bytes = 0;
  for (const auto& [chunk, size] : chunks) bytes += size;
  EXPECT_EQ(bytes, one_copy);
}

TEST(SimBackend, SameTimesAndBitsInAnyOrderOfStepping) {
  const std::vector<std::pair<const char*, std::vector<Tensor>>> programs = {
      {kMlp, mlp_inputs()}, {kRing, {random_tensor({8}, 5)}}};
  for (const auto& [text, inputs] : programs) {
    for (const uint64_t schedule : {uint64_t{0}, uint64_t{3}}) {
      SimOptions options;
      options.schedule = schedule;
      Simulation expected = start(text, inputs, options);
      ASSERT_TRUE(expected.interpreter);
      EXPECT_EQ(expected.interpreter->run(), interp::RunEnd::kFinished);
      EXPECT_TRUE(expected.recorder->faults.empty());
      EXPECT_FALSE(expected.recorder->times.empty());
      for (unsigned seed = 0; seed < 6; ++seed) {
        Simulation run = start(text, inputs, options);
        run_randomly(*run.interpreter, seed);
        EXPECT_TRUE(run.interpreter->finished());
        EXPECT_EQ(run.recorder->times, expected.recorder->times) << "seed " << seed;
        EXPECT_EQ(run.recorder->digests, expected.recorder->digests) << "seed " << seed;
        EXPECT_EQ(result(run), result(expected));
      }
    }
  }
}

// Both ranks send before they receive. The sent buffer is overwritten before the receiver reads.
constexpr const char* kCrossing = R"(mesh @m = <r=2>
kernel @twice(%x: tensor<16xf32>) -> (%y: tensor<16xf32>) {
  %y = add %x, %x
  return %y
}
host @cross on @m (inout %x: shard<16xf32, @m, [{r}]>) -> (%t: shard<16xf32, @m, [{r}]>) {
  %c = comm over {r}
  %s = stream "main"
  %t = alloc on %s : shard<16xf32, @m, [{r}]>
  for %i in 0..3 {
    send %c peer(1 - coord(r)) ro(%x) on %s
    launch @twice rw(%x) on %s
    send %c peer(1 - coord(r)) ro(%x) on %s
    launch @twice rw(%x) on %s
    recv %c peer(1 - coord(r)) wo(%t) on %s
    recv %c peer(1 - coord(r)) wo(%t) on %s
  }
  return %t
}
)";

TEST(SimBackend, SendsThatFindRoomInABufferDoNotWait) {
  const Tensor x = random_tensor({16}, 5);
  SimOptions options;
  options.machine.p2p_buffer_bytes = 64;  // two messages
  Simulation run = start(kCrossing, {x}, options);
  ASSERT_TRUE(run.interpreter);
  EXPECT_EQ(run.interpreter->run(), interp::RunEnd::kFinished);
  for (const auto& fault : run.recorder->faults) ADD_FAILURE() << fault;
  const Tensor t = result(run);
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(t.get_double(i), 32 * x.get_double((i + 8) % 16));
  for (unsigned seed = 0; seed < 6; ++seed) {
    Simulation other = start(kCrossing, {x}, options);
    run_randomly(*other.interpreter, seed);
    EXPECT_EQ(other.recorder->times, run.recorder->times) << "seed " << seed;
    EXPECT_EQ(result(other), t);
  }
  for (const double bytes : {0, 31, 32, 63}) {
    options.machine.p2p_buffer_bytes = bytes;
    Simulation stuck = start(kCrossing, {x}, options);
    EXPECT_EQ(stuck.interpreter->run(), interp::RunEnd::kFault) << bytes;
    EXPECT_FALSE(stuck.recorder->faults.empty());
  }
}

TEST(SimBackend, SchedulesChangeTimesButNotValues) {
  Simulation plain = start(kRing, {random_tensor({8}, 5)});
  ASSERT_TRUE(plain.interpreter);
  plain.interpreter->run();
  for (uint64_t schedule = 1; schedule <= 5; ++schedule) {
    SimOptions options;
    options.schedule = schedule;
    Simulation run = start(kRing, {random_tensor({8}, 5)}, options);
    run.interpreter->run();
    EXPECT_NE(run.recorder->times, plain.recorder->times);
    EXPECT_EQ(result(run), result(plain));
  }
}

// The MLP's first kernel by hand: the bytes of x, w1 and g take less than a nanosecond at this
// bandwidth, so only the launch cost counts. It starts when issued, after comm, stream, stream and
// alloc.
TEST(SimBackend, TimesWorkedOutByHand) {
  SimOptions options;
  options.machine.issue_ns = 10;
  options.machine.launch_ns = 100;
  options.machine.product_ramp_flops = 0;
  Simulation run = start(kMlp, mlp_inputs(), options);
  ASSERT_TRUE(run.interpreter);
  run.interpreter->run();
  const auto time = [&](uint64_t number) {
    return run.recorder->times.at(interp::make_task_id(2, number));
  };
  EXPECT_EQ(time(0), std::tuple(40, 40, 40));     // alloc %g
  EXPECT_EQ(time(1), std::tuple(50, 50, 150));    // launch @up
  EXPECT_EQ(time(2), std::tuple(150, 150, 150));  // alloc %y
  EXPECT_EQ(time(3), std::tuple(150, 150, 250));  // launch @down
  EXPECT_EQ(time(4), std::tuple(250, 250, 250));  // free %g
}

// Each kernel has one product.
TEST(SimBackend, ProductsTakeTheirRamp) {
  SimOptions options;
  options.machine.issue_ns = 10;
  options.machine.launch_ns = 100;
  options.machine.product_ramp_flops = 1e-3 * options.machine.flops(DType::kF32);
  Simulation run = start(kMlp, mlp_inputs(), options);
  ASSERT_TRUE(run.interpreter);
  run.interpreter->run();
  const auto time = [&](uint64_t number) {
    return run.recorder->times.at(interp::make_task_id(2, number));
  };
  EXPECT_GT(std::get<2>(time(1)), 1150);
  EXPECT_GT(std::get<2>(time(3)), std::get<2>(time(1)) + 1100);
}

TEST(Sim, WithoutValuesTheTimesAreTheSame) {
  const std::vector<std::pair<const char*, std::vector<Tensor>>> runs = {
      {kMlp,
       {random_tensor({6, 8}, 1), random_tensor({8, 10}, 2), random_tensor({10, 8}, 3),
        random_tensor({8}, 4)}},
      {kRing, {random_tensor({8}, 5)}}};
  for (const auto& [text, inputs] : runs) {
    Simulation computed = start(text, inputs);
    std::vector<Tensor> shapes = inputs;
    for (Tensor& shape : shapes) shape.data.clear();
    SimOptions options;
    options.values = SimOptions::Values::kNone;
    Simulation predicted = start(text, shapes, options);
    EXPECT_EQ(computed.interpreter->run(), interp::RunEnd::kFinished);
    EXPECT_EQ(predicted.interpreter->run(), interp::RunEnd::kFinished);
    EXPECT_FALSE(predicted.recorder->times.empty());
    EXPECT_EQ(predicted.recorder->times, computed.recorder->times);
    EXPECT_TRUE(predicted.recorder->digests.empty());
    for (interp::Rank r = 0; r < 4; ++r)
      EXPECT_EQ(predicted.interpreter->peak_bytes(r), computed.interpreter->peak_bytes(r));
    const auto value = predicted.interpreter->global_result(0);
    ASSERT_FALSE(value);
    EXPECT_NE(value.error().message().find("computes no values"), std::string::npos);
  }
}

}  // namespace
}  // namespace hostir::sim
