#include "hostir/api/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/api/example_runs.h"
#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/passes/unshard.h"
#include "hostir/support/text.h"
#include "interp/core/interpreter.h"
#include "interp/sim/proof/prover.h"
#include "interp/sim/sim_backend.h"

namespace hostir::api {

namespace {

using interp::Prepared;
using interp::Rank;
using sim::proof::Algebra;
using sim::proof::Prover;
using sim::proof::State;
using sim::proof::StateId;
using sim::proof::Token;
using sim::proof::Tokens;

// The parts of one result that the ranks return.
struct Returned {
  std::string name;
  Type type;
  std::vector<Placement> places;  // by rank
  std::vector<Tokens> tokens;     // by rank
};

std::vector<std::string> parameter_names(const Prepared& prepared, const std::string& function) {
  const Function& f = *prepared.source->find_function(function);
  std::vector<std::string> out;
  for (const Parameter& p : f.params) out.push_back("%" + f.value(p.value).name);
  return out;
}

// An output that is not proven.
struct Finding {
  size_t output = 0;
  bool is_certain = false;
  std::string differs;   // the message, if the mistake is certain
  std::string unproven;  // and if not
  SourceSpan span;
  std::vector<Note> notes;
};

// Positions in errors are those of the user's file.
Expected<std::vector<Returned>> follow(const Prepared& prepared, Prover& prover) {
  std::vector<Returned> out;
  interp::RunOptions options;
  options.backend.name = "shapes";
  options.backend.machine = default_machine();
  options.backend.machine.p2p_buffer_bytes = 0;
  options.summary = interp::RunOptions::Summary::kNone;
  options.attach = [&](interp::Interpreter& i) { prover.begin(i); };
  options.ended = [&](const interp::Interpreter& interpreter) {
    const interp::Code& code = interpreter.code();
    const Function& entry = *code.functions.front();
    const interp::CodeInstruction& last = code.instructions.back();
    for (size_t i = 0; i < entry.results.size(); ++i) {
      Returned& r = out.emplace_back();
      r.name = "%" + (entry.results[i].name.empty() ? std::to_string(i) : entry.results[i].name);
      r.type = entry.results[i].type;
      if (i < last.layouts.size() && last.layouts[i] != interp::kNoLayout)
        r.type = code.layouts[last.layouts[i]].type;
      for (Rank rank = 0; rank < code.rank_count; ++rank) {
        const auto ref = interpreter.result(rank, i);
        const bool known = ref && ref->placement != nullptr;
        r.places.push_back(known ? *ref->placement : Placement{});
        r.tokens.push_back(known ? prover.read(rank, *ref) : Tokens{});
      }
    }
  };
  const interp::BackendFactory make =
      [&](const interp::BackendRequest& request) -> Expected<std::unique_ptr<interp::Backend>> {
    sim::SimOptions sim;
    sim.machine = request.machine;
    sim.values = sim::SimOptions::Values::kNone;
    sim.observer = &prover;
    return sim::make_sim_backend(sim);
  };
  auto result = interp::run(prepared, make, options);
  if (!result) return tl::unexpected(interp::in_given_text(result.error(), *prepared.view));
  // The comparison of outputs reports those that are never written.
  const auto is_output = [&](const interp::Fault& fault) {
    return fault.record.kind == "uninitialised_read" && !fault.record.instructions.empty() &&
           prepared.view->mnemonic(prepared.view->find(fault.record.instructions.front())) ==
               record(OpKind::return_).mnemonic;
  };
  std::erase_if(result->faults, is_output);
  if (const interp::Fault* fault = result->worst())
    return tl::unexpected(interp::in_given_text(interp::to_error(*fault), *prepared.view));
  return out;
}

class Comparison {
 public:
  /// `file`: the program as the user wrote it, whose positions are shown.
  Comparison(Algebra& algebra, const interp::Code& code, const Program& file, const Prover& given,
             const Prover& reference, const std::string& against)
      : a_(algebra), code_(code), file_(file), given_(given), against_(against) {
    for (const Prover::Written& w : reference.written()) {
      if (const auto form = a_.whole_form(w.state)) known_.insert(*form);
    }
  }

