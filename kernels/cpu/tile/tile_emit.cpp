#include "kernels/cpu/tile/tile_emit.h"

#include <array>
#include <string_view>
#include <utility>

#include "hostir/support/lists.h"
#include "kernels/cpu/plan/onednn.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {
namespace {

constexpr size_t at(Lane lane) { return static_cast<size_t>(lane); }
constexpr size_t at(DType dtype) { return static_cast<size_t>(dtype); }
static_assert(kAllDTypes.size() == std::extent_v<decltype(TileOps::load)>);

/// The op being emitted.
struct Emission {
  TileBuilder& b;
  const Instruction& instruction;
  const Placement& out;
  std::array<int, 3> regs = {-1, -1, -1};  // of the operands
  DType in = DType::kF32;                  // the first operand's, else the result's
};
using EmitFn = int (*)(const Emission&);
using LaneTable = TileFn (TileOps::*)[kLanes];

template <LaneTable table>
int emit_lanes(const Emission& e) {
  const Lane lane = lane_of(e.in);
  const TileFn fn = (e.b.ops().*table)[at(lane)];
  if (fn == nullptr) return -1;
  return e.b.narrowed(e.b.code(fn, lane, e.regs[0], e.regs[1]), e.out.dtype);
}

/// Emits a binary op; a constant on the right (or on either side if it commutes) costs no load.
template <LaneTable table>
int emit_pair(const Emission& e) {
  constexpr bool kCommutes = table == &TileOps::add || table == &TileOps::mul;
  const Lane lane = lane_of(e.in);
  if (!is_float(e.in)) return emit_lanes<table>(e);
  int a = e.regs[0];
  int b = e.regs[1];
  if (kCommutes && e.b.constant_of(a) != nullptr) std::swap(a, b);
  const TileParams* scalar = e.b.constant_of(b);
  const TileParams params = scalar != nullptr ? *scalar : TileParams{};
  const int reg = e.b.code((e.b.ops().*table)[at(lane)], lane, a, scalar ? -1 : b, -1, params);
  return e.b.narrowed(reg, e.out.dtype);
}

int truth(const Emission& e, int reg, DType dtype) {
  if (dtype == DType::kI1) return reg;
  return e.b.code(e.b.ops().truth[at(lane_of(dtype))], Lane::kI32, reg);
}

template <TileFn TileOps::*op>
int emit_logical(const Emission& e) {
  const int a = truth(e, e.regs[0], e.in);
  const int b = e.regs[1] < 0 ? -1 : truth(e, e.regs[1], e.in);
  return e.b.code(e.b.ops().*op, Lane::kI32, a, b);
}

/// Random numbers in [0, 1), in f32 lanes, for the elements of the result.
int random_units(const Emission& e) {
  const Attributes& attributes = e.instruction.attributes;
  const int reg =
      e.b.index(global_linear_index(e.out.global, e.out.box.lo), strides_of(e.out.global));
  TileParams params;
  params.seed = static_cast<uint64_t>(attributes.get_or<int64_t>("seed", 0));
  params.offset = static_cast<uint64_t>(attributes.get_or<int64_t>("offset", 0));
  return e.b.code(e.b.ops().random_unit, Lane::kF32, reg, -1, -1, params);
}

#define HOSTIR_TILE_EMITTERS
#include "kernels/cpu/tile/tile_ops.def"
#undef HOSTIR_TILE_EMITTERS

struct Emitter {
  OpKind kind;
  EmitFn emit;
};

constexpr Emitter kEmitters[] = {
#define HOSTIR_TILE_UNARY_ALL(op) {OpKind::op, emit_lanes<&TileOps::op>},
#define HOSTIR_TILE_UNARY_REAL(op, f32, f64) {OpKind::op, emit_lanes<&TileOps::op>},
#define HOSTIR_TILE_UNARY_LOOPS(op, f32, f64) {OpKind::op, emit_lanes<&TileOps::op>},
#define HOSTIR_TILE_BINARY_ALL(op) {OpKind::op, emit_pair<&TileOps::op>},
#define HOSTIR_TILE_BINARY_LOOPS(op, f32, f64) {OpKind::op, emit_lanes<&TileOps::op>},
#define HOSTIR_TILE_EMIT(op) {OpKind::op, emit_##op},
#include "kernels/cpu/tile/tile_ops.def"
};

/// True if the op gives the right bits for u64 in i64 lanes: it does not depend on order or sign.
bool is_signless(OpKind kind) {
  constexpr OpKind kKinds[] = {
#define HOSTIR_TILE_SIGNLESS(op) OpKind::op,
#include "kernels/cpu/tile/tile_ops.def"
  };
  return contains(kKinds, kind);
}

const Emitter* find_emitter(OpKind kind) {
  for (const Emitter& emitter : kEmitters) {
    if (emitter.kind == kind) return &emitter;
  }
  return nullptr;
}

}  // namespace

