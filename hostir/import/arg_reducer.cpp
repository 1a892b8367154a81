// Recognises argmax and argmin by what their reducers give for a few numbers.

#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "hostir/import/arithmetic.h"
#include "hostir/import/reducer.h"

namespace hostir::importer {

namespace {

using Numbers = std::vector<double>;

std::optional<double> computed(const ModuleOp& op, const Numbers& in) {
  const std::string_view name = op.name;
  if (name == "stablehlo.constant") {
    const Attr* value = op.find("value");
    if (value == nullptr || !value->literal || !value->literal->data ||
        value->literal->data->element_count() != 1)
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

// What a region of scalars gives; `and`, `or`, `xor` and `not` are of booleans.
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

}  // namespace

// NaN is extreme; among equal values the smaller index wins. Of two NaNs, the one that comes first
// also has the smaller index.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op) {
  if (op.regions.size() != 1 || op.regions.front().arguments.size() != 4) return std::nullopt;
  const ModuleBlock& block = op.regions.front();
  // The arguments are all left-hand ones, then all right-hand ones: value, index, value, index.
  if (function.type(block.arguments[0]) != function.type(block.arguments[2])) return std::nullopt;
  const auto dtype = function.type(block.arguments[0]).dtype();
  const bool real = dtype && is_float(*dtype);
  const std::array<double, 3> values = {0, 1, std::numeric_limits<double>::quiet_NaN()};
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
        if (!real && (std::isnan(a) || std::isnan(b))) continue;
        good = good && computes(a, 0, b, 1) && computes(a, 1, b, 0) && computes(a, 2, b, 2);
      }
    }
    if (good) return kind;
  }
  return std::nullopt;
}

}  // namespace hostir::importer
