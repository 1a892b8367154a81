#include "kernels/cpu/tile/strand_join.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace hostir::cpu {
namespace {

constexpr size_t kF32 = static_cast<size_t>(Lane::kF32);

/// How an instruction maps to a strand op.
struct StrandOp {
  TileStrandStep::Kind kind;
  int op;
};

std::optional<StrandOp> strand_op(const TileInstr& instr, const TileOps& ops) {
  const std::array<TileFn, kStrandUnaries> unary = {ops.neg[kF32], ops.abs[kF32], ops.relu[kF32],
                                                    ops.narrow[static_cast<size_t>(DType::kBF16)]};
  const std::array<TileFn, kStrandBinaries> binary = {ops.add[kF32],     ops.sub[kF32],
                                                      ops.mul[kF32],     ops.div[kF32],
                                                      ops.maximum[kF32], ops.minimum[kF32]};
  for (size_t i = 0; i < unary.size(); ++i) {
    if (instr.fn == unary[i]) return StrandOp{TileStrandStep::Kind::kUnary, static_cast<int>(i)};
  }
  for (size_t i = 0; i < binary.size(); ++i) {
    if (instr.fn == binary[i]) return StrandOp{TileStrandStep::Kind::kBinary, static_cast<int>(i)};
  }
  return std::nullopt;
}

/// Walks the code in order and keeps open the strands whose last value can still be extended. A
/// strand is closed, that is, appended to the new code, before another instruction reads its
/// values; so everything it reads comes before it.
class Joiner {
 public:
  Joiner(TileProgram& program, const TileOps& ops)
      : program_(program),
        ops_(ops),
        readers_(program.lanes.size(), 0),
        strand_of_(program.lanes.size(), -1) {
    for (const TileInstr& instr : program.code) {
      program.for_each_read(instr, [&](int reg) { ++readers_[static_cast<size_t>(reg)]; });
    }
    for (const TileStore& store : program.stores) ++readers_[static_cast<size_t>(store.reg)];
    for (const TileFold& fold : program.folds) ++readers_[static_cast<size_t>(fold.reg)];
  }

  void run() {
    for (const TileInstr& instr : program_.code) {
      if (const auto op = strand_op(instr, ops_)) {
        add(instr, *op);
      } else {
        program_.for_each_read(instr,
                               [&](int reg) { close(strand_of_[static_cast<size_t>(reg)]); });
        code_.push_back(instr);
      }
    }
    for (size_t s = 0; s < open_.size(); ++s) close(static_cast<int>(s));
    program_.code = std::move(code_);
    mark_raw();
  }

 private:
  struct Open {
    TileStrand strand;
    TileInstr first;  // the original instruction, for a strand of one op
    int ops = 0;
    int last = -1;              // the register that the block represents
    std::vector<int> computed;  // registers
    bool is_open = true;
  };

  /// The open strand whose block is this register and that has room for more steps.
  int strand_ending_in(int reg) const {
    if (reg < 0) return -1;
    const int s = strand_of_[static_cast<size_t>(reg)];
    if (s < 0) return -1;
    const Open& open = open_[static_cast<size_t>(s)];
    // Up to four steps may follow: an intermediate store, this op, the final store and the end.
    const bool has_room = open.strand.steps.size() + 4 <= size_t{kMostStrandSteps};
    return open.last == reg && has_room ? s : -1;
  }

  void add(const TileInstr& instr, StrandOp op) {
    int block = instr.a;
    int other = instr.b;
    bool is_reversed = false;
    int s = strand_ending_in(block);
    if (s < 0 && strand_ending_in(other) >= 0) {
      s = strand_ending_in(other);
      std::swap(block, other);
      is_reversed = true;
    }
    program_.for_each_read(instr, [&](int reg) {
      if (strand_of_[static_cast<size_t>(reg)] != s) close(strand_of_[static_cast<size_t>(reg)]);
    });
    if (s < 0) {
      s = begin(instr);
    } else if (readers_[static_cast<size_t>(block)] > (other == block ? 2 : 1)) {
      open_[static_cast<size_t>(s)].strand.steps.push_back(
          {.kind = TileStrandStep::Kind::kPut, .reg = block});
    }
    TileStrandStep step{.kind = op.kind, .op = op.op, .is_reversed = is_reversed};
    if (op.kind == TileStrandStep::Kind::kBinary) set_other(step, instr, block, other);
    Open& open = open_[static_cast<size_t>(s)];
    open.strand.steps.push_back(step);
    ++open.ops;
    open.last = instr.dst;
    open.computed.push_back(instr.dst);
    strand_of_[static_cast<size_t>(instr.dst)] = s;
  }

