// Parser for rule text: `([i, k], [k, j])->([i, j]) {k=4} reduction={k}`.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "hostir/ops/sharding_rule.h"
#include "hostir/ops/sharding_rule_sizes.h"
#include "hostir/support/characters.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

using TensorFactors = ShardingRule::TensorFactors;

/// Numbers factors by name, not by first occurrence, so that a rule written with i, j, k prints
/// with the same letters.
class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text) { collect_names(); }

  const std::vector<std::string>& names() const { return names_; }

  Expected<ShardingRule> parse() {
    HOSTIR_ASSIGN_OR_RETURN(rule_.operands, tensors());
    if (!take("->")) return error("expected \"->\"");
    HOSTIR_ASSIGN_OR_RETURN(rule_.results, tensors());
    rule_.factor_sizes.assign(names_.size(), ops::kUnboundSize);
    bool clauses = false;
    skip_blanks();
    while (at_ < text_.size()) {
      HOSTIR_TRY(clause());
      clauses = true;
      skip_blanks();
    }
    if (!clauses) imply_reductions();
    HOSTIR_TRY(check_results());
    return std::move(rule_);
  }

 private:
  tl::unexpected<Error> error(std::string_view what) const {
    return fail(ErrorKind::kInvalid, "rule_c1",
                fmt::format("sharding rule: {} at column {} of \"{}\"", what, at_ + 1, text_));
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // One letter, or a letter with a number: `i`, `z_12`.
  std::optional<std::string> factor() {
    if (std::islower(static_cast<unsigned char>(peek())) == 0) return std::nullopt;
    const size_t begin = at_++;
    if (at_ + 1 < text_.size() && text_[at_] == '_' && is_digit(text_[at_ + 1])) {
      ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Collects the factors of all tensors: those in the text before the first clause.
  void collect_names() {
    const size_t arrow = text_.find("->");
    const size_t end = std::min(text_.find(')', std::min(arrow, text_.size())), text_.size());
    while (at_ < end) {
      if (auto name = factor()) {
        names_.push_back(std::move(*name));
      } else {
        ++at_;
      }
    }
    std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    at_ = 0;
  }

  int number_of(const std::string& name) const {
    return static_cast<int>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }

  Expected<std::vector<TensorFactors>> tensors() {
    std::vector<TensorFactors> result;
    if (!take("(")) return error("expected \"(\"");
    while (peek() == '[') {
      HOSTIR_ASSIGN_OR_RETURN(auto dims, tensor());
      result.push_back(std::move(dims));
      if (!take(",")) break;
    }
    if (!take(")")) return error("expected \")\"");
    return result;
  }

  Expected<TensorFactors> tensor() {
    TensorFactors dims;
    take("[");
    while (peek() != ']') {
      ShardingRule::DimFactors factors;
      while (const auto name = factor()) factors.push_back(number_of(*name));
      if (factors.empty()) return error("expected a factor (a letter)");
      dims.push_back(std::move(factors));
      if (!take(",")) break;
    }
    if (!take("]")) return error("expected \"]\"");
    return dims;
  }

  Expected<int> known_factor() {
    const auto name = factor();
    if (!name) return error("expected a factor (a letter)");
    const auto at = std::find(names_.begin(), names_.end(), *name);
    if (at == names_.end())
      return error(fmt::format("factor \"{}\" does not appear in any tensor", *name));
    return static_cast<int>(at - names_.begin());
  }

  Expected<void> clause() {
    if (peek() == '{') return sizes();
    std::vector<int>* set = nullptr;
    if (take("reduction")) set = &rule_.reduction;
    if (set == nullptr && take("need_replication")) set = &rule_.replicated;
    if (set == nullptr && take("permutation")) set = &rule_.permutation;
    if (set == nullptr) return error("expected reduction, need_replication or permutation");
    if (!take("=")) return error("expected \"=\"");
    if (set == &rule_.reduction) reduction_kind();
    if (!take("{")) return error("expected \"{\"");
    while (peek() != '}') {
      HOSTIR_ASSIGN_OR_RETURN(const int f, known_factor());
      set->push_back(f);
      if (!take(",")) break;
    }
    if (!take("}")) return error("expected \"}\"");
    return {};
  }

  void reduction_kind() {
    for (const Reduction kind :
         {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
      if (take(name(kind))) rule_.reduction_kind = kind;
    }
  }

  // Sizes are derived from the types. A written size that is a number must agree.
  Expected<void> sizes() {
    take("{");
    while (peek() != '}') {
      HOSTIR_ASSIGN_OR_RETURN(const int f, known_factor());
      if (!take("=")) return error("expected \"=\"");
      skip_blanks();
      int64_t value = 0;
      if (at_ >= text_.size() || !is_digit(text_[at_])) return error("expected a size");
      for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
        if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
            __builtin_add_overflow(value, int64_t{text_[at_] - '0'}, &value)) {
          return error("size too large");
        }
      }
      rule_.factor_sizes[static_cast<size_t>(f)] = value;
      if (!take(",")) break;
    }
    if (!take("}")) return error("expected \"}\"");
    return {};
  }

  // Where a factor is in some of the results only, the rule says what the others are if it is cut.
  Expected<void> check_results() const {
    for (int f = 0; f < rule_.factor_count(); ++f) {
      const auto has_it = [f](const TensorFactors& tensor) {
        return std::any_of(tensor.begin(), tensor.end(),
                           [f](const auto& dim) { return contains(dim, f); });
      };
      const auto count = std::count_if(rule_.results.begin(), rule_.results.end(), has_it);
      if (count == 0 || count == static_cast<std::ptrdiff_t>(rule_.results.size())) continue;
      if (std::none_of(rule_.operands.begin(), rule_.operands.end(), has_it)) continue;
      if (contains(rule_.replicated, f) || contains(rule_.reduction, f)) continue;
      const std::string& name = names_[static_cast<size_t>(f)];
      return fail(ErrorKind::kInvalid, "rule_c4",
                  fmt::format("sharding rule: factor {0} is in {1} of {2} results, so a cut of {0} "
                              "would leave the others incomplete on each rank; add "
                              "reduction={{{0}}} if their parts are to be added up, else "
                              "need_replication={{{0}}}",
                              name, count, rule_.results.size()));
    }
    return {};
  }

  void imply_reductions() {
    for (int f = 0; f < rule_.factor_count(); ++f) {
      if (rule_.must_replicate(f)) rule_.reduction.push_back(f);
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> names_;
  ShardingRule rule_;
};

}  // namespace

std::vector<std::string> written_factors(std::string_view text) { return RuleParser(text).names(); }

Expected<ShardingRule> parse_sharding_rule(std::string_view text, std::span<const Type> operands,
                                           std::span<const Type> results) {
  RuleParser parser(text);
  HOSTIR_ASSIGN_OR_RETURN(ShardingRule rule, parser.parse());
  if (rule.operands.size() != operands.size() || rule.results.size() != results.size()) {
    return fail(
        ErrorKind::kInvalid, "rule_c2",
        fmt::format("sharding rule has {} operands and {} results, but the function has {} and {}",
                    rule.operands.size(), rule.results.size(), operands.size(), results.size()));
  }
  HOSTIR_TRY(ops::bind_factor_sizes(rule, parser.names(), operands, results));
  return rule;
}

}  // namespace hostir
