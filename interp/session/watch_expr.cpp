#include "interp/session/watch_expr.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hostir/ir/inline_value.h"

namespace hostir::interp {

namespace {

using Reduce = WatchExpr::Reduce;

constexpr std::pair<std::string_view, Reduce> kReduces[] = {
    {"min", Reduce::kMin}, {"max", Reduce::kMax}, {"mean", Reduce::kMean},
    {"sum", Reduce::kSum}, {"nan", Reduce::kNan}, {"inf", Reduce::kInf}};

struct Numbers {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int64_t nans = 0;
  int64_t infs = 0;
};

Numbers numbers_of(const Tensor& tensor) {
  Numbers n;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double x = tensor.get_double(i);
    n.sum += x;
    if (std::isnan(x)) {
      ++n.nans;
    } else {
      n.infs += std::isinf(x) ? 1 : 0;
      n.min = std::min(n.min, x);
      n.max = std::max(n.max, x);
    }
  }
  return n;
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
  const Numbers n = numbers_of(tensor);
  if (n.nans == count) return "all NaN";
  return fmt::format("{:.4g} .. {:.4g}{}", n.min, n.max,
                     n.nans > 0 ? fmt::format("  {} NaN", n.nans) : "");
}

}  // namespace

Expected<WatchExpr> parse_watch(std::string_view text) {
  WatchExpr out;
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const size_t bracket = text.rfind(']');
  const size_t dot = text.rfind('.');
  if (dot != std::string_view::npos && (bracket == std::string_view::npos || dot > bracket)) {
    for (const auto& [name, reduce] : kReduces) {
      if (text.substr(dot + 1) == name) out.reduce = reduce;
    }
    // A name may contain dots; only the known suffixes end it.
    if (out.reduce != Reduce::kNone) text = text.substr(0, dot);
  }
  HOSTIR_ASSIGN_OR_RETURN(const Command print, parse_command("print " + std::string(text)));
  if (print.value.empty()) {
    return fail(ErrorKind::kUsage, "watch",
                "write a tensor, a part of it, or a number of it: %y, %y[2, 0:3], %y.max");
  }
  out.value = print.value;
  out.slice = print.slice;
  return out;
}

std::string watch_text(const WatchExpr& expr, const Tensor& tensor) {
  const int64_t count = tensor.element_count();
  if (count == 0) return "\u2205";
  if (expr.reduce == Reduce::kNone) return elements_text(tensor);
  const Numbers n = numbers_of(tensor);
  switch (expr.reduce) {
    case Reduce::kNone:
      break;
    case Reduce::kMin:
      return n.nans == count ? "NaN" : fmt::format("{:.6g}", n.min);
    case Reduce::kMax:
      return n.nans == count ? "NaN" : fmt::format("{:.6g}", n.max);
    case Reduce::kMean:
      return fmt::format("{:.6g}", n.sum / static_cast<double>(count));
    case Reduce::kSum:
      return fmt::format("{:.6g}", n.sum);
    case Reduce::kNan:
      return std::to_string(n.nans);
    case Reduce::kInf:
      return std::to_string(n.infs);
  }
  return {};
}

}  // namespace hostir::interp
