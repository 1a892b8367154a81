// Helpers for the interpreter's tests: compile a text and run it on the null backend.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/null/null_backend.h"

namespace hostir::interp::test {

struct Run {
  std::shared_ptr<const Code> code;
  NullBackend backend;
  std::unique_ptr<Interpreter> interpreter;
  RunEnd end = RunEnd::kFinished;

  std::string fault(size_t index = 0) const {
    const auto& faults = interpreter->faults();
    return index < faults.size() ? faults[index].record.kind + ": " + faults[index].record.sentence
                                 : "";
  }
};

/// All flat instructions at `@function#number`: several if a call is inlined several times.
inline std::vector<CodeIndex> find_codes(const Code& code, const std::string& function,
                                         uint32_t number) {
  std::vector<CodeIndex> out;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].role == CodeRole::kInstruction &&
        code.address(i) == "@" + function + "#" + std::to_string(number))
      out.push_back(i);
  }
  return out;
}

inline std::shared_ptr<const Code> compile(const std::string& text, const std::string& entry = "",
                                           const SizeBindings& sizes = {}) {
  auto program = text::parse_program(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message());
  if (!program) return nullptr;
  CodeOptions options;
  options.entry = entry;
  options.sizes = sizes;
  auto code = compile_code(std::make_shared<const Program>(std::move(*program)), options);
  EXPECT_TRUE(code) << (code ? "" : code.error().message());
  return code ? *code : nullptr;
}

inline std::unique_ptr<Run> start(const std::string& text, InterpreterOptions options = {},
                                  TraceSink* sink = nullptr) {
  auto run = std::make_unique<Run>();
  run->code = compile(text);
  if (run->code == nullptr) return nullptr;
  if (options.issue_ns == 0) options.issue_ns = 10;
  auto made = Interpreter::create(run->code, run->backend, sink, options);
  EXPECT_TRUE(made);
  if (!made) return nullptr;
  run->interpreter = std::move(*made);
  return run;
}

inline std::unique_ptr<Run> run(const std::string& text, const InterpreterOptions& options = {}) {
  auto made = start(text, options);
  if (made != nullptr) made->end = made->interpreter->run();
  return made;
}

}  // namespace hostir::interp::test
