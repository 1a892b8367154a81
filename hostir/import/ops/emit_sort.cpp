// sort and top_k.
//
// The order is read from the comparator: keys, one after another, ascending or descending. Each is
// one stable sort, the last key first. A comparator in another form is applied to all pairs, and
// the number of elements before each one is its place.

#include <fmt/format.h>

#include <cmath>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/emit/reducer.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

struct Key {
  size_t operand = 0;
  bool descending = false;
};
using Keys = std::vector<Key>;

constexpr size_t kMostKeys = 16;
constexpr int64_t kMostPairs = int64_t{1} << 24;

std::string_view direction_of(const ModuleOp& compare) {
  const std::string_view named = compare.word("comparison_direction");
  return named.empty() ? compare.word("word") : named;
}

class Comparator {
 public:
  explicit Comparator(const ModuleBlock& block) : block_(block) {}

  /// The keys in order; nullopt if the region is in another form.
  std::optional<Keys> keys() const {
    if (block_.ops.empty() || block_.ops.back().operands.size() != 1) return std::nullopt;
    return keys_of(block_.ops.back().operands[0], 0);
  }

 private:
  const ModuleOp* maker(ValueNumber v) const {
    for (const ModuleOp& op : block_.ops) {
      if (op.results.size() == 1 && op.results[0] == v) return &op;
    }
    return nullptr;
  }

  std::optional<double> constant(ValueNumber v) const {
    const ModuleOp* op = maker(v);
    const Attr* value =
        op != nullptr && op->name == "stablehlo.constant" ? op->find("value") : nullptr;
    if (value == nullptr || !value->literal || !value->literal->data ||
        value->literal->data->element_count() != 1)
      return std::nullopt;
    return value->literal->data->get_double(0);
  }

  // `select x == c, c, x` unifies zeros, and `select x != x, nan, x` NaNs. Neither changes the
  // order.
  bool keeps_order(const ModuleOp& op) const {
    if (op.name != "stablehlo.select" || op.operands.size() != 3) return false;
    const ModuleOp* when = maker(op.operands[0]);
    const auto value = constant(op.operands[1]);
    if (!value || when == nullptr || when->name != "stablehlo.compare" ||
        when->operands.size() != 2)
      return false;
    if (std::isnan(*value))
      return direction_of(*when) == "NE" && when->operands[0] == when->operands[1];
    return direction_of(*when) == "EQ" && constant(when->operands[1]) == value;
  }

  // XLA compares floats as integers with a total order: `select b < 0, max ^ b, b` for the bits b.
  // Returns the float.
  std::optional<ValueNumber> ordered_bits(const ModuleOp& op) const {
    if (op.name != "stablehlo.select" || op.operands.size() != 3) return std::nullopt;
    const ValueNumber bits = op.operands[2];
    const ModuleOp* cast = maker(bits);
    const ModuleOp* negative = maker(op.operands[0]);
    const ModuleOp* flipped = maker(op.operands[1]);
    if (cast == nullptr || cast->operands.size() != 1 ||
        (cast->name != "hlo.bitcast" && cast->name != "stablehlo.bitcast_convert"))
      return std::nullopt;
    if (negative == nullptr || negative->name != "stablehlo.compare" ||
        direction_of(*negative) != "LT" || negative->operands[0] != bits ||
        constant(negative->operands[1]) != 0.0)
      return std::nullopt;
    if (flipped == nullptr || flipped->name != "stablehlo.xor" || flipped->operands.size() != 2)
      return std::nullopt;
    const bool first = flipped->operands[0] == bits;
    const auto mask = constant(flipped->operands[first ? 1 : 0]);
    const bool flips = mask == 2147483647.0 || mask == 32767.0 || mask == 9223372036854775807.0;
    if (!flips || flipped->operands[first ? 0 : 1] != bits) return std::nullopt;
    return cast->operands[0];
  }

  // JAX compares floats after such selects.
  ValueNumber argument_behind(ValueNumber v) const {
    for (size_t steps = 0; steps <= block_.ops.size(); ++steps) {
      const ModuleOp* op = maker(v);
      if (op == nullptr) break;
      if (const auto value = ordered_bits(*op)) {
        v = *value;
        continue;
      }
      if (!keeps_order(*op)) break;
      v = op->operands[2];
    }
    return v;
  }

