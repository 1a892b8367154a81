#include "interp/sim/proof/op_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "hostir/ir/axes.h"

namespace hostir::sim::proof {

namespace {

std::string text(const Attribute& attribute) {
  struct Writer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{:.17g}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const Keyword& v) const { return v.word; }
    std::string operator()(const Symbol& v) const { return "@" + v.name; }
    std::string operator()(const IndexExpr& v) const { return v.simplified().to_string(); }
    std::string operator()(const IntList& v) const {
      return fmt::format("[{}]", fmt::join(v, ","));
    }
    std::string operator()(const IntLists& v) const {
      std::string out;
      for (const IntList& list : v) out += (*this)(list);
      return out;
    }
    std::string operator()(const ExprList& v) const {
      std::string out = "[";
      for (const IndexExpr& e : v) out += (*this)(e) + ",";
      return out + "]";
    }
    std::string operator()(const AxisList& v) const { return axes_to_string(v); }
    std::string operator()(DType v) const { return std::string(name(v)); }
    std::string operator()(Reduction v) const { return std::string(name(v)); }
    std::string operator()(const Sharding& v) const { return v.to_string(); }
    std::string operator()(const Type& v) const { return to_string(v); }
    std::string operator()(const Tensor& v) const {
      std::string out;
      for (const std::byte b : v.data) out += fmt::format("{:02x}", static_cast<int>(b));
      return out;
    }
  };
  return std::visit(Writer(), attribute);
}

}  // namespace

std::string key_of(const Instruction& i) {
  std::string out(record(i.kind).mnemonic);
  for (const auto& [name, value] : i.attributes.entries()) {
    if (name != "shape" && name != "label") out += " " + name + "=" + text(value);
  }
  return out;
}

OpCall OpForms::call_of(const Instruction& i, std::vector<Type>& types) const {
  types.clear();
  for (const Operand& o : i.operands) {
    if (!o.value.valid()) continue;
    const Placement& p = kernel_.values[o.value.index];
    Shape shape(p.global.begin(), p.global.end());
    types.emplace_back(TensorType{p.dtype, std::move(shape), std::nullopt});
  }
  return {i.kind, types, i.attributes, &i, kernel_.function.get(), &program_, {}};
}

FormId OpForms::node_form(const Instruction& i, const std::vector<FormId>& operands, size_t result,
                          const Extents& shape) {
  std::string key = key_of(i);
  if (result > 0) key += fmt::format(" result={}", result);
  if (i.operands.empty()) key += fmt::format(" {}", name(kernel_.values[i.results[0].index].dtype));
  // Constants have no shape of their own.
  for (size_t o = 0; o < operands.size() && record(i.kind).shape != OpShape::kPointwise; ++o) {
    if (a_.shape(operands[o]) == nullptr)
      key += fmt::format(" [{}]", fmt::join(kernel_.values[i.operands[o].value.index].global, "x"));
  }
  return a_.of_node(a_.node(key, operands, shape));
}

// True if the op is linear in the operand, with the other operands fixed.
bool OpForms::is_linear(const Instruction& i, size_t operand) const {
  std::vector<Type> types;
  return partial_use(call_of(i, types), operand, Reduction::kSum) != PartialUse::kReduceFirst;
}

// The form of a result from the forms of the operands.
FormId OpForms::form_of(const Instruction& i, const std::vector<FormId>& f, size_t result,
                        const Extents& shape) {
  if (i.kind == OpKind::add) return a_.sum(f[0], f[1]);
  if (i.kind == OpKind::sub) return a_.sum(f[0], f[1], -1);
  if (i.kind == OpKind::neg) return a_.scaled(f[0], -1);
  if (i.kind == OpKind::mul || i.kind == OpKind::div) return product(i, f, shape);
  if (f.size() == 1 && is_linear(i, 0)) return linear(i, f[0], result, shape);
  if (const auto scaled = scaled_after(i, f, shape)) return *scaled;
  double scale = 1;
  std::vector<FormId> operands = f;
  std::vector<Type> types;
  const OpCall call = call_of(i, types);
  std::optional<double> shared;  // the factor of the operands in which the op is linear together
  for (size_t o = 0; o < f.size(); ++o) {
    const PartialUse use = partial_use(call, o, Reduction::kSum);
    if (use == PartialUse::kAllAlike && !a_.form_at(f[o]).empty()) {
      if (!shared) shared = a_.normalised(f[o]).first;
      operands[o] = a_.scaled(f[o], 1 / *shared);
    }
    if (use != PartialUse::kOthersWhole) continue;
    const auto [lead, plain] = a_.normalised(f[o]);
    if (a_.form_at(plain).empty()) return Algebra::kZeroForm;
    scale *= lead;
    operands[o] = plain;
  }
  return a_.scaled(node_form(i, operands, result, shape), scale * shared.value_or(1));
}

