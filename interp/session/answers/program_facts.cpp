// 1. Loops around the program counter, with the rank's current iterations.
// 2. Walk from there as the engine does: loops iterate, branches are taken, calls are already
//    inlined.
// 3. Record communication on the communicator, with the call it would make.
// 4. Collect the `where`s around the calls of the meeting.

#include "interp/session/answers/program_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/support/text.h"
#include "interp/core/communication_facts.h"
#include "interp/session/snapshots/declarations.h"

namespace hostir::interp {

namespace {

constexpr int kMaxSteps = 20000;
constexpr size_t kMostUpcoming = 7;

class Walk {
 public:
  Walk(const Code& code, Rank rank) : code_(code), rank_(rank), known_(code.register_count, false) {
    registers_.resize(code.register_count);
  }

  // False if an enclosing loop has unknown bounds.
  bool enter(const RankSnapshot& at) {
    pc_ = at.code;
    std::vector<CodeIndex> around;
    for (CodeIndex i = code_.instructions[pc_].parent; i != kNoCode;
         i = code_.instructions[i].parent) {
      if (code_.instructions[i].index_register != kNoRegister) around.push_back(i);
    }
    std::reverse(around.begin(), around.end());
    size_t loop = 0;
    for (const FrameSnapshot& f : at.frames) {
      if (f.kind != FrameSnapshot::Kind::kLoop || loop >= around.size()) continue;
      const CodeInstruction& c = code_.instructions[around[loop++]];
      int64_t upper = 0;
      if (!value(c.exprs[1], upper)) return false;
      loops_.push_back({f.iteration, upper});
      set(c.index_register, f.iteration);
    }
    return loop == around.size();
  }

  std::vector<CodeIndex> run(CommIndex comm, size_t count) {
    std::vector<CodeIndex> out;
    for (int step = 0; step < kMaxSteps && out.size() < count; ++step) {
      if (pc_ >= code_.instructions.size()) return out;
      const CodeInstruction& c = code_.instructions[pc_];
      if (c.role == CodeRole::kInstruction && c.kind == OpKind::return_ && c.call == kNoCode) {
        return out;
      }
      if (c.role == CodeRole::kInstruction && c.comm == comm &&
          communication_facts(c.kind) != nullptr)
        out.push_back(pc_);
      if (!advance(c)) return out;
    }
    return out;
  }

 private:
  struct Loop {
    int64_t index = 0;
    int64_t upper = 0;
  };

  void set(uint32_t reg, int64_t to) {
    if (reg >= known_.size()) return;
    registers_[reg].value = to;
    known_[reg] = true;
  }

  void move(const std::vector<RegisterMove>& moves) {
    for (const RegisterMove& m : moves) {
      if (m.to >= known_.size()) continue;
      known_[m.to] = m.from < known_.size() && known_[m.from];
      if (known_[m.to]) registers_[m.to].value = registers_[m.from].value;
    }
  }

  bool value(IndexCodeId id, int64_t& out) const {
    if (id >= code_.exprs.size() || !code_.exprs[id].reads_only(known_)) return false;
    return code_.exprs[id].evaluate(registers_.data(), code_.rank_tables, rank_, out);
  }

  // Moves to the next instruction; false if it cannot be determined.
  bool advance(const CodeInstruction& c) {
    if (c.role == CodeRole::kJump) return go(c.jump);
    if (c.role == CodeRole::kLoopEnd) return turn(c);
    if (c.kind == OpKind::for_) return begin_loop(c);
    if (c.kind == OpKind::where) {
      int64_t holds = 0;
      if (c.exprs.empty())
        holds = code_.rank_tables[c.membership][static_cast<size_t>(rank_)];
      else if (!value(c.exprs[0], holds))
        return false;
      return go(holds != 0 ? pc_ + 1 : c.jump);
    }
    for (const uint32_t result : c.results) {
      if (result < known_.size()) known_[result] = false;
    }
    move(c.moves);
    return go(pc_ + 1);
  }

  bool go(CodeIndex to) {
    pc_ = to;
    return true;
  }

  bool begin_loop(const CodeInstruction& c) {
    Loop loop;
    if (!value(c.exprs[0], loop.index) || !value(c.exprs[1], loop.upper)) return false;
    move(c.moves);
    if (loop.index >= loop.upper) {
      move(c.exit_moves);
      return go(c.end);
    }
    loops_.push_back(loop);
    set(c.index_register, loop.index);
    return go(pc_ + 1);
  }

