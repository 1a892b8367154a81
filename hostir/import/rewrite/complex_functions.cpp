#include "hostir/import/rewrite/complex_functions.h"

namespace hostir::importer {

namespace {

using Pair = ComplexPair;

ValueNumber function(OpBuilder& b, std::string_view name, ValueNumber x) { return b.op(name, {x}); }

ValueNumber number(OpBuilder& b, double value, ValueNumber like) {
  return b.all_equal(value, b.type(like));
}

ValueNumber compared(OpBuilder& b, ValueNumber x, std::string_view direction, double value) {
  ModuleType type = b.type(x);
  type.element = "i1";
  return b.op("stablehlo.compare", {x, number(b, value, x)}, type,
              {{"comparison_direction", Attr::of_word(std::string(direction))}});
}

ValueNumber chosen(OpBuilder& b, ValueNumber pred, ValueNumber x, ValueNumber y) {
  return b.op("stablehlo.select", {pred, x, y}, b.type(x));
}

Pair product(OpBuilder& b, Pair x, Pair y) {
  return {b.sub(b.mul(x.re, y.re), b.mul(x.im, y.im)), b.add(b.mul(x.re, y.im), b.mul(x.im, y.re))};
}

Pair quotient(OpBuilder& b, Pair x, Pair y) {
  const ValueNumber size = square_size(b, y);
  return {b.div(b.add(b.mul(x.re, y.re), b.mul(x.im, y.im)), size),
          b.div(b.sub(b.mul(x.im, y.re), b.mul(x.re, y.im)), size)};
}

Pair exponential(OpBuilder& b, Pair x) {
  const ValueNumber size = function(b, "stablehlo.exponential", x.re);
  return {b.mul(size, function(b, "stablehlo.cosine", x.im)),
          b.mul(size, function(b, "stablehlo.sine", x.im))};
}

Pair logarithm(OpBuilder& b, Pair x) {
  return {function(b, "stablehlo.log", size_of(b, x)), b.op("stablehlo.atan2", {x.im, x.re})};
}

// The root with a real part of at least 0. The larger part is sqrt((|z| + |re|) / 2), without
// cancellation; the other is im / 2 divided by it.
Pair root(OpBuilder& b, Pair x) {
  const ValueNumber half = number(b, 0.5, x.re);
  const ValueNumber sum = b.add(size_of(b, x), function(b, "stablehlo.abs", x.re));
  const ValueNumber large = function(b, "stablehlo.sqrt", b.mul(sum, half));
  const ValueNumber is_zero = compared(b, large, "EQ", 0);
  const ValueNumber divisor = chosen(b, is_zero, number(b, 1, x.re), large);
  const ValueNumber small = b.div(b.mul(x.im, half), divisor);
  const ValueNumber is_right = compared(b, x.re, "GE", 0);
  const ValueNumber negative = function(b, "stablehlo.negate", large);
  const ValueNumber with_sign = chosen(b, compared(b, x.im, "LT", 0), negative, large);
  return {chosen(b, is_right, large, function(b, "stablehlo.abs", small)),
          chosen(b, is_right, small, with_sign)};
}

// With t = tanh(re): (t + i sin(im) cos(im) (1 - t^2)) / (cos(im)^2 + t^2 sin(im)^2).
Pair hyperbolic_tangent(OpBuilder& b, Pair x) {
  const ValueNumber t = function(b, "stablehlo.tanh", x.re);
  const ValueNumber sine = function(b, "stablehlo.sine", x.im);
  const ValueNumber cosine = function(b, "stablehlo.cosine", x.im);
  const ValueNumber t_sine = b.mul(t, sine);
  const ValueNumber divisor = b.add(b.mul(cosine, cosine), b.mul(t_sine, t_sine));
  const ValueNumber one = number(b, 1, x.re);
  const ValueNumber rest = b.mul(b.sub(one, t), b.add(one, t));
  return {b.div(t, divisor), b.div(b.mul(b.mul(sine, cosine), rest), divisor)};
}

// exp(y log(x)). If x is 0: 1 if y is 0, else 0.
Pair power(OpBuilder& b, Pair x, Pair y) {
  const Pair value = exponential(b, product(b, y, logarithm(b, x)));
  const ValueNumber is_zero = compared(b, square_size(b, x), "EQ", 0);
  const ValueNumber to_zero = compared(b, square_size(b, y), "EQ", 0);
  const ValueNumber zero = number(b, 0, x.re);
  const ValueNumber of_zero = chosen(b, to_zero, number(b, 1, x.re), zero);
  return {chosen(b, is_zero, of_zero, value.re), chosen(b, is_zero, zero, value.im)};
}

}  // namespace

ValueNumber square_size(OpBuilder& b, Pair z) {
  return b.add(b.mul(z.re, z.re), b.mul(z.im, z.im));
}

ValueNumber size_of(OpBuilder& b, Pair z) {
  return function(b, "stablehlo.sqrt", square_size(b, z));
}

std::optional<Pair> complex_function(OpBuilder& b, std::string_view name, Pair x) {
  const auto one = [&] { return Pair{number(b, 1, x.re), number(b, 0, x.re)}; };
  if (name == "chlo.conj") return Pair{x.re, function(b, "stablehlo.negate", x.im)};
  if (name == "chlo.square")
    return Pair{b.sub(b.mul(x.re, x.re), b.mul(x.im, x.im)), b.mul(b.add(x.re, x.re), x.im)};
  if (name == "stablehlo.exponential") return exponential(b, x);
  if (name == "stablehlo.log") return logarithm(b, x);
  if (name == "stablehlo.sqrt") return root(b, x);
  if (name == "stablehlo.rsqrt") return quotient(b, one(), root(b, x));
  if (name == "stablehlo.tanh") return hyperbolic_tangent(b, x);
  if (name == "stablehlo.logistic") {  // 1 / (1 + exp(-x))
    const Pair minus = {function(b, "stablehlo.negate", x.re),
                        function(b, "stablehlo.negate", x.im)};
    const Pair e = exponential(b, minus);
    return quotient(b, one(), {b.add(e.re, number(b, 1, x.re)), e.im});
  }
  if (name == "stablehlo.sine" || name == "stablehlo.cosine") {
    const ValueNumber sine = function(b, "stablehlo.sine", x.re);
    const ValueNumber cosine = function(b, "stablehlo.cosine", x.re);
    const ValueNumber cosh = function(b, "chlo.cosh", x.im);
    const ValueNumber sinh = function(b, "chlo.sinh", x.im);
    if (name == "stablehlo.sine") return Pair{b.mul(sine, cosh), b.mul(cosine, sinh)};
    return Pair{b.mul(cosine, cosh), function(b, "stablehlo.negate", b.mul(sine, sinh))};
  }
  if (name == "stablehlo.sign") {
    const ValueNumber size = size_of(b, x);
    const ValueNumber divisor = chosen(b, compared(b, size, "EQ", 0), number(b, 1, x.re), size);
    return Pair{b.div(x.re, divisor), b.div(x.im, divisor)};
  }
  return std::nullopt;
}

std::optional<Pair> complex_function(OpBuilder& b, std::string_view name, Pair x, Pair y) {
  if (name == "stablehlo.multiply") return product(b, x, y);
  if (name == "stablehlo.divide") return quotient(b, x, y);
  if (name == "stablehlo.power") return power(b, x, y);
  return std::nullopt;
}

}  // namespace hostir::importer