  // The operand whose two arguments a comparison compares, and whether they are swapped.
  struct Compared {
    size_t operand = 0;
    bool swapped = false;
    std::string_view direction;
  };
  std::optional<Compared> compared(ValueNumber v) const {
    const ModuleOp* op = maker(v);
    if (op == nullptr || op->name != "stablehlo.compare" || op->operands.size() != 2)
      return std::nullopt;
    const ValueNumber left = argument_behind(op->operands[0]);
    const ValueNumber right = argument_behind(op->operands[1]);
    for (size_t i = 0; i + 1 < block_.arguments.size(); i += 2) {
      const bool straight = left == block_.arguments[i] && right == block_.arguments[i + 1];
      const bool swapped = left == block_.arguments[i + 1] && right == block_.arguments[i];
      if (!straight && !swapped) continue;
      return Compared{i / 2, swapped, direction_of(*op)};
    }
    return std::nullopt;
  }

  std::optional<Key> strict(ValueNumber v) const {
    const auto c = compared(v);
    if (!c) return std::nullopt;
    if (c->direction == "LT" || c->direction == "LE") return Key{c->operand, c->swapped};
    if (c->direction == "GT" || c->direction == "GE") return Key{c->operand, !c->swapped};
    return std::nullopt;
  }

  bool is_equality(ValueNumber v, size_t operand, std::string_view direction) const {
    const auto c = compared(v);
    return c && c->operand == operand && c->direction == direction;
  }

  std::optional<Keys> followed(Key first, ValueNumber rest, size_t depth) const {
    const auto others = keys_of(rest, depth + 1);
    if (!others) return std::nullopt;
    Keys out = {first};
    out.insert(out.end(), others->begin(), others->end());
    return out;
  }

  // `a < b`, `a < b or (a == b and rest)`, `select(a == b, rest, a < b)`.
  std::optional<Keys> keys_of(ValueNumber v, size_t depth) const {
    if (depth >= kMostKeys) return std::nullopt;
    if (const auto key = strict(v)) return Keys{*key};
    const ModuleOp* op = maker(v);
    if (op == nullptr) return std::nullopt;
    if (op->name == "stablehlo.or" && op->operands.size() == 2) {
      for (size_t i = 0; i < 2; ++i) {
        const auto key = strict(op->operands[i]);
        const ModuleOp* ties = maker(op->operands[1 - i]);
        if (!key || ties == nullptr || ties->name != "stablehlo.and" || ties->operands.size() != 2)
          continue;
        for (size_t j = 0; j < 2; ++j) {
          if (is_equality(ties->operands[j], key->operand, "EQ"))
            return followed(*key, ties->operands[1 - j], depth);
        }
      }
    }
    if (op->name == "stablehlo.select" && op->operands.size() == 3) {
      for (const size_t unequal : {size_t{2}, size_t{1}}) {
        const auto key = strict(op->operands[unequal]);
        if (key && is_equality(op->operands[0], key->operand, unequal == 2 ? "EQ" : "NE"))
          return followed(*key, op->operands[3 - unequal], depth);
      }
    }
    return std::nullopt;
  }

  const ModuleBlock& block_;
};

// The elements of `x` permuted by `order` along `dim`.
Expected<Known> in_order(Emitter& e, const Known& x, const Known& order, int64_t dim) {
  Attributes attributes;
  attributes.set("dim", dim);
  return e.apply(*find_op("take_along"), {x, order}, std::move(attributes));
}

// The sorted elements, and the place in `x` of each.
Expected<std::vector<Known>> sorted(Emitter& e, const Known& x, int64_t dim, bool descending) {
  Attributes attributes;
  attributes.set("dim", dim);
  attributes.set("descending", descending);
  return e.apply_many(*find_op("sort"), {x}, std::move(attributes), 2);
}

// The permutation by these keys: a stable sort by the last key, then by the one before it, ..
Expected<Known> order_by(const OpSite& s, const Keys& keys, int64_t dim) {
  std::optional<Known> order;
  for (size_t k = keys.size(); k-- > 0;) {
    Known x = s.in(keys[k].operand);
    if (order) {
      HOSTIR_ASSIGN_OR_RETURN(x, in_order(s.emitter, x, *order, dim));
    }
    HOSTIR_ASSIGN_OR_RETURN(auto both, sorted(s.emitter, x, dim, keys[k].descending));
    if (order) {
      HOSTIR_ASSIGN_OR_RETURN(both[1], in_order(s.emitter, *order, both[1], dim));
    }
    order = std::move(both[1]);
  }
  return *order;
}

