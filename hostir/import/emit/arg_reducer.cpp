// Recognises argmax and argmin by the results of their reducers for a few numbers.
//
// This is enough because a reducer is accepted only if it compares its arguments and selects among
// them. Its only constants are booleans, so only the order of the arguments decides the result.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hostir/import/emit/arithmetic.h"
#include "hostir/import/emit/reducer.h"

namespace hostir::importer {

namespace {

using Numbers = std::vector<double>;

// The result of one operation on scalars; nullopt if it is not supported.
std::optional<double> computed(const ModuleOp& op, const Numbers& in) {
  const std::string_view name = op.name;
  if (name == "stablehlo.constant") {
    const Attr* value = op.find("value");
    if (value == nullptr || !value->literal || !value->literal->data ||
        value->literal->data->element_count() != 1 || value->literal->data->dtype != DType::kI1)
      return std::nullopt;
    return value->literal->data->get_double(0);
  }
  if (in.size() == 1) {
    if (name == "stablehlo.not") return in[0] == 0 ? 1 : 0;
    return std::nullopt;
  }
  if (name == "stablehlo.select" && in.size() == 3) return in[0] != 0 ? in[1] : in[2];
  if (in.size() != 2) return std::nullopt;
  const bool a = in[0] != 0;
  const bool b = in[1] != 0;
  if (name == "stablehlo.compare") {
    if (orders_totally(op)) return std::nullopt;
    std::string_view direction = op.word("comparison_direction");
    if (direction.empty()) direction = op.word("word");
    const auto value = holds(direction, in[0], in[1]);
    return value ? std::optional<double>(*value ? 1 : 0) : std::nullopt;
  }
  if (name == "stablehlo.minimum") return in[1] < in[0] || in[1] != in[1] ? in[1] : in[0];
  if (name == "stablehlo.maximum") return in[1] > in[0] || in[1] != in[1] ? in[1] : in[0];
  return name == "stablehlo.or"    ? std::optional<double>(a || b ? 1 : 0)
         : name == "stablehlo.and" ? std::optional<double>(a && b ? 1 : 0)
         : name == "stablehlo.xor" ? std::optional<double>(a != b ? 1 : 0)
                                   : std::nullopt;
}

// The results of a region on scalars; nullopt if it has an operation that is not supported. `and`,
// `or`, `xor` and `not` are supported on booleans only.
std::optional<Numbers> evaluated(const ModuleFunction& function, const ModuleBlock& block,
                                 const Numbers& arguments) {
  std::map<ValueNumber, double> at;
  for (size_t i = 0; i < arguments.size(); ++i) at[block.arguments[i]] = arguments[i];
  for (const ModuleOp& op : block.ops) {
    Numbers in;
    for (const ValueNumber operand : op.operands) {
      const auto found = at.find(operand);
      if (found == at.end()) return std::nullopt;
      in.push_back(found->second);
    }
    if (op.name.ends_with(".return")) return in;
    const bool logic = op.name == "stablehlo.or" || op.name == "stablehlo.and" ||
                       op.name == "stablehlo.xor" || op.name == "stablehlo.not";
    if (logic && function.type(op.operands.front()).element != "i1") return std::nullopt;
    const auto value = op.results.size() == 1 ? computed(op, in) : std::nullopt;
    if (!value) return std::nullopt;
    at[op.results.front()] = *value;
  }
  return std::nullopt;
}

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Values of a dtype on which reducers are tried.
Numbers samples_of(DType dtype) {
  if (is_float(dtype)) return {0, 1, -2, 100, std::numeric_limits<double>::quiet_NaN()};
  Numbers out = {0, 1};
  if (dtype == DType::kI1) return out;
  if (least(dtype) < 0) out.push_back(-2);
  out.push_back(
      std::min<double>(static_cast<double>(INT64_MAX >> (64 - 8 * size_bytes(dtype))), 1e9));
  return out;
}

}  // namespace

// NaN is extreme; of equal values, the one with the smaller index wins. Two NaNs are tried only in
// the order of their indices, because JAX's reducer takes the left one.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op) {
  if (op.regions.size() != 1 || op.regions.front().arguments.size() != 4) return std::nullopt;
  const ModuleBlock& block = op.regions.front();
  // The arguments are all left-hand ones, then all right-hand ones: value, index, value, index.
  if (function.type(block.arguments[0]) != function.type(block.arguments[2])) return std::nullopt;
  if (function.type(block.arguments[1]) != function.type(block.arguments[3])) return std::nullopt;
  const auto dtype = function.type(block.arguments[0]).dtype();
  const auto index = function.type(block.arguments[1]).dtype();
  if (!dtype || !index || !is_integer(*index)) return std::nullopt;
  const Numbers values = samples_of(*dtype);
  for (const ReducerKind kind : {ReducerKind::kMax, ReducerKind::kMin}) {
    const auto computes = [&](double a, double i, double b, double j) {
      if (std::isnan(a) && std::isnan(b) && i > j) return true;
      const auto got = evaluated(function, block, {a, i, b, j});
      const bool before = kind == ReducerKind::kMax ? a > b : a < b;
      const bool same = equal(a, b);
      const bool left = std::isnan(b) ? std::isnan(a) : std::isnan(a) || before || same;
      const double place = same ? std::min(i, j) : left ? i : j;
      return got && got->size() == 2 && equal((*got)[0], left ? a : b) && (*got)[1] == place;
    };
    bool good = true;
    for (const double a : values) {
      for (const double b : values) {
        good = good && computes(a, 0, b, 1) && computes(a, 1, b, 0) && computes(a, 2, b, 2);
      }
    }
    if (good) return kind;
  }
  return std::nullopt;
}

}  // namespace hostir::importer
