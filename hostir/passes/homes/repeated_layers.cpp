#include "hostir/passes/homes/repeated_layers.h"

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/ops/bind_function.h"
#include "hostir/passes/host/attribute_ids.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

constexpr size_t kFewestLayers = 3;

std::string shape_text(const Type& type) { return shape_to_string(shape_of(type), dtype_of(type)); }

bool same_sharding(const Type& a, const Type& b) {
  const Sharding* x = sharding_of(a);
  const Sharding* y = sharding_of(b);
  return x == nullptr || y == nullptr ? x == y : x->to_string() == y->to_string();
}

// Whether ops that read different parts of a parameter, such as layers of a stack, are equal.
enum class PartsOfParameters : uint8_t { kDiffer, kAlike };

class LayerFinder {
 public:
  LayerFinder(const Function& fusion, PartsOfParameters parts)
      : fusion_(fusion),
        body_(body_of(fusion)),
        ops_(body_.empty() ? 0 : body_.size() - 1),
        parts_(parts) {
    position_.assign(fusion.values.size(), kNowhere);
    for (size_t i = 0; i < ops_; ++i) {
      for (const ValueId r : instr(i).results) position_[r.index] = i;
    }
    for (size_t i = 0; i < ops_; ++i) numbers_.push_back(number_of(instr(i)));
  }

  std::optional<RepeatedLayers> find() {
    std::optional<RepeatedLayers> best;
    for (const size_t length : lengths()) {
      for (const auto& [first, end] : runs(length)) {
        RepeatedLayers found;
        found.first = first;
        found.length = length;
        found.count = (end - first) / length;
        if (best && found.count * length <= best->count * best->length) continue;
        if (found.count >= kFewestLayers && refer_alike(found)) best = std::move(found);
      }
    }
    return best;
  }

  // The longest runs first, each without the ops of longer ones.
  std::vector<RepeatedOps> all_repeated() const {
    std::vector<RepeatedOps> found;
    for (const size_t length : lengths()) {
      for (const auto& [first, end] : runs(length))
        found.push_back({first, length, (end - first) / length});
    }
    const auto ops = [](const RepeatedOps& r) { return r.length * r.count; };
    std::stable_sort(found.begin(), found.end(),
                     [&](const auto& a, const auto& b) { return ops(a) > ops(b); });
    std::vector<RepeatedOps> out;
    for (RepeatedOps r : found) {
      for (const RepeatedOps& longer : out) {
        const size_t end = r.first + ops(r);
        if (end <= longer.first || longer.first + ops(longer) <= r.first) continue;
        if (r.first < longer.first) {
          r.count = (longer.first - r.first) / r.length;
        } else {
          r.first = longer.first + ops(longer);
          r.count = end > r.first ? (end - r.first) / r.length : 0;
        }
      }
      if (r.count >= kFewestLayers) out.push_back(r);
    }
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return out;
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  const Instruction& instr(size_t i) const { return fusion_.instr(body_[i]); }

  size_t number_of(const Instruction& i) {
    const bool reads_part = parts_ == PartsOfParameters::kAlike && i.operands.size() == 1 &&
                            i.operands.front().value.valid() &&
                            position_[i.operands.front().value.index] == kNowhere;
    std::string text = std::to_string(static_cast<int>(i.kind)) + " ";
    if (!reads_part) text += std::to_string(attributes_.id(i.attributes));
    for (const Operand& o : i.operands)
      text += " " + (o.value.valid() ? shape_text(fusion_.value(o.value).type) : "none");
    for (const ValueId r : i.results) {
      const Type& type = fusion_.value(r).type;
      text += ">" + shape_text(type);
      if (const Sharding* s = sharding_of(type)) text += s->to_string();
    }
    return known_.try_emplace(std::move(text), known_.size()).first->second;
  }

  std::set<size_t> lengths() const {
    std::set<size_t> out;
    std::map<size_t, size_t> last;  // by number: index of the last such op
    for (size_t i = 0; i < ops_; ++i) {
      const auto [at, is_new] = last.try_emplace(numbers_[i], i);
      if (!is_new) out.insert(i - at->second);
      at->second = i;
    }
    // If an op occurs twice per layer, the layer's length is the sum of two distances.
    std::set<size_t> sums = out;
    for (const size_t a : out) {
      for (const size_t b : out) sums.insert(a + b);
    }
    return sums.size() <= kMostLengths ? sums : out;
  }

  // Runs of ops that equal those `length` later, as [first op, end of the last layer).
  std::vector<std::pair<size_t, size_t>> runs(size_t length) const {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t i = 0; i + length < ops_;) {
      size_t end = i;
      while (end + length < ops_ && numbers_[end] == numbers_[end + length]) ++end;
      if (end - i >= (kFewestLayers - 1) * length) out.emplace_back(i, end + length);
      i = end + 1;
    }
    return out;
  }

