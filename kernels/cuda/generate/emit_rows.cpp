// Groups with folds in one pass: the threads of a block, or of a warp, hold a row.
//
// 1. Phases: whatever needs the result of a fold comes in a later phase than the fold. A
//    normalisation has two or three.
// 2. Within a phase every thread loads its vectors, computes, and folds; then the block folds.
// 3. Values that a later phase reads stay in registers: memory is read once. Rows that are too long
//    for that are read again in each phase, mostly from the L2 cache.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/generate/emit_common.h"

namespace hostir::cuda {

using From = Register::From;

namespace {

int64_t register_bytes(DType dtype) {
  return is_16_bit_float(dtype) ? 2 : std::max<int64_t>(4, size_bytes(dtype));
}

/// When registers are computed. Full level: the phase. Row level: the phase before which the value
/// is available.
struct Phases {
  explicit Phases(const Group& group) : group_(group) {
    const size_t n = group.registers().size();
    at.assign(n, 0);
    first_use.assign(n, 0);
    last_use.assign(n, 0);
    for (size_t r = 0; r < n; ++r) {
      const Register& reg = group.registers()[r];
      for (const int operand : reg.operands) {
        at[r] = std::max(at[r], at[static_cast<size_t>(operand)]);
      }
      if (reg.from == From::kFold) at[r] += 1;
    }
    std::vector<bool> seen(n, false);
    const auto use = [&](int operand, int phase) {
      const auto o = static_cast<size_t>(operand);
      first_use[o] = seen[o] ? std::min(first_use[o], phase) : phase;
      last_use[o] = std::max(last_use[o], phase);
      seen[o] = true;
      if (!group.registers()[o].is_row) count = std::max(count, phase + 1);
    };
    for (size_t r = 0; r < n; ++r) {
      const Register& reg = group.registers()[r];
      for (const int operand : reg.operands) use(operand, at[r] - (reg.from == From::kFold));
    }
    for (const Store& store : group.stores()) {
      const Register& reg = group.at(store.reg);
      const int phase = at[static_cast<size_t>(store.reg)];
      if (!reg.is_row) {
        use(store.reg, phase);
        first_store = std::min(first_store, phase);
      }
    }
    // A load belongs to the first phase that reads it.
    for (size_t r = 0; r < n; ++r) {
      const From from = group.registers()[r].from;
      if (group.registers()[r].is_row) continue;
      if (from == From::kLoad || from == From::kIndex || from == From::kRandom)
        at[r] = first_use[r];
      if (from == From::kLoad) last_load = std::max(last_load, at[r]);
    }
  }

  /// Loads that are the same for all rows (weights) are done where they are used: they stay in the
  /// L1 cache. Cheap values whose operands are kept and need fewer registers are recomputed.
  void choose_kept(const Axes& axes) {
    const size_t n = group_.registers().size();
    is_array.assign(n, false);
    std::vector<bool> again(n, false);
    for (size_t r = 0; r < n; ++r) {
      const Register& reg = group_.registers()[r];
      if (reg.is_row || reg.from == From::kLiteral || reg.from == From::kIndex) continue;
      if (reg.from == From::kLoad) {
        bool is_same = group_.rows() > 1;
        for (const int64_t s : axes.loads[r].outer) is_same = is_same && s == 0;
        is_array[r] = !is_same;
        again[r] = is_same;
        continue;
      }
      if (reg.from == From::kOp && cuda_op(reg.op->kind).is_cheap) {
        int64_t bytes = 0;
        again[r] =
            add_leaves(static_cast<int>(r), again, bytes) && bytes < register_bytes(reg.dtype);
      }
      is_array[r] = last_use[r] > at[r] && !again[r];
      if (again[r]) lengthen(static_cast<int>(r), last_use[r]);
    }
  }
  /// True if a full-level register is available in a phase without being computed in it.
  bool is_there(int reg, int phase) const {
    const auto r = static_cast<size_t>(reg);
    return is_array[r] && (at[r] < phase || group_.at(reg).from == From::kLoad);
  }

