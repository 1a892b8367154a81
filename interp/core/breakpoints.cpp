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

namespace {

uint64_t position_of(const Breakpoint::Hit& hit) { return hit.position; }
uint64_t position_of(uint64_t position) { return position; }

// The first that lies behind `position`.
template <class Hit>
auto first_behind(std::vector<Hit>& hits, uint64_t position) {
  return std::upper_bound(hits.begin(), hits.end(), position,
                          [](uint64_t at, const Hit& hit) { return at < position_of(hit); });
}

// Moves what lies behind `position` to `ahead`, and from there what does not; how many that were.
template <class Hit>
std::pair<uint64_t, uint64_t> move_hits(std::vector<Hit>& hits, std::vector<Hit>& ahead,
                                        uint64_t position) {
  const auto undone = first_behind(hits, position);
  const auto count = static_cast<uint64_t>(hits.end() - undone);
  ahead.insert(ahead.begin(), undone, hits.end());
  hits.erase(undone, hits.end());
  const auto again = first_behind(ahead, position);
  const auto count_again = static_cast<uint64_t>(again - ahead.begin());
  hits.insert(hits.end(), ahead.begin(), again);
  ahead.erase(ahead.begin(), again);
  return {count, count_again};
}

bool sees_results(const Breakpoint& b) {
  return b.kind == Breakpoint::Kind::kWritten || b.kind == Breakpoint::Kind::kNan;
}

}  // namespace

void count_visits(Breakpoint& breakpoint) {
  breakpoint.visits.clear();
  if (!stops_first_rank(breakpoint)) return;
  for (const Breakpoint::Hit& hit : breakpoint.hit_places)
    breakpoint.visits.try_emplace(hit.visit, hit);
}

void BreakpointList::moved_to(uint64_t position, uint32_t branch) {
  uint64_t logged_again = 0;
  for (Breakpoint& b : breakpoints_) {
    if (branch != branch_) {
      b.hits_ahead.clear();
      b.logged_ahead.clear();
    }
    const auto [undone, again] = move_hits(b.hit_places, b.hits_ahead, position);
    if (undone + again > 0) count_visits(b);
    const auto lines = move_hits(b.logged, b.logged_ahead, position);
    logged_again += lines.second;
    b.hits = b.hit_places.size() + b.logged.size();
  }
  if (branch != branch_) log_.forget_ahead(UINT64_MAX);
  log_.moved_to(position, logged_again);
  branch_ = branch;
}

void BreakpointList::executed_to(uint64_t position, uint32_t branch) {
  const uint64_t passed = branch == branch_ ? position : UINT64_MAX;
  for (Breakpoint& b : breakpoints_) {
    b.hits_ahead.erase(b.hits_ahead.begin(), first_behind(b.hits_ahead, passed));
    b.logged_ahead.erase(b.logged_ahead.begin(), first_behind(b.logged_ahead, passed));
  }
  log_.forget_ahead(passed);
  branch_ = branch;
}

bool stops_first_rank(const Breakpoint& b) {
  return b.stops == Breakpoint::Stops::kFirstRank && !sees_results(b) && !b.log;
}

namespace {
// The first hit that is not before `position`.
auto first_at(const Breakpoint& b, uint64_t position) {
  return std::lower_bound(
      b.hit_places.begin(), b.hit_places.end(), position,
      [](const Breakpoint::Hit& hit, uint64_t at) { return hit.position < at; });
}
}  // namespace

uint64_t stops_so_far(const Breakpoint& b) {
  return stops_first_rank(b) ? b.visits.size() : b.hits;
}

void stand(Breakpoint& b, const HitPlace& at) {
  b.hit_rank = at.rank;
  b.hit_steps = at.steps;
  b.hit_travel = at.travel;
}

bool count_hit(Breakpoint& b, const HitPlace& at) {
  // Results are seen once, when a decision brings them; an instruction as often as a rank stands
  // before it.
  bool counted =
      !sees_results(b) &&
      std::any_of(first_at(b, at.position), b.hit_places.cend(), [&](const Breakpoint::Hit& hit) {
        return hit.position == at.position && hit.rank == at.rank;
      });
  const Breakpoint::Hit hit{at.position, at.rank, at.visit};
  bool told = false;
  bool stops = true;
  if (stops_first_rank(b)) {
    const Breakpoint::Hit& first = b.visits.try_emplace(at.visit, hit).first->second;
    const bool is_first = first.rank == at.rank;
    // It stood here while others moved.
    told = is_first && first.position < at.position;
    stops = is_first || at.own;
  }
  counted = counted || told;
  if (!counted) {
    ++b.hits;
    b.hit_places.push_back(hit);
  }
  stand(b, at);
  if (told || !stops || stops_so_far(b) <= b.ignore) return false;
  if (b.temporary) b.enabled = false;
  return true;
}

void write_line(BreakpointList& list, Breakpoint& b, const Interpreter& in, CodeIndex code,
                const HitPlace& at) {
  if (!sees_results(b) && list.log().has(b.id, at.rank, at.steps)) return;
  stand(b, at);
  b.logged.push_back(at.position);
  b.hits = b.logged.size();
  if (b.hits <= b.ignore) return;
  list.log().add({at.position, at.steps, b.id, at.rank, code, b.log(in, at.rank, code)});
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