  // Shortens `found` at its ends until its layers refer to values in the same way; false if none
  // are left.
  bool refer_alike(RepeatedLayers& found) const {
    const size_t tried = std::min(found.length, kMostLengths);
    const RepeatedLayers whole = found;
    for (size_t shift = 0; shift < tried; ++shift) {
      found = whole;
      found.first += shift;
      found.count = (whole.first + whole.count * whole.length - found.first) / found.length;
      if (found.count >= kFewestLayers && add_parameters(found) && leaves_only_last(found))
        return true;
    }
    return false;
  }

  // Compares each layer with the next one, and lists their own parameters.
  bool add_parameters(RepeatedLayers& found) const {
    found.parameters.assign(found.count, {});
    for (size_t layer = 0; layer + 1 < found.count; ++layer) {
      for (size_t k = 0; k < found.length; ++k) {
        const size_t at = found.first + layer * found.length + k;
        const Instruction& a = instr(at);
        const Instruction& b = instr(at + found.length);
        for (size_t o = 0; o < a.operands.size(); ++o) {
          if (!pair(found, layer, a.operands[o].value, b.operands[o].value)) return false;
        }
      }
    }
    return true;
  }

  bool pair(RepeatedLayers& found, size_t layer, ValueId a, ValueId b) const {
    if (!a.valid() || !b.valid()) return a.valid() == b.valid();
    const size_t from = position_[a.index];
    const size_t to = position_[b.index];
    if (a == b) return from == kNowhere || from < found.first;
    if (from == kNowhere && to == kNowhere) {  // each layer has its own
      if (!same_sharding(fusion_.value(a).type, fusion_.value(b).type)) return false;
      if (layer == 0) found.parameters[0].push_back(fusion_.value(a).name);
      found.parameters[layer + 1].push_back(fusion_.value(b).name);
      return true;
    }
    if (to == kNowhere || to < found.first) return false;
    const bool enters = layer == 0 && (from == kNowhere || from < found.first);
    return enters ? to < found.first + found.length : from + found.length == to;
  }

  // After the run, only values of the last layer are used.
  bool leaves_only_last(const RepeatedLayers& found) const {
    const size_t end = found.first + found.count * found.length;
    for (size_t i = end; i < body_.size(); ++i) {
      for (const Operand& o : instr(i).operands) {
        if (!o.value.valid()) continue;
        const size_t at = position_[o.value.index];
        if (at != kNowhere && at >= found.first && at + found.length < end) return false;
      }
    }
    return true;
  }

  static constexpr size_t kMostLengths = 2000;

  const Function& fusion_;
  const std::vector<InstrId>& body_;
  size_t ops_;  // without the return
  PartsOfParameters parts_;
  std::vector<size_t> position_;  // by value: of its op in the body
  std::vector<size_t> numbers_;   // by op
  AttributeIds attributes_;
  std::map<std::string, size_t> known_;
};

}  // namespace

std::optional<RepeatedLayers> repeated_layers(const Function& fusion) {
  return LayerFinder(fusion, PartsOfParameters::kDiffer).find();
}

std::vector<RepeatedOps> repeated_ops(const Function& fusion) {
  return LayerFinder(fusion, PartsOfParameters::kAlike).all_repeated();
}

