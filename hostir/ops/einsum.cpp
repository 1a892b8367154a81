#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

struct Subscripts {
  std::vector<std::string> operands;
  std::string result;
};

// Parses `bshd,bthd->bhst`: letters, commas and one arrow.
std::optional<Subscripts> parse_subscripts(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  Subscripts s;
  s.operands.emplace_back();
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (const char c : text.substr(0, arrow)) {
    if (c == ' ') continue;
    if (c == ',') {
      s.operands.emplace_back();
    } else if (is_letter(c)) {
      s.operands.back() += c;
    } else {
      return std::nullopt;
    }
  }
  for (const char c : text.substr(arrow + 2)) {
    if (c == ' ') continue;
    if (!is_letter(c)) return std::nullopt;
    s.result += c;
  }
  return s;
}

bool has_repeats(const std::string& letters) {
  return std::set<char>(letters.begin(), letters.end()).size() != letters.size();
}

std::string subscripts_text(const Attributes& attributes) {
  return attributes.get_or<std::string>("subscripts", "");
}

ops::Violated check_subscripts(const OpCall& call) {
  const auto s = parse_subscripts(subscripts_text(call.attributes));
  if (!s) return Violation{"the subscripts of einsum are written as \"ij,jk->ik\""};
  if (s->operands.size() != call.operands.size()) {
    return Violation{fmt::format("einsum has subscripts for {} operands, {} are given",
                                 s->operands.size(), call.operands.size())};
  }
  std::string known;
  for (size_t i = 0; i < s->operands.size(); ++i) {
    known += s->operands[i];
    const size_t rank = shape_of(call.operands[i]).size();
    if (s->operands[i].size() == rank) continue;
    return Violation{fmt::format("einsum names the {} dimensions of operand {} by \"{}\": one "
                                 "letter each",
                                 rank, i, s->operands[i]),
                     static_cast<int>(i)};
  }
  const bool unknown = std::any_of(s->result.begin(), s->result.end(),
                                   [&](char c) { return known.find(c) == std::string::npos; });
  if (!unknown && !has_repeats(s->result)) return std::nullopt;
  return Violation{fmt::format(
      "the result \"{}\" of einsum must consist of distinct letters of the operands", s->result)};
}

std::map<char, IndexExpr> letter_sizes(const OpCall& call, const Subscripts& s) {
  std::map<char, IndexExpr> sizes;
  for (size_t i = 0; i < s.operands.size(); ++i) {
    for (size_t d = 0; d < s.operands[i].size(); ++d) {
      sizes.emplace(s.operands[i][d], shape_of(call.operands[i])[d]);
    }
  }
  return sizes;
}