bool has_tile_loops(OpKind kind) { return find_emitter(kind) != nullptr; }

TileBuilder::TileBuilder(const BoundKernel& kernel, const TileOps& ops, const Box& box)
    : kernel_(kernel), ops_(ops), box_(box) {
  program_.extents = box.extents();
}

int TileBuilder::find(uint32_t value) const {
  const auto found = registers_.find(value);
  return found == registers_.end() ? -1 : found->second;
}

int TileBuilder::load(uint32_t value, const StridedView& view) {
  const DType dtype = kernel_.values[value].dtype;
  const int reg = program_.add_register(lane_of(dtype));
  program_.loads.push_back({TileLoad::Kind::kMemory, reg, dtype, view});
  registers_[value] = reg;
  return reg;
}

void TileBuilder::load_product(uint32_t value, const std::optional<StridedView>& bias) {
  const DType dtype = kernel_.values[value].dtype;
  const Lane lane = lane_of(dtype);
  int reg = program_.add_register(lane);
  const Extents dense = strides_of(box_.extents());
  // A product that is rounded before any other use is produced rounded: half the bytes.
  const bool comes_rounded = dtype == DType::kBF16 && !bias && onednn::has_native_bf16();
  const DType head = comes_rounded ? dtype : lane == Lane::kF64 ? DType::kF64 : DType::kF32;
  program_.loads.push_back({TileLoad::Kind::kMemory, reg, head, {value, 0, dense}});
  if (comes_rounded) {
    registers_[value] = reg;
    return;
  }
  if (bias) reg = code(ops_.add[at(lane)], lane, reg, load(bias->value, *bias));
  registers_[value] = narrowed(reg, dtype);
}

bool TileBuilder::emit(const Instruction& instruction) {
  const Emitter* emitter = find_emitter(instruction.kind);
  if (emitter == nullptr) return false;
  const uint32_t result = instruction.results[0].index;
  Emission e{*this, instruction, kernel_.values[result]};
  e.in = e.out.dtype;
  for (size_t i = 0; i < instruction.operands.size() && i < e.regs.size(); ++i) {
    e.regs[i] = find(instruction.operands[i].value.index);
    if (i == 0) e.in = kernel_.values[instruction.operands[0].value.index].dtype;
  }
  const bool is_cast_of_bits =
      instruction.kind == OpKind::cast && !is_float(e.in) && !is_float(e.out.dtype);
  if ((e.in == DType::kU64 || e.out.dtype == DType::kU64) && !is_signless(instruction.kind) &&
      !is_cast_of_bits) {
    return false;
  }
  const int reg = emitter->emit(e);
  if (reg >= 0) registers_[result] = reg;
  return reg >= 0;
}

int TileBuilder::code(TileFn fn, Lane lane, int a, int b, int c, const TileParams& params) {
  const int reg = program_.add_register(lane);
  program_.code.push_back({fn, reg, a, b, c, params});
  return reg;
}

int TileBuilder::constant(Lane lane, const TileParams& params) {
  const int reg = program_.add_register(lane);
  program_.constants.push_back({ops_.fill[at(lane)], reg, -1, -1, -1, params});
  return reg;
}

const TileParams* TileBuilder::constant_of(int reg) const {
  for (const TileInstr& constant : program_.constants) {
    if (constant.dst == reg) return &constant.params;
  }
  return nullptr;
}

int TileBuilder::index(int64_t offset, const Extents& strides) {
  const int reg = program_.add_register(Lane::kI64);
  program_.loads.push_back(
      {TileLoad::Kind::kIndex, reg, DType::kI64, {UINT32_MAX, offset, strides}});
  return reg;
}

int TileBuilder::convert(int reg, Lane to, const TileParams& params) {
  const Lane from = program_.lanes[static_cast<size_t>(reg)];
  if (from == to) return reg;
  return code(ops_.convert[at(from)][at(to)], to, reg, -1, -1, params);
}

int TileBuilder::narrowed(int reg, DType dtype) {
  const TileFn fn = ops_.narrow[at(dtype)];
  return fn == nullptr ? reg : code(fn, lane_of(dtype), reg);
}

}  // namespace hostir::cpu
