// 1. Run the unchanged program with all ranks: if it completes, frozen ranks held it.
// 2. Propose edits from where the ranks are stuck, and try each, smallest first.
// 3. If none completes, propose edits from where the best of them got stuck, on top of those.
#include "interp/session/what_if/what_if.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "interp/model/run.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/session.h"
#include "interp/session/what_if/what_if_edits.h"
#include "interp/session/what_if/what_if_trial.h"

namespace hostir::interp {
namespace {

using what_if_parts::TrialResult;
using what_if_parts::TrialSetup;
using Verdict = WhatIfTrial::Verdict;

constexpr size_t kDiffContext = 1;
constexpr size_t kSecondRound = 12;  // stuck trials that are edited further

// A stuck trial, kept for the second round.
struct StuckTrial {
  WhatIfEdit edit;
  std::shared_ptr<const Snapshot> shot;
  uint64_t steps = 0;
};

bool hangs(const Snapshot& shot) {
  if (!shot.faults || shot.faults->empty()) return false;
  const std::string& kind = shot.faults->back().kind;
  return kind == "deadlock" || kind == "collective_mismatch";
}

// The first fault that a missing wait leads to; nullptr: there is none.
const FaultSnapshot* first_race(const Snapshot& shot) {
  if (!shot.faults) return nullptr;
  const auto found = std::find_if(shot.faults->begin(), shot.faults->end(),
                                  [](const FaultSnapshot& f) { return is_race(f.kind); });
  return found == shot.faults->end() ? nullptr : &*found;
}

std::vector<Rank> frozen_ranks(const Snapshot& shot) {
  std::vector<Rank> out;
  for (const auto& rank : shot.ranks) {
    const bool over = is_over(rank->status);
    if (rank->frozen && !over) out.push_back(rank->rank);
  }
  return out;
}

// No rank can move, but thawing may change that.
bool held_by_hand(const Snapshot& shot) {
  return !hangs(shot) && shot.stop.kind == StopKind::kNobodyMoves && !frozen_ranks(shot).empty();
}

// Buffers that nothing in their function frees or passes on.
what_if_parts::NeverFreed never_freed(const what_if_parts::EditableProgram& program) {
  what_if_parts::NeverFreed out;
  std::set<std::string> let_go;
  for (const Function& f : program.program().functions) {
    if (f.kind != FunctionKind::kHost) continue;
    std::vector<InstrId> order = f.preorder();
    std::reverse(order.begin(), order.end());
    const auto named = [&](ValueId value) {
      return fmt::format("@{} %{}", f.name, f.value(value).name);
    };
    for (const InstrId id : order) {
      const Instruction& instruction = f.instr(id);
      const HostRole role = record(instruction.kind).role;
      if (role == HostRole::kAlloc && !instruction.results.empty()) {
        const std::string buffer = named(instruction.results.front());
        if (let_go.count(buffer) == 0) out.insert({buffer, program.node({&f, id}).lines.first});
        continue;
      }
      const bool view_goes = role == HostRole::kView && !instruction.results.empty() &&
                             let_go.count(named(instruction.results.front())) > 0;
      if (!view_goes && role != HostRole::kFree && role != HostRole::kReturn &&
          role != HostRole::kCall && role != HostRole::kYield && role != HostRole::kLoop)
        continue;
      for (const Operand& operand : instruction.operands) {
        if (operand.value.valid()) let_go.insert(named(operand.value));
      }
    }
  }
  // If several buffers share a name, one of them may be freed: drop the name.
  std::erase_if(out, [&](const auto& buffer) { return let_go.count(buffer.first) > 0; });
  return out;
}

class Search {
 public:
  Search(const WhatIfRun& run, const Snapshot& shot, const WhatIfOptions& options)
      : run_(run),
        shot_(shot),
        options_(options),
        until_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(options.max_seconds))) {}

  Expected<WhatIf> result() {
    choose_text();
    HOSTIR_ASSIGN_OR_RETURN(const what_if_parts::EditableProgram program,
                            what_if_parts::EditableProgram::create(given_, setup_.function));
    const bool by_hand = held_by_hand(shot_);
    const std::vector<Rank> frozen = by_hand ? frozen_ranks(shot_) : std::vector<Rank>();
    out_.stop = by_hand        ? shot_.stop.sentence
                : hangs(shot_) ? shot_.faults->back().sentence
                               : first_race(shot_)->sentence;
    out_.reformatted = program.reformatted();
    text_ = program.text();
    seen_.insert(text_);
    const TrialResult unchanged = try_text(program.text(), setup_, options_.stop);
    if (unchanged.verdict == Verdict::kCompletes) {
      out_.unchanged_completes = true;
      out_.conclusion =
          "The unchanged program completes if it runs from the start with all ranks. What stopped "
          "it here was done by hand (ranks frozen or not started, values changed), so no edit is "
          "needed.";
      if (by_hand)
        out_.conclusion += fmt::format(" `thaw` lets {} move again.", model::list_of(frozen));
      return std::move(out_);
    }
    if (by_hand && !unchanged.shot) {
      out_.cancelled = options_.stop.stop_requested();
      out_.conclusion = fmt::format(
          "Only the freeze of {} holds the run up; `thaw` lifts it. From the start, the program {} "
          "({}).",
          model::list_of(frozen), name(unchanged.verdict), unchanged.why);
      return std::move(out_);
    }
    setup_.never_freed = never_freed(program);
    setup_.whose_lines = " of the edited text";
    // An edited run may need a few times the instructions that the unchanged one took until it
    // hung.
    setup_.max_steps = 8 * unchanged.steps + kLeastSteps;
    const Snapshot& from = unchanged.shot ? *unchanged.shot : shot_;
    const std::vector<StuckTrial> stuck = round(program, from);
    if (out_.completes == 0) second_round(stuck);
    conclude();
    if (by_hand)
      out_.conclusion += fmt::format(
          " This describes what stops it when all ranks move; here {} {} frozen (`thaw`).",
          model::list_of(frozen), frozen.size() == 1 ? "is" : "are");
    say_leaks();
    return std::move(out_);
  }

