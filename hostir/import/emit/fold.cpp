// Constant folding during the import: loop counters, indices, loop predicates.

#include <algorithm>
#include <array>

#include "hostir/import/emit/arithmetic.h"
#include "hostir/import/emit/emitter.h"
#include "hostir/import/emit/formula.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// The program computes larger tensors itself.
constexpr int64_t kMostElements = 1024;

bool all_known(const OpSite& s) {
  for (size_t i = 0; i < s.count(); ++i) {
    const Known& x = s.in(i);
    if (!x.is_number()) return false;
    if (!x.splat && x.type.element_count() > kMostElements) return false;
  }
  return s.count() > 0;
}

std::optional<double> combined_real(std::string_view name, double a, double b) {
  if (name == "stablehlo.add") return a + b;
  if (name == "stablehlo.subtract") return a - b;
  if (name == "stablehlo.multiply") return a * b;
  if (name == "stablehlo.divide") return a / b;
  if (name == "stablehlo.maximum" && a == a && b == b) return std::max(a, b);
  if (name == "stablehlo.minimum" && a == a && b == b) return std::min(a, b);
  return std::nullopt;
}

std::optional<bool> holds_at(std::string_view direction, const Tensor& a, int64_t i,
                             const Tensor& b, int64_t j) {
  if (is_float(a.dtype)) return holds(direction, a.get_double(i), b.get_double(j));
  return holds(direction, a.dtype, a.get_int(i), b.get_int(j));
}

struct Elements {
  Tensor out;
  bool splat = true;
  int64_t count = 1;
};

Elements elements_for(const OpSite& s, DType dtype) {
  Elements e;
  for (size_t i = 0; i < s.count(); ++i)
    e.splat = e.splat && (s.in(i).splat || s.in(i).type.dims.empty());
  e.count = e.splat ? 1 : s.result_type().element_count();
  e.out = Tensor::zeros(dtype, e.splat ? Extents{} : s.result_type().dims);
  return e;
}

int64_t place_in(const Known& x, int64_t i) {
  return x.splat || x.number->element_count() == 1 ? 0 : i;
}

std::optional<Known> fold_binary(const OpSite& s, DType dtype) {
  Elements e = elements_for(s, dtype);
  const Known& a = s.in(0);
  const Known& b = s.in(1);
  for (int64_t i = 0; i < e.count; ++i) {
    const int64_t pa = place_in(a, i);
    const int64_t pb = place_in(b, i);
    if (is_float(dtype)) {
      // Computing f32 and f64 operands in double rounds like the operation itself.
      if (dtype != DType::kF32 && dtype != DType::kF64) return std::nullopt;
      const auto value =
          combined_real(s.op.name, a.number->get_double(pa), b.number->get_double(pb));
      if (!value) return std::nullopt;
      e.out.set_double(i, *value);
    } else {
      const auto value = combined(s.op.name, dtype, a.number->get_int(pa), b.number->get_int(pb));
      if (!value) return std::nullopt;
      e.out.set_int(i, *value);
    }
  }
  Known out = splat_of(e.out, s.result_type());
  if (!e.splat) {
    out.splat = false;
    out.number->extents = s.result_type().dims;
  }
  return out;
}

std::optional<Known> fold_compare(const OpSite& s) {
  std::string_view direction = s.op.word("comparison_direction");
  if (direction.empty()) direction = s.op.word("word");
  if (orders_totally(s.op) && is_float(s.in(0).number->dtype)) return std::nullopt;
  Elements e = elements_for(s, DType::kI1);
  for (int64_t i = 0; i < e.count; ++i) {
    const auto value = holds_at(direction, *s.in(0).number, place_in(s.in(0), i), *s.in(1).number,
                                place_in(s.in(1), i));
    if (!value) return std::nullopt;
    e.out.set_int(i, *value ? 1 : 0);
  }
  Known out = splat_of(e.out, s.result_type());
  if (!e.splat) {
    out.splat = false;
    out.number->extents = s.result_type().dims;
  }
  return out;
}

// A known predicate selects one operand, even if that operand is not known.
std::optional<Known> fold_select(const OpSite& s) {
  const Known& pred = s.in(0);
  if (!pred.is_number() || !(pred.splat || pred.type.dims.empty())) return std::nullopt;
  return s.in(pred.number->get_int(0) != 0 ? 1 : 2);
}