FormId OpForms::product(const Instruction& i, const std::vector<FormId>& f, const Extents& shape) {
  const bool divides = i.kind == OpKind::div;
  const bool real = is_float(kernel_.values[i.results.front().index].dtype);
  if (!real) return node_form(i, f, 0, shape);  // integers wrap and round
  const auto c = a_.constant(f[1]);
  if (c && (!divides || *c != 0)) return a_.scaled(f[0], divides ? 1 / *c : *c);
  if (const auto first = a_.constant(f[0]); first && !divides) return a_.scaled(f[1], *first);
  const auto [x, plain_x] = a_.normalised(f[0]);
  const auto [y, plain_y] = a_.normalised(f[1]);
  if (a_.form_at(plain_x).empty() || a_.form_at(plain_y).empty())
    return divides ? node_form(i, f, 0, shape) : Algebra::kZeroForm;
  std::vector<FormId> operands = {plain_x, plain_y};
  if (!divides) std::sort(operands.begin(), operands.end());
  return a_.scaled(node_form(i, operands, 0, shape), divides ? x / y : x * y);
}

std::optional<FormId> OpForms::scaled_after(const Instruction& i, const std::vector<FormId>& f,
                                            const Extents& shape) {
  const OpRecord& op = record(i.kind);
  if (op.shape != OpShape::kContraction || f.size() != 2) return std::nullopt;
  std::vector<Type> types;
  const OpCall call = call_of(i, types);
  const std::vector<Type> results = {TensorType{kernel_.values[i.results.front().index].dtype,
                                                Shape(shape.begin(), shape.end()), std::nullopt}};
  const auto rule = op.rule(call, results);
  if (!rule) return std::nullopt;
  for (size_t o = 0; o < f.size(); ++o) {
    if (a_.form_at(f[o]).size() != 1) continue;
    const Term term = a_.form_at(f[o]).front();
    const Node scaling = a_.node_at(term.node);  // copied: nodes are added
    const bool divides = scaling.op == record(OpKind::div).mnemonic;
    if (!divides && scaling.op != record(OpKind::mul).mnemonic) continue;
    for (size_t s = divides ? 1 : 0; s < 2; ++s) {
      const auto spread = spread_to(scaling.operands[s], *rule, o, shape);
      if (!spread) continue;
      std::vector<FormId> operands = f;
      operands[o] = scaling.operands[1 - s];
      const auto [lead, plain] = a_.normalised(form_of(i, operands, 0, shape));
      if (a_.form_at(plain).empty()) return Algebra::kZeroForm;
      std::vector<FormId> both = {plain, *spread};
      if (!divides) std::sort(both.begin(), both.end());
      return a_.scaled(a_.of_node(a_.node(scaling.op, both, shape)), lead * term.scale);
    }
  }
  return std::nullopt;
}

// A broadcast of something along dimensions of operand `o`, as one to `shape`, the result; nullopt
// if it is none, or varies along a dimension that the result lacks.
std::optional<FormId> OpForms::spread_to(FormId form, const ShardingRule& rule, size_t o,
                                         const Extents& shape) {
  const Form& terms = a_.form_at(form);
  if (terms.size() != 1 || !same(terms.front().scale, 1)) return std::nullopt;
  const Node& node = a_.node_at(terms.front().node);
  const std::string key = std::string(record(OpKind::broadcast_in_dim).mnemonic) + " dims=[";
  if (!node.op.starts_with(key) || !node.op.ends_with(']')) return std::nullopt;
  const FormId narrow = node.operands.front();
  const Extents* sizes = a_.shape(narrow);
  if (sizes == nullptr) return std::nullopt;
  IntList dims;
  std::istringstream list(node.op.substr(key.size()));
  for (int64_t d = 0; list >> d; list.ignore()) {
    const std::vector<int>& factors = rule.operands[o][static_cast<size_t>(d)];
    const auto& made = rule.results.front();
    const auto at = std::find(made.begin(), made.end(), factors);
    if (at == made.end() || factors.size() != 1) return std::nullopt;
    dims.push_back(at - made.begin());
    if (dims.size() > sizes->size() ||
        (*sizes)[dims.size() - 1] != shape[static_cast<size_t>(dims.back())])
      return std::nullopt;  // widened
  }
  return a_.of_node(a_.node(key + fmt::format("{}]", fmt::join(dims, ",")), {narrow}, shape));
}

// Applies an op that is linear in its one operand to each term.
FormId OpForms::linear(const Instruction& i, FormId operand, size_t result, const Extents& shape) {
  const OpRecord& op = record(i.kind);
  const bool keeps_constants =
      op.shape == OpShape::kBroadcast ||
      (i.kind == OpKind::cast && is_float(kernel_.values[i.results.front().index].dtype));
  FormId out = Algebra::kZeroForm;
  const Form terms = a_.form_at(operand);
  for (const Term& t : terms) {
    const FormId made = t.node == Algebra::kOne && keeps_constants
                            ? a_.of_node(Algebra::kOne)
                            : node_form(i, {a_.of_node(t.node)}, result, shape);
    out = a_.sum(out, made, t.scale);
  }
  return out;
}

