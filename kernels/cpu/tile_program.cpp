#include "kernels/cpu/tile_program.h"

#include <algorithm>

namespace hostir::cpu {
namespace {

constexpr size_t kForever = SIZE_MAX;

/// By register: the instruction after which nothing reads it.
std::vector<size_t> last_reads(const TileProgram& program) {
  std::vector<size_t> last(program.lanes.size(), 0);
  const auto read = [&last](int reg, size_t at) {
    if (reg >= 0) last[static_cast<size_t>(reg)] = std::max(last[static_cast<size_t>(reg)], at);
  };
  for (size_t i = 0; i < program.code.size(); ++i) {
    read(program.code[i].a, i);
    read(program.code[i].b, i);
    read(program.code[i].c, i);
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
  // Constants that only stand in instructions themselves need no register.
  std::erase_if(constants, [&](const TileInstr& constant) {
    const auto is_read = [&](const TileInstr& i) {
      return i.a == constant.dst || i.b == constant.dst || i.c == constant.dst;
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
    // A result may take an operand's slot only if its elements are as wide.
    const bool wide = is_wide(lanes[static_cast<size_t>(code[i].dst)]);
    for (const int operand : {code[i].a, code[i].b, code[i].c}) {
      const bool fits = operand >= 0 && is_wide(lanes[static_cast<size_t>(operand)]) == wide;
      if (fits) release(operand, i);
    }
    take(code[i].dst);
    for (const int operand : {code[i].a, code[i].b, code[i].c}) release(operand, i);
    for (TileStore& store : stores) store.is_computed |= store.reg == code[i].dst;
  }
}

int64_t TileProgram::scratch_bytes() const {
  // One slot more, where strided memory is collected.
  return (slot_count + 1) * kTileElems * 8;
}

}  // namespace hostir::cpu
