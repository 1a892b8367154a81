#include "interp/session/live/live_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/session/answers/answer.h"
#include "interp/session/commands/places.h"
#include "interp/session/commands/rank_selection.h"
#include "interp/session/inside/live_inside.h"
#include "interp/session/prepare/repeated_run.h"
#include "interp/session/values/assemble.h"
#include "interp/session/values/live_edit.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

using K = CommandKind;
using StepKind = StepCommand::Kind;

InterpreterOptions interpreter_options(const LiveOptions& options, Rank ranks) {
  RunOptions run;
  run.backend = options.backend;
  run.ranks = options.ranks;
  return interpreter_options(run, ranks);
}

// Accumulates the moves of several steps of one command.
void add_moves(std::vector<RankMove>& total, const std::vector<RankMove>& moves) {
  for (const RankMove& m : moves) {
    const auto found = std::find_if(total.begin(), total.end(),
                                    [&](const RankMove& t) { return t.rank == m.rank; });
    if (found == total.end())
      total.push_back(m);
    else
      found->steps += m.steps;
  }
  std::sort(total.begin(), total.end(),
            [](const RankMove& a, const RankMove& b) { return a.rank < b.rank; });
}

std::string_view noun_of(CommandKind kind) {
  if (kind == K::kDprintf) return "Log point";
  return kind == K::kWatch ? "Watch" : "Breakpoint";
}

Outcome said(std::string text) {
  Outcome out;
  out.text = std::move(text);
  return out;
}

}  // namespace

LiveSession::~LiveSession() = default;

Expected<std::unique_ptr<LiveSession>> LiveSession::create(std::shared_ptr<const Prepared> prepared,
                                                           const BackendFactory& make_backend,
                                                           LiveOptions options) {
  std::unique_ptr<LiveSession> out(new LiveSession);
  out->prepared_ = std::move(prepared);
  out->log_ = options.log;
  out->make_backend_ = make_backend;
  out->backend_request_ = options.backend;
  out->check_claims_ = options.check_claims;
  out->recorded_length_ = options.recorded_length;
  HOSTIR_ASSIGN_OR_RETURN(out->backend_, make_backend(options.backend));
  out->backend_->set_value_mode(options.value_mode);
  HOSTIR_ASSIGN_OR_RETURN(
      out->interpreter_,
      Interpreter::create(out->prepared_->code, *out->backend_, options.trace,
                          interpreter_options(options, out->prepared_->code->rank_count)));
  for (size_t i = 0; i < out->prepared_->inputs.size(); ++i)
    HOSTIR_TRY(out->interpreter_->bind(i, out->prepared_->inputs[i].second));
  HOSTIR_ASSIGN_OR_RETURN(out->history_, History::create(*out->interpreter_, options.history,
                                                         std::move(options.recorded)));
  out->breakpoints_ = std::make_unique<LiveBreakpoints>(*out->interpreter_, *out->prepared_->view);
  out->stepper_ = std::make_unique<Stepper>(*out->history_, out->breakpoints_->list());
  out->builder_ = std::make_unique<SnapshotBuilder>(*out->interpreter_, out->prepared_->view);
  std::string dropped;  // breakpoints that no longer fit, for example after an edit
  for (const std::string& text : options.breakpoints) {
    auto command = parse_command(text);
    const auto added = command ? out->breakpoints_->add(*command, 0)
                               : Expected<uint32_t>(tl::unexpected(command.error()));
    if (!added) dropped += fmt::format(" Dropped `{}`: {}", text, added.error().message());
  }
  out->refresh({StopKind::kStart, "Nothing ran yet." + dropped, kNoRank, 0});
  return out;
}

void LiveSession::refresh(StopReason stop) {
  Snapshot s = builder_->build(history_->branch());
  s.position = {history_->position(), history_->branch()};
  s.last_decision = last_known();
  s.stop = std::move(stop);
  s.focus = focus_;
  s.step_scope = scope_;
  s.breakpoints = std::make_shared<const std::vector<BreakpointSnapshot>>(breakpoints_->snapshot());
  snapshot_ = std::make_shared<const Snapshot>(std::move(s));
}

