#include "hostir/passes/choose/placement_key.h"

#include <algorithm>

#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

void append_axes(const std::vector<AxisRef>& axes, std::string& out) {
  for (const AxisRef& axis : axes) out += axis.to_string() + ",";
  out += ';';
}

}  // namespace

void ValueUsers::note(const Program& program, const Function& source) {
  users_.resize(source.values.size());
  const size_t before = noted_;
  for (; noted_ < source.instructions.size(); ++noted_) {
    for (const Operand& o : source.instructions[noted_].operands) {
      if (!o.value.valid()) continue;
      Users& users = users_[o.value.index];
      if (users.first.valid() && users.first != InstrId(noted_)) users.several = true;
      users.first = InstrId(noted_);
    }
  }
  for (size_t n = before; n < noted_; ++n) {
    const Instruction& i = source.instructions[n];
    if (record(i.kind).shape != OpShape::kPointwise || i.results.size() != 1) continue;
    const ValueId result = i.results.front();
    const TensorType& made = tensor_type(source, result);
    for (size_t o = 0; o < i.operands.size(); ++o) {
      const ValueId value = i.operands[o].value;
      if (!value.valid() || !users_[value.index].several || users_[value.index].reduces) continue;
      const TensorType& type = tensor_type(source, value);
      if (type.dtype != made.dtype || !(type.shape == made.shape)) continue;
      const BoundCall bound(program, source, i);
      const PartialUse use = partial_use(bound.call, o, Reduction::kSum);
      users_[value.index].reduces =
          use == PartialUse::kReduceFirst ||
          (use == PartialUse::kOthersWhole && users_[result.index].several);
    }
  }
}

const Instruction* ValueUsers::only(const Function& source, ValueId value) const {
  const Users& users = users_[value.index];
  return users.several || !users.first.valid() ? nullptr : &source.instr(users.first);
}

std::vector<size_t> judged_operands(const Instruction& user, ValueId value) {
  constexpr size_t kMost = 8;
  const size_t count = user.operands.size();
  size_t first = 0;
  while (count > kMost && user.operands[first].value != value) ++first;
  std::vector<size_t> out;
  for (size_t n = 0; n < std::min(count, kMost); ++n) out.push_back((first + n) % count);
  return out;
}

std::string PlacementKeys::key(const Instruction& i, int lookahead) {
  key_.clear();
  add(op_number(i));
  bool any_partial = false;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const ValueId value = i.operands[o].value;
    const auto first = std::find_if(i.operands.begin(), i.operands.end(),
                                    [&](const Operand& other) { return other.value == value; });
    add(static_cast<uint32_t>(first - i.operands.begin()));
    add((versions_.is_source(value) ? 1U : 0U) | (users_.reduced_anyway(value) ? 2U : 0U));
    const std::span<const Version> versions = versions_.all(value);
    add(static_cast<uint32_t>(versions.size()));
    for (const Version& v : versions) {
      add(sharding_number(v.sharding));
      add(v.value.valid());
    }
    if (versions.empty()) add_request(value);
    any_partial = any_partial || (versions.empty() ? requests_[value.index].sharding.is_partial()
                                                   : versions.front().sharding.is_partial());
  }
  if (!homes_.empty()) {
    for (const Operand& o : i.operands) add_homes(o.value);
    for (const ValueId r : i.results) add_homes(r);
  }
  // A pointwise op passes partial values on but creates none.
  const bool may_be_partial = any_partial || record(i.kind).shape != OpShape::kPointwise;
  for (const ValueId r : i.results) {
    add_request(r);
    if (may_be_partial) add_future(r, lookahead);
  }
  return key_;
}

// The facts that decide how much it costs to reduce the value later.
void PlacementKeys::add_future(ValueId value, int depth) {
  const Instruction* user = depth == 0 ? nullptr : users_.only(source_, value);
  const bool ends =
      user == nullptr || user->results.size() != 1 || record(user->kind).rule == nullptr;
  add(ends);
  if (ends) return;
  const ValueId next = user->results.front();
  add(op_number(*user));
  add_request(next);
  for (const size_t o : judged_operands(*user, value)) {
    const ValueId other = user->operands[o].value;
    add(other == value);
    if (other != value) add_origin(other, depth);
  }
  if (requests_[next.index].fixed && !requests_[next.index].sharding.is_partial()) return;
  add_future(next, depth - 1);
}

