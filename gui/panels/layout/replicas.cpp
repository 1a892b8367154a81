#include "gui/panels/layout/replicas.h"

#include <algorithm>
#include <cstring>

#include "gui/panels/layout/written.h"

namespace hostir::gui {

namespace {

bool has_written(const Frame& frame, const TensorView& tensor, const Shard& shard) {
  return std::all_of(shard.holders.begin(), shard.holders.end(), [&](interp::Rank rank) {
    const interp::AllocationSnapshot* held = tensor.by_rank[static_cast<size_t>(rank)];
    return held && held->live &&
           (held->parameter || written_on(*frame.model.snapshot(), tensor, rank) == Written::kYes);
  });
}

// The contents of each holder, in order; empty if one of them has none. `waits` is set if one is
// still being read.
std::vector<const Tensor*> contents_of(const Frame& frame, const TensorView& tensor,
                                       const Shard& shard, bool& waits) {
  std::vector<const Tensor*> out;
  bool usable = true;
  for (const interp::Rank rank : shard.holders) {
    interp::ValueQuery query;
    query.value = tensor.name;
    query.rank = rank;
    query.box = shard.box;
    const ReadingSlot& slot = frame.model.reading(query);
    waits = waits || slot.pending;
    usable = usable && slot.reading && slot.reading->box == shard.box && !slot.reading->undefined &&
             !slot.reading->write_in_flight;
    out.push_back(usable ? &slot.reading->tensor : nullptr);
  }
  if (!usable) out.clear();
  return out;
}

void mark_differences(const Tensor& a, const Tensor& b, std::vector<bool>& differs) {
  const auto size = static_cast<size_t>(size_bytes(a.dtype));
  differs.resize(static_cast<size_t>(a.element_count()), false);
  for (size_t i = 0; i < differs.size(); ++i) {
    if (std::memcmp(a.data.data() + i * size, b.data.data() + i * size, size) != 0)
      differs[i] = true;
  }
}

void split_by_contents(const std::vector<const Tensor*>& contents, Shard& shard,
                       std::vector<bool>& differs) {
  std::vector<const Tensor*> seen;
  for (size_t i = 0; i < contents.size(); ++i) {
    const auto same = std::find_if(seen.begin(), seen.end(), [&](const Tensor* other) {
      return other->data == contents[i]->data;
    });
    const auto version = static_cast<size_t>(same - seen.begin());
    if (same == seen.end()) {
      seen.push_back(contents[i]);
      shard.versions.emplace_back();
      if (version > 0) mark_differences(*seen.front(), *contents[i], differs);
    }
    shard.versions[version].push_back(shard.holders[i]);
  }
  if (shard.versions.size() < 2) shard.versions.clear();
}

}  // namespace

bool compare_replicas(const Frame& frame, const TensorView& tensor, std::vector<Shard>& shards,
                      std::vector<std::vector<bool>>& differs) {
  differs.assign(shards.size(), {});
  int64_t elements = 0;
  for (const Shard& shard : shards)
    elements += shard.box.volume() * static_cast<int64_t>(shard.holders.size());
  if (elements > kMaxComparedElements) return true;
  bool waits = false;
  for (size_t i = 0; i < shards.size(); ++i) {
    Shard& shard = shards[i];
    shard.versions.clear();
    const bool several = shard.holders.size() > 1 && shard.addends.empty() && !shard.box.empty();
    if (!several || !has_written(frame, tensor, shard)) continue;
    const std::vector<const Tensor*> contents = contents_of(frame, tensor, shard, waits);
    if (!contents.empty()) split_by_contents(contents, shard, differs[i]);
  }
  return !waits;
}

}  // namespace hostir::gui
