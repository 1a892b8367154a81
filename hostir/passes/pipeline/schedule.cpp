#include "hostir/passes/pipeline/schedule.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::pipeline {

namespace {

constexpr std::array kNames = {
    // Huang et al. 2019; PyTorch's ScheduleGPipe.
    ScheduleName{ScheduleKind::kGPipe, "gpipe"},
    // Narayanan et al. 2021 (PipeDream-Flush); PyTorch's Schedule1F1B.
    ScheduleName{ScheduleKind::kOneForwardOneBackward, "1f1b"},
    // Narayanan et al. 2021; Megatron-LM's interleaved 1F1B.
    ScheduleName{ScheduleKind::kInterleaved, "interleaved"},
    // Qi et al. 2023, ZB-H1; PyTorch's ScheduleInterleavedZeroBubble.
    ScheduleName{ScheduleKind::kZeroBubble, "zb-h1"},
};

/// One forward or backward pass of a rank: the index of the stage among the rank's stages.
struct Pass {
  int64_t chunk;
  int64_t micro_batch;
};

// The order of all forward passes of a rank: group by group of micro-batches, each group through
// all of the rank's stages.
std::vector<Pass> forward_passes(const Schedule& s) {
  std::vector<Pass> out;
  const int64_t groups = std::max<int64_t>(1, s.micro_batches / s.ranks);
  int64_t first = 0;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t size = s.micro_batches / groups + (g < s.micro_batches % groups ? 1 : 0);
    for (int64_t chunk = 0; chunk < s.stages_per_rank; ++chunk) {
      for (int64_t k = first; k < first + size; ++k) out.push_back({chunk, k});
    }
    first += size;
  }
  return out;
}

int64_t first_group(const Schedule& s) {
  const int64_t groups = std::max<int64_t>(1, s.micro_batches / s.ranks);
  return (s.micro_batches + groups - 1) / groups;
}

// The number of warm-up passes: forward passes that directly precede another forward pass.
int64_t warm_up(const Schedule& s, int64_t rank, int64_t passes) {
  const int64_t behind = s.ranks - 1 - rank;  // ranks after this one
  switch (s.kind) {
    case ScheduleKind::kGPipe:
      return passes;
    case ScheduleKind::kOneForwardOneBackward:
      return std::min(passes, behind);
    case ScheduleKind::kInterleaved:
    case ScheduleKind::kZeroBubble: {
      // A backward pass takes as long as two forward passes, unless it is split.
      const bool once = s.kind == ScheduleKind::kZeroBubble || s.stages_per_rank == 1;
      return std::min(passes, (s.stages_per_rank - 1) * first_group(s) + (once ? 1 : 2) * behind);
    }
  }
  return 0;
}

// Forward passes, then one forward and one backward in turn, then the rest backward. ZB-H1 delays
// the weights' gradients by as many passes as there are ranks before this one: they fill the
// bubbles at the end, and no rank keeps more activations than in 1F1B.
std::vector<Action> order_of(const Schedule& s, int64_t rank) {
  const std::vector<Pass> passes = forward_passes(s);
  const auto count = static_cast<int64_t>(passes.size());
  const int64_t warm = warm_up(s, rank, count);
  const bool splits = s.kind == ScheduleKind::kZeroBubble;
  std::vector<Action> out;
  std::vector<Action> weights;  // all of them, if `splits`
  size_t done = 0;
  const auto forward = [&](int64_t n) {
    const Pass& p = passes[static_cast<size_t>(n)];
    out.push_back({Work::kForward, p.chunk * s.ranks + rank, p.micro_batch});
  };
  const auto backward = [&](int64_t n) {
    const Pass& p = passes[static_cast<size_t>(n)];
    const int64_t stage = (s.stages_per_rank - 1 - p.chunk) * s.ranks + rank;
    out.push_back({splits ? Work::kBackwardInput : Work::kBackward, stage, p.micro_batch});
    if (!splits) return;
    weights.push_back({Work::kBackwardWeight, stage, p.micro_batch});
    if (n >= rank) out.push_back(weights[done++]);
  };
  for (int64_t n = 0; n < warm; ++n) forward(n);
  for (int64_t n = 0; n < count - warm; ++n) {
    forward(warm + n);
    backward(n);
  }
  for (int64_t n = count - warm; n < count; ++n) backward(n);
  while (done < weights.size()) out.push_back(weights[done++]);
  return out;
}

}  // namespace

std::string to_string(const Action& action) {
  constexpr std::string_view kLetters = "FBIW";
  return fmt::format("{}{}{}", action.stage, kLetters[static_cast<size_t>(action.work)],
                     action.micro_batch);
}

std::span<const ScheduleName> schedule_names() { return kNames; }

std::string_view name(ScheduleKind kind) { return kNames[static_cast<size_t>(kind)].name; }

Expected<Schedule> make_schedule(ScheduleKind kind, int64_t ranks, int64_t stages_per_rank,
                                 int64_t micro_batches) {
  constexpr int64_t kMost = int64_t{1} << 20;
  for (const auto& [what, n] :
       {std::pair("ranks", ranks), std::pair("stages per rank", stages_per_rank),
        std::pair("micro-batches", micro_batches)}) {
    if (n >= 1 && n <= kMost) continue;
    return fail(ErrorKind::kUsage, "pipeline_c1",
                fmt::format("{} {}: a pipeline has at least 1 and at most {}", n, what, kMost));
  }
  const bool one = kind == ScheduleKind::kGPipe || kind == ScheduleKind::kOneForwardOneBackward;
  if (one && stages_per_rank > 1) {
    return fail(
        ErrorKind::kUsage, "pipeline_c1",
        fmt::format("{} has one stage per rank, not {}; use interleaved or zb-h1, or {} ranks",
                    name(kind), stages_per_rank, ranks * stages_per_rank));
  }
  Schedule s{kind, ranks, stages_per_rank, micro_batches, {}};
  for (int64_t rank = 0; rank < ranks; ++rank) s.order.push_back(order_of(s, rank));
  return s;
}

}  // namespace hostir::pipeline