void LiveSession::adopt(const LiveSession& other) {
  focus_ = other.focus_;
  scope_ = other.scope_;
  scope_follows_ = other.scope_follows_;
  breakpoints_->adopt(*other.breakpoints_);
  stepper_->moved();
  refresh(snapshot_->stop);
}

Expected<ValueReading> LiveSession::read(const ValueQuery& query) {
  return read_value(*interpreter_, query);
}

Expected<Inside> LiveSession::inside(const InsideQuery& query) {
  return look_inside(*interpreter_, *snapshot_, query);
}

Expected<std::vector<PastValue>> LiveSession::past_values(const PastQuery&, std::stop_token) const {
  return fail(ErrorKind::kRuntime, "no_log", "this session keeps no log to run again from");
}

uint64_t LiveSession::last_known() const {
  return departed() ? history_->size() : std::max(history_->size(), recorded_length_);
}

std::vector<Rank> LiveSession::scope() const { return scope_; }

// The ranks that steps move; empty if all.
std::vector<Rank> LiveSession::some_ranks() const {
  const bool all = scope_.size() == static_cast<size_t>(prepared_->code->rank_count);
  return all ? std::vector<Rank>{} : scope_;
}

Expected<Outcome> LiveSession::execute(const Command& command, std::stop_token stop) {
  if (only_looks(command.kind)) {
    HOSTIR_ASSIGN_OR_RETURN(std::string text, answer(*this, command));
    return said(std::move(text));
  }
  const uint64_t before = history_->position();
  LogLines& log = breakpoints_->list().log();
  log.begin();
  HOSTIR_ASSIGN_OR_RETURN(Outcome out, run_command(command, std::move(stop)));
  out.logged = log.fresh();
  out.log_dropped = static_cast<int64_t>(log.dropped());
  out.log_from = log.lowest();
  if (command.kind != K::kRun) out.text += undone_edits(*history_, before);
  refresh(out.ran ? out.stop : snapshot_->stop);
  return out;
}

Expected<Outcome> LiveSession::run_command(const Command& command, std::stop_token stop) {
  switch (command.kind) {
    case K::kStep:
      return step(StepKind::kInto, Direction::kForward, command, stop);
    case K::kNext:
      return step(StepKind::kOver, Direction::kForward, command, stop);
    case K::kFinish:
      return step(StepKind::kOut, Direction::kForward, command, stop);
    case K::kContinue:
      return step(StepKind::kContinue, Direction::kForward, command, stop);
    case K::kReverseStep:
      return step(StepKind::kInto, Direction::kBackward, command, stop);
    case K::kReverseNext:
      return step(StepKind::kOver, Direction::kBackward, command, stop);
    case K::kReverseFinish:
      return step(StepKind::kOut, Direction::kBackward, command, stop);
    case K::kReverseContinue:
      return step(StepKind::kContinue, Direction::kBackward, command, stop);
    case K::kUntil:
      return until(Direction::kForward, command, stop);
    case K::kReverseUntil:
      return until(Direction::kBackward, command, stop);
    case K::kGoto:
      return go_to(command, stop);
    case K::kRun:
      return restart(stop);
    case K::kRank:
      return choose_ranks(command);
    case K::kFocus:
      return choose_focus(command);
    case K::kFreeze:
    case K::kThaw:
      return freeze(command);
    case K::kSet:
      return edit(command);
    case K::kWhatIf:
      return ask_what_if(stop);
    case K::kQuit: {
      Outcome out;
      out.quit = true;
      return out;
    }
    default:
      return change_breakpoints(command);
  }
}

Outcome LiveSession::outcome_of(const StopReport& report) const {
  Outcome out;
  out.ran = true;
  out.stop = stop_reason(report, *interpreter_);
  const Command* made_by = breakpoints_->command(report.breakpoint);
  if (made_by && made_by->place && report.rank != kNoRank) {
    if (made_by->place->kind == Place::Kind::kWrite || made_by->place->kind == Place::Kind::kNan)
      tell_write(*made_by, report, out.stop);
  }
  add_moves(out.moved, report.moved);
  return out;
}