  std::optional<Finding> compare(size_t output, const Returned& given, const Returned& wanted) {
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
        Finding made = finding(given.name, static_cast<Rank>(rank), at, found, tokens[e]);
        made.output = output;
        if (found.is_unset) {
          const bool all = std::all_of(tokens.begin(), tokens.end(),
                                       [&](Token t) { return t == tokens.front(); });
          made.differs = fmt::format("{}{} is never written on rank {}", given.name,
                                     all ? "" : index_text(at), rank);
        }
        if (found.certain) return made;
        if (!unproven) unproven = std::move(made);
      }
    }
    return unproven;
  }

 private:
  struct Found {
    bool certain = false;
    std::string what;
    bool is_moved = false;  // the right value at another element
    bool is_unset = false;  // nothing has written it
  };

  // For a result that is declared partial: the reduction over one rank per addend.
  Tokens folded(const Returned& given, const Mesh& mesh, const Sharding& sharding, size_t rank) {
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
      if (indices.size() > 1)
        made = a_.failed(State::Kind::kWrong, "it adds up different elements");
      const State& s = a_.state(made);
      const bool free = s.kind != State::Kind::kKnown || a_.shape(s.form) == nullptr;
      out[e] = Token::of(made, free || indices.empty() ? 0 : *indices.begin());
    }
    return out;
  }

  Found judge(Token given, Token wanted, const Extents& shape) {
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
      return {true,
              fmt::format("it holds element {} of {} where element {} belongs",
                          index_text(box.index_at(given.index())), wanted_name_,
                          index_text(box.index_at(wanted.index()))),
              true};
    }
    if (!a_.is_whole(given.state())) {
      return {true,
              fmt::format("it is {}: a reduction is missing", a_.describe_state(given.state()))};
    }
    if (auto difference = a_.certain_difference(s.form, w.form)) return {true, *difference};
    return {false, fmt::format("it is {}, and {} is {}", a_.describe(s.form), wanted_name_,
                               plain(w.form))};
  }

  std::string plain(sim::proof::FormId form) const { return a_.describe_terms(form); }

  Finding finding(const std::string& name, Rank rank, const std::vector<int64_t>& at,
                  const Found& found, Token token) {
    Finding out;
    out.is_certain = found.certain;
    const std::string element = fmt::format("{}{} on rank {}", name, index_text(at), rank);
    out.differs = fmt::format("{} is not {}: {}", element, wanted_name_, found.what);
    out.unproven =
        fmt::format("{} could not be proven equal to {}: {}", element, wanted_name_, found.what);
    const Prover::Written* place =
        found.is_moved ? last_with(token.state()) : place_of(token.state());
    if (place == nullptr) return out;
    const Instruction* i = in_file(place->code);
    if (i != nullptr) out.span = i->name_span;
    const std::string written = given_.name_of(*place);
    out.notes.push_back({fmt::format("{} writes{} on rank {}: {}", code_.address(place->code),
                                     written.empty() ? "" : " " + written, place->rank,
                                     a_.describe_state(place->state)),
                         i != nullptr ? i->span : SourceSpan()});
    return out;
  }

  const Prover::Written* last_with(StateId state) const {
    const Prover::Written* out = nullptr;
    for (const Prover::Written& w : given_.written()) {
      if (w.state == state) out = &w;
    }
    return out;
  }

  // The instruction in the user's text; nullptr if its function was generated by the compiler.
  const Instruction* in_file(interp::CodeIndex code) const {
    const interp::CodeInstruction& c = code_.instructions[code];
    const Function* f = file_.find_function(code_.functions[c.function]->name);
    if (f == nullptr) return nullptr;
    const std::vector<InstrId> order = f->preorder();
    return c.address >= 1 && c.address <= order.size() ? &f->instr(order[c.address - 1]) : nullptr;
  }

  // The first write that shows the mistake: the wrong state itself, or a multiple of a value of the
  // fusion.
  const Prover::Written* place_of(StateId state) {
    for (const Prover::Written& w : given_.written()) {
      if (w.state == state) return &w;
      const auto form = a_.whole_form(w.state);
      if (!form || known_.contains(*form)) continue;
      for (const sim::proof::FormId other : known_) {
        if (a_.constant(other)) continue;
        if (a_.normalised(other).second == a_.normalised(*form).second) return &w;
      }
    }
    return nullptr;
  }

  Algebra& a_;
  const interp::Code& code_;
  const Program& file_;
  const Prover& given_;
  std::string against_;
  std::string wanted_name_;
  std::set<sim::proof::FormId> known_;  // the forms of the fusion's values
};