// The state of a result from the states of the operands; `cuts` are the ranges of its sums.
StateId OpForms::state_of(const Instruction& i, const std::vector<StateId>& operands, size_t result,
                          const Extents& shape, const std::vector<Cut>& cuts, Reduction reduction) {
  for (const State::Kind kind : {State::Kind::kWrong, State::Kind::kUnknown}) {
    for (const StateId s : operands) {
      if (a_.state(s).kind == kind) return s;
    }
  }
  // The larger or smaller of a value and itself is the value, also for partial values: a copy.
  if ((i.kind == OpKind::maximum || i.kind == OpKind::minimum) && operands[0] == operands[1])
    return operands[0];
  const bool adds = i.kind == OpKind::add || i.kind == OpKind::sub;
  std::vector<FormId> forms;
  std::optional<size_t> partial;
  bool joined = false;   // several operands are partial
  bool several = false;  // with several reductions
  // A pointwise op that performs the reduction itself: the operands' pieces are pieces of the
  // result.
  bool joins = operands.size() == 2 && record(i.kind).shape == OpShape::kPointwise;
  std::vector<Type> types;
  const OpCall call = call_of(i, types);
  for (size_t o = 0; o < operands.size(); ++o) {
    const State& s = a_.state(operands[o]);
    forms.push_back(s.form);
    const bool identity = Algebra::is_identity(operands[o]);
    if (!identity && a_.is_whole(operands[o])) continue;
    const PartialUse use = partial_use(call, o, s.reduction);
    // The result is the neutral element too only if it is the single operand or a factor of a
    // product.
    const bool annihilates = operands.size() == 1 || use == PartialUse::kOthersWhole;
    if (identity && use != PartialUse::kReduceFirst && !adds && annihilates) return operands[o];
    if (identity && (!adds || s.reduction != Reduction::kSum)) {
      return a_.failed(State::Kind::kUnknown,
                       fmt::format("{} of an empty part of a {}", record(i.kind).mnemonic,
                                   hostir::name(s.reduction)));
    }
    if (identity) continue;
    if (use == PartialUse::kReduceFirst) {
      return a_.failed(State::Kind::kWrong,
                       fmt::format("{} is applied to {}", record(i.kind).mnemonic,
                                   a_.describe_state(operands[o])));
    }
    if (partial && use == PartialUse::kOthersWhole) {
      return a_.failed(
          State::Kind::kWrong,
          fmt::format("{} multiplies {} by {}", record(i.kind).mnemonic,
                      a_.describe_state(operands[*partial]), a_.describe_state(operands[o])));
    }
    several = several || (partial && a_.state(operands[*partial]).reduction != s.reduction);
    joins = joins && use != PartialUse::kOthersWhole && (adds || s.reduction != Reduction::kSum);
    joined = joined || partial.has_value();
    partial = o;
  }
  // Addends of one sum that meet in an add, as in a ring.
  if (i.kind == OpKind::add && joined && joins && !several && forms[0] == forms[1])
    return a_.reduced(Reduction::kSum, operands);
  const FormId form = form_of(i, forms, result, shape);
  if (!partial && cuts.empty()) return a_.whole(form);
  std::vector<Piece> pieces;
  Reduction kind = reduction;
  if (!partial) {
    pieces = {{form, 1, Algebra::kWhole}};
  } else if (joins && !several) {
    for (size_t o = 0; o < 2; ++o) {
      const State s = a_.state(operands[o]);
      if (o == *partial) kind = s.reduction;
      for (Piece p : s.pieces) {
        if (o == 1 && i.kind == OpKind::sub) p.term = a_.scaled(p.term, -1);
        pieces.push_back(p);
      }
    }
  } else if (joined) {
    return a_.failed(State::Kind::kUnknown,
                     fmt::format("{} has several partial operands", record(i.kind).mnemonic));
  } else {
    const State s = a_.state(operands[*partial]);
    const bool single = operands.size() == 1 ||
                        partial_use(call, *partial, s.reduction) == PartialUse::kOthersWhole;
    if (!single || (!cuts.empty() && s.reduction != reduction)) {
      return a_.failed(State::Kind::kUnknown, fmt::format("{} of {}", record(i.kind).mnemonic,
                                                          a_.describe_state(operands[*partial])));
    }
    kind = s.reduction;
    for (Piece p : s.pieces) {
      forms[*partial] = p.term;
      p.term = s.pieces.size() == 1 && p.term == s.form ? form : form_of(i, forms, result, shape);
      pieces.push_back(p);
    }
  }
  for (Piece& p : pieces) {
    for (const Cut& cut : cuts) p.cover = a_.restricted(p.cover, cut);
  }
  return a_.known(form, std::move(pieces), kind);
}

}  // namespace hostir::sim::proof
