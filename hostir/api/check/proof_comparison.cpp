#include "hostir/api/check/proof_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hostir/ops/record.h"
#include "hostir/support/text.h"

namespace hostir::api {

using interp::Rank;
using sim::proof::FormId;
using sim::proof::Prover;
using sim::proof::State;
using sim::proof::StateId;
using sim::proof::Token;
using sim::proof::Tokens;

const Instruction* in_file(const Program& file, const interp::Code& code, interp::CodeIndex at) {
  const interp::CodeInstruction& c = code.instructions[at];
  const Function* f = file.find_function(code.functions[c.function]->name);
  if (f == nullptr) return nullptr;
  const std::vector<InstrId> order = f->preorder();
  return c.address >= 1 && c.address <= order.size() ? &f->instr(order[c.address - 1]) : nullptr;
}

ProofComparison::ProofComparison(sim::proof::Algebra& algebra, const interp::Code& code,
                                 const Program& file, const Prover& given, const Prover& reference,
                                 std::string against)
    : a_(algebra), code_(code), file_(file), given_(given), against_(std::move(against)) {
  for (const Prover::Written& w : reference.written()) {
    if (const auto form = a_.whole_form(w.state)) known_.insert(*form);
  }
}

std::optional<Finding> ProofComparison::compare(size_t output, const Returned& given,
                                                const Returned& wanted) {
  wanted_name_ = fmt::format("{} of @{}", wanted.name, against_);
  const Tokens* reference = &wanted.tokens.front();
  const Sharding* sharding = sharding_of(given.type);
  const Mesh* mesh = sharding == nullptr ? nullptr : code_.program->find_mesh(sharding->mesh);
  std::optional<Finding> unproven;
  for (size_t rank = 0; rank < given.tokens.size(); ++rank) {
    if (mesh != nullptr && !mesh->position_of(static_cast<int64_t>(rank))) continue;
    const Tokens tokens = mesh != nullptr && sharding->is_partial()
                              ? folded(given, *mesh, *sharding, rank)
                              : given.tokens[rank];
    const Placement& place = given.places[rank];
    const Box whole = Box::whole(place.global);
    Token last;
    for (size_t e = 0; e < tokens.size(); ++e) {
      const std::vector<int64_t> at = place.box.index_at(static_cast<int64_t>(e));
      size_t index = 0;
      for (size_t d = 0; d < at.size(); ++d)
        index = index * static_cast<size_t>(whole.hi[d]) + static_cast<size_t>(at[d]);
      const Token wanted_token =
          index < reference->size()
              ? (*reference)[index]
              : Token::of(a_.failed(State::Kind::kUnknown, "it has another shape"), 0);
      // Two tokens of unknown values may stand for different values.
      const bool is_known = a_.state(wanted_token.state()).kind == State::Kind::kKnown;
      if ((is_known && tokens[e] == wanted_token) ||
          (e > 0 && tokens[e].state() == last.state() && unproven)) {
        continue;
      }
      last = tokens[e];
      const Found found = judge(tokens[e], wanted_token, place.global);
      Finding made =
          finding(given.name, static_cast<Rank>(rank), at, found, tokens[e], wanted_token);
      made.output = output;
      if (found.is_unset) {
        const bool all =
            std::all_of(tokens.begin(), tokens.end(), [&](Token t) { return t == tokens.front(); });
        made.differs = fmt::format("{}{} is never written on rank {}", given.name,
                                   all ? "" : index_text(at), rank);
      }
      if (found.certain) return made;
      if (!unproven) unproven = std::move(made);
    }
  }
  return unproven;
}

Tokens ProofComparison::folded(const Returned& given, const Mesh& mesh, const Sharding& sharding,
                               size_t rank) {
  const auto addend_of = [&](int64_t position) {
    int64_t at = 0;
    for (const AxisRef& axis : sharding.unreduced)
      at = at * mesh.axis_size(axis) + mesh.coord(position, axis);
    return at;
  };
  std::map<int64_t, const Tokens*> members;
  members[addend_of(*mesh.position_of(static_cast<int64_t>(rank)))] = &given.tokens[rank];
  const std::vector<int64_t> ranks = mesh.ranks();
  for (size_t p = 0; p < ranks.size(); ++p) {
    const auto other = static_cast<size_t>(ranks[p]);
    if (given.places[other].box == given.places[rank].box)
      members.try_emplace(addend_of(static_cast<int64_t>(p)), &given.tokens[other]);
  }
  Tokens out = given.tokens[rank];
  for (size_t e = 0; e < out.size(); ++e) {
    std::vector<StateId> states;
    std::set<int64_t> indices;
    for (const auto& [addend, tokens] : members) {
      states.push_back((*tokens)[e].state());
      const State& s = a_.state(states.back());
      if (s.kind == State::Kind::kKnown && a_.shape(s.form) != nullptr)
        indices.insert((*tokens)[e].index());
    }
    StateId made = a_.reduced(sharding.unreduced_kind, states);
    if (indices.size() > 1) made = a_.failed(State::Kind::kWrong, "it adds up different elements");
    const State& s = a_.state(made);
    const bool free = s.kind != State::Kind::kKnown || a_.shape(s.form) == nullptr;
    out[e] = Token::of(made, free || indices.empty() ? 0 : *indices.begin());
  }
  return out;
}

ProofComparison::Found ProofComparison::judge(Token given, Token wanted, const Extents& shape) {
  const State& s = a_.state(given.state());
  const State& w = a_.state(wanted.state());
  if (w.kind != State::Kind::kKnown)
    return {false, fmt::format("the proof does not follow {}: {}", wanted_name_, w.why)};
  if (s.kind == State::Kind::kWrong) return {true, s.why};
  if (s.kind == State::Kind::kUnknown) {
    const bool is_unset = s.why == Prover::kUnwritten;
    return {.certain = is_unset, .what = s.why, .is_unset = is_unset};
  }
  if (given.state() == wanted.state()) {
    const Extents* own = a_.shape(s.form);
    const Box box = Box::whole(own != nullptr ? *own : shape);
    const std::string value = known_.contains(s.form) ? wanted_name_ : a_.describe(s.form);
    return {true,
            fmt::format("it holds element {} of {} where element {} belongs",
                        index_text(box.index_at(given.index())), value,
                        index_text(box.index_at(wanted.index()))),
            true};
  }
  if (!a_.is_whole(wanted.state())) {
    return {false,
            fmt::format("it is {}, and that element of {} is {}", a_.describe_state(given.state()),
                        wanted_name_, a_.describe_state(wanted.state()))};
  }
  if (!a_.is_whole(given.state())) {
    return {true,
            fmt::format("it is {}: a reduction is missing", a_.describe_state(given.state()))};
  }
  if (auto difference = a_.certain_difference(s.form, w.form)) return {true, *difference};
  const auto pairs = a_.differing_operands(s.form, w.form);
  const auto [inner, inner_wanted] = pairs.back();
  if (pairs.size() == 1) {
    return {false, fmt::format("it is {}, and {} is {}", a_.describe(s.form), wanted_name_,
                               a_.describe_terms(w.form))};
  }
  if (const auto difference = a_.certain_difference(inner, inner_wanted))
    return {false, fmt::format("an earlier value is wrong: {}", *difference)};
  return {false, fmt::format("it is computed from {}, and {} from {}", a_.describe(inner),
                             wanted_name_, a_.describe(inner_wanted))};
}

Finding ProofComparison::finding(const std::string& name, Rank rank, const std::vector<int64_t>& at,
                                 const Found& found, Token given, Token wanted) {
  Finding out;
  out.is_certain = found.certain;
  const std::string element = fmt::format("{}{} on rank {}", name, index_text(at), rank);
  out.differs = fmt::format("{} is not {}: {}", element, wanted_name_, found.what);
  out.unproven =
      fmt::format("{} could not be proven equal to {}: {}", element, wanted_name_, found.what);
  const Prover::Written* place =
      found.is_moved ? last_with(given.state()) : place_of(given.state(), wanted.state());
  if (place == nullptr) return out;
  const Instruction* i = in_file(file_, code_, place->code);
  if (i != nullptr) out.span = i->name_span;
  const std::string written = given_.name_of(*place);
  const auto* reduction = code_.source(place->code).attributes.get<Reduction>("reduction");
  const char* average = reduction != nullptr && *reduction == Reduction::kAvg
                            ? " (avg divides the sum by the number of ranks)"
                            : "";
  out.notes.push_back({fmt::format("{} writes{} on rank {}: {}{}", code_.address(place->code),
                                   written.empty() ? "" : " " + written, place->rank,
                                   a_.describe_state(place->state), average),
                       i != nullptr ? i->span : SourceSpan()});
  return out;
}

const Prover::Written* ProofComparison::last_with(StateId state) const {
  const Prover::Written* out = nullptr;
  for (const Prover::Written& w : given_.written()) {
    if (w.state == state) out = &w;
  }
  return out;
}

// Finds where the two runs first differ: the first write of the innermost value that differs, else
// of a value that was computed from it.
const Prover::Written* ProofComparison::place_of(StateId given, StateId wanted) {
  const auto form = a_.whole_form(given);
  const auto wanted_form = a_.whole_form(wanted);
  if (form && wanted_form) {
    auto pairs = a_.differing_operands(*form, *wanted_form);
    const auto [factor, plain] = a_.normalised(pairs.back().first);
    const auto [wanted_factor, wanted_plain] = a_.normalised(pairs.back().second);
    if (plain == wanted_plain) {
      if (const Prover::Written* w = first_with_factor(factor / wanted_factor)) return w;
    }
    std::reverse(pairs.begin(), pairs.end());
    for (const auto& [own, other] : pairs) {
      if (const Prover::Written* w = first_multiple(own)) return w;
    }
  }
  for (const Prover::Written& w : given_.written()) {
    if (w.state == given) return &w;
  }
  return nullptr;
}

// The first write of a value of the fusion times this factor.
const Prover::Written* ProofComparison::first_with_factor(double factor) {
  for (const Prover::Written& w : given_.written()) {
    const auto form = a_.whole_form(w.state);
    if (!form || known_.contains(*form)) continue;
    if (known_.contains(a_.scaled(*form, 1 / factor)) && !a_.constant(*form)) return &w;
  }
  return nullptr;
}

// The first write of a multiple of this form that is not a value of the fusion.
const Prover::Written* ProofComparison::first_multiple(FormId form) {
  if (a_.constant(form)) return nullptr;
  const FormId plain = a_.normalised(form).second;
  for (const Prover::Written& w : given_.written()) {
    const auto own = a_.whole_form(w.state);
    if (own && !known_.contains(*own) && a_.normalised(*own).second == plain) return &w;
  }
  return nullptr;
}

}  // namespace hostir::api
