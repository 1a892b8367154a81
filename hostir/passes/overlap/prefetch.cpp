#include "hostir/passes/overlap/prefetch.h"

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/ops/record.h"
#include "hostir/passes/host/stream_order.h"

namespace hostir {

namespace {

class Prefetcher {
 public:
  explicit Prefetcher(const Function& host)
      : host_(host), body_(host.region(host.body).instructions), memory_(buffers_behind(host)) {
    made_at_.resize(host.values.size(), kParameter);
    for (size_t n = 0; n < body_.size(); ++n) {
      for (const ValueId r : at(n).results) made_at_[r.index] = n;
      uses_.push_back(buffer_uses(host, at(n), memory_));
      for (const BufferUse& use : uses_.back()) {
        auto& list = use.access == Access::kRead ? readers_ : writers_;
        list[memory_[use.buffer.index].index].push_back(n);
        if (use.access == Access::kReadWrite)
          readers_[memory_[use.buffer.index].index].push_back(n);
      }
    }
  }

  std::optional<Function> run() {
    find_levels();
    std::map<size_t, std::vector<size_t>> before;  // by index in the body: what moves before it
    std::set<size_t> moved;
    size_t user = kParameter;  // of the level before
    for (const auto& [first_user, units] : levels_) {
      for (const std::set<size_t>& unit : units) {
        if (user == kParameter || *unit.rbegin() < user) continue;
        for (const size_t n : unit) {
          if (n < user || !moved.insert(n).second) continue;
          before[user].push_back(n);
        }
      }
      user = first_user;
    }
    if (moved.empty()) return std::nullopt;
    Function out = host_;
    std::vector<InstrId>& order = out.regions[out.body.index].instructions;
    order.clear();
    for (size_t n = 0; n < body_.size(); ++n) {
      if (const auto found = before.find(n); found != before.end()) {
        std::sort(found->second.begin(), found->second.end());
        for (const size_t m : found->second) order.push_back(body_[m]);
      }
      if (moved.count(n) == 0) order.push_back(body_[n]);
    }
    return compacted(std::move(out));
  }

 private:
  static constexpr size_t kParameter = static_cast<size_t>(-1);

  const Instruction& at(size_t n) const { return host_.instr(body_[n]); }

  bool communicates(size_t n) const {
    return record(at(n).kind).op_class == OpClass::kCommunication;
  }

  void find_levels() {
    for (size_t n = 0; n < body_.size(); ++n) {
      if (!communicates(n)) continue;
      std::set<size_t> unit;
      if (!collect(n, unit)) continue;
      size_t first = body_.size();
      for (const BufferUse& use : uses_[n]) {
        if (use.access == Access::kRead) continue;
        for (const size_t reader : readers_[memory_[use.buffer.index].index]) {
          if (reader > n) first = std::min(first, reader);
        }
      }
      if (first < body_.size()) levels_[first].push_back(std::move(unit));
    }
  }

  // Adds instruction n and all that it needs to the unit. False if that depends on more than
  // parameters.
  bool collect(size_t n, std::set<size_t>& unit) const {
    if (!unit.insert(n).second) return true;
    const HostRole role = record(at(n).kind).role;
    const bool moves = communicates(n) || role == HostRole::kLaunch || role == HostRole::kView ||
                       role == HostRole::kAlloc;
    if (!moves) return false;
    for (const Operand& o : at(n).operands) {
      if (o.value.valid() && !collect_value(o.value, unit)) return false;
    }
    for (const BufferUse& use : uses_[n]) {
      if (!collect_buffer(n, use, unit)) return false;
    }
    return true;
  }

  // The alloc or view that an operand names; handles are declared at the top.
  bool collect_value(ValueId value, std::set<size_t>& unit) const {
    const size_t made = made_at_[value.index];
    if (made == kParameter) return true;
    const HostRole role = record(at(made).kind).role;
    if (role != HostRole::kAlloc && role != HostRole::kView) return true;
    return collect(made, unit);
  }

  bool collect_buffer(size_t n, const BufferUse& use, std::set<size_t>& unit) const {
    const ValueId root = memory_[use.buffer.index];
    if (made_at_[root.index] != kParameter && !collect(made_at_[root.index], unit)) return false;
    const auto writers = writers_.find(root.index);
    if (writers != writers_.end()) {
      for (const size_t w : writers->second) {
        if (made_at_[root.index] == kParameter) return false;  // not what the caller gave
        if (w < n && !collect(w, unit)) return false;
      }
    }
    if (use.access == Access::kRead) return true;
    // What reads the buffer before it is written again must not come after it.
    const auto readers = readers_.find(root.index);
    return readers == readers_.end() ||
           std::all_of(readers->second.begin(), readers->second.end(),
                       [&](size_t r) { return r >= n || unit.count(r) != 0; });
  }

  const Function& host_;
  const std::vector<InstrId>& body_;
  const std::vector<ValueId> memory_;                          // by value: the buffer behind a view
  std::vector<size_t> made_at_;                                // by value: index in the body
  std::vector<std::vector<BufferUse>> uses_;                   // by index in the body
  std::map<uint32_t, std::vector<size_t>> writers_, readers_;  // by buffer
  std::map<size_t, std::vector<std::set<size_t>>> levels_;     // units by their first user
};

}  // namespace

std::optional<Function> prefetched(const Function& host) { return Prefetcher(host).run(); }

}  // namespace hostir