// The facts that decide whether the value will be partial.
void PlacementKeys::add_origin(ValueId value, int depth) {
  const Version* version = versions_.primary(value);
  add(version != nullptr);
  if (version != nullptr) return add(sharding_number(version->sharding));
  add_request(value);
  const InstrId def = source_.value(value).defined_by;
  const bool ends = depth == 0 || !def.valid() || record(source_.instr(def).kind).rule == nullptr;
  add(ends);
  if (ends) return;
  const Instruction& i = source_.instr(def);
  add(op_number(i));
  for (const Operand& o : i.operands) add_origin(o.value, depth - 1);
}

void PlacementKeys::add_request(ValueId value) {
  const RequestedSharding& request = requests_[value.index];
  add(sharding_number(request.sharding));
  add((request.fixed ? 1U : 0U) | (request.returned_partial ? 2U : 0U) |
      (request.only_returned ? 4U : 0U));
}

void PlacementKeys::add_homes(ValueId value) {
  add(numbers_.texts.of("h" + homes_.text(value.index)));
}

void PlacementKeys::add(uint32_t number) { append_number(number, key_); }

// Equal for ops of the same kind, attributes, and types of operands and results, whatever their
// shardings.
uint32_t PlacementKeys::op_number(const Instruction& i) {
  std::string text = "o" + std::to_string(static_cast<int>(i.kind)) + " " + attributes_text(i);
  for (const Operand& o : i.operands) text += " " + std::to_string(type_number(o.value));
  for (const ValueId r : i.results) text += ">" + std::to_string(type_number(r));
  return numbers_.texts.of(text);
}

bool PlacementKeys::may_be_cut(ValueId value, size_t dim) const {
  const auto is_cut = [&](const Sharding& s) { return !s.dims[dim].axes.empty(); };
  const std::span<const Version> versions = versions_.all(value);
  return is_cut(requests_[value.index].sharding) ||
         std::any_of(versions.begin(), versions.end(),
                     [&](const Version& v) { return is_cut(v.sharding); });
}

// Where a slice begins counts only along dimensions that may be cut, so all layers of a stack of
// weights ask the same.
std::string PlacementKeys::attributes_text(const Instruction& i) {
  const auto* start = i.attributes.get<ExprList>("start");
  const auto* limit = i.attributes.get<ExprList>("limit");
  if (start == nullptr || limit == nullptr || i.operands.size() != 1)
    return std::to_string(numbers_.attributes.id(i.attributes));
  Attributes others = i.attributes;
  others.erase("start");
  others.erase("limit");
  std::string text = std::to_string(numbers_.attributes.id(others));
  for (size_t d = 0; d < start->size(); ++d) {
    if (!may_be_cut(i.operands.front().value, d) && !may_be_cut(i.results.front(), d)) continue;
    text += " " + std::to_string(d) + ":" + (*start)[d].to_string() + ":" + (*limit)[d].to_string();
  }
  return text;
}

uint32_t PlacementKeys::sharding_number(const Sharding& sharding) {
  std::string text = "s" + sharding.mesh + ":";
  for (const DimSharding& d : sharding.dims) {
    append_axes(d.axes, text);
    if (d.block != 0) text += "b" + std::to_string(d.block) + "," + std::to_string(d.origin);
    if (d.unit != 1) text += "u" + std::to_string(d.unit);
    if (d.turn != 0) text += "t" + std::to_string(d.turn);
  }
  if (sharding.is_partial()) {
    text += std::to_string(static_cast<int>(sharding.unreduced_kind));
    append_axes(sharding.unreduced, text);
  }
  return numbers_.texts.of(text);
}

uint32_t PlacementKeys::type_number(ValueId value) {
  if (types_.size() <= value.index) types_.resize(source_.values.size(), 0);
  uint32_t& found = types_[value.index];
  if (found == 0) {
    const TensorType& type = tensor_type(source_, value);
    found = numbers_.texts.of("t" + shape_to_string(type.shape, type.dtype));
  }
  return found;
}

}  // namespace hostir
