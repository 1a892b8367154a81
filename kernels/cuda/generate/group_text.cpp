#include "kernels/cuda/generate/group_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "hostir/ops/record.h"
#include "kernels/common/elements.h"

namespace hostir::cuda {

using From = Register::From;

namespace {

// What integers of the dtype are accumulated in.
DType wide_integer(DType dtype) { return dtype == DType::kU64 ? DType::kU64 : DType::kI64; }

}  // namespace

GroupText::GroupText(const Group& group, Axes axes, int vector)
    : group_(group),
      axes_(std::move(axes)),
      vector_(vector),
      index_(index_type(group, axes_)),
      in_array_(group.registers().size(), false) {
  for (const Register& reg : group.registers()) {
    if (reg.from == From::kLoad) add_argument(reg.buffer);
  }
  for (const Store& store : group.stores()) add_argument(store.buffer);
}

int GroupText::add_argument(int buffer) {
  const auto found = std::find(buffers_.begin(), buffers_.end(), buffer);
  if (found == buffers_.end()) buffers_.push_back(buffer);
  return static_cast<int>(std::find(buffers_.begin(), buffers_.end(), buffer) - buffers_.begin());
}

std::string GroupText::argument(int buffer) const {
  const auto found = std::find(buffers_.begin(), buffers_.end(), buffer);
  return fmt::format("a.p[{}]", found - buffers_.begin());
}

std::string GroupText::type(int reg) const {
  const Register& r = group_.at(reg);
  return fmt::format("vec<{}, {}>", name(r.dtype), r.is_row ? 1 : vector_);
}

std::string GroupText::variable(int reg) const {
  if (group_.at(reg).is_row) return fmt::format("r{}", reg);
  return fmt::format("v{}{}", reg, is_array(reg) ? "[j]" : "");
}

// Element `i` of a register, as read by a row-level or full-level op.
std::string GroupText::lane(int reg, bool of_row) const {
  const Register& r = group_.at(reg);
  if (r.from == From::kLiteral) return r.text;
  if (r.from == From::kIndex) {
    const int64_t stride = r.is_row ? 0 : axes_.loads[static_cast<size_t>(reg)].last();
    return stride == 0 ? fmt::format("x{}", reg) : fmt::format("(x{} + i * {}ll)", reg, stride);
  }
  return fmt::format("{}[{}]", variable(reg), r.is_row || of_row ? "0" : "i");
}

std::string GroupText::whole(int reg, DType dtype, bool of_row) const {
  const Register& r = group_.at(reg);
  if (r.from == From::kLiteral || (r.is_row && !of_row)) {
    return fmt::format("splat<{}, {}>({})", name(dtype), of_row ? 1 : vector_, lane(reg, of_row));
  }
  return variable(reg);
}

// The global index of the vector's first element.
std::string GroupText::position(int reg) const {
  const AxisWalk& walk = axes_.loads[static_cast<size_t>(reg)];
  std::string text = fmt::format("{}ll", walk.offset);
  const auto add = [&text](const Extents& strides, const char* prefix) {
    for (size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] != 0) text += fmt::format(" + (i64t){}{} * {}ll", prefix, d, strides[d]);
    }
  };
  add(walk.outer, "row");
  if (!group_.at(reg).is_row) add(walk.inner, "c");
  return text;
}

std::string GroupText::load(int reg, const std::string& indent, const std::string& count) const {
  const Register& r = group_.at(reg);
  const AxisWalk& walk = axes_.loads[static_cast<size_t>(reg)];
  const std::string from = fmt::format("in<{}>({})", name(r.dtype), argument(r.buffer));
  const std::string to = variable(reg);
  const std::string declaration =
      is_array(reg) ? std::string() : fmt::format("{}{} {};\n", indent, type(reg), to);
  if (r.is_row) {
    const std::string at = offset_text(walk.offset, walk.outer, "row");
    return declaration + fmt::format("{}load<1>({}, {} + ({}));\n", indent, to, from, at);
  }
  const std::string at = offset_text(walk);
  const std::string rest = count.empty() ? "" : ", " + count;
  if (axes_.inner.back() > 1 && walk.last() == 0) {
    return declaration + fmt::format("{}load_same({}, {} + ({}));\n", indent, to, from, at);
  }
  if (axes_.inner.back() > 1 && walk.last() != 1) {
    return declaration + fmt::format("{}gather({}, {} + ({}), (index){}{});\n", indent, to, from,
                                     at, walk.last(), rest);
  }
  const int width = aligned_elems(axes_, walk, vector_);
  const std::string aligned = width > 1 ? fmt::format("A ? {} : 1", width) : "1";
  return declaration +
         fmt::format("{}load<{}>({}, {} + ({}){});\n", indent, aligned, to, from, at, rest);
}

