// Decides where results of bf16 and f16 are rounded, as XLA does.

#include <algorithm>
#include <array>

#include "hostir/import/emit/emitter.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// Operations that are composed of several ops.
constexpr std::array<std::string_view, 19> kComposed = {
    "chlo.acos",
    "chlo.acosh",
    "chlo.asin",
    "chlo.asinh",
    "chlo.atan",
    "chlo.atanh",
    "chlo.cosh",
    "chlo.erf_inv",
    "chlo.erfc",
    "chlo.polygamma",
    "chlo.sinh",
    "chlo.tan",
    "chlo.zeta",
    "stablehlo.atan2",
    "stablehlo.cbrt",
    "stablehlo.exponential_minus_one",
    "stablehlo.log_plus_one",
    "stablehlo.remainder",
    "stablehlo.tan",
};

constexpr std::array kArithmetic = {
    OpKind::add, OpKind::sub, OpKind::mul,  OpKind::div,     OpKind::pow,
    OpKind::exp, OpKind::log, OpKind::sin,  OpKind::sqrt,    OpKind::rsqrt,
    OpKind::cos, OpKind::erf, OpKind::tanh, OpKind::sigmoid,
};

bool is_bf16(const Known& x) { return x.type.is_tensor() && x.type.element == "bf16"; }

}  // namespace

Expected<Known> Emitter::widened(const Known& x) {
  if (text_rounds_ || !is_bf16(x) || !x.value.valid() || !x.lead.empty()) return cast(x, "f32");
  const InstrId by = target_.value(x.value).defined_by;
  if (!by.valid()) return cast(x, "f32");
  const OpKind kind = target_.instr(by).kind;
  if (!contains(kArithmetic, kind)) return cast(x, "f32");
  if (const auto found = widened_.find(x.value); found != widened_.end()) return found->second;
  std::vector<Known> operands;
  const std::vector<Operand> given = target_.instr(by).operands;
  const Attributes attributes = target_.instr(by).attributes;
  for (const Operand& operand : given) {
    const auto* type = std::get_if<TensorType>(&target_.value(operand.value).type);
    if (type == nullptr || type->dtype != DType::kBF16) return cast(x, "f32");
    Known known;
    known.value = operand.value;
    known.type.element = "bf16";
    HOSTIR_ASSIGN_OR_RETURN(Known wide, cast(known, "f32"));
    operands.push_back(std::move(wide));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known wide, apply_list(kind, std::move(operands), attributes));
  return widened_.emplace(x.value, std::move(wide)).first->second;
}

// Composed operations on bf16 or f16 are rounded once, not at each of their steps.
Expected<bool> Emitter::composed_in_f32(const OpSite& site) {
  const ModuleOp& op = site.op;
  if (!contains(kComposed, op.name)) return false;
  std::vector<Known> operands;
  for (size_t i = 0; i < site.count(); ++i) {
    const Known& x = site.in(i);
    if ((x.type.element != "bf16" && x.type.element != "f16") || !x.lead.empty()) return false;
    HOSTIR_ASSIGN_OR_RETURN(Known wide, cast(site.in(i), "f32"));
    operands.push_back(std::move(wide));
  }
  if (operands.empty()) return false;
  const std::string element = site.in(0).type.element;
  DeviceHook hook = set_device_hook(nullptr);
  auto made = module_op(op.name, std::move(operands), op.attributes);
  set_device_hook(std::move(hook));
  if (!made) return tl::unexpected(std::move(made.error()));
  HOSTIR_ASSIGN_OR_RETURN(Known y, cast(*made, element));
  HOSTIR_TRY(site.set(std::move(y)));
  HOSTIR_TRY(annotate(site));
  return true;
}

}  // namespace hostir::importer