// For kinds that look at results, reports what was written, not where the rank is.
void LiveSession::tell_write(const Command& made_by, const StopReport& report,
                             StopReason& stop) const {
  const std::string address = prepared_->code->address(report.code);
  // A breakpoint created for one command (`until nan`) has a number the user has not seen.
  const std::string number = report.breakpoint == unnamed_
                                 ? ""
                                 : fmt::format("{} {}, ", noun_of(made_by.kind), report.breakpoint);
  stop.code = report.code;
  stop.sentence = fmt::format("{}{}: written on rank {} by {}.", number, to_string(*made_by.place),
                              report.rank, address);
  if (made_by.place->kind == Place::Kind::kWrite) {
    stop.value = made_by.place->name;
    return;
  }
  const auto found = find_not_finite(*interpreter_, report.rank, report.code);
  if (!found) return;
  stop.value = found->value;
  stop.element = found->index;
  std::string counts;
  if (found->nan_count > 0) counts = fmt::format("{} NaN", found->nan_count);
  if (found->inf_count > 0)
    counts += fmt::format("{}{} Inf", counts.empty() ? "" : ", ", found->inf_count);
  stop.sentence =
      fmt::format("{}{}: %{}{} is the first of {} among {} elements on rank {}, written by {}.",
                  number, to_string(*made_by.place), found->value, index_text(found->index), counts,
                  found->element_count, report.rank, address);
}

Expected<Outcome> LiveSession::run_stepper(const StepCommand& command, std::stop_token stop) {
  stepper_->set_interrupt([stop] { return stop.stop_requested(); });
  HOSTIR_ASSIGN_OR_RETURN(const StopReport report, stepper_->run(command));
  // A stop of one rank makes it the focus, as a debugger selects the thread that hit.
  const bool hit = report.reason == StopReport::Reason::kBreakpoint && report.rank != kNoRank;
  if (hit) focus_ = report.rank;
  return outcome_of(report);
}

Expected<Outcome> LiveSession::step(StepKind kind, Direction direction, const Command& command,
                                    std::stop_token stop) {
  StepCommand step;
  step.kind = kind;
  step.direction = direction;
  if (kind != StepKind::kContinue) step.focus = scope();
  step.own_visits = some_ranks();
  if (kind == StepKind::kOut && step.focus.empty()) step.focus = {focus_};
  const int64_t count = command.numbers.empty() ? 1 : command.numbers.front();
  Outcome total;
  for (int64_t i = 0; i < count; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Outcome one, run_stepper(step, stop));
    add_moves(total.moved, one.moved);
    total.stop = std::move(one.stop);
    total.ran = true;
    if (total.stop.kind != StopKind::kStep) break;
  }
  return total;
}

