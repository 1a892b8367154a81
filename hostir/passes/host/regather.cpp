#include "hostir/passes/host/regather.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/host/updates.h"
#include "hostir/passes/redistribute/redistribute_cost.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

using SegmentItem = std::variant<KernelUse, InstrId>;

constexpr size_t kNoItem = static_cast<size_t>(-1);

// The time between two uses of a value, in which it need not be held.
struct UseGap {
  ValueId value;
  size_t from = 0;  // the item of the use before
  size_t to = 0;    // the item of the use after
  double bytes = 0;
  double on_the_way = 0;  // bytes of what is made on the way to the value
  bool is_open = false;   // the value is gathered again before `to`
};

// The items of a fusion, and the values they read and write.
class Items {
 public:
  Items(const Function& fusion, const Segments& segments) : f_(fusion), all_(segments.items) {
    made_at_.resize(f_.values.size(), kNoItem);
    read_at_.resize(f_.values.size());
    for (size_t n = 0; n < all_.size(); ++n) {
      for (const ValueId v : writes(n)) made_at_[v.index] = n;
      for (const ValueId v : reads(n)) {
        if (read_at_[v.index].empty() || read_at_[v.index].back() != n)
          read_at_[v.index].push_back(n);
      }
    }
    for (const Operand& o : f_.instr(body_of(f_).back()).operands) returned_.insert(o.value);
  }

  size_t size() const { return all_.size(); }
  const SegmentItem& operator[](size_t n) const { return all_[n]; }
  const Instruction* reshard(size_t n) const {
    const auto* id = std::get_if<InstrId>(&all_[n]);
    return id != nullptr ? &f_.instr(*id) : nullptr;
  }
  std::vector<ValueId> reads(size_t n) const {
    if (const Instruction* i = reshard(n)) return {i->operands.front().value};
    return std::get<KernelUse>(all_[n]).reads;
  }
  std::vector<ValueId> writes(size_t n) const {
    if (const Instruction* i = reshard(n)) return i->results;
    return std::get<KernelUse>(all_[n]).writes;
  }
  const std::vector<OpRef>& from(size_t n) const {
    if (const Instruction* i = reshard(n)) return i->from;
    return std::get<KernelUse>(all_[n]).from;
  }
  size_t made_at(ValueId v) const { return made_at_[v.index]; }
  const std::vector<size_t>& read_at(ValueId v) const { return read_at_[v.index]; }
  bool is_returned(ValueId v) const { return returned_.contains(v); }

 private:
  const Function& f_;
  const std::vector<SegmentItem>& all_;
  std::vector<size_t> made_at_;
  std::vector<std::vector<size_t>> read_at_;  // by value, ascending
  std::set<ValueId> returned_;
};

// True for a kernel that costs little more than reading its operand.
bool is_light(const Function& kernel) {
  return std::ranges::all_of(body_of(kernel), [&](InstrId id) {
    const Instruction& i = kernel.instr(id);
    const OpShape shape = record(i.kind).shape;
    return is_terminator(i) || shape == OpShape::kPointwise || shape == OpShape::kBroadcast ||
           shape == OpShape::kSource;
  });
}

class Regatherer {
 public:
  Regatherer(const Program& program, Resharded& steps, Segments& segments, MeshMoves& moves)
      : program_(program),
        f_(steps.function),
        segments_(segments),
        moves_(moves),
        items_(f_, segments),
        names_(f_) {
    for (const Function& k : segments.kernels) {
      if (is_light(k)) light_.insert(k.name);
    }
    for (const ValueId v : aliases()) updates_.insert(v);
  }

  Explanation run() {
    std::set<std::string> meshes;
    for (const UseGap& gap : gaps()) {
      gaps_.push_back(gap);
      meshes.insert(sharding_at(f_, gap.value).mesh);
    }
    for (const std::string& mesh : meshes) decide(mesh);
    if (std::ranges::any_of(gaps_, &UseGap::is_open)) rewrite();
    return std::move(explanation_);
  }

 private:
  // The results that are computed in the memory of parameters.
  std::vector<ValueId> aliases() const {
    std::vector<ValueId> out;
    const Instruction& ret = f_.instr(body_of(f_).back());
    for (size_t r = 0; r < f_.results.size() && r < ret.operands.size(); ++r) {
      if (f_.results[r].alias) out.push_back(ret.operands[r].value);
    }
    return out;
  }

  double bytes_of(ValueId v) const {
    const TensorType& type = tensor_type(f_, v);
    return largest_local_elems(*program_.find_mesh(type.sharding->mesh), type.shape,
                               *type.sharding) *
           static_cast<double>(size_bytes(type.dtype));
  }

