#include "interp/core/breakpoints.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/breakpoint_matcher.h"
#include "interp/core/engine.h"

namespace hostir::interp {

uint32_t BreakpointList::add(Breakpoint breakpoint) {
  breakpoint.id = next_id_++;
  breakpoints_.push_back(std::move(breakpoint));
  return breakpoints_.back().id;
}

bool BreakpointList::remove(uint32_t id) {
  return std::erase_if(breakpoints_, [&](const Breakpoint& b) { return b.id == id; }) > 0;
}

bool BreakpointList::enable(uint32_t id, bool enabled) {
  for (Breakpoint& b : breakpoints_) {
    if (b.id != id) continue;
    b.enabled = enabled;
    return true;
  }
  return false;
}

std::vector<CodeIndex> find_codes(const Code& code, const std::string& function, uint32_t number) {
  std::vector<CodeIndex> out;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role == CodeRole::kInstruction && c.address == number &&
        code.functions[c.function]->name == function) {
      out.push_back(i);
    }
  }
  return out;
}

void BreakpointList::moved_to(uint64_t position) {
  const auto behind = [](uint64_t at, const Breakpoint::Hit& hit) { return at < hit.position; };
  for (Breakpoint& b : breakpoints_) {
    auto& hit = b.hit_places;
    auto& ahead = b.hits_ahead;
    const auto undone = std::upper_bound(hit.begin(), hit.end(), position, behind);
    b.hits -= std::min(b.hits, static_cast<uint64_t>(hit.end() - undone));
    ahead.insert(ahead.begin(), undone, hit.end());
    hit.erase(undone, hit.end());
    const auto again = std::upper_bound(ahead.begin(), ahead.end(), position, behind);
    b.hits += static_cast<uint64_t>(again - ahead.begin());
    hit.insert(hit.end(), ahead.begin(), again);
    ahead.erase(ahead.begin(), again);
  }
}

namespace {
// The first hit that is not before `position`.
auto first_at(const Breakpoint& b, uint64_t position) {
  return std::lower_bound(
      b.hit_places.begin(), b.hit_places.end(), position,
      [](const Breakpoint::Hit& hit, uint64_t at) { return hit.position < at; });
}
}  // namespace

bool count_hit(Breakpoint& b, const HitPlace& at) {
  // Results are seen once, when a decision brings them; an instruction as often as a rank stands
  // before it.
  const bool results = b.kind == Breakpoint::Kind::kWritten || b.kind == Breakpoint::Kind::kNan;
  const bool counted =
      !results &&
      std::any_of(first_at(b, at.position), b.hit_places.cend(), [&](const Breakpoint::Hit& hit) {
        return hit.position == at.position && hit.rank == at.rank;
      });
  if (!counted) {
    ++b.hits;
    b.hit_places.push_back({at.position, at.rank});
  }
  b.hit_rank = at.rank;
  b.hit_steps = at.steps;
  b.hit_travel = at.travel;
  if (b.hits <= b.ignore) return false;
  if (b.temporary) b.enabled = false;
  return true;
}

bool stands_at(const Breakpoint& b, Rank rank, uint64_t steps, uint64_t travel) {
  return b.hits > 0 && b.hit_rank == rank && b.hit_steps == steps && b.hit_travel == travel;
}

namespace {

bool writes(Access access) { return access == Access::kWrite || access == Access::kReadWrite; }

std::set<CodeIndex> writers_of(const Code& code, const std::string& tensor) {
  std::set<CodeIndex> out;
  const std::string name = "%" + tensor;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    const auto& operands = code.source(i).operands;
    for (size_t k = 0; k < c.operands.size() && k < operands.size(); ++k) {
      if (c.role == CodeRole::kInstruction && c.operands[k] != kNoRegister &&
          writes(operands[k].access) && code.register_name(c.operands[k]) == name) {
        // A member of a group completes with the group's task.
        out.insert(c.group == kNoCode ? i : c.group);
      }
    }
  }
  return out;
}

std::optional<int64_t> leaf_value(const Interpreter& in, Rank rank, const IndexExpr& leaf) {
  using Kind = IndexExpr::Kind;
  const Code& code = in.code();
  const RankState& state = in.state().ranks[static_cast<size_t>(rank)];
  if (leaf.kind() == Kind::kRank) return rank;
  if (leaf.kind() == Kind::kSize) return code.sizes.find(leaf.symbol());
  if (leaf.kind() == Kind::kCoord || leaf.kind() == Kind::kAxisSize) {
    const auto axis = code.world->axis_index(leaf.symbol());
    const auto position = code.world->position_of(rank);
    if (!axis || !position) return std::nullopt;
    return leaf.kind() == Kind::kCoord ? code.world->coord(*position, *axis)
                                       : code.world->axes[*axis].size;
  }
  const std::string name = "%" + leaf.symbol();
  for (auto frame = state.loops.rbegin(); frame != state.loops.rend(); ++frame) {
    const uint32_t reg = code.instructions[frame->loop].index_register;
    if (code.register_name(reg) == name) return frame->index;
  }
  for (const uint32_t reg : code.find_registers(leaf.symbol())) {
    if (const auto value = in.integer(rank, reg)) return value;
  }
  return std::nullopt;
}

}  // namespace