Expected<Outcome> LiveSession::until(Direction direction, const Command& command,
                                     std::stop_token stop) {
  const Place& place = *command.place;
  StepCommand step;
  step.direction = direction;
  step.focus = scope();
  step.own_visits = some_ranks();
  switch (place.kind) {
    case Place::Kind::kCollective:
      step.kind = StepKind::kNextCollective;
      break;
    case Place::Kind::kRendezvous:
      if (!place.name.empty()) return until_happening(direction, command, stop);
      step.kind = StepKind::kRendezvous;
      break;
    case Place::Kind::kNan:
    case Place::Kind::kWrite:
      return until_happening(direction, command, stop);
    case Place::Kind::kFault:
    case Place::Kind::kEnd:
      step.kind = StepKind::kContinue;
      break;
    default: {
      HOSTIR_ASSIGN_OR_RETURN(
          step.target, find_places(place, *prepared_->view, snapshot_->rank(focus_).function));
      step.kind = StepKind::kToInstruction;
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(Outcome out, run_stepper(step, stop));
  if (out.stop.kind == StopKind::kStep) out.stop.kind = StopKind::kArrived;
  return out;
}

// Runs with a breakpoint that exists for one command.
Expected<Outcome> LiveSession::until_happening(Direction direction, const Command& command,
                                               std::stop_token stop) {
  Command breakpoint;
  breakpoint.kind = K::kTbreak;
  breakpoint.place = command.place;
  HOSTIR_ASSIGN_OR_RETURN(const uint32_t number, breakpoints_->add(breakpoint, focus_));
  StepCommand step;
  step.kind = StepKind::kContinue;
  step.direction = direction;
  unnamed_ = number;
  auto out = run_stepper(step, stop);
  unnamed_ = 0;
  breakpoints_->remove(number);
  if (out && out->stop.kind == StopKind::kBreakpoint && out->stop.breakpoint == number) {
    out->stop.kind = StopKind::kArrived;
    out->stop.breakpoint = 0;
    if (out->stop.code == kNoCode)
      out->stop.sentence = fmt::format("{} on rank {}.", to_string(*command.place), out->stop.rank);
  }
  return out;
}

Expected<Outcome> LiveSession::go_to(const Command& command, std::stop_token stop) {
  const auto wanted = static_cast<uint64_t>(command.numbers.front());
  const bool end = command.numbers.front() == std::numeric_limits<int64_t>::max();
  const uint64_t known = history_->size();
  const uint64_t target = end ? last_known() : wanted;
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<RankMove> moved,
                          history_->go_to(std::min(target, known)));
  stepper_->moved();
  builder_->forget();
  Outcome out;
  out.ran = true;
  add_moves(out.moved, moved);
  out.stop = {StopKind::kArrived, fmt::format("Position {}.", target), kNoRank, 0};
  if (target < known || (target == known && !end)) return out;
  // Beyond the known history, the run continues. At the end of a complete run, its outcome is the
  // stop reason; a run that was halted stays there.
  StepCommand onwards;
  onwards.kind = StepKind::kContinue;
  onwards.max_decisions = target - known;
  bool can_move = false;
  for (Rank r = 0; r < prepared_->code->rank_count; ++r)
    can_move = can_move || interpreter_->can_step(r);
  if (end && target == known && can_move) return out;
  HOSTIR_ASSIGN_OR_RETURN(Outcome rest, run_stepper(onwards, std::move(stop)));
  add_moves(out.moved, rest.moved);
  if (history_->position() != target || rest.stop.kind != StopKind::kInterrupted) {
    out.stop = std::move(rest.stop);
    return out;
  }
  // Finding the next rank to move has advanced virtual time, which belongs to the next decision: go
  // back and return.
  if (target > 0 && backend_->checkpoints() != nullptr) {
    HOSTIR_TRY(history_->go_to(target - 1));
    HOSTIR_TRY(history_->go_to(target));
    stepper_->moved();
    builder_->forget();
  }
  return out;
}

Expected<Outcome> LiveSession::restart(std::stop_token stop) {
  if (history_->position() > 0) {
    HOSTIR_TRY(history_->go_to(0));
    stepper_->moved();
    builder_->forget();
  }
  return step(StepKind::kContinue, Direction::kForward, Command{}, stop);
}

Expected<Outcome> LiveSession::choose_ranks(const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(
      const std::vector<Rank> ranks,
      select_ranks(command.ranks, prepared_->code->world, prepared_->code->rank_count, focus_));
  const bool all = command.ranks.kind == RankSelector::Kind::kAll;
  scope_ = all ? std::vector<Rank>{} : ranks;
  scope_follows_ =
      command.ranks.kind == RankSelector::Kind::kGroup ? command.ranks : RankSelector{};
  const bool keeps = contains(ranks, focus_);
  if (!keeps) focus_ = ranks.front();
  return said(fmt::format("Steps move {}; the focus is rank {}.\n",
                          ranks_to_string(ranks, prepared_->code->rank_count), focus_));
}

Expected<Outcome> LiveSession::choose_focus(const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(
      const std::vector<Rank> ranks,
      select_ranks(command.ranks, prepared_->code->world, prepared_->code->rank_count, focus_));
  if (ranks.size() != 1) return fail(ErrorKind::kUsage, "focus", "the focus is one rank: focus 3");
  focus_ = ranks.front();
  // A single-rank or group scope follows the focus; `all` and lists stay unchanged.
  if (scope_follows_.kind == RankSelector::Kind::kGroup) {
    HOSTIR_ASSIGN_OR_RETURN(scope_, select_ranks(scope_follows_, prepared_->code->world,
                                                 prepared_->code->rank_count, focus_));
  } else if (scope_.size() == 1) {
    scope_ = ranks;
  }
  return said(fmt::format(
      "The focus is rank {}; steps move {}.\n", focus_,
      scope_.empty() ? "all ranks" : ranks_to_string(scope_, prepared_->code->rank_count)));
}

Expected<Outcome> LiveSession::freeze(const Command& command) {
  // A bare `thaw` thaws every frozen rank.
  RankSelector selector = command.ranks;
  if (command.kind == K::kThaw && selector.kind == RankSelector::Kind::kFocus)
    selector.kind = RankSelector::Kind::kAll;
  HOSTIR_ASSIGN_OR_RETURN(
      const std::vector<Rank> ranks,
      select_ranks(selector, prepared_->code->world, prepared_->code->rank_count, focus_));
  const bool freezes = command.kind == K::kFreeze;
  std::vector<Rank> changed;
  for (const Rank r : ranks) {
    if (interpreter_->rank(r).frozen == freezes) continue;
    changed.push_back(r);
    decided_by_hand_ = true;
    if (freezes)
      history_->freeze(r);
    else
      history_->thaw(r);
  }
  Outcome out =
      said(changed.empty() ? fmt::format("No rank to {}.\n", freezes ? "freeze" : "thaw")
                           : fmt::format("{} {}.\n", freezes ? "Froze" : "Thawed",
                                         ranks_to_string(changed, prepared_->code->rank_count)));
  out.ran = true;
  out.stop = {StopKind::kStep, "", kNoRank, 0};
  return out;
}

Expected<Outcome> LiveSession::edit(const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Rank> ranks,
                          edited_ranks(*interpreter_, command, focus_));
  for (const Rank r : ranks) HOSTIR_TRY(check_editable(*interpreter_, command.value, r));
  for (const Rank r : ranks) HOSTIR_TRY(edit_value(*history_, command, r));
  builder_->forget();
  decided_by_hand_ = true;
  Outcome out = said(fmt::format("Changed %{} on {}.\n", command.value,
                                 ranks_to_string(ranks, prepared_->code->rank_count)));
  out.ran = true;
  out.stop = {StopKind::kStep, "", kNoRank, 0};
  return out;
}