  // The items that make a gathered parameter, in order; empty for any other value.
  std::vector<size_t> chain_to(ValueId value) const {
    std::vector<size_t> out;
    bool grows = false;
    for (ValueId v = value; items_.made_at(v) != kNoItem;) {
      const size_t n = items_.made_at(v);
      const std::vector<ValueId> reads = items_.reads(n);
      if (reads.size() != 1 || items_.writes(n).size() != 1) return {};
      if (const Instruction* i = items_.reshard(n)) {
        if (is_relabel(program_, f_, *i)) return {};
        grows = grows || bytes_of(v) > bytes_of(reads.front());
      } else if (!light_.contains(std::get<KernelUse>(items_[n]).kernel)) {
        return {};
      }
      out.push_back(n);
      v = reads.front();
    }
    if (!grows) return {};
    std::ranges::reverse(out);
    return out;
  }

  // The parameter is replaced before this item.
  bool is_updated_before(const std::vector<size_t>& chain, size_t item) const {
    const std::string& parameter = f_.value(items_.reads(chain.front()).front()).name;
    const Instruction& ret = f_.instr(body_of(f_).back());
    for (size_t r = 0; r < f_.results.size() && r < ret.operands.size(); ++r) {
      if (f_.results[r].alias != parameter) continue;
      const size_t made = items_.made_at(ret.operands[r].value);
      if (made != kNoItem && made < item) return true;
    }
    return false;
  }

  std::vector<UseGap> gaps() {
    std::vector<UseGap> out;
    for (size_t n = 0; n < items_.size(); ++n) {
      for (const ValueId v : items_.writes(n)) {
        const std::vector<size_t>& uses = items_.read_at(v);
        if (uses.size() < 2 || items_.is_returned(v)) continue;
        std::vector<size_t> chain = chain_to(v);
        if (chain.empty()) continue;
        double on_the_way = 0;
        for (const size_t c : chain) {
          if (c != n) on_the_way += bytes_of(items_.writes(c).front());
        }
        for (size_t u = 0; u + 1 < uses.size(); ++u) {
          if (uses[u] + 1 < uses[u + 1] && !is_updated_before(chain, uses[u + 1]))
            out.push_back({v, uses[u], uses[u + 1], bytes_of(v), on_the_way, false});
        }
        chains_[v] = std::move(chain);
      }
    }
    return out;
  }

  // The memory of a rank of the mesh while each item runs, in bytes.
  std::vector<double> memory_on(const std::string& mesh) const {
    std::vector<double> out(items_.size() + 1, 0);
    const auto hold = [&](size_t first, size_t last, double bytes) {
      out[first] += bytes;
      if (last + 1 < out.size()) out[last + 1] -= bytes;
    };
    for (const Parameter& p : f_.params) {
      if (sharding_at(f_, p.value).mesh == mesh) hold(0, items_.size(), bytes_of(p.value));
    }
    for (size_t n = 0; n < items_.size(); ++n) {
      for (const ValueId v : items_.writes(n)) {
        if (sharding_at(f_, v).mesh != mesh || updates_.contains(v)) continue;
        size_t last = n;
        if (!items_.read_at(v).empty()) last = items_.read_at(v).back();
        if (items_.is_returned(v)) last = items_.size();
        // A sum that only one collective reads is reduced in place.
        const Instruction* by = last < items_.size() ? items_.reshard(last) : nullptr;
        const bool in_place = by != nullptr && last > n && sharding_at(f_, v).is_partial() &&
                              bytes_of(by->results.front()) == bytes_of(v);
        hold(n, in_place ? last - 1 : last, bytes_of(v));
      }
    }
    for (size_t n = 1; n < out.size(); ++n) out[n] += out[n - 1];
    return out;
  }

  static void change(std::vector<double>& memory, const UseGap& gap, double sign) {
    for (size_t n = gap.from + 1; n < gap.to; ++n) memory[n] += sign * gap.bytes;
    memory[gap.to] -= sign * gap.on_the_way;
  }

  void decide(const std::string& mesh) {
    std::vector<UseGap*> here;
    for (UseGap& gap : gaps_) {
      if (sharding_at(f_, gap.value).mesh == mesh) here.push_back(&gap);
    }
    std::vector<double> memory = memory_on(mesh);
    const double before = *std::ranges::max_element(memory);
    for (bool changes = true; changes;) {
      changes = false;
      const auto highest = std::ranges::max_element(memory);
      const auto at = static_cast<size_t>(highest - memory.begin());
      for (UseGap* gap : here) {
        if (gap->is_open || at <= gap->from || at >= gap->to) continue;
        gap->is_open = changes = true;
        change(memory, *gap, -1);
      }
    }
    const double after = *std::ranges::max_element(memory);
    std::ranges::stable_sort(here, {}, [](const UseGap* gap) { return gap->to - gap->from; });
    for (UseGap* gap : here) {
      if (!gap->is_open) continue;
      const auto first = memory.begin() + static_cast<std::ptrdiff_t>(gap->from) + 1;
      const auto last = memory.begin() + static_cast<std::ptrdiff_t>(gap->to);
      const bool is_needed =
          std::any_of(first, last, [&](double m) { return m + gap->bytes > after; });
      if (is_needed && before - after >= kLeastSaved * before) continue;
      gap->is_open = false;
      change(memory, *gap, 1);
    }
    for (const UseGap* gap : here) {
      if (gap->is_open) explain(*gap, before, after);
    }
  }