  bool turn(const CodeInstruction& c) {
    if (loops_.empty()) return false;
    Loop& loop = loops_.back();
    if (++loop.index < loop.upper && c.jump != pc_) {
      set(c.index_register, loop.index);
      return go(c.jump);
    }
    loops_.pop_back();
    move(c.exit_moves);
    return go(c.end);
  }

  const Code& code_;
  Rank rank_;
  CodeIndex pc_ = 0;
  std::vector<Register> registers_;
  std::vector<bool> known_;
  std::vector<Loop> loops_;
};

/// The call that the instruction would make on the rank, as far as the program determines it.
model::Call call_of(const Code& code, CodeIndex index, Rank rank) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  model::Call call;
  call.kind = c.kind;
  if (const auto* how = source.attributes.get<Reduction>("reduction")) call.reduction = *how;
  for (size_t i = 0; i < source.operands.size() && i < c.layouts.size(); ++i) {
    if (source.operands[i].access == Access::kUse || c.layouts[i] == kNoLayout) continue;
    const LayoutTable& table = code.layouts[c.layouts[i]];
    call.dtype = dtype_of(table.type);
    if (table.is_static() && static_cast<size_t>(rank) < table.by_rank.size())
      call.shape = table.by_rank[static_cast<size_t>(rank)].local();
    break;
  }
  int64_t root = 0;
  const CommunicationFacts* facts = communication_facts(c.kind);
  if (facts && facts->root != CommunicationFacts::RootHas::kNothing && c.position_expr != kNoExpr &&
      code.exprs[c.position_expr].is_static() &&
      code.exprs[c.position_expr].evaluate(nullptr, code.rank_tables, rank, root))
    call.root = static_cast<int32_t>(root);
  return call;
}

std::optional<bool> where_holds(const Code& code, CodeIndex where, Rank rank) {
  const CodeInstruction& c = code.instructions[where];
  int64_t holds = 0;
  if (c.exprs.empty()) return code.rank_tables[c.membership][static_cast<size_t>(rank)] != 0;
  if (!code.exprs[c.exprs[0]].is_static() ||
      !code.exprs[c.exprs[0]].evaluate(nullptr, code.rank_tables, rank, holds))
    return std::nullopt;
  return holds != 0;
}

// The value of a condition, inferred from the branch that contains the call.
std::optional<bool> by_place(const Code& code, CodeIndex where, CodeIndex call) {
  const CodeInstruction& c = code.instructions[where];
  if (call <= where || call >= c.end) return std::nullopt;
  return c.jump == c.end || call < c.jump;
}

std::string part_of(const Snapshot& shot, CodeIndex call) {
  const Code& code = *shot.program->code;
  if (call >= code.instructions.size()) return {};
  for (const uint32_t operand : code.instructions[call].operands) {
    if (operand == kNoRegister) continue;
    for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
      const CodeInstruction& c = code.instructions[i];
      if (c.kind != OpKind::subview || c.results.empty() || c.results.front() != operand) continue;
      std::string text = line_text(*shot.program, i);
      const size_t equals = text.find("= ");
      if (equals == std::string::npos) continue;
      text = text.substr(0, text.find(" : "));
      return fmt::format("{} is a {} (line {})", code.register_name(operand),
                         text.substr(equals + 2), shot.program->shown(i).line);
    }
  }
  return {};
}

// True if a rank whose call ended the run is still at that call.
bool still_at_call(const Snapshot& shot, const model::Meeting& meeting, Rank rank) {
  const Code& code = *shot.program->code;
  const model::Member* mine = meeting.member(rank);
  if (!mine || !mine->arrived()) return false;
  int64_t last_ns = 0;
  for (const model::Member& m : meeting.members)
    last_ns = std::max(last_ns, m.times.issued_ns.value_or(0));
  const CodeIndex at = shot.rank(rank).code;
  if (shot.rank(rank).status == RankStatus::kDone || at != mine->instruction.index) return false;
  for (CodeIndex i = at; i != kNoCode; i = code.instructions[i].parent) {
    // In a loop the rank may have returned to the instruction; the last arrival has not.
    if (code.instructions[i].index_register != kNoRegister)
      return mine->times.issued_ns.value_or(0) == last_ns;
  }
  return true;
}