 private:
  static constexpr uint64_t kLeastSteps = 100'000;

  // Chooses the user's text if it contains the host function, otherwise the lowered text.
  void choose_text() {
    const Prepared& prepared = *run_.prepared;
    const ProgramView& view = *prepared.view;
    const Function* function = prepared.source->find_function(prepared.function);
    const auto& texts = view.given.texts;
    out_.of_given = texts && !prepared.recorded && !prepared.lowered && function &&
                    function->span.valid() && function->span.file < texts->size();
    if (out_.of_given) {
      out_.file = std::string(texts->name(function->span.file));
      given_ = std::string(texts->text(function->span.file));
      setup_.function = prepared.function;
      setup_.prepare = prepared.options;
    } else {
      out_.file = std::string(view.sources->name(view.file));
      given_ = std::string(view.text());
      setup_.function = view.code->entry;
    }
    setup_.file = out_.file;
    for (const auto& [name, tensor] : prepared.inputs) setup_.inputs.push_back({name, tensor});
    setup_.make_backend = run_.make_backend;
    setup_.backend = run_.backend;
    setup_.max_seconds = options_.max_trial_seconds;
  }

  bool over() {
    if (options_.stop.stop_requested()) out_.cancelled = true;
    out_of_time_ = out_of_time_ || std::chrono::steady_clock::now() > until_;
    return out_.cancelled || out_of_time_ || tried_ >= options_.max_trials ||
           out_.completes >= options_.enough;
  }

  void tell() const {
    if (options_.progress) options_.progress({tried_, out_.proposed, out_.completes});
  }

  std::vector<StuckTrial> round(const what_if_parts::EditableProgram& program,
                                const Snapshot& shot) {
    const what_if_parts::StopPicture picture = what_if_parts::stop_picture(shot, program);
    what_if_parts::Proposals proposals(program, picture);
    propose_orders(proposals);
    propose_fields(proposals);
    propose_missing(proposals);
    propose_waits(proposals);
    propose_races(proposals);
    std::vector<WhatIfEdit> edits = proposals.take();
    std::erase_if(edits, [&](const WhatIfEdit& e) { return seen_.count(e.text) > 0; });
    std::stable_sort(edits.begin(), edits.end(),
                     [](const WhatIfEdit& a, const WhatIfEdit& b) { return a.weight < b.weight; });
    out_.proposed += edits.size();
    tell();
    std::vector<StuckTrial> stuck;
    for (WhatIfEdit& edit : edits) {
      if (over()) break;
      seen_.insert(edit.text);
      if (!contains_good_edit(edit)) one(std::move(edit), stuck);
    }
    return stuck;
  }

  void one(WhatIfEdit edit, std::vector<StuckTrial>& stuck) {
    TrialResult result = try_text(edit.text, setup_, options_.stop);
    if (options_.stop.stop_requested()) return;
    ++tried_;
    if (result.shot) keep({edit, result.shot, result.steps}, stuck);
    WhatIfTrial trial;
    trial.edit = std::move(edit);
    trial.edit.origins = {};
    trial.verdict = result.verdict;
    trial.why = std::move(result.why);
    trial.warnings = std::move(result.warnings);
    leaks_.merge(result.leaks);
    if (trial.verdict == Verdict::kCompletes) {
      ++out_.completes;
      if (options_.check_claims)
        trial.claims = options_.check_claims(trial.edit.text, setup_.function, options_.stop);
      if (trial.good()) drop_what_contains(trial.edit);
    }
    out_.trials.push_back(std::move(trial));
    tell();
  }

  // A larger edit teaches nothing new if a part of it lets the program complete.
  bool contains_good_edit(const WhatIfEdit& edit) const {
    return std::any_of(out_.trials.begin(), out_.trials.end(), [&](const WhatIfTrial& trial) {
      return trial.good() && contains_edit(text_, trial.edit.text, edit.text);
    });
  }

  void drop_what_contains(const WhatIfEdit& edit) {
    out_.completes -= std::erase_if(out_.trials, [&](const WhatIfTrial& trial) {
      return trial.verdict == Verdict::kCompletes &&
             contains_edit(text_, edit.text, trial.edit.text);
    });
  }