// The permutation by any comparator. With i along `dim` and j along `dim + 1`: j precedes i if it
// compares less, or if neither does and j is first in the operand.
Expected<Known> order_of_pairs(const OpSite& s, const ElementwiseRegion& less, int64_t dim) {
  Emitter& e = s.emitter;
  std::vector<int64_t> wide = s.in(0).type.dims;
  const auto at = static_cast<size_t>(dim);
  wide.insert(wide.begin() + dim, wide[at]);
  std::vector<int64_t> along_i;  // the dimensions of `wide` that hold those of the operand
  std::vector<int64_t> along_j;
  std::vector<int64_t> swap;
  for (size_t d = 0; d < wide.size(); ++d) {
    const auto here = static_cast<int64_t>(d);
    if (d != at + 1) along_i.push_back(here);
    if (d != at) along_j.push_back(here);
    swap.push_back(d == at ? here + 1 : (d == at + 1 ? here - 1 : here));
  }
  std::vector<Known> arguments;
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known left, e.broadcast(s.in(i), along_j, wide));
    HOSTIR_ASSIGN_OR_RETURN(Known right, e.broadcast(s.in(i), along_i, wide));
    arguments.push_back(std::move(left));
    arguments.push_back(std::move(right));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto results, less(std::move(arguments)));
  if (results.size() != 1 || results[0].type != tensor_type("i1", wide))
    return s.fail("import_c5", "its comparator does not give one i1");
  HOSTIR_ASSIGN_OR_RETURN(const Known after, e.transposed(results[0], swap));
  const ModuleType numbers = tensor_type("i32", wide);
  const auto iota = [&](int64_t along) {
    Attributes attributes;
    attributes.set("dim", along);
    return e.apply(OpKind::iota, {}, std::move(attributes), &numbers);
  };
  HOSTIR_ASSIGN_OR_RETURN(const Known i, iota(dim));
  HOSTIR_ASSIGN_OR_RETURN(const Known j, iota(dim + 1));
  HOSTIR_ASSIGN_OR_RETURN(const Known first, e.compared(j, i, "lt"));
  HOSTIR_ASSIGN_OR_RETURN(const Known not_after, e.apply(OpKind::logical_not, {after}));
  HOSTIR_ASSIGN_OR_RETURN(const Known tie, e.apply(OpKind::logical_and, {not_after, first}));
  HOSTIR_ASSIGN_OR_RETURN(const Known before, e.apply(OpKind::logical_or, {results[0], tie}));
  HOSTIR_ASSIGN_OR_RETURN(const Known ones, e.cast(before, "i32"));
  HOSTIR_ASSIGN_OR_RETURN(const Known place, e.reduced(OpKind::reduce_sum, ones, {dim + 1}));
  HOSTIR_ASSIGN_OR_RETURN(const auto both, sorted(e, place, dim, false));
  return both[1];
}

Expected<void> emit_sort(const OpSite& s) {
  Emitter& e = s.emitter;
  if (!find_op("sort") || !find_op("take_along")) return e.opaque(s, "no op sorts");
  const auto rank = static_cast<int64_t>(s.in(0).type.dims.size());
  int64_t dim = s.op.integer_or("dimension", -1);
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank)
    return s.fail("import_c2", fmt::format("there is no dimension {}", dim));
  if (s.op.regions.size() != 1 || s.op.regions[0].arguments.size() != 2 * s.count())
    return s.fail("import_c5", "needs a comparator with two arguments per operand");
  for (size_t i = 1; i < s.count(); ++i) {
    if (s.in(i).type.dims != s.in(0).type.dims)
      return s.fail("import_c2", "its operands have different shapes");
  }
  const auto keys = Comparator(s.op.regions[0]).keys();
  if (keys && keys->size() == 1) {
    const Key key = keys->front();
    HOSTIR_ASSIGN_OR_RETURN(auto both, sorted(e, s.in(key.operand), dim, key.descending));
    for (size_t i = 0; i < s.count(); ++i) {
      Known y = both[0];
      if (i != key.operand) {
        HOSTIR_ASSIGN_OR_RETURN(y, in_order(e, s.in(i), both[1], dim));
      }
      HOSTIR_TRY(s.set(std::move(y), i));
    }
    return {};
  }
  std::optional<Known> order;
  if (keys) {
    HOSTIR_ASSIGN_OR_RETURN(order, order_by(s, *keys, dim));
  } else {
    const ElementwiseRegion less(s);
    const int64_t size = s.in(0).type.dims[static_cast<size_t>(dim)];
    if (!less.is_valid()) return e.opaque(s, "its comparator is not element by element");
    if (size > 0 && s.in(0).type.element_count() > kMostPairs / size)
      return e.opaque(s,
                      fmt::format("a comparator without keys, on more than {} pairs", kMostPairs));
    HOSTIR_ASSIGN_OR_RETURN(order, order_of_pairs(s, less, dim));
  }
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, in_order(e, s.in(i), *order, dim));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