Expected<const Function*> find_fusion(const Program& program, const std::string& against) {
  const Function* found = program.find_function(against);
  if (found == nullptr)
    return fail(ErrorKind::kUsage, "against", fmt::format("there is no fusion @{}", against));
  if (found->kind == FunctionKind::kFusion) return found;
  std::string example;
  for (const Function& f : program.functions) {
    if (example.empty() && f.kind == FunctionKind::kFusion) example = ", as in @" + f.name;
  }
  return fail(
      ErrorKind::kUsage, "against",
      fmt::format("@{} is a {}; --against takes a fusion{}", against,
                  found->kind == FunctionKind::kKernel ? "kernel" : "host function", example));
}

// The unsharded fusion, ready to run on one rank with parameters of the same shapes.
Expected<std::shared_ptr<const Prepared>> reference_of(const Prepared& prepared,
                                                       const Program& program,
                                                       const std::string& against,
                                                       const SourceManager& sources) {
  HOSTIR_ASSIGN_OR_RETURN(const Function* fusion, find_fusion(program, against));
  const Function& given = *prepared.source->find_function(prepared.function);
  if (fusion->params.size() != given.params.size() ||
      fusion->results.size() != given.results.size()) {
    return fail(ErrorKind::kUsage, "against",
                fmt::format("@{} has {} parameters and {} results, @{} has {} and {}", given.name,
                            given.params.size(), given.results.size(), against,
                            fusion->params.size(), fusion->results.size()));
  }
  const Program plain = unshard(program, against);
  std::vector<interp::NamedInput> inputs;
  for (size_t i = 0; i < fusion->params.size(); ++i) {
    inputs.push_back({fusion->value(fusion->params[i].value).name, prepared.inputs[i].second});
  }
  interp::PrepareOptions options;
  options.function = against;
  options.sources = &sources;
  return interp::prepare(plain, inputs, options);
}

// Checks the findings, and outputs that are proven only if the kernels' own rules are correct, by
// runs on example inputs.
void confirm(const ExampleRuns& runs, const std::vector<Returned>& given, const Program& program,
             const std::set<std::string>& rules, const std::string& against,
             std::vector<Finding>& findings) {
  std::set<size_t> found;
  for (Finding& f : findings) {
    found.insert(f.output);
    if (f.output >= runs.outputs.size()) continue;
    const ExampleRuns::Output& output = runs.outputs[f.output];
    if (!output.difference) f.is_certain = false;
    if (output.difference && !output.is_rounding) f.is_certain = true;
    f.notes.push_back(
        {output.difference.value_or("the outputs are equal on the example inputs"), {}});
  }
  for (size_t i = 0; i < runs.outputs.size(); ++i) {
    const ExampleRuns::Output& output = runs.outputs[i];
    if (!output.difference || found.contains(i)) continue;
    if (rules.empty()) {
      if (output.is_rounding) continue;
      findings.push_back(
          {.output = i,
           .is_certain = true,
           .differs = fmt::format("{} is not equal to that of @{}, although their terms agree: "
                                  "this is a bug in the prover; please report it",
                                  given[i].name, against),
           .unproven = {},
           .span = {},
           .notes = {{*output.difference, {}}}});
      continue;
    }
    const std::string& rule = *rules.begin();
    const auto message = [&](const char* verdict) {
      return fmt::format("{} is {} that of @{}, although the sharding rule of @{} says so",
                         given[i].name, verdict, against, fmt::join(rules, " and @"));
    };
    findings.push_back({.output = i,
                        .is_certain = !output.is_rounding,
                        .differs = message("not equal to"),
                        .unproven = message("not proven equal to"),
                        .span = program.find_function(rule)->rule_span,
                        .notes = {{*output.difference, {}}}});
  }
}

