#include "hostir/import/hlo/library_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

// The text of a field in JSON, without quotes; empty if there is none. Finds the first field of
// this name at any depth: no name occurs twice in these configurations.
std::string_view field(std::string_view json, std::string_view name) {
  const size_t found = json.find("\"" + std::string(name) + "\"");
  if (found == std::string_view::npos) return {};
  size_t begin = json.find_first_not_of(": \t\n\r", found + name.size() + 2);
  if (begin == std::string_view::npos) return {};
  if (json[begin] == '"') {
    const size_t end = json.find('"', begin + 1);
    return json.substr(begin + 1, std::min(end, json.size()) - begin - 1);
  }
  const char open = json[begin];
  if (open != '[' && open != '{') {
    const size_t end = json.find_first_of(",} \t\n\r", begin);
    return json.substr(begin, std::min(end, json.size()) - begin);
  }
  size_t end = begin;
  for (int depth = 0; end < json.size(); ++end) {
    if (json[end] == '{' || json[end] == '[') ++depth;
    if ((json[end] == '}' || json[end] == ']') && --depth == 0) break;
  }
  return json.substr(begin, std::min(end + 1, json.size()) - begin);
}

double number(std::string_view json, std::string_view name, double fallback) {
  const std::string_view text = field(json, name);
  double value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// `"BIAS_RELU"` and `["BIAS","RELU"]`: the words in capitals.
std::vector<std::string> words_of(std::string_view text, std::string_view letters) {
  std::vector<std::string> out;
  size_t at = 0;
  while ((at = text.find_first_of(letters, at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_not_of(letters, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kCapitalsAndLines = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

std::string list_of(const std::vector<int64_t>& numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers, ","));
}

// The instructions that replace one call.
class Expansion {
 public:
  Expansion(const HloComputation& computation, const HloInstruction& call,
            std::unordered_set<std::string>& names)
      : computation_(computation), call_(call), names_(names) {
    config_ = std::string(call.attribute("backend_config"));
    if (config_.starts_with('"')) std::erase(config_, '\\');
  }

  // False if the call is unknown.
  bool write() {
    std::string target(call_.attribute("custom_call_target"));
    std::erase(target, '"');
    if (target == "__cublas$gemm" || target == "__cublas$lt$matmul") return product(false);
    if (target == "__cublas$lt$matmul$f8") return product(true);
    if (target == "__onednn$matmul") return onednn_product();
    if (target == "__cudnn$convForward") return convolution(false);
    if (target == "__cudnn$convBiasActivationForward") return convolution(true);
    return false;
  }

  std::vector<HloInstruction> instructions() { return std::move(out_); }

 private:
  using Attributes = std::vector<std::pair<std::string, std::string>>;

  const HloShape& result_shape() const {
    return call_.shape.is_tuple() ? call_.shape.parts.front() : call_.shape;
  }

  const HloShape* shape_of(size_t operand) const {
    if (operand >= call_.operands.size()) return nullptr;
    const HloInstruction* i = computation_.find(call_.operands[operand]);
    return i != nullptr && i->shape.type.is_tensor() ? &i->shape : nullptr;
  }

  // Sums and what follows are computed in this type and rounded to the result's type once.
  std::string computed_element() const {
    const std::string& element = result_shape().type.element;
    return element == "f64" || element == "i32" ? element : "f32";
  }

  HloShape computed(std::vector<int64_t> dims) const {
    HloShape shape;
    shape.type = tensor_type(computed_element(), std::move(dims));
    return shape;
  }

  HloShape whole() const { return computed(result_shape().type.dims); }

  std::string fresh(std::string_view suffix) {
    std::string name = fmt::format("{}.{}", call_.name, suffix);
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  std::string add(std::string_view opcode, HloShape shape, std::vector<std::string> operands,
                  Attributes attributes = {}) {
    HloInstruction made;
    made.name = fresh(opcode);
    made.opcode = opcode;
    made.shape = std::move(shape);
    made.operands = std::move(operands);
    made.attributes = std::move(attributes);
    made.span = call_.span;
    out_.push_back(std::move(made));
    return out_.back().name;
  }

  std::string pointwise(std::string_view opcode, std::vector<std::string> operands) {
    return add(opcode, whole(), std::move(operands));
  }

  std::string number_everywhere(double value, HloShape shape) {
    HloShape scalar;
    scalar.type = tensor_type(shape.type.element, {});
    const std::string one = add("constant", std::move(scalar), {});
    out_.back().literal = fmt::format("{}", value);
    return add("broadcast", std::move(shape), {one}, {{"dimensions", "{}"}});
  }

  std::string number_everywhere(double value) { return number_everywhere(value, whole()); }

  std::string scaled(const std::string& x, double factor) {
    return factor == 1 ? x : pointwise("multiply", {x, number_everywhere(factor)});
  }

  // An operand in the type of the computation, spread over the result's dimensions from `first`.
  std::optional<std::string> spread(size_t operand, size_t first) {
    const HloShape* shape = shape_of(operand);
    const size_t rank = result_shape().type.dims.size();
    if (shape == nullptr || first + shape->type.dims.size() > rank) return std::nullopt;
    const std::string name = converted(call_.operands[operand], *shape, computed_element());
    if (shape->type.dims == result_shape().type.dims) return name;
    std::vector<int64_t> dims;
    for (size_t d = 0; d < shape->type.dims.size(); ++d)
      dims.push_back(static_cast<int64_t>(first + d));
    return add("broadcast", whole(), {name}, {{"dimensions", list_of(dims)}});
  }

  std::optional<std::string> spread_at_end(size_t operand) {
    const HloShape* shape = shape_of(operand);
    const size_t rank = result_shape().type.dims.size();
    if (shape == nullptr || shape->type.dims.size() > rank) return std::nullopt;
    return spread(operand, rank - shape->type.dims.size());
  }

  std::string converted(const std::string& name, HloShape shape, const std::string& element) {
    if (shape.type.element == element) return name;
    shape.type.element = element;
    return add("convert", std::move(shape), {name});
  }

  // An activation by its name in cuBLAS, cuDNN or oneDNN.
  std::optional<std::string> activated(const std::string& x, std::string_view name) {
    if (name == "RELU") return pointwise("maximum", {x, number_everywhere(0)});
    if (name == "TANH") return pointwise("tanh", {x});
    if (name == "SIGMOID") return pointwise("logistic", {x});
    if (name == "SILU") return pointwise("multiply", {x, pointwise("logistic", {x})});
    if (name != "GELU" && name != "GELU_TANH" && name != "GELU_ERF") return std::nullopt;
    std::string step;
    if (name == "GELU_ERF") {
      step = pointwise("erf", {scaled(x, 0.70710678118654752)});
    } else {
      const std::string cube = pointwise("multiply", {x, pointwise("multiply", {x, x})});
      const std::string sum = pointwise("add", {x, scaled(cube, 0.044715)});
      step = pointwise("tanh", {scaled(sum, 0.79788456080286536)});
    }
    return pointwise("multiply", {scaled(x, 0.5), pointwise("add", {step, number_everywhere(1)})});
  }

  // Defines the call's results: `value`, then `aux` if there is one, then a workspace.
  bool finish(std::string value, const HloShape& shape, std::optional<std::string> aux = {}) {
    const std::string& element = result_shape().type.element;
    value = converted(value, shape, element);
    if (!call_.shape.is_tuple()) {
      add("copy", call_.shape, {value});
    } else {
      std::vector<std::string> parts = {value};
      if (aux) parts.push_back(converted(*aux, whole(), element));
      for (size_t p = parts.size(); p < call_.shape.parts.size(); ++p) {
        if (!call_.shape.parts[p].type.is_tensor()) return false;
        parts.push_back(number_everywhere(0, call_.shape.parts[p]));
      }
      if (parts.size() != call_.shape.parts.size()) return false;
      add("tuple", call_.shape, std::move(parts));
    }
    out_.back().name = call_.name;
    out_.back().is_root = call_.is_root;
    return true;
  }

  // A product or convolution. It is rounded to the result's type at once if nothing follows.
  std::string contraction(std::string_view opcode, Attributes attributes, bool more) {
    HloShape shape = more ? whole() : result_shape();
    shape.minor_to_major.clear();
    return add(opcode, std::move(shape), {call_.operands[0], call_.operands[1]},
               std::move(attributes));
  }

  bool is_known_result() const {
    return result_shape().type.is_tensor() && !is_complex(result_shape().type);
  }

  // cuBLAS: alpha * a @ b + beta * c, bias, activation. Operands: a, b, c if beta is not 0, the
  // scales of a and b if they have 8 bits, bias. GELU_AUX also gives the activation's operand.
  bool product(bool has_scales) {
    const std::string_view epilogue = field(config_, "epilogue");
    auto words = epilogue == "DEFAULT" ? std::vector<std::string>() : words_of(epilogue, kCapitals);
    const double alpha = number(config_, "alpha_real", 1);
    const double beta = number(config_, "beta", 0);
    const bool more = alpha != 1 || beta != 0 || has_scales || !words.empty();
    const bool is_narrow = result_shape().type.element.starts_with("f8");
    if (number(config_, "alpha_imag", 0) != 0 || field(config_, "damax_output") == "true" ||
        !result_shape().type.is_tensor() || (has_scales && is_narrow) ||
        (more && !is_known_result())) {
      return false;
    }
    const auto dims = [&](std::string_view side, std::string_view which) {
      return list_of(integers_in(field(config_, fmt::format("{}_{}_dimensions", side, which))));
    };
    if (field(config_, "dot_dimension_numbers").empty()) return false;
    std::string y = contraction("dot",
                                {{"lhs_batch_dims", dims("lhs", "batch")},
                                 {"rhs_batch_dims", dims("rhs", "batch")},
                                 {"lhs_contracting_dims", dims("lhs", "contracting")},
                                 {"rhs_contracting_dims", dims("rhs", "contracting")}},
                                more);
    if (!more) return finish(y, result_shape());
    y = scaled(y, alpha);
    size_t next = beta != 0 ? 3 : 2;
    for (int scale = 0; has_scales && scale < 2; ++scale) {
      const auto factor = spread(next++, 0);
      if (!factor) return false;
      y = pointwise("multiply", {y, *factor});
    }
    if (beta != 0) {
      const auto c = spread(2, 0);
      if (!c) return false;
      y = pointwise("add", {y, scaled(*c, beta)});
    }
    std::optional<std::string> aux;
    if (!words.empty() && words.back() == "AUX") {
      aux = "";
      words.pop_back();
    }
    for (const std::string& word : words) {
      if (aux && word == words.back()) aux = y;
      const auto made = word == "BIAS" ? added(y, spread_at_end(next++)) : activated(y, word);
      if (!made) return false;
      y = *made;
    }
    return next == call_.operands.size() && finish(y, whole(), aux);
  }

  std::optional<std::string> added(const std::string& y, const std::optional<std::string>& x) {
    if (!x) return std::nullopt;
    return pointwise("add", {y, *x});
  }

  // oneDNN: the last two dimensions are a matrix, those before them a batch.
  bool onednn_product() {
    const std::string_view fused = field(config_, "fused_ops");
    const auto words = words_of(fused.empty() ? field(config_, "ops") : fused, kCapitalsAndLines);
    const HloShape* a = shape_of(0);
    const HloShape* b = shape_of(1);
    const bool fits = a != nullptr && b != nullptr && is_known_result() &&
                      a->type.dims.size() == b->type.dims.size() && a->type.dims.size() >= 2;
    if (!fits || config_.find("quant_config") != std::string::npos) return false;
    const auto rank = static_cast<int64_t>(a->type.dims.size());
    std::vector<int64_t> batch;
    for (int64_t d = 0; d + 2 < rank; ++d) batch.push_back(d);
    const int64_t inner_a = field(config_, "transpose_a") == "true" ? rank - 2 : rank - 1;
    const int64_t inner_b = field(config_, "transpose_b") == "true" ? rank - 1 : rank - 2;
    std::string y = contraction("dot",
                                {{"lhs_batch_dims", list_of(batch)},
                                 {"rhs_batch_dims", list_of(batch)},
                                 {"lhs_contracting_dims", list_of({inner_a})},
                                 {"rhs_contracting_dims", list_of({inner_b})}},
                                !words.empty());
    size_t next = 2;
    for (const std::string& word : words) {
      const bool adds = word == "BIAS" || word == "BINARY_ADD";
      const auto made = adds ? added(y, spread_at_end(next++)) : activated(y, word);
      if (!made) return false;
      y = *made;
    }
    return next == call_.operands.size() && finish(y, words.empty() ? result_shape() : whole());
  }

  // cuDNN: activation(scale * convolution + bias along the features + side_scale * side input).
  bool convolution(bool has_bias) {
    if (!is_known_result() || call_.operands.size() < 2) return false;
    const double scale = number(config_, "conv_result_scale", 1);
    const double side_scale = number(config_, "side_input_scale", 0);
    const std::string_view mode = field(config_, "activation_mode");
    const bool is_plain = mode.empty() || mode == "kNone" || mode == "0";
    const bool more = has_bias || scale != 1;
    if (!is_plain && mode != "kRelu") return false;
    Attributes attributes;
    for (const std::string_view key : {"window", "dim_labels", "feature_group_count"}) {
      if (!call_.attribute(key).empty()) attributes.emplace_back(key, call_.attribute(key));
    }
    std::string y = contraction("convolution", std::move(attributes), more);
    if (!more) return call_.operands.size() == 2 && finish(y, result_shape());
    y = scaled(y, scale);
    size_t next = 2;
    if (has_bias) {
      const std::string_view labels = call_.attribute("dim_labels");
      const size_t arrow = labels.find("->");
      if (arrow == std::string_view::npos) return false;
      const auto sum = added(y, spread(next++, labels.substr(arrow + 2).find('f')));
      if (!sum) return false;
      y = *sum;
    }
    if (next < call_.operands.size()) {
      const auto side = spread(next++, 0);
      if (!side) return false;
      y = pointwise("add", {y, scaled(*side, side_scale)});
    }
    if (!is_plain) y = *activated(y, "RELU");
    return next == call_.operands.size() && finish(y, whole());
  }

  const HloComputation& computation_;
  const HloInstruction& call_;
  std::unordered_set<std::string>& names_;
  std::string config_;
  std::vector<HloInstruction> out_;
};

bool is_library_call(const HloInstruction& i) {
  return i.opcode == "custom-call" && i.operands.size() >= 2 &&
         i.attribute("custom_call_target").starts_with("\"__") &&
         (!i.shape.is_tuple() || !i.shape.parts.empty());
}

}  // namespace

void write_out_library_calls(HloText& text) {
  for (HloComputation& computation : text.computations) {
    if (std::none_of(computation.instructions.begin(), computation.instructions.end(),
                     is_library_call)) {
      continue;
    }
    std::unordered_set<std::string> names;
    for (const HloInstruction& i : computation.instructions) names.insert(i.name);
    std::vector<HloInstruction> made;
    for (const HloInstruction& i : computation.instructions) {
      Expansion expansion(computation, i, names);
      if (!is_library_call(i) || !expansion.write()) {
        made.push_back(i);
        continue;
      }
      auto more = expansion.instructions();
      made.insert(made.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
    }
    // The last instruction is the root if none is marked.
    computation.instructions = std::move(made);
  }
}

}  // namespace hostir::importer
