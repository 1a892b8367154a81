#include "hostir/io/generate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

#include "hostir/io/tensor_file.h"
#include "hostir/ir/fits.h"
#include "hostir/ir/inline_value.h"
#include "hostir/support/number_from.h"
#include "hostir/support/philox.h"
#include "hostir/support/physical_memory.h"
#include "hostir/support/text.h"
#include "hostir/support/usable_cores.h"

namespace hostir::io {

namespace {

template <size_t N>
double polynomial(const std::array<double, N>& c, double x) {
  double y = c[N - 1];
  for (size_t i = N - 1; i-- > 0;) y = y * x + c[i];
  return y;
}

// Wichura AS 241 (PPND16): the normal quantile of a probability in (0, 1), relative error 1e-16.
double normal_quantile(double p) {
  static constexpr std::array<double, 8> kA = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                               1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                               4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                               3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr std::array<double, 8> kB = {1.0,
                                               4.2313330701600911252e+1,
                                               6.8718700749205790830e+2,
                                               5.3941960214247511077e+3,
                                               2.1213794301586595867e+4,
                                               3.9307895800092710610e+4,
                                               2.8729085735721942674e+4,
                                               5.2264952788528545610e+3};
  static constexpr std::array<double, 8> kC = {
      1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr std::array<double, 8> kD = {1.0,
                                               2.05319162663775882187e0,
                                               1.67638483018380384940e0,
                                               6.89767334985100004550e-1,
                                               1.48103976427480074590e-1,
                                               1.51986665636164571966e-2,
                                               5.47593808499534494600e-4,
                                               1.05075007164441684324e-9};
  static constexpr std::array<double, 8> kE = {
      6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr std::array<double, 8> kF = {1.0,
                                               5.99832206555887937690e-1,
                                               1.36929880922735805310e-1,
                                               1.48753612908506148525e-2,
                                               7.86869131145613259100e-4,
                                               1.84631831751005468180e-5,
                                               1.42151175831644588870e-7,
                                               2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double tail = r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                             : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return q < 0 ? -tail : tail;
}

struct GeneratorRow {
  std::string_view name;
  ValueSpec::Kind kind;
  bool seeded;
};
constexpr std::array<GeneratorRow, 4> kGenerators = {{{"full", ValueSpec::Kind::kFull, false},
                                                      {"iota", ValueSpec::Kind::kIota, false},
                                                      {"uniform", ValueSpec::Kind::kUniform, true},
                                                      {"normal", ValueSpec::Kind::kNormal, true}}};

tl::unexpected<Error> bad_spec(std::string_view text, const std::string& why) {
  return fail(ErrorKind::kInvalid, "value_syntax",
              "value '" + std::string(text.substr(0, 60)) + "': " + why);
}

// The arguments of a generator, split at commas; nullopt if there are too many.
std::optional<std::vector<std::string_view>> arguments_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!trimmed(text).empty()) {
    const size_t comma = text.find(',');
    out.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (out.size() > 4) return std::nullopt;
  return out;
}

template <class T>
bool parse_number(std::string_view word, T& out) {
  const auto number = number_from<T>(word);
  if (number) out = *number;
  return number.has_value();
}

// Takes the optional last argument `4x8xf32`: the shape and dtype of the generated tensor.
bool take_type(std::vector<std::string_view>& args, ValueSpec& spec) {
  if (args.empty()) return false;
  const auto shape = parse_shape_text(args.back());
  if (!shape) return false;
  spec.type = format_shape_text(shape->dtype, shape->extents);
  args.pop_back();
  return true;
}

Expected<ValueSpec> parse_generator(std::string_view text, const GeneratorRow& row) {
  ValueSpec spec;
  spec.kind = row.kind;
  const std::string_view rest = trimmed(text.substr(row.name.size()));
  std::vector<std::string_view> args;
  if (!rest.empty()) {
    const auto parsed = rest.front() == '(' && rest.back() == ')'
                            ? arguments_of(rest.substr(1, rest.size() - 2))
                            : std::nullopt;
    if (!parsed) {
      return bad_spec(text,
                      "expected numbers and a shape in parentheses, as in normal(1, 4x8xf32)");
    }
    args = *parsed;
  }
  take_type(args, spec);
  size_t at = 0;
  if (row.seeded && (args.empty() || !parse_number(args[at++], spec.seed))) {
    return bad_spec(text, "the seed is not a non-negative integer");
  }
  if (at < args.size() && !parse_number(args[at++], spec.a)) return bad_spec(text, "not a number");
  if (at < args.size() && !parse_number(args[at++], spec.b)) return bad_spec(text, "not a number");
  if (at < args.size()) return bad_spec(text, "too many arguments");
  return spec;
}

}  // namespace

double generated_element(const ValueSpec& spec, int64_t global_index) {
  const auto index = static_cast<uint64_t>(global_index);
  switch (spec.kind) {
    case ValueSpec::Kind::kFull:
      return spec.a;
    case ValueSpec::Kind::kIota:
      return static_cast<double>(global_index);
    case ValueSpec::Kind::kUniform:
      return spec.a + (spec.b - spec.a) * static_cast<double>(random_unit(spec.seed, index));
    case ValueSpec::Kind::kNormal: {
      const double p = (static_cast<double>(random_word(spec.seed, index)) + 0.5) * 0x1p-32;
      return spec.a + spec.b * normal_quantile(p);
    }
    case ValueSpec::Kind::kInline:
    case ValueSpec::Kind::kFile:
    case ValueSpec::Kind::kName:
      break;
  }
  return 0;
}

namespace {

// Integers are not rounded to doubles on the way.
bool counts_exactly(const ValueSpec& spec, DType dtype) {
  return spec.kind == ValueSpec::Kind::kIota && !is_float(dtype);
}

// Writes elements [begin, end). Returns the first that the dtype cannot hold, or -1.
int64_t fill_range(const ValueSpec& spec, Tensor& out, int64_t begin, int64_t end) {
  const bool counts = counts_exactly(spec, out.dtype);
  for (int64_t i = begin; i < end; ++i) {
    if (counts) {
      if (!fits(i, out.dtype)) return i;
      out.set_int(i, i);
      continue;
    }
    const double value = generated_element(spec, i);
    if (!fits(value, out.dtype)) return i;
    out.set_double(i, value);
  }
  return -1;
}

// Fills the whole tensor. Several threads fill a large one; each element depends only on its
// index.
int64_t fill(const ValueSpec& spec, Tensor& out) {
  constexpr int64_t kLeastPerThread = int64_t{1} << 18;
  const int64_t n = out.element_count();
  const int64_t parts = std::clamp<int64_t>(n / kLeastPerThread, 1, usable_cores());
  std::vector<int64_t> bad(static_cast<size_t>(parts), -1);
  const auto fill_part = [&](int64_t part) {
    bad[static_cast<size_t>(part)] =
        fill_range(spec, out, n / parts * part, part + 1 == parts ? n : n / parts * (part + 1));
  };
  {
    std::vector<std::jthread> threads;
    for (int64_t part = 1; part < parts; ++part) threads.emplace_back(fill_part, part);
    fill_part(0);
  }
  const auto first = std::find_if(bad.begin(), bad.end(), [](int64_t i) { return i >= 0; });
  return first == bad.end() ? -1 : *first;
}

}  // namespace

Expected<Tensor> generate(const ValueSpec& spec, DType dtype, const Extents& extents) {
  const auto count = element_count(extents);
  int64_t bytes = 0;
  const bool counted = count && !__builtin_mul_overflow(*count, size_bytes(dtype), &bytes);
  if (!counted || bytes > physical_memory_bytes()) {
    return fail(ErrorKind::kRuntime, "max_memory",
                format_value_spec(spec) + " of " + format_shape_text(dtype, extents) +
                    " is more than the memory of this computer");
  }
  Tensor out = Tensor::zeros(dtype, extents);
  const int64_t i = fill(spec, out);
  if (i < 0) return out;
  const bool counts = counts_exactly(spec, dtype);
  return fail(
      ErrorKind::kRuntime, "value_range",
      counts ? fmt::format("{}: element {} is {}, which {} cannot hold", format_value_spec(spec), i,
                           i, name(dtype))
             : fmt::format("{}: element {} is {}, which {} cannot hold", format_value_spec(spec), i,
                           generated_element(spec, i), name(dtype)));
}

Expected<Tensor> materialise(const ValueSpec& spec, const std::string& directory,
                             const DType* dtype, const Extents* extents) {
  const auto as_wanted = [&](Expected<Tensor> t) -> Expected<Tensor> {
    const bool is_file = spec.kind == ValueSpec::Kind::kFile;
    if (t && dtype && is_file && holds_bits_of(t->dtype, *dtype)) t->dtype = *dtype;
    if (t && dtype && t->dtype != *dtype) return converted(*t, *dtype);
    return t;
  };
  if (spec.kind == ValueSpec::Kind::kInline) return as_wanted(parse_inline_value(spec.text));
  if (spec.kind == ValueSpec::Kind::kFile) {
    const bool absolute = !spec.text.empty() && spec.text.front() == '/';
    return as_wanted(
        read_tensor_file(absolute || directory.empty() ? spec.text : directory + "/" + spec.text));
  }
  if (spec.type) {
    HOSTIR_ASSIGN_OR_RETURN(const ShapeText shape, parse_shape_text(*spec.type));
    return generate(spec, shape.dtype, shape.extents);
  }
  return generate(spec, *dtype, *extents);
}

Expected<ValueSpec> parse_value_spec(std::string_view raw) {
  const std::string_view text = trimmed(raw);
  ValueSpec spec;
  if (!text.empty() && text.front() == '@') {
    spec.kind = ValueSpec::Kind::kFile;
    spec.text = std::string(text.substr(1));
    return spec;
  }
  if (!text.empty() && text.front() == '%') {
    spec.kind = ValueSpec::Kind::kName;
    spec.text = std::string(text.substr(1));
    return spec;
  }
  for (const GeneratorRow& row : kGenerators) {
    if (text.substr(0, row.name.size()) == row.name) return parse_generator(text, row);
  }
  HOSTIR_TRY(parse_inline_value(text));
  spec.text = std::string(text);
  return spec;
}

std::string format_value_spec(const ValueSpec& spec) {
  const std::string type = spec.type ? ", " + *spec.type : "";
  switch (spec.kind) {
    case ValueSpec::Kind::kInline:
      return "\"" + spec.text + "\"";
    case ValueSpec::Kind::kFile:
      return "@" + spec.text;
    case ValueSpec::Kind::kName:
      return "%" + spec.text;
    case ValueSpec::Kind::kFull:
      return fmt::format("full({}{})", spec.a, type);
    case ValueSpec::Kind::kIota:
      return spec.type ? "iota(" + *spec.type + ")" : "iota";
    case ValueSpec::Kind::kUniform:
      return fmt::format("uniform({}, {}, {}{})", spec.seed, spec.a, spec.b, type);
    case ValueSpec::Kind::kNormal:
      if (spec.a == 0 && spec.b == 1) return fmt::format("normal({}{})", spec.seed, type);
      return fmt::format("normal({}, {}, {}{})", spec.seed, spec.a, spec.b, type);
  }
  return {};
}

}  // namespace hostir::io