  std::vector<bool> is_array;  // by register: kept in registers from its phase to its last use
  std::vector<int> at;
  std::vector<int> first_use;
  std::vector<int> last_use;
  int count = 1;
  int first_store = 1 << 20;
  int last_load = 0;

 private:
  // Adds what must be kept to recompute the register, in bytes per element; false if an
  // intermediate value would have to be kept for it.
  bool add_leaves(int reg, const std::vector<bool>& again, int64_t& bytes) const {
    for (const int operand : group_.at(reg).operands) {
      const auto o = static_cast<size_t>(operand);
      const Register& r = group_.at(operand);
      if (r.is_row || r.from == From::kLiteral || r.from == From::kIndex) continue;
      if (is_array[o] && r.from == From::kLoad) {
        bytes += register_bytes(r.dtype);
      } else if (!again[o] || (r.from != From::kLoad && !add_leaves(operand, again, bytes))) {
        return false;
      }
    }
    return true;
  }
  void lengthen(int reg, int phase) {
    for (const int operand : group_.at(reg).operands) {
      if (group_.at(operand).is_row) continue;
      int& last = last_use[static_cast<size_t>(operand)];
      last = std::max(last, phase);
      lengthen(operand, phase);
    }
  }

  const Group& group_;
};

/// How a row is cut.
struct RowShape {
  int threads = 32;    // per row
  int block = 128;     // threads
  int per_thread = 1;  // vectors
  bool streams = false;
};

RowShape shape_of_rows(const Group& group, const Phases& phases, const GroupText& text) {
  int64_t kept = 0;  // peak bytes per element
  for (int p = 0; p < phases.count; ++p) {
    int64_t bytes = 0;
    for (size_t r = 0; r < group.registers().size(); ++r) {
      const Register& reg = group.registers()[r];
      const bool is_live = phases.is_array[r] && phases.at[r] <= p && p <= phases.last_use[r];
      if (is_live) bytes += register_bytes(reg.dtype);
    }
    kept = std::max(kept, bytes);
  }
  const int64_t columns = text.axes().inner_volume();
  const int64_t vectors = columns / text.vector();
  RowShape shape;
  const auto bytes_for = [&](int threads) {
    return ceil_div(vectors, threads) * text.vector() * std::max<int64_t>(kept, 2);
  };
  constexpr int64_t kComfortable = 80;
  constexpr int64_t kMost = 176;
  while (shape.threads < 1024 && bytes_for(shape.threads) > kComfortable) shape.threads *= 2;
  // With few rows, use more threads per row.
  while (shape.threads < 1024 && group.rows() < 264 && ceil_div(vectors, shape.threads) > 1) {
    shape.threads *= 2;
  }
  if (bytes_for(shape.threads) > kMost) {
    shape.threads = 512;
    shape.streams = bytes_for(512) > 2 * kMost || phases.count == 1;
  }
  // A single phase keeps nothing, so the loop need not be unrolled.
  if (phases.count == 1 && bytes_for(shape.threads) > kComfortable) shape.streams = true;
  shape.per_thread = static_cast<int>(ceil_div(vectors, shape.threads));
  shape.block = std::max(shape.threads, 128);
  if (shape.threads > 32) shape.block = shape.threads;
  return shape;
}

class RowWriter {
 public:
  RowWriter(const Group& group, GroupText& text, const Phases& phases, const RowShape& shape)
      : group_(group), text_(text), phases_(phases), shape_(shape) {}

  std::string body() {
    const int rows_per_block = shape_.block / shape_.threads;
    std::string out =
        fmt::format("  constexpr int kRow = {};  // threads of a row\n", shape_.threads);
    if (rows_per_block == 1) {
      out += "  const index row = block;\n";
    } else {
      out += fmt::format("  const index row = (index)block * {} + threadIdx.x / kRow;\n",
                         rows_per_block);
      if (group_.rows() % rows_per_block != 0) {
        out += fmt::format("  if (row >= {}) return;\n", group_.rows());
      }
    }
    out += "  const int lane = threadIdx.x % kRow;\n";
    out += take_apart("row", text_.axes().outer, 1, "row", "  ");
    if (!shape_.streams) out += arrays();
    for (int p = 0; p <= phases_.count; ++p) {
      out += rows_before(p);
      if (p < phases_.count) out += shape_.streams ? streamed(p) : kept(p);
    }
    // Row ops needed only by row-level stores.
    int last = 0;
    for (const int at : phases_.at) last = std::max(last, at);
    for (int p = phases_.count + 1; p <= last; ++p) out += rows_before(p);
    return out;
  }