  int begin(const TileInstr& instr) {
    Open& open = open_.emplace_back();
    open.first = instr;
    open.strand.steps.push_back({.kind = TileStrandStep::Kind::kGet, .reg = instr.a});
    return static_cast<int>(open_.size()) - 1;
  }

  void set_other(TileStrandStep& step, const TileInstr& instr, int block, int other) const {
    if (other == block) {
      step.source = StrandSource::kSelf;
      return;
    }
    step.reg = other;
    if (other < 0) {
      step.source = StrandSource::kNumber;
      step.number = static_cast<float>(instr.params.x);
      return;
    }
    for (const TileInstr& constant : program_.constants) {
      if (constant.dst != other) continue;
      step.source = StrandSource::kNumber;
      step.number = static_cast<float>(constant.params.x);
      step.reg = -1;
    }
  }

  void close(int s) {
    if (s < 0 || !open_[static_cast<size_t>(s)].is_open) return;
    Open& open = open_[static_cast<size_t>(s)];
    open.is_open = false;
    for (const int reg : open.computed) strand_of_[static_cast<size_t>(reg)] = -1;
    if (open.ops == 1) {
      code_.push_back(open.first);
      return;
    }
    if (rounds_last(open)) open.strand.steps.pop_back();
    open.strand.steps.push_back({.kind = TileStrandStep::Kind::kPut, .reg = open.last});
    code_.push_back({.dst = open.last, .strand = static_cast<int>(program_.strands.size())});
    program_.strands.push_back(std::move(open.strand));
  }

  /// The last op rounds a value that is only stored as bf16, and the store rounds anyway.
  bool rounds_last(const Open& open) const {
    const TileStrandStep& step = open.strand.steps.back();
    if (step.kind != TileStrandStep::Kind::kUnary ||
        step.op != static_cast<int>(StrandUnary::kRoundBf16)) {
      return false;
    }
    int stores = 0;
    for (const TileStore& store : program_.stores) {
      stores += store.reg == open.last && store.dtype == DType::kBF16 ? 1 : 0;
    }
    return stores == readers_[static_cast<size_t>(open.last)];
  }

  /// Strands access bf16 memory directly if nothing else uses the register.
  void mark_raw() {
    std::vector<bool> is_read_otherwise(program_.lanes.size(), false);
    std::vector<bool> is_put(program_.lanes.size(), false);
    std::vector<int> stores(program_.lanes.size(), 0);
    for (const TileInstr& instr : program_.code) {
      if (instr.strand < 0) {
        program_.for_each_read(
            instr, [&](int reg) { is_read_otherwise[static_cast<size_t>(reg)] = true; });
        continue;
      }
      program_.for_each_result(instr, [&](int reg) { is_put[static_cast<size_t>(reg)] = true; });
    }
    for (const TileFold& fold : program_.folds) {
      is_read_otherwise[static_cast<size_t>(fold.reg)] = true;
    }
    for (const TileStore& store : program_.stores) ++stores[static_cast<size_t>(store.reg)];
    program_.may_be_raw.assign(program_.lanes.size(), false);
    for (const TileLoad& load : program_.loads) {
      const auto reg = static_cast<size_t>(load.reg);
      program_.may_be_raw[reg] =
          load.dtype == DType::kBF16 && !is_read_otherwise[reg] && stores[reg] == 0;
    }
    for (const TileStore& store : program_.stores) {
      const auto reg = static_cast<size_t>(store.reg);
      program_.may_be_raw[reg] =
          store.dtype == DType::kBF16 && !is_read_otherwise[reg] && stores[reg] == 1 && is_put[reg];
    }
  }

  TileProgram& program_;
  const TileOps& ops_;
  std::vector<int> readers_;    // by register
  std::vector<int> strand_of_;  // by register: the open strand that computes it, or -1
  std::vector<Open> open_;
  std::vector<TileInstr> code_;
};

}  // namespace

void join_strands(TileProgram& program, const TileOps& ops) { Joiner(program, ops).run(); }

}  // namespace hostir::cpu