// The prover tracks elements, not bytes, so a buffer that is read as another dtype ends the proof.
std::optional<Finding> find_other_dtype(const interp::Code& code) {
  for (const Function* f : code.functions) {
    for (const InstrId id : f->preorder()) {
      const Instruction& i = f->instr(id);
      const HostRole role = record(i.kind).role;
      if ((role != HostRole::kView && role != HostRole::kAlloc) || i.operands.empty()) continue;
      const ValueId from = i.operands.front().value;
      if (!from.valid() || i.results.empty()) continue;
      const Type& given = f->value(from).type;
      const Type& made = f->value(i.results.front()).type;
      if (!is_tensor(given) || !is_tensor(made) || dtype_of(given) == dtype_of(made)) continue;
      Finding out;
      out.unproven = fmt::format(
          "nothing could be proven: {} reinterprets the {} of %{} as {}, and the proof follows "
          "elements, not bits",
          record(i.kind).mnemonic, name(dtype_of(given)), f->value(from).name,
          name(dtype_of(made)));
      out.differs = out.unproven;
      out.span = i.name_span;
      return out;
    }
  }
  return std::nullopt;
}

// Errors: a rank's part belongs to a tensor of another shape or dtype than the fusion's result.
Expected<void> check_types(const Returned& given, const Returned& wanted,
                           const std::string& function, const std::string& against) {
  const Placement& want = wanted.places.front();
  for (size_t rank = 0; rank < given.places.size(); ++rank) {
    const Placement& have = given.places[rank];
    if (given.tokens[rank].empty() || (have.global == want.global && have.dtype == want.dtype))
      continue;
    return fail(
        ErrorKind::kUsage, "against",
        fmt::format("result {} of @{} is {}, that of @{} is {}; both must have the same shape "
                    "and dtype",
                    given.name, function, format_shape_text(have.dtype, have.global), against,
                    format_shape_text(want.dtype, want.global)));
  }
  return {};
}

}  // namespace

Expected<Proof> prove(const LoadedFile& file, ProgramOptions program, const std::string& against) {
  program.input_data = InputData::kShapes;
  std::string notice;
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, program.function));
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, program.prepare(file, &notice));
  HOSTIR_ASSIGN_OR_RETURN(const auto plain,
                          reference_of(*prepared, *chosen.program, against, file.sources));
  Algebra algebra;
  const std::vector<std::string> names = parameter_names(*plain, against);
  Prover reference(algebra, *plain->code, names);
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Returned> wanted, follow(*plain, reference));
  for (const Prover::Written& w : reference.written()) {
    if (const auto form = algebra.whole_form(w.state))
      algebra.name(*form, fmt::format("{} of @{}", reference.name_of(w), against));
  }
  Prover prover(algebra, *prepared->code, names);
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Returned> given, follow(*prepared, prover));
  Proof out;
  out.outputs = given.size();
  out.ranks = prepared->code->rank_count;
  out.rules = prover.rules();
  Comparison comparison(algebra, *prepared->code, *chosen.program, prover, reference, against);
  std::vector<Finding> findings;
  for (size_t i = 0; i < given.size() && i < wanted.size(); ++i) {
    HOSTIR_TRY(check_types(given[i], wanted[i], prepared->function, against));
    if (auto found = comparison.compare(i, given[i], wanted[i]))
      findings.push_back(std::move(*found));
  }
  if (auto found = find_other_dtype(*prepared->code); found && findings.empty())
    findings.push_back(std::move(*found));
  const ExampleRuns runs = run_examples(file, *chosen.program, program, against);
  if (runs.compared) confirm(runs, given, *chosen.program, out.rules, against, findings);
  for (Finding& f : findings) {
    Diagnostic& d = out.findings.emplace_back();
    d.id = f.is_certain ? "against_differs" : "against_unproven";
    d.message = std::move(f.is_certain ? f.differs : f.unproven);
    d.span = f.span;
    d.notes = std::move(f.notes);
    if (out.verdict != Proof::Verdict::kDiffers)
      out.verdict = f.is_certain ? Proof::Verdict::kDiffers : Proof::Verdict::kUnproven;
  }
  return out;
}

}  // namespace hostir::api
