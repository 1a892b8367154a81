#include "hostir/passes/homes/layer_sample.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "hostir/ir/compact.h"
#include "hostir/passes/homes/repeated_layers.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

constexpr size_t kFewestKept = 2;
constexpr size_t kMostKept = 4;
constexpr size_t kNone = SIZE_MAX;

// Repeated ops, and the repetitions [begin, end) that are dropped.
struct Gap {
  RepeatedOps ops;
  size_t begin = 0;
  size_t end = 0;
};

class Sampler {
 public:
  explicit Sampler(const Function& fusion)
      : fusion_(fusion), body_(body_of(fusion)), runs_(repeated_ops(fusion)) {
    position_.assign(fusion.values.size(), kNone);
    for (size_t i = 0; i < body_.size(); ++i) {
      for (const ValueId r : fusion.instr(body_[i]).results) position_[r.index] = i;
    }
  }

  std::optional<LayerSample> sample() {
    const auto has_regions = [&](InstrId id) { return !fusion_.instr(id).regions.empty(); };
    if (std::any_of(body_.begin(), body_.end(), has_regions)) return std::nullopt;
    // Of few layers, the gradients may not begin where the layers do: the gap may have to start one
    // layer later for the gradients' gap to fit. The sample with fewest ops is best.
    std::vector<std::vector<Gap>> choices;
    for (size_t kept = kFewestKept; kept <= kMostKept; ++kept) {
      for (size_t begin = 1; begin < kept; ++begin) {
        if (choose_gaps(kept, begin)) choices.push_back(gaps_);
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return ops_dropped(a) > ops_dropped(b); });
    for (std::vector<Gap>& gaps : choices) {
      gaps_ = std::move(gaps);
      if (join()) return finished();
    }
    return std::nullopt;
  }

 private:
  static size_t ops_dropped(const std::vector<Gap>& gaps) {
    size_t out = 0;
    for (const Gap& gap : gaps) out += (gap.end - gap.begin) * gap.ops.length;
    return out;
  }

  // Chooses the repetitions to drop, from `begin` on, among the ops that repeat about as often as
  // the most frequent one. Starts at the first of them. The first and the last layer may differ
  // from the others.
  bool choose_gaps(size_t kept, size_t begin) {
    gaps_.clear();
    size_t most = 0;
    for (const RepeatedOps& run : runs_) most = std::max(most, run.count);
    const auto layers = std::find_if(runs_.begin(), runs_.end(),
                                     [&](const auto& run) { return run.count + 2 >= most; });
    if (layers == runs_.end() || layers->count <= kept) return false;
    gaps_.push_back({*layers, begin, begin + layers->count - kept});
    for (const RepeatedOps& run : runs_) {
      if (run.first <= layers->first) continue;
      if (const std::optional<Gap> gap = gap_like(run)) gaps_.push_back(*gap);
    }
    return true;
  }

  // The repetitions that use values of those dropped in an earlier gap, in the same or in the
  // opposite order.
  std::optional<Gap> gap_like(const RepeatedOps& run) const {
    for (const Gap& gap : gaps_) {
      // Compares two layers in the middle: the first and the last may use other values.
      const size_t at = (run.count - 1) / 2;
      const std::vector<size_t> first = used_of(gap.ops, run, at);
      const std::vector<size_t> second = used_of(gap.ops, run, at + 1);
      if (first.empty() || first.size() != second.size()) continue;
      const size_t dropped = gap.end - gap.begin;
      Gap out{run, 0, 0};
      // A repetition that begins in the middle of a layer spans two layers.
      const size_t used = *std::max_element(first.begin(), first.end());
      const size_t next = *std::max_element(second.begin(), second.end());
      if (next == used + 1 && gap.begin + at >= used)
        out.begin = gap.begin + at - used;
      else if (next + 1 == used && used + at + 1 >= gap.end)
        out.begin = used + at + 1 - gap.end;
      else
        continue;
      out.end = out.begin + dropped;
      if (out.begin > 0 && out.end < run.count) return out;
    }
    return std::nullopt;
  }

  // For each operand that comes from `from`, in repetition `at` of `run`: the repetition that
  // computes it.
  std::vector<size_t> used_of(const RepeatedOps& from, const RepeatedOps& run, size_t at) const {
    std::vector<size_t> out;
    const size_t begin = run.first + at * run.length;
    for (size_t i = begin; i < begin + run.length; ++i) {
      for (const Operand& o : fusion_.instr(body_[i]).operands) {
        const size_t p = o.value.valid() ? position_[o.value.index] : kNone;
        if (p != kNone && is_in(from, p)) out.push_back((p - from.first) / from.length);
      }
    }
    return out;
  }

