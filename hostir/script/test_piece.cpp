#include "hostir/script/test_piece.h"

#include <fmt/core.h>

#include <algorithm>
#include <list>

#include "hostir/script/changed_program.h"
#include "hostir/script/expectations.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::script {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// The values named in any expectation of the test; every run records them.
void add_recorded(const std::vector<Statement>& statements, std::vector<std::string>& out) {
  for (const Statement& s : statements) {
    if (const auto* e = std::get_if<ExpectValue>(&s.body)) {
      if (!e->output) out.push_back(e->point.value);
    } else if (const auto* r = std::get_if<RepeatStatement>(&s.body)) {
      add_recorded(r->body, out);
    }
  }
}

// Expectations for which every write must be examined.
bool has_watch(const std::vector<Statement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const Statement& s) {
    if (const auto* r = std::get_if<RepeatStatement>(&s.body)) return has_watch(r->body);
    const auto* e = std::get_if<ExpectError>(&s.body);
    return e != nullptr &&
           (e->id == "replicas_differ" || e->id == "nan_born" || e->id == "inf_born");
  });
}

bool has_unsharded_check(const std::vector<Statement>& statements) {
  for (const Statement& s : statements) {
    if (std::holds_alternative<ExpectSameAsUnsharded>(s.body)) return true;
    const auto* r = std::get_if<RepeatStatement>(&s.body);
    if (r && has_unsharded_check(r->body)) return true;
  }
  return false;
}

class PieceRunner {
 public:
  PieceRunner(const TestPiece& test, const SourceManager& sources, SourceSpan part,
              RunContext context)
      : test_(test), sources_(sources), part_(part), context_(std::move(context)) {}

  PieceResult run() {
    statements(test_.statements);
    close_run();
    return std::move(result_);
  }

 private:
  void statements(const std::vector<Statement>& list) {
    for (const Statement& s : list) statement(s);
  }

  void statement(const Statement& s) {
    std::visit(Overloaded{[&](const BindStatement& bind) { bind_value(s, bind); },
                          [&](const ChangeStatement& change) { change_program(s, change); },
                          [&](const RunStatement& run) { run_statement(s, run); },
                          [&](const RepeatStatement& repeat) { repeat_statement(s, repeat); },
                          [&](const auto& expect) { expectation(s, expect); }},
               s.body);
  }

  void fail(const Statement& s, const std::string& message) {
    result_.failures.push_back(position_text(sources_, s.span) + ": " + message);
  }

  void bind_value(const Statement& s, const BindStatement& bind) {
    auto value = value_of(bind.value, environment_, context_.directory);
    if (value)
      environment_[bind.name] = std::move(*value);
    else
      fail(s, fmt::format("%{}: {}", bind.name, value.error().message()));
  }

  void change_program(const Statement& s, const ChangeStatement& change) {
    if (changed_text_.empty()) changed_text_ = declarations(*context_.program, part_, sources_);
    auto text = changed(changed_text_, change);
    if (!text) return fail(s, text.error().message());
    changed_text_ = std::move(*text);
    is_changed_ = true;
  }

  // Parses the text after changes. False if the run has no program.
  bool take_changes(const Statement& s, const RunStatement& statement) {
    if (!is_changed_) return true;
    auto program = changed_program(changed_text_, statement);
    if (!program) {
      fail(s, program.error().message());
      return false;
    }
    is_changed_ = false;
    context_.program = &programs_.emplace_back(std::move(*program));
    return true;
  }

  // Unexpected faults of the previous run are failures.
  void close_run() {
    if (!run_) return;
    for (std::string& f : unexpected_faults(*run_, sources_))
      result_.failures.push_back(std::move(f));
    run_.reset();
  }

  void run_statement(const Statement& s, const RunStatement& statement) {
    close_run();
    failed_ = !take_changes(s, statement);
    if (failed_) return;
    auto run = execute_run(statement, environment_, context_);
    if (!run) {
      fail(s, run.error().message());
      failed_ = true;
      return;
    }
    run_ = std::move(*run);
    run_->span = s.span;
    take_steps(steps_of(*run_));
    failed_ = run_->error.has_value();
    if (failed_) return;
    check_phases(s);
    feed(s, statement);
    if (!statement.against || has_unsharded_check(test_.statements)) return;
    CheckContext check = check_context(s);
    check_against(Tolerance{}, check);
  }

  void take_steps(uint64_t steps) {
    if (context_.options.max_steps == 0) return;
    context_.steps_left -= std::min(context_.steps_left, steps);
  }

