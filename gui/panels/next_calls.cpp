// 1. Loops around the program counter, with the iteration that the rank is in. 2. From there as the
// engine goes: loops turn, branches are taken, calls are inlined already. 3. Communication on the
// communicator is noted.
#include "gui/panels/next_calls.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"

namespace hostir::gui {

namespace {

using interp::Code;
using interp::CodeIndex;
using interp::CodeInstruction;
using interp::CodeRole;
using interp::Rank;

constexpr int kMaxSteps = 20000;

class Walk {
 public:
  Walk(const Code& code, Rank rank) : code_(code), rank_(rank), known_(code.register_count, false) {
    registers_.resize(code.register_count);
  }

  // False: a loop around it has bounds that are not known.
  bool enter(const interp::RankSnapshot& at) {
    pc_ = at.code;
    std::vector<CodeIndex> around;
    for (CodeIndex i = code_.instructions[pc_].parent; i != interp::kNoCode;
         i = code_.instructions[i].parent) {
      if (code_.instructions[i].index_register != interp::kNoRegister) around.push_back(i);
    }
    std::reverse(around.begin(), around.end());
    size_t loop = 0;
    for (const interp::FrameSnapshot& f : at.frames) {
      if (f.kind != interp::FrameSnapshot::Kind::kLoop || loop >= around.size()) continue;
      const CodeInstruction& c = code_.instructions[around[loop++]];
      int64_t upper = 0;
      if (!value(c.exprs[1], upper)) return false;
      loops_.push_back({f.iteration, upper});
      set(c.index_register, f.iteration);
    }
    return loop == around.size();
  }

  NextCalls run(interp::CommIndex comm, size_t count) {
    NextCalls out;
    for (int step = 0; step < kMaxSteps && out.calls.size() < count; ++step) {
      if (pc_ >= code_.instructions.size()) return out;
      const CodeInstruction& c = code_.instructions[pc_];
      if (c.role == CodeRole::kInstruction && c.kind == OpKind::return_ &&
          c.call == interp::kNoCode) {
        out.whole = true;
        return out;
      }
      if (c.role == CodeRole::kInstruction && c.comm == comm &&
          interp::communication_facts(c.kind) != nullptr)
        out.calls.push_back(pc_);
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

  void move(const std::vector<interp::RegisterMove>& moves) {
    for (const interp::RegisterMove& m : moves) {
      if (m.to >= known_.size()) continue;
      known_[m.to] = m.from < known_.size() && known_[m.from];
      if (known_[m.to]) registers_[m.to].value = registers_[m.from].value;
    }
  }

  bool value(interp::IndexCodeId id, int64_t& out) const {
    if (id >= code_.exprs.size() || !code_.exprs[id].reads_only(known_)) return false;
    return code_.exprs[id].evaluate(registers_.data(), code_.rank_tables, rank_, out);
  }

  // To the next instruction; false: where it goes is not known.
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
  std::vector<interp::Register> registers_;
  std::vector<bool> known_;
  std::vector<Loop> loops_;
};

}  // namespace

NextCalls next_calls(const interp::Snapshot& shot, Rank rank, interp::CommIndex comm,
                     size_t count) {
  const Code& code = *shot.program->code;
  const interp::RankSnapshot& at = shot.rank(rank);
  if (at.status == interp::RankStatus::kDone) return {{}, shot.no_stepping.empty()};
  if (at.code >= code.instructions.size()) return {};
  Walk walk(code, rank);
  if (!walk.enter(at)) return {};
  return walk.run(comm, count);
}

std::string call_text(const Code& code, CodeIndex call, Rank rank) {
  if (call >= code.instructions.size()) return {};
  const CodeInstruction& c = code.instructions[call];
  std::string out(record(c.kind).mnemonic);
  const Instruction& source = code.source(call);
  if (const auto* how = source.attributes.get<Reduction>("reduction"))
    out += " " + std::string(name(*how));
  for (size_t i = 0; i < source.operands.size() && i < c.layouts.size(); ++i) {
    if (source.operands[i].access == Access::kUse || c.layouts[i] == interp::kNoLayout) continue;
    const interp::LayoutTable& table = code.layouts[c.layouts[i]];
    out += " " + std::string(name(dtype_of(table.type))) + "[";
    if (table.is_static() && static_cast<size_t>(rank) < table.by_rank.size()) {
      const Extents local = table.by_rank[static_cast<size_t>(rank)].local();
      for (size_t d = 0; d < local.size(); ++d)
        out += (d > 0 ? "," : "") + std::to_string(local[d]);
    } else {
      out += "?";
    }
    out += "]";
    break;
  }
  int64_t root = 0;
  const interp::CommunicationFacts* facts = interp::communication_facts(c.kind);
  if (facts && facts->root != interp::CommunicationFacts::RootHas::kNothing &&
      c.position_expr != interp::kNoExpr && code.exprs[c.position_expr].is_static() &&
      code.exprs[c.position_expr].evaluate(nullptr, code.rank_tables, rank, root))
    out += " root " + std::to_string(root);
  return out;
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

}  // namespace hostir::gui
