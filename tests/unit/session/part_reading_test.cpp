// Reading part of a whole value returns the same bits as the whole, and reads nothing else.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "interp/session/values/assemble.h"
#include "interp/sim/backend_state.h"
#include "tests/unit/session/live_run.h"

namespace hostir::interp {
namespace {

// Counts the elements read, over all ranks.
class CountingSim final : public sim::SimBackend {
 public:
  CountingSim(const sim::SimOptions& options, std::shared_ptr<int64_t> read)
      : SimBackend(options), read_(std::move(read)) {}

  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override {
    *read_ += box.volume();
    return SimBackend::read(rank, buffer, box);
  }

 private:
  std::shared_ptr<int64_t> read_;
};

struct Counted {
  std::shared_ptr<int64_t> read = std::make_shared<int64_t>(0);
  std::unique_ptr<LiveSession> session;
};

Counted open_counted(const std::string& path, const std::string& function,
                     const std::vector<NamedInput>& inputs, std::optional<int64_t> ranks) {
  Counted out;
  const BackendFactory make =
      [read = out.read](const BackendRequest& request) -> Expected<std::unique_ptr<Backend>> {
    sim::SimOptions options;
    options.machine = request.machine;
    options.kernels = cpu::KernelSet::kReference;
    return std::make_unique<CountingSim>(options, read);
  };
  out.session = open(path, function, inputs, ranks, make);
  return out;
}

std::set<std::string> buffers_of(const Code& code) {
  std::set<std::string> names;
  for (const RegisterInfo& info : code.registers) {
    if (info.buffer && info.value.valid())
      names.insert(code.functions[info.function]->value(info.value).name);
  }
  return names;
}

Box random_part(const Box& whole, std::mt19937& random) {
  Box part = whole;
  for (size_t d = 0; d < whole.lo.size(); ++d) {
    const auto n = static_cast<uint64_t>(whole.hi[d]);
    const auto a = static_cast<int64_t>(random() % (n + 1));
    const auto b = static_cast<int64_t>(random() % (n + 1));
    part.lo[d] = std::min(a, b);
    part.hi[d] = std::max(a, b);
  }
  return part;
}

struct Seen {
  int64_t parts = 0;
  int64_t partial = 0;  // number of readings of partial values
  std::set<std::string> names;
};

// For every buffer at every stop: compares random parts with the same parts of the whole.
Seen compare_parts(Counted run, int stops) {
  Seen seen;
  std::mt19937 random(7);
  const Code& code = *run.session->snapshot()->program->code;
  for (int stop = 0; stop < stops; ++stop) {
    for (const std::string& name : buffers_of(code)) {
      ValueQuery query;
      query.value = name;
      query.from = ValueQuery::From::kGlobal;
      const auto whole = run.session->read(query);
      if (!whole) continue;  // not live at this stop
      const Sharding* sharding = sharding_of(whole->type);
      seen.names.insert(name);
      for (int i = 0; i < 4; ++i) {
        query.box = random_part(whole->placement.box, random);
        *run.read = 0;
        const auto part = run.session->read(query);
        EXPECT_TRUE(part) << name;
        if (!part) return seen;
        EXPECT_LE(*run.read, query.box->volume() * code.rank_count) << name;
        EXPECT_EQ(part->box, *query.box);
        EXPECT_EQ(part->placement, whole->placement);
        EXPECT_EQ(part->undefined, whole->undefined);
        Tensor slice = Tensor::zeros(whole->tensor.dtype, query.box->extents());
        copy_region(whole->tensor, whole->box, slice, *query.box, *query.box);
        EXPECT_EQ(part->tensor.extents, slice.extents);
        EXPECT_EQ(part->tensor.data, slice.data) << name << " at stop " << stop;
        ++seen.parts;
        seen.partial += sharding && sharding->is_partial() ? 1 : 0;
      }
    }
    const auto moved = run.session->execute(*parse_command("step"), std::stop_token());
    if (!moved || moved->stop.kind == StopKind::kFault) stops = std::min(stops, stop + 2);
  }
  return seen;
}

std::vector<NamedInput> mlp_inputs(const std::string& dtype) {
  return {generated("x", "normal(1, 1x7x8x" + dtype + ")"),
          generated("w1", "normal(2, 10x8x" + dtype + ")"), generated("b1", "normal(3)"),
          generated("w2", "normal(4)"), generated("b2", "normal(5)")};
}

TEST(PartReading, OfCutReplicatedAndPartialValuesOfUnevenSizes) {
  const Seen f32 =
      compare_parts(open_counted("tests/programs/tp_mlp.hir", "mlp", mlp_inputs("f32"), 3), 40);
  EXPECT_GT(f32.partial, 0);
  EXPECT_GT(f32.parts, f32.partial);
  const Seen bf16 = compare_parts(
      open_counted("tests/programs/tp_mlp_bf16.hir", "mlp", mlp_inputs("bf16"), 3), 40);
  EXPECT_GT(bf16.partial, 0);
  const Seen sequence =
      compare_parts(open_counted("tests/programs/sp_mlp.hir", "mlp", mlp_inputs("f32"), 4), 40);
  EXPECT_GT(sequence.parts, 0);
}

TEST(PartReading, OfPackedBlocks) {
  const Seen seen = compare_parts(
      open_counted("tests/programs/matmul_rowcol.hir", "by_hand",
                   {generated("a", "normal(1, 5x4xf32)"), generated("b", "normal(2, 4x7xf32)")},
                   std::nullopt),
      40);
  EXPECT_GT(seen.parts, 0);
}

TEST(PartReading, OfStridedViews) {
  const Seen seen =
      compare_parts(open_counted("tests/scripts/regress/counts_and_strides_of_collectives.hir",
                                 "strided", {generated("a", "normal(1)")}, std::nullopt),
                    8);
  EXPECT_TRUE(seen.names.contains("v"));
}

}  // namespace
}  // namespace hostir::interp