  // The text after every compiler phase must parse back to itself.
  void check_phases(const Statement& s) {
    for (const interp::PhaseText& phase : run_->prepared->view->phases) {
      const auto program = text::parse_program(phase.text);
      if (!program) {
        fail(s, fmt::format("the text after {} does not read back: {}", phase.name,
                            program.error().message()));
      } else if (text::print(*program) != phase.text) {
        fail(s, fmt::format("the text after {} prints differently when read back", phase.name));
      }
    }
  }

  void feed(const Statement& s, const RunStatement& statement) {
    for (const auto& [name, number] : statement.feeding) {
      const auto& outputs = run_->executions.front().result.outputs;
      if (number < 1 || number > static_cast<int64_t>(outputs.size())) {
        fail(s, fmt::format("feeding %{}: there is no output {}", name, number));
        failed_ = true;
        continue;
      }
      environment_[fed_name(statement, name)] = outputs[static_cast<size_t>(number - 1)].global;
    }
  }

  // `feeding %w1 = ..` may name a parameter: then it means the value that the test passes for it.
  std::string fed_name(const RunStatement& statement, const std::string& name) const {
    const Function* f = context_.program->find_function(statement.function);
    for (size_t i = 0; f && i < f->params.size() && i < statement.arguments.size(); ++i) {
      const ValueSpec& argument = statement.arguments[i];
      if (f->value(f->params[i].value).name != name) continue;
      return argument.kind == ValueSpec::Kind::kName ? argument.text : name;
    }
    return name;
  }

  void repeat_statement(const Statement& s, const RepeatStatement& repeat) {
    for (int64_t i = 0; i < repeat.count; ++i) {
      statements(repeat.body);
      if (failed_) return;
      take_steps(1);
      if (context_.steps_left > 0) continue;
      failed_ = true;
      return fail(s, steps_used(context_).message());
    }
  }

  CheckContext context_with(const Statement& s, RunRecord& run) {
    return CheckContext{context_, environment_,     sources_,      s,
                        run,      result_.failures, result_.edits, result_.skipped};
  }
  CheckContext check_context(const Statement& s) { return context_with(s, *run_); }

  template <class Expectation>
  void expectation(const Statement& s, const Expectation& expect) {
    if constexpr (std::is_same_v<Expectation, ExpectSharding>) {
      if (!run_) {  // needs only the compiler, not a run
        RunRecord none;
        CheckContext alone = context_with(s, none);
        return check(expect, alone);
      }
    }
    if (!run_) return fail(s, "there is no run before this expectation");
    CheckContext check_with = check_context(s);
    check(expect, check_with);
  }

  const TestPiece& test_;
  const SourceManager& sources_;
  const SourceSpan part_;
  RunContext context_;
  std::list<Program> programs_;  // changed ones; runs refer to them
  std::string changed_text_;     // empty: nothing changed
  bool is_changed_ = false;      // since the last run
  Environment environment_;
  std::optional<RunRecord> run_;
  bool failed_ = false;
  PieceResult result_;
};

}  // namespace

std::string position_text(const SourceManager& sources, SourceSpan span) {
  if (!span.valid()) return "?";
  return fmt::format("{}:{}", sources.name(span.file), sources.locate(span.file, span.begin).line);
}

void CheckContext::fail(const std::string& message) const {
  failures.push_back(position_text(sources, statement.span) + ": " + message);
}

void CheckContext::fail(const Execution& execution, const std::string& message) const {
  if (run.executions.size() < 2) return fail(message);
  fail(fmt::format("schedule {}: {}", execution.schedule, message));
}

bool CheckContext::skips_values() const {
  if (computes_values(run_context.options.backend)) return false;
  ++skipped;
  return true;
}

void CheckContext::update(SourceSpan span, std::string text) const {
  if (run_context.options.update == TestOptions::Update::kNo || !span.valid()) return;
  edits.push_back({span.begin, span.end, std::move(text)});
}

PieceResult run_piece(const TestPiece& test, const Program& program, SourceSpan part,
                      const SourceManager& sources, const std::string& directory,
                      const TestOptions& options, const interp::BackendFactory& make_backend) {
  RunContext context{&program, options, make_backend, directory, {}, has_watch(test.statements)};
  if (options.max_steps > 0) context.steps_left = options.max_steps;
  add_recorded(test.statements, context.recorded);
  return PieceRunner(test, sources, part, std::move(context)).run();
}

}  // namespace hostir::script