// chlo.top_k: the k largest elements along the last dimension, and their indices. The custom call
// @mhlo.topk may ask for the smallest.
Expected<void> emit_top_k(const OpSite& s) {
  if (!find_op("sort") || s.in(0).type.dims.empty()) return s.emitter.opaque(s, "no op sorts");
  if (s.op.results.size() != 2) return s.emitter.opaque(s, "with a number of results other than 2");
  const Attr* attributes = s.op.find("mhlo.attributes");
  const Attr* largest = attributes != nullptr ? attributes->find("largest") : s.op.find("largest");
  const bool descending = largest == nullptr || largest->integer != 0;
  HOSTIR_ASSIGN_OR_RETURN(
      const auto both,
      sorted(s.emitter, s.in(0), static_cast<int64_t>(s.in(0).type.dims.size()) - 1, descending));
  std::vector<int64_t> limit = s.in(0).type.dims;
  const std::vector<int64_t> zeros(limit.size(), 0);
  const std::vector<int64_t> ones(limit.size(), 1);
  limit.back() = s.result_type().dims.empty() ? -1 : s.result_type().dims.back();
  if (limit.back() < 0 || limit.back() > s.in(0).type.dims.back())
    return s.fail("import_c2", fmt::format("k = {} is outside the last dimension", limit.back()));
  for (size_t i = 0; i < 2; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.sliced(both[i], zeros, limit, ones));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

// True if a comparator of two values and two indices puts the largest value first, false if the
// smallest; nullopt if it does something else.
std::optional<bool> puts_largest_first(const OpSite& s) {
  const Attr* called = s.op.find("called_computations");
  if (called == nullptr || called->items.size() != 1) return std::nullopt;
  const ModuleFunction* less = s.emitter.module().find(called->items[0].text);
  if (less == nullptr || less->body.ops.size() != 2 || less->body.arguments.size() < 2)
    return std::nullopt;
  const ModuleOp& compare = less->body.ops.front();
  std::string_view direction = compare.word("comparison_direction");
  if (direction.empty()) direction = compare.word("word");
  const auto& arguments = less->body.arguments;
  if (compare.name != "stablehlo.compare" ||
      compare.operands != std::vector<ValueNumber>{arguments[0], arguments[1]} ||
      (direction != "GT" && direction != "LT")) {
    return std::nullopt;
  }
  return direction == "GT";
}

// The custom call @ApproxTopK(values, indices, ..): computed exactly, as XLA does on CPU and GPU.
Expected<void> emit_approx_top_k(const OpSite& s) {
  const auto largest = puts_largest_first(s);
  const int64_t dim = call_option(s, "reduction_dim").value_or(-1);
  const int64_t k = call_option(s, "top_k").value_or(-1);
  const auto& dims = s.in(0).type.dims;
  const bool fits =
      largest && s.op.results.size() == 2 && dim >= 0 && static_cast<size_t>(dim) < dims.size() &&
      s.in(1).type.dims == dims && s.result_type().dims.size() == dims.size() &&
      s.result_type().dims[static_cast<size_t>(dim)] == k && k <= dims[static_cast<size_t>(dim)];
  if (!fits) return s.emitter.opaque(s, "@ApproxTopK in an unknown form");
  HOSTIR_ASSIGN_OR_RETURN(const auto both, sorted(s.emitter, s.in(0), dim, *largest));
  HOSTIR_ASSIGN_OR_RETURN(const Known indices, in_order(s.emitter, s.in(1), both[1], dim));
  std::vector<int64_t> limit = dims;
  limit[static_cast<size_t>(dim)] = k;
  const std::vector<int64_t> zeros(dims.size(), 0);
  const std::vector<int64_t> ones(dims.size(), 1);
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.sliced(both[0], zeros, limit, ones));
  HOSTIR_TRY(s.set(std::move(y)));
  HOSTIR_ASSIGN_OR_RETURN(Known places, s.emitter.sliced(indices, zeros, limit, ones));
  return s.set(std::move(places), 1);
}

constexpr HandlerRow kSortRows[] = {
    {"hostir.approx_top_k", emit_approx_top_k, 2},  // named by custom calls only
    {"stablehlo.sort", emit_sort},
    {"chlo.top_k", emit_top_k},
};

}  // namespace

std::span<const HandlerRow> sort_handlers() { return kSortRows; }

}  // namespace hostir::importer
