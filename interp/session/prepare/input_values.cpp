#include "interp/session/prepare/input_values.h"

#include <fmt/core.h>

#include "hostir/io/generate.h"
#include "hostir/ir/fits.h"
#include "hostir/ir/inline_value.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/support/text.h"

namespace hostir::interp {
namespace {

const std::string& param_name(const Function& f, size_t i) {
  return f.value(f.params[i].value).name;
}

const Type& param_type(const Function& f, size_t i) { return f.value(f.params[i].value).type; }

const NamedInput* find_input(const std::vector<NamedInput>& inputs, const std::string& name) {
  for (const NamedInput& input : inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

std::string parameter_list(const Function& f) {
  std::string out;
  for (size_t i = 0; i < f.params.size(); ++i) {
    out += (i == 0 ? "%" : ", %") + param_name(f, i);
  }
  return out.empty() ? "none" : out;
}

Expected<void> check_names(const Function& f, const std::vector<NamedInput>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool known = false;
    for (size_t p = 0; p < f.params.size(); ++p)
      known = known || param_name(f, p) == inputs[i].name;
    if (!known) {
      return fail(ErrorKind::kUsage, "input_unknown",
                  fmt::format("@{} has no parameter %{}; it has {}", f.name, inputs[i].name,
                              parameter_list(f)));
    }
    for (size_t j = 0; j < i; ++j) {
      if (inputs[j].name != inputs[i].name) continue;
      return fail(ErrorKind::kUsage, "input_twice",
                  fmt::format("input %{} is given twice", inputs[i].name));
    }
  }
  return {};
}

// The extents of an input, if known before the sizes are.
Expected<std::optional<Extents>> known_extents(const InputValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return std::optional(tensor->extents);
  const auto& generator = std::get<ValueSpec>(value);
  if (!generator.type) return std::optional<Extents>();
  HOSTIR_ASSIGN_OR_RETURN(const ShapeText shape, parse_shape_text(*generator.type));
  return std::optional(shape.extents);
}

// Files and inline values have extents; they are read before sizes are bound.
bool is_stored(const ValueSpec& spec) {
  return spec.kind == ValueSpec::Kind::kInline || spec.kind == ValueSpec::Kind::kFile;
}

Expected<Tensor> checked(Tensor tensor, const std::string& name, const Type& type,
                         const Extents& extents) {
  if (tensor.extents != extents) {
    return fail(ErrorKind::kRuntime, "input_shape",
                fmt::format("input %{} is {}, but the parameter is {}", name,
                            format_shape_text(tensor.dtype, tensor.extents),
                            format_shape_text(dtype_of(type), extents)));
  }
  const DType wanted = dtype_of(type);
  if (tensor.dtype == wanted) return tensor;
  if (holds_bits_of(tensor.dtype, wanted)) {
    tensor.dtype = wanted;
    return tensor;
  }
  // Widths may differ, kinds may not.
  if (is_float(tensor.dtype) != is_float(wanted)) {
    return fail(ErrorKind::kRuntime, "input_dtype",
                fmt::format("input %{} is {}, but the parameter is {}", name,
                            hostir::name(tensor.dtype), hostir::name(wanted)));
  }
  if (const auto at = first_unfit(tensor, wanted)) {
    return fail(
        ErrorKind::kRuntime, "input_range",
        fmt::format("input %{} is {} at {}, which {} cannot hold", name, format_number(tensor, *at),
                    index_text(Box::whole(extents).index_at(*at)), hostir::name(wanted)));
  }
  return converted(tensor, wanted);
}

Expected<Extents> bound_extents(const Function& f, size_t p) {
  const auto extents = constant_extents(shape_of(param_type(f, p)));
  if (extents) return *extents;
  return fail(ErrorKind::kUsage, "input_size",
              fmt::format("the sizes of %{} : {} are not known; give the input with its shape "
                          "(normal(1) : 4x8xf32) or bind them (--size B=8)",
                          param_name(f, p),
                          shape_to_string(shape_of(param_type(f, p)), dtype_of(param_type(f, p)))));
}

Expected<Tensor> input_tensor(const Function& f, size_t p, const InputValue& value,
                              const std::string& base_directory) {
  const Type& type = param_type(f, p);
  HOSTIR_ASSIGN_OR_RETURN(const Extents extents, bound_extents(f, p));
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return checked(*tensor, param_name(f, p), type, extents);
  const auto& spec = std::get<ValueSpec>(value);
  const DType dtype = dtype_of(type);
  HOSTIR_ASSIGN_OR_RETURN(
      Tensor made,
      io::materialise(spec, base_directory, is_stored(spec) ? nullptr : &dtype, &extents));
  return checked(std::move(made), param_name(f, p), type, extents);
}

// Reports all missing inputs at once, with an example of what to type.
tl::unexpected<Error> missing_inputs(const Function& f, const std::vector<NamedInput>& inputs) {
  static constexpr int64_t kSmallSize = 8;  // used in place of an unbound size
  std::string types;
  std::string example;
  size_t seed = 0;
  for (size_t p = 0; p < f.params.size(); ++p) {
    const std::string& name = param_name(f, p);
    if (find_input(inputs, name) || !is_tensor(param_type(f, p))) continue;
    const auto& shape = shape_of(param_type(f, p));
    const DType dtype = dtype_of(param_type(f, p));
    types +=
        fmt::format("{}%{} : {}", types.empty() ? "" : ", ", name, shape_to_string(shape, dtype));
    Extents extents;
    for (const IndexExpr& e : shape) {
      const IndexExpr size =
          e.simplified([](const IndexExpr&) { return std::optional<int64_t>(kSmallSize); });
      extents.push_back(size.is_const() ? size.value() : kSmallSize);
    }
    const std::string text = format_shape_text(dtype, extents);
    example += is_float(dtype) ? fmt::format(" --input '{}=normal({}, {})'", name, ++seed, text)
                               : fmt::format(" --input '{}=full(0, {})'", name, text);
  }
  auto error = fail(ErrorKind::kUsage, "input_missing", "no input for " + types);
  error.value().diagnostics.front().notes.push_back(
      {"for example:" + example + "; --example-inputs generates all of them", {}});
  return error;
}

}  // namespace

Expected<SizeBindings> sizes_from_inputs(
    const Function& function, const std::vector<NamedInput>& inputs,
    const std::vector<std::pair<std::string, int64_t>>& given) {
  HOSTIR_TRY(check_names(function, inputs));
  Function known = function;  // only the parameters with known extents
  known.params.clear();
  std::vector<Extents> extents;
  for (size_t p = 0; p < function.params.size(); ++p) {
    const NamedInput* input = find_input(inputs, param_name(function, p));
    if (!input || !is_tensor(param_type(function, p))) continue;
    HOSTIR_ASSIGN_OR_RETURN(const auto shape, known_extents(input->value));
    if (!shape) continue;
    known.params.push_back(function.params[p]);
    extents.push_back(*shape);
  }
  return infer_sizes(known, extents, given);
}

Expected<std::vector<std::pair<std::string, Tensor>>> input_tensors(
    const Function& function, const std::vector<NamedInput>& inputs,
    const std::string& base_directory, const PrepareProgress& watch) {
  std::vector<std::pair<std::string, Tensor>> out;
  for (size_t p = 0; p < function.params.size(); ++p) {
    const std::string& name = param_name(function, p);
    if (!is_tensor(param_type(function, p))) {
      return fail(
          ErrorKind::kRuntime, "input_type",
          fmt::format("parameter %{} of @{} is not a tensor; such a function can only be called",
                      name, function.name));
    }
    const NamedInput* input = find_input(inputs, name);
    if (!input) return missing_inputs(function, inputs);
    HOSTIR_TRY(watch.begin("making the input %" + name));
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, input_tensor(function, p, input->value, base_directory));
    out.emplace_back(name, std::move(tensor));
  }
  return out;
}

}  // namespace hostir::interp
