#include "interp/session/expressions/watch_expr.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/inline_value.h"
#include "hostir/ir/tensor_statistics.h"

namespace hostir::interp {
namespace {

struct Statistic {
  std::string_view name;
  ExpressionValue (*value)(const TensorStatistics&);
};
constexpr Statistic kStatistics[] = {
    {"min", [](const TensorStatistics& s) -> ExpressionValue { return s.min; }},
    {"max", [](const TensorStatistics& s) -> ExpressionValue { return s.max; }},
    {"mean", [](const TensorStatistics& s) -> ExpressionValue { return s.mean(); }},
    {"sum", [](const TensorStatistics& s) -> ExpressionValue { return s.sum; }},
    {"nan", [](const TensorStatistics& s) -> ExpressionValue { return s.nans; }},
    {"inf", [](const TensorStatistics& s) -> ExpressionValue { return s.infs; }}};

const Statistic* find_statistic(std::string_view name) {
  const auto* found = std::find_if(std::begin(kStatistics), std::end(kStatistics),
                                   [&](const Statistic& s) { return s.name == name; });
  return found == std::end(kStatistics) ? nullptr : found;
}

std::string elements_text(const Tensor& tensor) {
  const int64_t count = tensor.element_count();
  constexpr int64_t kFew = 4;
  if (count == 1) return format_number(tensor, 0);
  if (count <= kFew) {
    std::string out;
    for (int64_t i = 0; i < count; ++i)
      out += (i ? " " : "") + fmt::format("{:.4g}", tensor.get_double(i));
    return out;
  }
  const TensorStatistics s = tensor_statistics(tensor);
  if (s.nans == count) return "all NaN";
  return fmt::format("{:.4g} .. {:.4g}{}", s.min, s.max,
                     s.nans > 0 ? fmt::format("  {} NaN", s.nans) : "");
}

tl::unexpected<Error> not_a_watch(std::string_view why) {
  return fail(ErrorKind::kUsage, "watch",
              fmt::format("{}: write a tensor, a part of it, or a number of it: %y, %y[2, 0:3], "
                          "%y.max",
                          why));
}

bool is_tensor(const Expression& e) {
  return e.kind == Expression::Kind::kName || e.kind == Expression::Kind::kElement;
}

// `%y.max` is a name for the parser. Names may contain dots, so only a statistic ends one.
void split_statistic(Expression& e) {
  for (Expression& arg : e.args) split_statistic(arg);
  const size_t dot = e.text.rfind('.');
  if (e.kind != Expression::Kind::kName || dot == std::string::npos) return;
  const std::string function = e.text.substr(dot + 1);
  if (!is_statistic(function)) return;
  Expression call;
  call.kind = Expression::Kind::kCall;
  call.text = function;
  e.text.resize(dot);
  call.args.push_back(std::move(e));
  e = std::move(call);
}

// Finds the only tensor of a watch and checks that each call is a statistic of it.
Expected<void> find_tensor(const Expression& e, const Expression*& tensor) {
  if (e.kind == Expression::Kind::kCall) {
    if (!is_statistic(e.text))
      return not_a_watch(fmt::format(
          "unknown function \"{}\"; the functions are min max mean sum nan inf", e.text));
    if (!is_tensor(e.args[0])) return not_a_watch(fmt::format("{} is of a tensor", e.text));
  }
  if (!is_tensor(e)) {
    for (const Expression& arg : e.args) HOSTIR_TRY(find_tensor(arg, tensor));
    return {};
  }
  if (tensor && !(*tensor == e))
    return not_a_watch(fmt::format("{} and {} in one watch", to_string(*tensor), to_string(e)));
  tensor = &e;
  return {};
}

}  // namespace

std::optional<ExpressionValue> statistic(std::string_view function, const Tensor& tensor) {
  const Statistic* found = find_statistic(function);
  if (!found) return std::nullopt;
  return found->value(tensor_statistics(tensor));
}

bool is_statistic(std::string_view function) { return find_statistic(function) != nullptr; }

Expected<ExpressionValue> element_number(const Tensor& tensor) {
  if (tensor.element_count() != 1) {
    return fail(ErrorKind::kUsage, "condition",
                fmt::format("{} elements are not a number: give an index for every dimension",
                            tensor.element_count()));
  }
  if (is_float(tensor.dtype)) return tensor.get_double(0);
  return tensor.get_int(0);
}

Expected<WatchExpr> parse_watch(std::string_view text) {
  WatchExpr out;
  HOSTIR_ASSIGN_OR_RETURN(out.expression, parse_expression(text));
  split_statistic(out.expression);
  const Expression* tensor = nullptr;
  HOSTIR_TRY(find_tensor(out.expression, tensor));
  if (!tensor) return not_a_watch(fmt::format("\"{}\" names no tensor", text));
  HOSTIR_TRY(check(out.expression,
                   {{}, [](const Expression&) -> Expected<NameType> { return NameType{}; }}));
  out.value = tensor->text;
  HOSTIR_ASSIGN_OR_RETURN(out.slice, constant_slice(*tensor));
  return out;
}

std::string watch_text(const WatchExpr& expr, const Tensor& tensor) {
  if (tensor.element_count() == 0) return "\u2205";
  if (is_tensor(expr.expression)) return elements_text(tensor);
  const auto value = evaluate(
      expr.expression,
      [&](const Expression& leaf, const std::vector<SliceRange>&) -> Expected<ExpressionValue> {
        if (leaf.kind == Expression::Kind::kCall) return *statistic(leaf.text, tensor);
        return element_number(tensor);
      });
  if (!value) return fmt::format("<{}>", value.error().message());
  if (const auto* integer = std::get_if<int64_t>(&*value)) return std::to_string(*integer);
  if (const auto* word = std::get_if<std::string>(&*value)) return *word;
  const double number = std::get<double>(*value);
  return std::isnan(number) ? "NaN" : fmt::format("{:.6g}", number);
}

}  // namespace hostir::interp
