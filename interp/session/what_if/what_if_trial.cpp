#include "interp/session/what_if/what_if_trial.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/snapshots/snapshot_builder.h"

namespace hostir::interp::what_if_parts {
namespace {

using Verdict = WhatIfTrial::Verdict;

TrialResult refused(const Error& error, const SourceManager& sources, const TrialSetup& setup) {
  TrialResult out;
  out.why = error.message();
  for (const Diagnostic& d : error.diagnostics) {
    if (d.severity != Severity::kError) continue;
    out.why = d.message;
    if (d.span.valid() && d.span.file < sources.size())
      out.why += fmt::format(" (line {}{})", sources.locate(d.span.file, d.span.begin).line,
                             setup.whose_lines);
    break;
  }
  return out;
}

Expected<std::shared_ptr<const Prepared>> prepared_text(const SourceManager& sources,
                                                        const TrialSetup& setup) {
  text::ParsedFile parsed = text::parse(sources, 0);
  for (size_t i = 0; i < parsed.file.parts.size(); ++i) {
    if (!parsed.file.parts[i].find_function(setup.function)) continue;
    if (!parsed.ok(i))
      return tl::unexpected(Error{ErrorKind::kInvalid, std::move(parsed.diagnostics)});
    PrepareOptions options = setup.prepare;
    options.function = setup.function;
    options.sources = &sources;
    return prepare(parsed.file.parts[i], setup.inputs, options);
  }
  if (!parsed.ok())
    return tl::unexpected(Error{ErrorKind::kInvalid, std::move(parsed.diagnostics)});
  return fail(ErrorKind::kUsage, "no_function", "the text has no function @" + setup.function);
}

// The line of the user's text to which a fault refers.
std::string line_of(const Fault& fault, const ProgramView& view, const Interpreter& interpreter,
                    const TrialSetup& setup) {
  if (fault.record.instructions.empty()) return {};
  std::string address = fault.record.instructions.front();
  for (const std::string& named : fault.record.instructions) {
    if (fault.record.sentence.find(named + ")") == std::string::npos) continue;
    address = named;
    break;
  }
  for (CodeIndex i = 0; i < view.code->instructions.size(); ++i) {
    if (interpreter.code().address(i) != address) continue;
    const TextLine line = view.shown(i);
    return line.line > 0 ? fmt::format(" (line {}{})", line.line, setup.whose_lines)
                         : std::string();
  }
  return {};
}

// `@f %a`: the alloc that a leak names.
std::string leaked(const Fault& fault, const Code& code) {
  if (fault.record.kind != "leak" || fault.record.instructions.empty()) return {};
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.address(i) != fault.record.instructions.front()) continue;
    const Function& function = *code.functions[code.instructions[i].function];
    const Instruction& instruction = code.source(i);
    if (instruction.results.empty()) return {};
    return fmt::format("@{} %{}", function.name, function.value(instruction.results.front()).name);
  }
  return {};
}

Verdict verdict_of(const Fault& fault) {
  if (fault.record.kind == "deadlock") return Verdict::kHangs;
  if (fault.record.kind == "collective_mismatch") return Verdict::kMismatch;
  return fault.record.kind == "max_steps" ? Verdict::kTooLong : Verdict::kFault;
}

}  // namespace

TrialResult try_text(const std::string& text, const TrialSetup& setup,
                     const std::stop_token& stop) {
  SourceManager sources;
  sources.add(setup.file, text);
  const auto prepared = prepared_text(sources, setup);
  if (!prepared) return refused(prepared.error(), sources, setup);

  TrialResult out;
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(setup.max_seconds);
  RunOptions options;
  options.backend = setup.backend;
  options.max_steps = setup.max_steps;
  options.summary = RunOptions::Summary::kNone;
  options.give_up = [&] {
    return stop.stop_requested() || std::chrono::steady_clock::now() > until;
  };
  options.ended = [&](const Interpreter& interpreter) {
    const std::vector<Fault>& faults = interpreter.faults();
    const auto fatal = std::find_if(faults.begin(), faults.end(), [](const Fault& f) {
      return f.fatal && f.severity == Severity::kError;
    });
    const auto snapshot = [&] {
      return std::make_shared<const Snapshot>(
          SnapshotBuilder(interpreter, (*prepared)->view).build(0));
    };
    if (fatal == faults.end()) {
      const bool races = std::any_of(faults.begin(), faults.end(),
                                     [](const Fault& f) { return is_race(f.record.kind); });
      if (races) out.shot = snapshot();
      return;
    }
    out.verdict = verdict_of(*fatal);
    out.why = fmt::format("{}: {}{}", fault_name(fatal->record.kind), fatal->record.sentence,
                          line_of(*fatal, *(*prepared)->view, interpreter, setup));
    const bool can_be_edited = out.verdict == Verdict::kHangs ||
                               out.verdict == Verdict::kMismatch || is_race(fatal->record.kind);
    if (can_be_edited) out.shot = snapshot();
  };
  const auto result = run(**prepared, setup.make_backend, options);
  if (!result) {
    out = refused(result.error(), sources, setup);
    if (result.error().diagnostics.front().id == "given_up") {
      out.verdict = Verdict::kTooLong;
      out.why = "it was aborted because it took too long";
    }
    return out;
  }
  out.steps = result->steps;
  // Leaks and differing replicas are not why it hung: the edit completes, with a warning.
  const auto prevents = [](const Fault& fault) {
    return fault.severity == Severity::kError && fault.record.kind != "leak" &&
           fault.record.kind != "replicas_differ";
  };
  const auto worst = std::find_if(result->faults.begin(), result->faults.end(), prevents);
  if (worst != result->faults.end()) {
    if (!result->worst()->fatal) {
      out.verdict = Verdict::kFault;
      out.why = fmt::format("{}: {}", fault_name(worst->record.kind), worst->record.sentence);
    }
    return out;
  }
  out.verdict = Verdict::kCompletes;
  for (const Fault& fault : result->faults) {
    const std::string leak = leaked(fault, *(*prepared)->code);
    if (setup.never_freed.count(leak) > 0) {
      out.leaks.insert(leak);
      continue;
    }
    out.warnings.push_back(
        fmt::format("{}: {}", fault_name(fault.record.kind), fault.record.sentence));
  }
  return out;
}

}  // namespace hostir::interp::what_if_parts