BreakpointMatcher::BreakpointMatcher(const Interpreter& interpreter, BreakpointList& list)
    : in_(interpreter), list_(list) {
  for (const Breakpoint& b : list_.all()) {
    std::set<CodeIndex>& writers = writers_.emplace_back();
    if (!b.enabled) continue;
    idle_ = false;
    const bool nan = b.kind == Breakpoint::Kind::kNan;
    if (b.kind == Breakpoint::Kind::kWritten || (nan && !b.tensor.empty()))
      writers = writers_of(in_.code(), b.tensor);
    wants_statistics_ = wants_statistics_ || b.kind == Breakpoint::Kind::kNan;
    listens_ = listens_ || b.kind == Breakpoint::Kind::kNan || !writers.empty();
  }
}

bool BreakpointMatcher::accepts(const Breakpoint& b, Rank rank, CodeIndex code) const {
  if (!b.ranks.empty() && std::find(b.ranks.begin(), b.ranks.end(), rank) == b.ranks.end()) {
    return false;
  }
  if (b.condition) {
    const auto value =
        b.condition->evaluate([&](const IndexExpr& leaf) { return leaf_value(in_, rank, leaf); });
    // A name that means nothing here, or a division by zero: the condition does not hold.
    if (!value || *value == 0) return false;
  }
  return !b.accepts || b.accepts(in_, rank, code);
}

bool BreakpointMatcher::matches_code(const Breakpoint& b, CodeIndex index) const {
  const CodeInstruction& c = in_.code().instructions[index];
  switch (b.kind) {
    case Breakpoint::Kind::kInstruction:
      return std::find(b.codes.begin(), b.codes.end(), index) != b.codes.end();
    case Breakpoint::Kind::kOp:
      return record(c.kind).mnemonic == b.op;
    case Breakpoint::Kind::kCollective:
      return communication_facts(c.kind) != nullptr &&
             (b.comm.empty() || in_.code().communicators[c.comm].name == b.comm);
    case Breakpoint::Kind::kWritten:
    case Breakpoint::Kind::kNan:
      return false;
  }
  return false;
}

std::vector<Breakpoint*> BreakpointMatcher::before(Rank rank) const {
  std::vector<Breakpoint*> out;
  if (idle_) return out;
  const CodeIndex code = in_.state().ranks[static_cast<size_t>(rank)].pc;
  for (Breakpoint& b : list_.all()) {
    if (b.enabled && matches_code(b, code) && accepts(b, rank, code)) out.push_back(&b);
  }
  return out;
}

std::vector<BreakpointMatcher::Written> BreakpointMatcher::after() {
  std::vector<Written> out;
  for (const Written& heard : heard_) {
    if (heard.breakpoint->enabled && accepts(*heard.breakpoint, heard.rank, heard.code)) {
      out.push_back(heard);
    }
  }
  heard_.clear();
  return out;
}

void BreakpointMatcher::completed(const Completion& completion) {
  if (!listens_) return;
  const auto task = in_.task(completion.id);
  if (!task) return;
  for (size_t i = 0; i < writers_.size() && i < list_.all().size(); ++i) {
    if (list_.all()[i].kind == Breakpoint::Kind::kNan) continue;  // see `value`
    if (writers_[i].count(task->code) > 0) {
      heard_.push_back({&list_.all()[i], task->rank, task->code});
    }
  }
}

void BreakpointMatcher::value(const ValueSummary& summary) {
  if (!wants_statistics_ || !summary.has_stats) return;
  if (summary.nan_count == 0 && summary.inf_count == 0) return;
  const auto task = in_.task(summary.task);
  const CodeIndex code = task ? task->code : 0;
  for (size_t i = 0; i < writers_.size() && i < list_.all().size(); ++i) {
    Breakpoint& b = list_.all()[i];
    if (!b.enabled || b.kind != Breakpoint::Kind::kNan) continue;
    if (b.tensor.empty() || writers_[i].count(code) > 0) heard_.push_back({&b, summary.rank, code});
  }
}

}  // namespace hostir::interp