  // Keeps those that got furthest, and of those the smallest edits, because a snapshot of many
  // ranks is large.
  static void keep(StuckTrial trial, std::vector<StuckTrial>& stuck) {
    const auto better = [](const StuckTrial& a, const StuckTrial& b) {
      if (a.steps != b.steps) return a.steps > b.steps;
      return a.edit.weight < b.edit.weight;
    };
    stuck.insert(std::upper_bound(stuck.begin(), stuck.end(), trial, better), std::move(trial));
    if (stuck.size() > kSecondRound) stuck.pop_back();
  }

  // Edits the stuck trials again.
  void second_round(const std::vector<StuckTrial>& stuck) {
    for (const StuckTrial& first : stuck) {
      if (over()) return;
      const auto program = what_if_parts::EditableProgram::create(first.edit.text, setup_.function,
                                                                  first.edit.origins);
      if (!program || program->reformatted()) continue;
      const size_t before = out_.trials.size();
      round(*program, *first.shot);
      for (size_t i = before; i < out_.trials.size(); ++i) {
        WhatIfEdit& edit = out_.trials[i].edit;
        edit.sentence = first.edit.sentence + " Then: " + edit.sentence;
        edit.size += first.edit.size;
        edit.weight += first.edit.weight;
      }
    }
  }

  void say_leaks() {
    std::string buffers;
    for (const std::string& leak : leaks_)
      buffers += fmt::format("{}{} (line {})", buffers.empty() ? "" : ", ",
                             leak.substr(leak.find('%')), setup_.never_freed.at(leak) + 1);
    if (!buffers.empty())
      out_.leaks = fmt::format("With or without an edit nothing frees {}.", buffers);
  }

  void conclude() {
    std::stable_sort(out_.trials.begin(), out_.trials.end(),
                     [](const WhatIfTrial& a, const WhatIfTrial& b) {
                       const bool a_completes = a.verdict == Verdict::kCompletes;
                       const bool b_completes = b.verdict == Verdict::kCompletes;
                       if (a_completes != b_completes) return a_completes;
                       if (a.good() != b.good()) return a.good();
                       return a.edit.weight < b.edit.weight;
                     });
    for (WhatIfTrial& trial : out_.trials) {
      trial.edit.diff = line_diff(given_, trial.edit.text, kDiffContext);
      for (const DiffLine& line : trial.edit.diff) {
        if (line.kind == DiffLine::Kind::kSame) continue;
        trial.edit.line = line.number;
        break;
      }
    }
    const std::string tried = counted(static_cast<size_t>(tried_), "edit") + " tried";
    if (out_.completes > 0) {
      out_.conclusion = fmt::format("{} small edit{} the program complete ({}).", out_.completes,
                                    out_.completes == 1 ? " lets" : "s let", tried);
    } else {
      out_.conclusion = fmt::format("No small edit was found that lets it complete ({}).", tried);
    }
    if (out_.completes >= options_.enough) {
      out_.conclusion += " The search ended there; other edits were not tried.";
    } else if (out_.cancelled) {
      out_.conclusion += " The search was cancelled.";
    } else if (out_of_time_) {
      out_.conclusion += fmt::format(" The search ended after {:g} seconds.", options_.max_seconds);
    } else if (tried_ >= options_.max_trials) {
      out_.conclusion += " There are more that were not tried.";
    }
  }

  const WhatIfRun& run_;
  const Snapshot& shot_;
  const WhatIfOptions& options_;
  const std::chrono::steady_clock::time_point until_;
  TrialSetup setup_;
  std::string given_;
  std::string text_;  // that edits change: `given_`, or reprinted
  std::set<std::string> seen_;
  std::set<std::string> leaks_;  // leaks of the unchanged text that occurred
  size_t tried_ = 0;
  bool out_of_time_ = false;
  WhatIf out_;
};

}  // namespace

std::string_view name(WhatIfTrial::Verdict verdict) {
  switch (verdict) {
    case Verdict::kCompletes:
      return "completes";
    case Verdict::kHangs:
      return "hangs";
    case Verdict::kMismatch:
      return "mismatch";
    case Verdict::kFault:
      return "fails";
    case Verdict::kRefused:
      return "is refused";
    case Verdict::kTooLong:
      return "takes too long";
  }
  return "";
}

bool can_ask_what_if(const Snapshot& shot) {
  return shot.no_stepping.empty() &&
         (hangs(shot) || held_by_hand(shot) || first_race(shot) != nullptr);
}

Expected<WhatIf> what_if(const WhatIfRun& run, const Snapshot& shot, const WhatIfOptions& options) {
  if (!can_ask_what_if(shot)) {
    return fail(
        ErrorKind::kUsage, "what_if",
        "nothing hangs here and no race was found: whatif works at a deadlock, a mismatch or "
        "a race (continue, or until fault)");
  }
  return Search(run, shot, options).result();
}

Expected<WhatIf> Session::what_if(const Snapshot&, const WhatIfOptions&) const {
  return fail(ErrorKind::kRuntime, "what_if", "this session cannot run anything");
}

}  // namespace hostir::interp