Expected<WhatIf> LiveSession::what_if(const Snapshot& shot, const WhatIfOptions& options) const {
  WhatIfOptions with_claims = options;
  if (!with_claims.check_claims) with_claims.check_claims = check_claims_;
  return interp::what_if({prepared_, make_backend_, backend_request_}, shot, with_claims);
}

Expected<Outcome> LiveSession::ask_what_if(std::stop_token stop) {
  WhatIfOptions options;
  options.stop = std::move(stop);
  HOSTIR_ASSIGN_OR_RETURN(const WhatIf found, what_if(*snapshot_, options));
  return said(to_text(found));
}

Expected<Outcome> LiveSession::change_breakpoints(const Command& command) {
  const bool makes = command.kind == K::kBreak || command.kind == K::kTbreak ||
                     command.kind == K::kWatch || command.kind == K::kDprintf;
  if (!makes) {
    std::vector<BreakpointSnapshot> deleted = breakpoints_->snapshot();
    HOSTIR_TRY(breakpoints_->change(command));
    if (command.kind != K::kDelete) return Outcome{};
    std::erase_if(deleted, [&](const BreakpointSnapshot& b) {
      return breakpoints_->command(b.number) != nullptr;
    });
    std::string text;
    for (const BreakpointSnapshot& b : deleted)
      text += fmt::format("Deleted {}: {}\n", b.number, b.text);
    return said(text.empty() ? "There is no breakpoint to delete.\n" : text);
  }
  HOSTIR_ASSIGN_OR_RETURN(const uint32_t number, breakpoints_->add(command, focus_));
  for (const BreakpointSnapshot& b : breakpoints_->snapshot()) {
    if (b.number != number) continue;
    std::string where;
    for (const CodeIndex code : b.places) {
      where += fmt::format("{}{}, line {}", where.empty() ? " at " : "; ",
                           prepared_->code->address(code), prepared_->view->shown(code).line);
    }
    return said(fmt::format("{} {}: {}{}\n", noun_of(command.kind), number, b.text, where));
  }
  return Outcome{};
}

}  // namespace hostir::interp