std::string GroupText::define(int reg, const std::string& indent, const std::string& count) const {
  const Register& r = group_.at(reg);
  switch (r.from) {
    case From::kLiteral:
    case From::kFold:
      return {};
    case From::kLoad:
      return load(reg, indent, count);
    case From::kIndex:
      return fmt::format("{}const i64t x{} = {};\n", indent, reg, position(reg));
    case From::kRandom:
    case From::kOp:
      break;
  }
  const int width = r.is_row ? 1 : vector_;
  const std::string start = is_array(reg)
                                ? fmt::format("{}{} = ", indent, variable(reg))
                                : fmt::format("{}const auto {} = ", indent, variable(reg));
  if (r.from == From::kRandom) {
    const Attributes& attributes = r.op->attributes;
    const int64_t stride = r.is_row ? 0 : axes_.loads[static_cast<size_t>(reg)].last();
    return fmt::format("{}random_units<{}>({}ull, (u64t)({}) + {}ull, {}ull);\n", start, width,
                       static_cast<uint64_t>(attributes.get_or<int64_t>("seed", 0)), position(reg),
                       static_cast<uint64_t>(attributes.get_or<int64_t>("offset", 0)),
                       static_cast<uint64_t>(stride));
  }
  const CudaOp& op = cuda_op(r.op->kind);
  const std::string comment = r.name.empty() ? "" : "  // %" + r.name;
  if (!op.pairs.empty() && is_16_bit_float(r.dtype)) {
    std::string arguments;
    for (const int operand : r.operands) {
      arguments += (arguments.empty() ? "" : ", ") + whole(operand, r.dtype, r.is_row);
    }
    return fmt::format("{}{}({});{}\n", start, op.pairs, arguments, comment);
  }
  LaneCall call{*r.op, *r.out, r.in, {}};
  for (const int operand : r.operands) call.lanes.push_back(lane(operand, r.is_row));
  return fmt::format("{}map<{}, {}>([&](int i) {{ return {}; }});{}\n", start, name(r.dtype), width,
                     op.lane(call), comment);
}

std::string GroupText::store(size_t index, const std::string& indent,
                             const std::string& count) const {
  const Store& s = group_.stores()[index];
  const Register& r = group_.at(s.reg);
  const AxisWalk& walk = axes_.stores[index];
  const std::string to = fmt::format("out<{}>({})", name(r.dtype), argument(s.buffer));
  if (r.is_row) {
    return fmt::format("{}store<1>(r{}, {} + ({}));\n", indent, s.reg, to,
                       offset_text(walk.offset, walk.outer, "row"));
  }
  const std::string value = whole(s.reg, r.dtype, false);
  const std::string rest = count.empty() ? "" : ", " + count;
  const std::string at = offset_text(walk);
  if (axes_.inner.back() > 1 && walk.last() != 1) {
    return fmt::format("{}scatter({}, {} + ({}), (index){}{});\n", indent, value, to, at,
                       walk.last(), rest);
  }
  const int width = aligned_elems(axes_, walk, vector_);
  const std::string aligned = width > 1 ? fmt::format("A ? {} : 1", width) : "1";
  return fmt::format("{}store<{}>({}, {} + ({}){});\n", indent, aligned, value, to, at, rest);
}

std::string GroupText::accumulator_type(int reg) const {
  const Register& r = group_.at(reg);
  if (!is_float(r.dtype)) return wide_integer(r.dtype) == DType::kU64 ? "u64t" : "i64t";
  if (r.dtype == DType::kF64) return "double";
  const Reduction fold = fold_of(r.op->kind);
  const bool adds = fold != Reduction::kMax && fold != Reduction::kMin;
  return adds && r.dtype == DType::kF32 ? "double" : "float";
}

std::string GroupText::accumulator_identity(int reg) const {
  const Register& r = group_.at(reg);
  const Reduction fold = fold_of(r.op->kind);
  if (!is_float(r.dtype))
    return literal(wide_integer(r.dtype), kernels::int_identity(fold, r.dtype));
  const DType wide = accumulator_type(reg) == "double" ? DType::kF64 : DType::kF32;
  return literal(wide, kernels::real_identity(fold, r.dtype));
}

std::string GroupText::fold_name(int reg) const {
  const Reduction fold = fold_of(group_.at(reg).op->kind);
  return fmt::format("fold_{}", name(fold));
}

std::string GroupText::accumulate(int reg, const std::string& indent,
                                  const std::string& count) const {
  const int operand = group_.at(reg).operands[0];
  const std::string guard = count.empty() ? "" : fmt::format("if (i < {}) ", count);
  return fmt::format(
      "{0}#pragma unroll\n{0}for (int i = 0; i < {1}; ++i) {2}a{3} = {4}()(a{3}, ({5}){6});\n",
      indent, vector_, guard, reg, fold_name(reg), accumulator_type(reg), lane(operand, false));
}

std::string GroupText::finished(int reg, const std::string& accumulator) const {
  const Register& r = group_.at(reg);
  std::string value = accumulator;
  if (is_mean(r.op->kind)) {
    const DType wide = accumulator_type(reg) == "double" ? DType::kF64 : DType::kF32;
    value += fmt::format(" / {}", is_float(r.dtype) ? literal(wide, static_cast<double>(r.divisor))
                                                    : literal(wide_integer(r.dtype),
                                                              std::max<int64_t>(1, r.divisor)));
  }
  return fmt::format("map<{}, 1>([&](int) {{ return {}; }})", name(r.dtype), value);
}

double GroupText::read_bytes() const {
  double bytes = 0;
  for (const Register& r : group_.registers()) {
    if (r.from != From::kLoad) continue;
    double elems = 1;
    for (size_t d = 0; d < r.walk.strides.size(); ++d) {
      if (r.walk.strides[d] != 0) elems *= static_cast<double>(group_.extents()[d]);
    }
    bytes += elems * static_cast<double>(size_bytes(r.dtype));
  }
  return bytes;
}

double GroupText::write_bytes() const {
  double bytes = 0;
  for (const Store& s : group_.stores()) {
    const Register& r = group_.at(s.reg);
    const int64_t elems = r.is_row ? group_.rows() : group_.space().box.volume();
    bytes += static_cast<double>(elems * size_bytes(r.dtype));
  }
  return bytes;
}

std::string GroupText::ops() const {
  std::string text;
  for (size_t i = 0; i < group_.members.size() && i < 6; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : "+", record(group_.members[i]->kind).mnemonic);
  }
  if (group_.members.size() > 6) text += fmt::format("+{} more", group_.members.size() - 6);
  return text.empty() ? "copy" : text;
}

}  // namespace hostir::cuda
