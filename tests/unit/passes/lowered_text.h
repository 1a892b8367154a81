// Lowers a program given as text, for tests of the passes.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "hostir/passes/lower.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir {

/// Lowers the main function of the text for the text's first machine, and expects every phase to
/// print a text that reads back equal. nullopt, after a failed expectation: an error.
inline std::optional<Lowered> lowered_text(const std::string& text, LowerOptions options = {}) {
  const auto program = text::parse_program(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().message()) << "\n" << text;
  if (!program) return std::nullopt;
  if (!program->machines.empty()) options.machine = &program->machines.front();
  options.dump = [](LowerPhase phase, const Program& p) {
    const std::string printed = text::print(p);
    const auto again = text::parse_program(printed);
    EXPECT_TRUE(again && *again == p)
        << name(phase) << ": " << (again ? "unequal" : again.error().message()) << "\n"
        << printed;
  };
  auto lowered = lower(*program, program->main_function()->name, options);
  EXPECT_TRUE(lowered) << (lowered ? "" : lowered.error().message());
  if (!lowered) return std::nullopt;
  return std::move(*lowered);
}

}  // namespace hostir
