#include "interp/core/engine/run_context.h"

#include <algorithm>

#include "hostir/support/lists.h"

namespace hostir::interp {

uint32_t ShapeTable::of_view(const std::vector<int64_t>& extents,
                             const std::vector<int64_t>& strides_elems, int64_t element_bytes) {
  // Trailing dimensions without gaps form one row.
  size_t outer = extents.size();
  int64_t row = 1;
  for (const int64_t n : extents) {
    if (n == 0) return 0;
  }
  while (outer > 0 && (extents[outer - 1] == 1 || strides_elems[outer - 1] == row)) {
    row *= extents[--outer];
  }
  if (outer == 0) return 0;
  StridedShape shape;
  for (size_t d = 0; d < outer; ++d) {
    shape.extents.push_back(extents[d]);
    shape.strides_bytes.push_back(strides_elems[d] * element_bytes);
  }
  shape.row_bytes = row * element_bytes;
  shape.strides_elems = strides_elems;
  return intern(std::move(shape));
}

uint32_t ShapeTable::intern(StridedShape shape) {
  std::vector<int64_t> key = shape.extents;
  key.insert(key.end(), shape.strides_bytes.begin(), shape.strides_bytes.end());
  key.push_back(shape.row_bytes);
  key.insert(key.end(), shape.strides_elems.begin(), shape.strides_elems.end());
  const auto [at, added] = index_.try_emplace(std::move(key), shapes_.size());
  if (added) shapes_.push_back(std::move(shape));
  return at->second;
}

RunContext::RunContext(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
                       const InterpreterOptions& run_options)
    : code(std::move(program)), backend(device), sink(log), options(run_options) {
  const Capabilities can = backend.capabilities();
  clock_is_measured = can.clock != ClockDomain::kVirtual;
  plans_tasks = can.plans_tasks;
  const auto n = runs_for_all() ? size_t{1} : static_cast<size_t>(code->rank_count);
  state.ledger.prepare(*code, runs_for_all());
  const size_t streams = code->streams.size();
  clock_stride = TaskTable::clock_stride(streams);
  for (size_t r = 0; r < n; ++r) {
    RankState& rank = state.ranks.emplace_back();
    rank.registers.resize(code->register_count);
    rank.tasks = TaskTable(streams);
    rank.streams.resize(streams);
    rank.clocks.assign((streams + 1) * clock_stride, 0);
    const auto& started = options.ranks;
    if (!started.empty() && !contains(started, static_cast<Rank>(r))) {
      rank.status = RankStatus::kNotStarted;
    }
    const auto& here = can.local_ranks;
    if (!here.empty() && !contains(here, static_cast<Rank>(r))) {
      rank.status = RankStatus::kRemote;
    }
  }
}

}  // namespace hostir::interp