void add_upcoming(const Snapshot& shot, const model::Meeting& meeting, Rank rank, model::Run& run) {
  const Code& code = *shot.program->code;
  const RankSnapshot& at = shot.rank(rank);
  if (at.status == RankStatus::kDone || at.status == RankStatus::kUnknown ||
      at.code >= code.instructions.size())
    return;
  Walk walk(code, rank);
  if (!walk.enter(at)) return;
  std::vector<CodeIndex> calls =
      walk.run(Declarations(run).index_of(meeting.communicator), kMostUpcoming);
  if (!calls.empty() && still_at_call(shot, meeting, rank)) calls.erase(calls.begin());
  const model::CallRange* range = run.range(rank, meeting.communicator);
  uint64_t next = meeting.sequence;
  if (range != nullptr && range->last) {
    next = *range->last + 1;
  } else {
    for (const model::Meeting& m : run.meetings) {
      const model::Member* member =
          m.communicator == meeting.communicator ? m.member(rank) : nullptr;
      if (member != nullptr && member->arrived()) next = std::max(next, m.sequence + 1);
    }
  }
  for (const CodeIndex call : calls) {
    run.upcoming.push_back({rank, meeting.communicator, next++, call_of(code, call, rank),
                            model::InstructionId(call)});
  }
}

void add_conditions(const Snapshot& shot, const model::Meeting& meeting,
                    const std::vector<Rank>& ranks, model::Run& run) {
  const Code& code = *shot.program->code;
  std::set<CodeIndex> wheres;
  for (const Rank rank : ranks) {
    const CodeIndex call = meeting.member(rank)->instruction.index;
    for (CodeIndex i = call < code.instructions.size() ? code.instructions[call].parent : kNoCode;
         i != kNoCode; i = code.instructions[i].parent) {
      if (code.instructions[i].kind == OpKind::where) wheres.insert(i);
    }
  }
  for (const CodeIndex where : wheres) {
    model::Condition condition;
    condition.instruction = model::InstructionId(where);
    condition.text = line_text(*shot.program, where);
    while (!condition.text.empty() &&
           (condition.text.back() == '{' || condition.text.back() == ' '))
      condition.text.pop_back();
    for (const Rank rank : ranks) {
      const CodeIndex call = meeting.member(rank)->instruction.index;
      const auto holds = by_place(code, where, call);
      condition.when.push_back(model::InstructionId(call));
      condition.holds.emplace_back(rank, holds ? holds : where_holds(code, where, rank));
    }
    run.conditions.push_back(std::move(condition));
  }
}

/// One rank for each distinct call.
std::vector<Rank> callers_of(const model::Meeting& meeting) {
  std::set<std::string> seen;
  std::vector<Rank> out;
  for (const model::Member& m : meeting.members) {
    if (m.arrived() && seen.insert(model::call_text(m.call)).second) out.push_back(m.rank);
  }
  return out;
}

}  // namespace

const model::Meeting* meeting_of(const Snapshot& shot, const LedgerRow& row) {
  if (!shot.run || row.point_to_point) return nullptr;
  const model::CommunicatorId id = Declarations(*shot.run).id_of(row.comm, row.group);
  return id.valid() ? shot.run->meeting(id, row.sequence) : nullptr;
}

diagnose::MismatchCard mismatch_card(const Snapshot& shot, const model::Meeting& meeting) {
  model::Run run = *shot.run;
  diagnose::ProgramTexts words;
  // A list of logged instructions has no operands or conditions.
  if (!shot.program || !shot.program->code || !shot.no_stepping.empty()) {
    diagnose::MismatchCard card = diagnose::mismatch_card(run, meeting, words);
    // The verdict on a recorded job looks at all calls, the card at this meeting.
    const auto is_verdict = [](const FaultSnapshot& f) { return f.kind == "deadlock"; };
    const auto found = std::find_if(shot.faults->begin(), shot.faults->end(), is_verdict);
    if (found != shot.faults->end()) card.cause = found->sentence;
    return card;
  }
  const std::vector<Rank> ranks = callers_of(meeting);
  for (const Rank rank : ranks) {
    add_upcoming(shot, meeting, rank, run);
    const model::InstructionId at = meeting.member(rank)->instruction;
    const std::string part = at.valid() ? part_of(shot, at.index) : std::string();
    if (!part.empty()) words.operands[at] = part;
    if (at.index < shot.program->lines.size() && shot.program->lines[at.index] > 0)
      words.lines[at] = shot.program->shown(at.index).line;
  }
  add_conditions(shot, meeting, ranks, run);
  return diagnose::mismatch_card(run, meeting, words);
}

std::string line_text(const ProgramView& program, CodeIndex code) {
  if (code >= program.lines.size() || program.lines[code] == 0) return {};
  std::string_view text = program.text();
  for (uint32_t line = 1; line < program.lines[code]; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

}  // namespace hostir::interp
