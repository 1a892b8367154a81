#include "kernels/cpu/tile/tile_program.h"

#include <algorithm>

namespace hostir::cpu {
namespace {

constexpr size_t kForever = SIZE_MAX;

/// By register: the last instruction that reads it.
std::vector<size_t> last_reads(const TileProgram& program) {
  std::vector<size_t> last(program.lanes.size(), 0);
  const auto read = [&last](int reg, size_t at) {
    if (reg >= 0) last[static_cast<size_t>(reg)] = std::max(last[static_cast<size_t>(reg)], at);
  };
  for (size_t i = 0; i < program.code.size(); ++i) {
    program.for_each_read(program.code[i], [&](int reg) { read(reg, i); });
  }
  for (const TileInstr& constant : program.constants) read(constant.dst, kForever);
  for (const TileStore& store : program.stores) read(store.reg, kForever);
  for (const TileFold& fold : program.folds) read(fold.reg, kForever);
  return last;
}

}  // namespace

void TileProgram::assign_slots() {
  const std::vector<size_t> last = last_reads(*this);
  slots.assign(lanes.size(), -1);
  slot_count = 0;
  std::vector<int> free;
  const auto take = [&](int reg) {
    int slot = slot_count;
    if (free.empty()) {
      ++slot_count;
    } else {
      slot = free.back();
      free.pop_back();
    }
    slots[static_cast<size_t>(reg)] = slot;
  };
  std::vector<bool> released(lanes.size(), false);
  const auto release = [&](int reg, size_t at) {
    if (reg < 0 || last[static_cast<size_t>(reg)] != at || released[static_cast<size_t>(reg)]) {
      return;
    }
    released[static_cast<size_t>(reg)] = true;
    free.push_back(slots[static_cast<size_t>(reg)]);
  };
  // Constants used only as instruction parameters need no register.
  std::erase_if(constants, [&](const TileInstr& constant) {
    const auto is_read = [&](const TileInstr& i) {
      bool found = false;
      for_each_read(i, [&](int reg) { found |= reg == constant.dst; });
      return found;
    };
    return std::none_of(code.begin(), code.end(), is_read) &&
           std::none_of(stores.begin(), stores.end(),
                        [&](const TileStore& s) { return s.reg == constant.dst; }) &&
           std::none_of(folds.begin(), folds.end(),
                        [&](const TileFold& f) { return f.reg == constant.dst; });
  });
  for (const TileInstr& constant : constants) take(constant.dst);
  for (const TileLoad& load : loads) take(load.reg);
  for (size_t i = 0; i < code.size(); ++i) {
    // A strand writes the values it keeps while operands are still being read.
    for_each_result(code[i], [&](int reg) {
      if (reg != code[i].dst) take(reg);
    });
    // A result may reuse an operand's slot only if its elements have the same width.
    const bool wide = is_wide(lanes[static_cast<size_t>(code[i].dst)]);
    for_each_read(code[i], [&](int operand) {
      if (is_wide(lanes[static_cast<size_t>(operand)]) == wide) release(operand, i);
    });
    take(code[i].dst);
    for_each_read(code[i], [&](int operand) { release(operand, i); });
    for (TileStore& store : stores) {
      for_each_read(code[i], [&](int reg) { store.is_last_word &= store.reg != reg; });
      for_each_result(code[i], [&](int reg) {
        if (store.reg != reg) return;
        store.is_computed = true;
        store.is_last_word = code[i].strand >= 0;
      });
    }
  }
}

int64_t TileProgram::scratch_bytes() const {
  // One more slot for gathering strided memory.
  return (slot_count + 1) * kTileElems * 8;
}

}  // namespace hostir::cpu