Function with_layers(const Function& fusion, const RepeatedLayers& layers, size_t kept) {
  Function out = fusion;
  if (kept >= layers.count) return out;
  std::vector<InstrId>& body = out.region(out.body).instructions;
  const size_t dropped = (layers.count - kept) * layers.length;
  const size_t begin = layers.first + kept * layers.length;
  // Users of the last layer now use the last layer that is kept.
  std::map<uint32_t, ValueId> instead;
  for (size_t i = begin + dropped - layers.length; i < begin + dropped; ++i) {
    const Instruction& last = out.instr(body[i]);
    const Instruction& stays = out.instr(body[i - dropped]);
    for (size_t r = 0; r < last.results.size(); ++r)
      instead[last.results[r].index] = stays.results[r];
  }
  for (size_t i = begin + dropped; i < body.size(); ++i) {
    for (Operand& o : out.instr(body[i]).operands) {
      if (!o.value.valid()) continue;
      if (const auto at = instead.find(o.value.index); at != instead.end()) o.value = at->second;
    }
  }
  body.erase(body.begin() + static_cast<std::ptrdiff_t>(begin),
             body.begin() + static_cast<std::ptrdiff_t>(begin + dropped));
  std::set<uint32_t> used;
  for (const InstrId id : body) {
    for (const Operand& o : out.instr(id).operands) {
      if (o.value.valid()) used.insert(o.value.index);
    }
  }
  std::set<std::string> gone;
  for (size_t layer = kept; layer < layers.count; ++layer)
    gone.insert(layers.parameters[layer].begin(), layers.parameters[layer].end());
  std::erase_if(out.params, [&](const Parameter& p) {
    return !used.contains(p.value.index) && gone.contains(out.value(p.value).name);
  });
  return compacted(std::move(out));
}

namespace {

bool depends_on_size(const IndexExpr& e, const std::string& size) {
  bool found = false;
  e.for_each_leaf([&](const IndexExpr& leaf) { found = found || leaf == IndexExpr::size(size); });
  return found;
}

// True if stacks of ?size elements are all that depends on it in a type.
bool only_stacks(const Type& type, const std::string& size) {
  if (!is_tensor(type)) return true;
  const Shape& shape = shape_of(type);
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool is_stack = d == 0 && shape[d] == IndexExpr::size(size);
    if (!is_stack && depends_on_size(shape[d], size)) return false;
  }
  return true;
}

bool has_other_use(const Instruction& i, const std::string& size) {
  const bool is_loop = record(i.kind).role == HostRole::kLoop;
  for (const auto& [name, value] : i.attributes.entries()) {
    const auto* e = std::get_if<IndexExpr>(&value);
    if (e != nullptr && !is_loop && depends_on_size(*e, size)) return true;
    const auto* list = std::get_if<ExprList>(&value);
    if (list == nullptr) continue;
    if (std::any_of(list->begin(), list->end(),
                    [&](const IndexExpr& each) { return depends_on_size(each, size); }))
      return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> layer_size(const Function& fusion) {
  for (const InstrId id : body_of(fusion)) {
    const Instruction& loop = fusion.instr(id);
    if (record(loop.kind).role != HostRole::kLoop) continue;
    const auto* lower = loop.attributes.get<IndexExpr>("lower");
    const auto* upper = loop.attributes.get<IndexExpr>("upper");
    if (*lower != IndexExpr(0) || upper->kind() != IndexExpr::Kind::kSize) continue;
    const std::string& size = upper->symbol();
    const bool counts_layers =
        std::all_of(fusion.values.begin(), fusion.values.end(),
                    [&](const Value& v) { return only_stacks(v.type, size); }) &&
        std::none_of(fusion.instructions.begin(), fusion.instructions.end(),
                     [&](const Instruction& i) { return has_other_use(i, size); });
    if (counts_layers) return size;
  }
  return std::nullopt;
}

Function with_layers(const Function& fusion, const std::string& size, size_t kept) {
  Function out = fusion;
  SizeBindings sizes;
  sizes.bind(size, static_cast<int64_t>(kept));
  bind_function(out, sizes);
  return out;
}

}  // namespace hostir