  static bool is_in(const RepeatedOps& ops, size_t position) {
    return position >= ops.first && position < ops.first + ops.count * ops.length;
  }

  // The gap that this op is in.
  const Gap* gap_at(size_t position) const {
    for (const Gap& gap : gaps_) {
      if (!is_in(gap.ops, position)) continue;
      const size_t at = (position - gap.ops.first) / gap.ops.length;
      return at >= gap.begin && at < gap.end ? &gap : nullptr;
    }
    return nullptr;
  }

  // Drops the gaps; false if a used value has no counterpart before its gap.
  bool join() {
    Function& f = joined_ = fusion_;
    std::vector<InstrId>& body = f.region(f.body).instructions;
    body.clear();
    for (size_t i = 0; i + 1 < body_.size(); ++i) {
      if (gap_at(i) != nullptr) continue;
      for (Operand& o : f.instr(body_[i]).operands) {
        if (!move_before_gap(o.value, stacks(fusion_.instr(body_[i])))) return false;
      }
      body.push_back(body_[i]);
    }
    // Drops the results of dropped layers.
    kept_results_.clear();
    Instruction& end = f.instr(body_.back());
    std::vector<Operand> operands;
    std::vector<ResultDecl> results;
    for (size_t r = 0; r < end.operands.size(); ++r) {
      const ValueId v = end.operands[r].value;
      if (v.valid() && position_[v.index] != kNone && gap_at(position_[v.index]) != nullptr)
        continue;
      kept_results_.push_back(r);
      operands.push_back(end.operands[r]);
      results.push_back(f.results[r]);
    }
    end.operands.assign(operands.begin(), operands.end());
    f.results = std::move(results);
    body.push_back(body_.back());
    return true;
  }

  // True for the ops that make a stack of the layers' values.
  static bool stacks(const Instruction& i) {
    const bool is_reshaped = record(i.kind).shape == OpShape::kBroadcast && i.operands.size() == 1;
    return is_reshaped || i.kind == OpKind::concat;
  }

  // A stack has the last layer before the gap in place of each that is dropped.
  bool move_before_gap(ValueId& value, bool in_stack) const {
    const size_t at = value.valid() ? position_[value.index] : kNone;
    const Gap* gap = at == kNone ? nullptr : gap_at(at);
    if (gap == nullptr) return true;
    const size_t length = gap->ops.length;
    size_t back = (gap->end - gap->begin) * length;
    if (at < gap->ops.first + back || gap_at(at - back) != nullptr) {
      if (!in_stack) return false;
      back = (at - gap->ops.first) / length * length - (gap->begin - 1) * length;
    }
    const Instruction& defining = fusion_.instr(body_[at]);
    const Instruction& counterpart = fusion_.instr(body_[at - back]);
    for (size_t r = 0; r < defining.results.size(); ++r) {
      if (defining.results[r] == value) {
        value = counterpart.results[r];
        return true;
      }
    }
    return false;
  }

  LayerSample finished() {
    std::vector<bool> is_used(fusion_.values.size(), false);
    for (const InstrId id : joined_.region(joined_.body).instructions) {
      for (const Operand& o : joined_.instr(id).operands) {
        if (o.value.valid()) is_used[o.value.index] = true;
      }
    }
    std::erase_if(joined_.params, [&](const Parameter& p) { return !is_used[p.value.index]; });
    std::vector<ValueId> now;  // the values were those of the whole fusion so far
    LayerSample out{compacted(std::move(joined_), &now), {}};
    for (const ValueId value : now)
      out.tensor_of.push_back(value.valid() ? value.index : LayerSample::kNotThere);
    out.tensor_of.resize(fusion_.values.size() + fusion_.results.size(), LayerSample::kNotThere);
    for (size_t r = 0; r < kept_results_.size(); ++r)
      out.tensor_of[fusion_.values.size() + kept_results_[r]] = out.function.values.size() + r;
    return out;
  }

  const Function& fusion_;
  const std::vector<InstrId>& body_;
  std::vector<RepeatedOps> runs_;
  std::vector<size_t> position_;  // by value: of its op in the body
  std::vector<Gap> gaps_;
  Function joined_;
  std::vector<size_t> kept_results_;
};

}  // namespace

std::optional<LayerSample> sample_of_layers(const Function& fusion) {
  return Sampler(fusion).sample();
}

}  // namespace hostir