ops::Violated check_letter_sizes(const OpCall& call) {
  if (check_subscripts(call)) return std::nullopt;  // einsum_c1
  const Subscripts s = *parse_subscripts(subscripts_text(call.attributes));
  const auto sizes = letter_sizes(call, s);
  for (size_t i = 0; i < s.operands.size(); ++i) {
    for (size_t d = 0; d < s.operands[i].size(); ++d) {
      const IndexExpr& size = shape_of(call.operands[i])[d];
      const IndexExpr& first = sizes.at(s.operands[i][d]);
      if (ops::same_size(size, first)) continue;
      return Violation{fmt::format("einsum has sizes {} and {} for '{}'; a letter has one size",
                                   first.to_string(), size.to_string(), s.operands[i][d]),
                       static_cast<int>(i)};
    }
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_einsum(const OpCall& call) {
  const Subscripts s = *parse_subscripts(subscripts_text(call.attributes));
  const auto sizes = letter_sizes(call, s);
  Shape shape;
  for (const char c : s.result) shape.push_back(sizes.at(c));
  return ops::inferred(ops::tensor(dtype_of(call.operands[0]), std::move(shape)));
}

// A value and the letters of its dimensions.
struct Named {
  ValueId value;
  std::string letters;
};

// Sums over all dimensions that are not in `wanted`.
Named without(ops::Builder& b, const Named& x, const std::string& wanted) {
  IntList dims;
  std::string kept;
  for (size_t d = 0; d < x.letters.size(); ++d) {
    if (wanted.find(x.letters[d]) == std::string::npos) {
      dims.push_back(static_cast<int64_t>(d));
    } else {
      kept += x.letters[d];
    }
  }
  return {b.sum(x.value, dims), kept};
}

// The diagonal of dimensions that have the same letter: what is beside it becomes zero and is added
// up, so a dimension that is cut leaves a partial sum.
Named diagonal(ops::Builder& b, Named x) {
  for (size_t d = 0; d < x.letters.size();) {
    const size_t first = x.letters.find(x.letters[d]);
    if (first == d) {
      ++d;
      continue;
    }
    const Shape shape = b.shape(x.value);
    const ValueId on = b.compare(b.iota(DType::kI64, shape, static_cast<int64_t>(first)),
                                 b.iota(DType::kI64, shape, static_cast<int64_t>(d)), "eq");
    x.value = b.sum(b.select(on, x.value, b.zeros_like(x.value)), {static_cast<int64_t>(d)});
    x.letters.erase(d, 1);
  }
  return x;
}

Named pair_product(ops::Builder& b, const Named& x, const Named& y, const std::string& wanted) {
  const Named left = without(b, x, wanted + y.letters);
  const Named right = without(b, y, wanted + left.letters);
  IntList left_batch, right_batch, left_sum, right_sum;
  std::string letters;
  for (size_t d = 0; d < left.letters.size(); ++d) {
    const char c = left.letters[d];
    const size_t at = right.letters.find(c);
    if (at == std::string::npos) continue;
    const bool stays = wanted.find(c) != std::string::npos;
    (stays ? left_batch : left_sum).push_back(static_cast<int64_t>(d));
    (stays ? right_batch : right_sum).push_back(static_cast<int64_t>(at));
    if (stays) letters += c;
  }
  for (const char c : left.letters) {
    if (right.letters.find(c) == std::string::npos) letters += c;
  }
  for (const char c : right.letters) {
    if (left.letters.find(c) == std::string::npos) letters += c;
  }
  const ValueId value = b.op(OpKind::dot_general, {left.value, right.value},
                             ops::attrs({{"lhs_batch", left_batch},
                                         {"rhs_batch", right_batch},
                                         {"lhs_contracting", left_sum},
                                         {"rhs_contracting", right_sum}}));
  return {value, letters};
}

// Contracts the operands from left to right, then transposes the result.
ops::Values expand_einsum(ops::Builder& b) {
  const Subscripts s = *parse_subscripts(subscripts_text(b.attributes()));
  Named all = diagonal(b, {b.arg(0), s.operands[0]});
  for (size_t i = 1; i < s.operands.size(); ++i) {
    std::string wanted = s.result;
    for (size_t later = i + 1; later < s.operands.size(); ++later) wanted += s.operands[later];
    all = pair_product(b, all, diagonal(b, {b.arg(i), s.operands[i]}), wanted);
  }
  all = without(b, all, s.result);
  IntList permutation;
  for (const char c : s.result) permutation.push_back(static_cast<int64_t>(all.letters.find(c)));
  return {b.transpose(all.value, std::move(permutation))};
}

}  // namespace

OpRecord op_einsum() {
  return {
      .mnemonic = "einsum",
      .shape = OpShape::kComposite,
      .summary =
          "Products of tensors with named dimensions, summed over the names that the result lacks.",
      .doc =
          {.shapes = "One letter per dimension; equal letters are equal sizes. A letter twice in "
                     "one operand takes its diagonal.",
           .sharding =
               "That of the dot_general, reduce_sum and transpose that it expands to: remaining "
               "dimensions pass through, and a summed dimension that is cut leaves a partial sum, "
               "as do all but the first dimensions of a diagonal.",
           .dtypes = "All but i1, the same for all.",
           .cost = "That of the products from left to right."},
      .operands = {{.name = "operands",
                    .doc = "one or more tensors",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "subscripts",
                      .type = AttributeSpec::Type::kString,
                      .doc = "as in \"bshd,bthd->bhst\"",
                      .required = true}},
      .results = {{.name = "y", .doc = "the dimensions after the arrow"}},
      .constraints = {{"einsum_c1", "The subscripts name each dimension by one letter.",
                       check_subscripts},
                      {"einsum_c2", "Dimensions with the same letter have the same size.",
                       check_letter_sizes},
                      {"einsum_c3", ops::kSameDType, ops::check_same_dtype},
                      {"einsum_c4", ops::kNumeric, ops::check_numeric}},
      .infer = infer_einsum,
      .expand = expand_einsum,
      .cost = ops::composite_cost<2>,
      .gradient = "that of the ops it expands to",
      .example =
          R"(fusion @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> (%y: tensor<2x3x5xf32>) {
  %y = einsum %q, %k {subscripts = "bqd,bkd->bqk"}
  return %y
})",
      .source = "numpy.einsum, torch.einsum (without ellipsis)",
  };
}

}  // namespace hostir