// A known operand that decides an `and` or `or`, or leaves it to the other operand.
std::optional<Known> fold_logic(const OpSite& s) {
  const bool is_and = s.op.name == "stablehlo.and";
  for (size_t i = 0; i < 2; ++i) {
    const Known& x = s.in(i);
    if (!x.is_number() || !(x.splat || x.type.dims.empty()) || x.type.element != "i1") continue;
    return (x.number->get_int(0) != 0) == is_and ? s.in(1 - i) : x;
  }
  return std::nullopt;
}

std::optional<Known> fold_clamp(const OpSite& s, DType dtype) {
  if (is_float(dtype)) return std::nullopt;
  const auto single = [](const Known& x) { return x.splat || x.type.dims.empty(); };
  if (!single(s.in(0)) || !single(s.in(1)) || !single(s.in(2))) return std::nullopt;
  Tensor out = Tensor::zeros(dtype, {});
  const int64_t low = s.in(0).number->get_int(0);
  const int64_t high = s.in(2).number->get_int(0);
  if (dtype == DType::kU64 && (low < 0 || high < 0 || s.in(1).number->get_int(0) < 0))
    return std::nullopt;
  out.set_int(0, std::min(std::max(s.in(1).number->get_int(0), low), high));
  return splat_of(std::move(out), s.result_type());
}

std::optional<Known> fold_unary(const OpSite& s, DType dtype) {
  const Known& x = s.in(0);
  const bool is_convert = s.op.name == "stablehlo.convert";
  const auto to = s.result_type().dtype();
  if (!to) return std::nullopt;
  Known out = x;
  out.value = ValueId();
  out.type = s.result_type();
  if (is_convert) {
    if (is_float(dtype) && !is_float(*to)) return std::nullopt;  // the program truncates
    out.number = converted(*x.number, *to);
    for (int64_t i = 0; *to == DType::kI1 && i < x.number->element_count(); ++i) {
      out.number->set_int(i, x.number->get_int(i) != 0 ? 1 : 0);
    }
    return out;
  }
  for (int64_t i = 0; i < x.number->element_count(); ++i) {
    const int64_t value = x.number->get_int(i);
    if (s.op.name == "stablehlo.not" && dtype == DType::kI1)
      out.number->set_int(i, value == 0 ? 1 : 0);
    else if (s.op.name == "stablehlo.not" && !is_float(dtype))
      out.number->set_int(i, ~value);
    else if (s.op.name == "stablehlo.negate" && !is_float(dtype))
      out.number->set_int(i, static_cast<int64_t>(0 - static_cast<uint64_t>(value)));
    else if (s.op.name == "stablehlo.negate")
      out.number->set_double(i, -x.number->get_double(i));
    else
      return std::nullopt;
  }
  return out;
}

}  // namespace

bool orders_totally(const ModuleOp& compare) {
  return compare.word("compare_type") == "TOTALORDER" ||
         std::any_of(compare.attributes.begin(), compare.attributes.end(), [](const NamedAttr& a) {
           return a.first == "word" && a.second.text == "TOTALORDER";
         });
}

std::optional<Known> folded(const OpSite& s) {
  if (s.op.results.size() != 1 || !s.op.regions.empty()) return std::nullopt;
  if (s.op.name == "stablehlo.select" && s.count() == 3) return fold_select(s);
  const bool is_logic = s.op.name == "stablehlo.and" || s.op.name == "stablehlo.or";
  if (is_logic && s.count() == 2 && s.in(0).type == s.in(1).type) {
    if (auto decided = fold_logic(s)) return decided;
  }
  if (!all_known(s)) return std::nullopt;
  for (const ValueNumber v : {s.op.operands[0], s.op.results[0]}) {
    if (narrow_bits(s.function.type(v).element) != 0) return std::nullopt;  // they wrap
  }
  const auto dtype = s.in(0).type.dtype();
  if (!dtype || !s.result_type().dtype()) return std::nullopt;
  if (s.op.name == "stablehlo.compare" && s.count() == 2) return fold_compare(s);
  if (s.op.name == "stablehlo.clamp" && s.count() == 3) return fold_clamp(s, *dtype);
  if (s.count() == 2 && s.in(0).type.dims == s.in(1).type.dims && s.in(0).type == s.result_type())
    return fold_binary(s, *dtype);
  static constexpr std::array<std::string_view, 3> kUnary = {"stablehlo.convert",
                                                             "stablehlo.negate", "stablehlo.not"};
  if (s.count() == 1 && contains(kUnary, s.op.name)) return fold_unary(s, *dtype);
  return std::nullopt;
}

}  // namespace hostir::importer