  double gather_ns(ValueId value) {
    double out = 0;
    for (const size_t n : chains_.at(value)) {
      const Instruction* i = items_.reshard(n);
      if (i == nullptr) continue;
      const TensorType& type = tensor_type(f_, i->operands.front().value);
      out += moves_.step_ns(type, *type.sharding, *step_of(program_, f_, *i));
    }
    return out;
  }

  void explain(const UseGap& gap, double before, double after) {
    const ValueId parameter = items_.reads(chains_.at(gap.value).front()).front();
    const std::vector<OpRef>& user = items_.from(gap.to);
    explanation_.push_back(
        {.value = f_.value(parameter).name,
         .what = "gathered again",
         .sentence = fmt::format(
             "its {} would be held until its next use; gathering it again takes about {}, and with "
             "all that are gathered again a rank needs at most {} instead of {}",
             bytes_text(std::llround(gap.bytes)), time_text(gather_ns(gap.value)),
             bytes_text(std::llround(after)), bytes_text(std::llround(before))),
         .from =
             user.empty() ? "" : fmt::format("@{}#{}", user.front().function, user.front().number),
         .pass = "regather"});
  }

  void rewrite() {
    std::map<size_t, std::vector<SegmentItem>> before;  // by item
    std::ranges::stable_sort(gaps_, {}, &UseGap::to);
    for (const UseGap& gap : gaps_) {
      if (!gap.is_open) continue;
      ValueId& now = now_.try_emplace(gap.value, gap.value).first->second;
      const ValueId made = make_again(gap, before[gap.to]);
      for (const size_t n : items_.read_at(gap.value)) {
        if (n >= gap.to) replace_in(n, now, made);
      }
      now = made;
    }
    std::vector<SegmentItem> out;
    for (size_t n = 0; n < segments_.items.size(); ++n) {
      if (const auto found = before.find(n); found != before.end()) {
        for (SegmentItem& item : found->second) out.push_back(std::move(item));
      }
      out.push_back(std::move(segments_.items[n]));
    }
    segments_.items = std::move(out);
  }

  // Appends the items that make the value once more.
  ValueId make_again(const UseGap& gap, std::vector<SegmentItem>& items) {
    const std::vector<size_t>& chain = chains_.at(gap.value);
    ValueId made = items_.reads(chain.front()).front();
    for (const size_t n : chain) {
      const ValueId before = items_.writes(n).front();
      const ValueId after =
          f_.add_value(names_.fresh(f_.value(before).name), f_.value(before).type);
      f_.value(after).origin = f_.value(before).origin;
      if (const auto* use = std::get_if<KernelUse>(&segments_.items[n])) {
        KernelUse again = *use;
        again.reads = {made};
        again.writes = {after};
        again.from = items_.from(gap.to);
        items.emplace_back(std::move(again));
      } else {
        items.emplace_back(
            reshard_again(std::get<InstrId>(segments_.items[n]), made, after, items_.from(gap.to)));
      }
      made = after;
    }
    return made;
  }

  InstrId reshard_again(InstrId id, ValueId from, ValueId to, const std::vector<OpRef>& by) {
    Instruction again = f_.instr(id);
    again.operands.front().value = from;
    again.results = {to};
    again.from = by;
    const InstrId made = f_.add_instruction(f_.body, std::move(again));
    std::vector<InstrId>& body = f_.region(f_.body).instructions;
    std::rotate(body.end() - 2, body.end() - 1, body.end());  // `return` stays the last
    return made;
  }

  void replace_in(size_t n, ValueId before, ValueId after) {
    if (auto* use = std::get_if<KernelUse>(&segments_.items[n])) {
      std::ranges::replace(use->reads, before, after);
    } else {
      f_.instr(std::get<InstrId>(segments_.items[n])).operands.front().value = after;
    }
  }

  const Program& program_;
  Function& f_;
  Segments& segments_;
  MeshMoves& moves_;
  const Items items_;
  UniqueNames names_;
  std::set<std::string> light_;  // names of kernels
  std::set<ValueId> updates_;
  std::vector<UseGap> gaps_;
  std::map<ValueId, std::vector<size_t>> chains_;  // by gathered parameter
  std::map<ValueId, ValueId> now_;                 // the version that later items read
  Explanation explanation_;
};

}  // namespace

void regather_parameters(const Program& program, Resharded& steps, Segments& segments,
                         MeshMoves& moves, Explanation& explanation) {
  Explanation made = Regatherer(program, steps, segments, moves).run();
  explanation.insert(explanation.end(), made.begin(), made.end());
}

}  // namespace hostir
