#include "hostir/ops/sharding_rule_sizes.h"

#include <fmt/core.h>

namespace hostir::ops {

namespace {

using TensorFactors = ShardingRule::TensorFactors;

using Names = std::span<const std::string>;

tl::unexpected<Error> size_error(const ShardingRule& rule, Names names, int factor,
                                 const IndexExpr& other) {
  return fail(
      ErrorKind::kInvalid, "rule_c3",
      fmt::format("sharding rule: factor {} has size {} and size {}",
                  names[static_cast<size_t>(factor)],
                  rule.factor_sizes[static_cast<size_t>(factor)].to_string(), other.to_string()));
}

bool is_bound(const ShardingRule& rule, int factor) {
  return rule.factor_sizes[static_cast<size_t>(factor)] != IndexExpr(kUnboundSize);
}

// Takes factor sizes from plain dimensions; bind_compound() handles compound ones.
Expected<void> bind_plain(ShardingRule& rule, Names names, const TensorFactors& dims,
                          const Shape& shape) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].size() != 1) continue;
    const int f = dims[d].front();
    const IndexExpr size = shape[d].simplified();
    if (!is_bound(rule, f)) {
      rule.factor_sizes[static_cast<size_t>(f)] = size;
    } else if (rule.factor_sizes[static_cast<size_t>(f)] != size) {
      return size_error(rule, names, f, size);
    }
  }
  return {};
}

// If a compound dimension has one unknown factor, computes it; otherwise the product must agree.
Expected<bool> bind_compound(ShardingRule& rule, Names names, const TensorFactors& dims,
                             const Shape& shape) {
  bool changed = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].size() < 2) continue;
    const auto whole = shape[d].simplified();
    IndexExpr known = 1;
    int unknown = -1;
    int unknown_count = 0;
    for (const int f : dims[d]) {
      if (!is_bound(rule, f)) {
        unknown = f;
        ++unknown_count;
      } else {
        known = IndexExpr::binary(IndexExpr::Kind::kMul, known,
                                  rule.factor_sizes[static_cast<size_t>(f)]);
      }
    }
    known = known.simplified();
    if (unknown_count == 0 && known != whole)
      return size_error(rule, names, dims[d].front(), whole);
    if (unknown_count != 1 || !known.is_const() || !whole.is_const()) continue;
    if (known.value() == 0 || whole.value() % known.value() != 0) {
      return size_error(rule, names, dims[d].front(), whole);
    }
    rule.factor_sizes[static_cast<size_t>(unknown)] = whole.value() / known.value();
    changed = true;
  }
  return changed;
}

}  // namespace

Expected<void> bind_factor_sizes(ShardingRule& rule, std::span<const std::string> names,
                                 std::span<const Type> operands, std::span<const Type> results) {
  std::vector<std::pair<const TensorFactors*, const Shape*>> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    tensors.emplace_back(&rule.operands[i], &shape_of(operands[i]));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    tensors.emplace_back(&rule.results[i], &shape_of(results[i]));
  }
  for (const auto& [dims, shape] : tensors) {
    if (dims->size() != shape->size()) {
      return fail(ErrorKind::kInvalid, "rule_c2",
                  fmt::format("sharding rule: a tensor has {} dimensions in the rule and {} in its "
                              "type",
                              dims->size(), shape->size()));
    }
    HOSTIR_TRY(bind_plain(rule, names, *dims, *shape));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [dims, shape] : tensors) {
      HOSTIR_ASSIGN_OR_RETURN(const bool bound, bind_compound(rule, names, *dims, *shape));
      changed = changed || bound;
    }
  }
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (!is_bound(rule, f)) {
      return fail(ErrorKind::kInvalid, "rule_c3",
                  fmt::format("sharding rule: the size of factor {} does not follow from the types",
                              names[static_cast<size_t>(f)]));
    }
  }
  return {};
}

}  // namespace hostir::ops