 private:
  size_t count() const { return group_.registers().size(); }
  const Register& reg(size_t r) const { return group_.registers()[r]; }

  std::string arrays() {
    std::string out;
    for (size_t r = 0; r < count(); ++r) {
      const int index = static_cast<int>(r);
      if (!phases_.is_array[r]) continue;
      text_.use_array(index);
      out += fmt::format("  {} v{}[{}];\n", text_.type(index), index, shape_.per_thread);
    }
    return out;
  }

  // Row-level registers and stores due before a phase.
  std::string rows_before(int phase) {
    std::string out;
    for (size_t r = 0; r < count(); ++r) {
      const int index = static_cast<int>(r);
      if (!reg(r).is_row || phases_.at[r] != phase) continue;
      if (reg(r).from == From::kFold) {
        out += fmt::format("  const auto r{} = {};  // %{}\n", index,
                           text_.finished(index, folded(index)), reg(r).name);
      } else {
        out += text_.define(index, "  ", "");
      }
    }
    for (size_t s = 0; s < group_.stores().size(); ++s) {
      const int stored = group_.stores()[s].reg;
      if (!group_.at(stored).is_row || phases_.at[static_cast<size_t>(stored)] != phase) continue;
      out += "  if (lane == 0) {\n" + text_.store(s, "    ", "") + "  }\n";
    }
    return out;
  }

  // The accumulator over all threads of the row. "f32" would be a dtype of the prelude.
  std::string folded(int index) { return fmt::format("fold{}", index); }

  std::string accumulators(int phase) {
    std::string out;
    for (size_t r = 0; r < count(); ++r) {
      if (reg(r).from != From::kFold || phases_.at[r] != phase + 1) continue;
      const int index = static_cast<int>(r);
      out += fmt::format("  {} a{} = {};\n", text_.accumulator_type(index), index,
                         text_.accumulator_identity(index));
    }
    return out;
  }

  std::string block_folds(int phase) {
    std::string out;
    for (size_t r = 0; r < count(); ++r) {
      if (reg(r).from != From::kFold || phases_.at[r] != phase + 1) continue;
      const int index = static_cast<int>(r);
      std::string shared = fmt::format("({}*)nullptr", text_.accumulator_type(index));
      if (shape_.threads > 32) {
        out += fmt::format("  __shared__ {} s{}[32];\n", text_.accumulator_type(index), index);
        shared = fmt::format("s{}", index);
      }
      out += fmt::format("  const auto {0} = block_fold<kRow>(a{1}, {2}(), {3}, {4});\n",
                         folded(index), index, text_.fold_name(index),
                         text_.accumulator_identity(index), shared);
    }
    return out;
  }

  std::string column_head() const {
    const int64_t vectors = text_.axes().inner_volume() / text_.vector();
    std::string out = fmt::format(
        "#pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n    const index c = lane + j * kRow;\n",
        shape_.per_thread);
    if (vectors % shape_.threads != 0) out += fmt::format("    if (c >= {}) continue;\n", vectors);
    return out + take_apart("c", text_.axes().inner, text_.vector(), "c", "    ");
  }

  std::string computed(int phase, const std::vector<bool>& wanted) {
    std::string out;
    for (size_t r = 0; r < count(); ++r) {
      if (!wanted[r]) continue;
      out += text_.define(static_cast<int>(r), "    ", "");
    }
    for (size_t r = 0; r < count(); ++r) {
      if (reg(r).from == From::kFold && phases_.at[r] == phase + 1) {
        out += text_.accumulate(static_cast<int>(r), "    ", "");
      }
    }
    for (size_t s = 0; s < group_.stores().size(); ++s) {
      const int stored = group_.stores()[s].reg;
      if (!group_.at(stored).is_row && phases_.at[static_cast<size_t>(stored)] == phase) {
        out += text_.store(s, "    ", "");
      }
    }
    return out;
  }

  // What the phase's folds and stores need and is not available yet; with `keeps` also what later
  // phases need kept.
  std::vector<bool> wanted_in(int phase, bool keeps) const {
    std::vector<bool> wanted(count(), false);
    const auto want = [&](int r) {
      const bool is_there = keeps && phases_.is_there(r, phase);
      if (!group_.at(r).is_row && !is_there) wanted[static_cast<size_t>(r)] = true;
    };
    for (size_t r = 0; r < count(); ++r) {
      if (reg(r).from == From::kFold && phases_.at[r] == phase + 1) want(reg(r).operands[0]);
      const bool is_due = keeps && phases_.is_array[r] && phases_.at[r] == phase;
      if (is_due && reg(r).from != From::kLoad) want(static_cast<int>(r));
    }
    for (const Store& store : group_.stores()) {
      if (phases_.at[static_cast<size_t>(store.reg)] == phase) want(store.reg);
    }
    for (size_t r = count(); r > 0; --r) {
      if (!wanted[r - 1]) continue;
      for (const int operand : reg(r - 1).operands) want(operand);
    }
    return wanted;
  }

  std::string kept(int phase) {
    std::string loads;
    for (size_t r = 0; r < count(); ++r) {
      if (reg(r).from == From::kLoad && phases_.is_array[r] && phases_.at[r] == phase) {
        loads += text_.define(static_cast<int>(r), "    ", "");
      }
    }
    if (!loads.empty()) loads = column_head() + loads + "  }\n";
    return fmt::format("  // Phase {}\n", phase) + loads + accumulators(phase) + column_head() +
           computed(phase, wanted_in(phase, true)) + "  }\n" + block_folds(phase);
  }

  // Everything that the phase's folds and stores need, from memory.
  std::string streamed(int phase) {
    const std::vector<bool> wanted = wanted_in(phase, false);
    const int64_t vectors = text_.axes().inner_volume() / text_.vector();
    return fmt::format("  // Phase {}\n", phase) + accumulators(phase) +
           fmt::format("#pragma unroll 4\n  for (index c = lane; c < {}; c += kRow) {{\n",
                       vectors) +
           take_apart("c", text_.axes().inner, text_.vector(), "c", "    ") +
           computed(phase, wanted) + "  }\n" + block_folds(phase);
  }

  const Group& group_;
  GroupText& text_;
  const Phases& phases_;
  const RowShape& shape_;
};

}  // namespace

void emit_rows(const Group& group, Plan& plan) {
  const size_t rank = group.extents().size();
  Axes axes = join_axes(group, dims_where(group.folded(), false, rank),
                        dims_where(group.folded(), true, rank));
  const int vector = pick_vector(group, axes, false);
  GroupText text(group, std::move(axes), vector);
  Phases phases(group);
  phases.choose_kept(text.axes());
  const RowShape shape = shape_of_rows(group, phases, text);
  GeneratedStep step;
  step.name = next_name(plan);
  step.block = static_cast<unsigned>(shape.block);
  step.grid = static_cast<unsigned>(ceil_div(group.rows(), shape.block / shape.threads));
  step.buffers = text.buffers();
  const std::string body = RowWriter(group, text, phases, shape).body();
  step.text =
      body_function(step.name + "_0", step.buffers.size(), text.index(), shape.block, body) +
      entries(step.name, step.buffers.size(), shape.block,
              fmt::format("  {}_0<true>(a, blockIdx.x);\n", step.name),
              fmt::format("  {}_0<false>(a, blockIdx.x);\n", step.name));
  step.summary = fmt::format("{}, {} rows of {}, {} threads each{}", text.ops(), group.rows(),
                             group.columns(), shape.threads, shape.streams ? ", streamed" : "");
  // Each thread reads an element before it writes it if no load comes after the first store.
  step.uses = uses_of_group(group, !shape.streams && phases.last_load <= phases.first_store);
  step.read_bytes = text.read_bytes();
  step.write_bytes = text.write_bytes();
  step.flops = group.flops;
  plan.steps.emplace_back(std::move(step));
}

}  // namespace hostir::cuda
