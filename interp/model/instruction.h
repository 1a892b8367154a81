// An instruction of a run: where a rank was, as far as the source records it.
//
// Our own programs have an address, a text and a line; a dump of another tool may have only stack
// frames. An empty text or optional means "unknown".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hostir::model {

struct SourcePlace {
  std::string file;
  std::optional<uint32_t> line;  // from 1
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

struct StackFrame {
  std::string function;
  SourcePlace place;
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

struct Instruction {
  std::string address;   // `@mlp.host#9`
  std::string mnemonic;  // `all_reduce`
  std::string text;      // one line, as printed
  std::optional<SourcePlace> place;
  std::vector<StackFrame> frames;  // innermost first
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// `@f#9`, else `train.py:42`, else the innermost frame with a place; empty if unknown.
std::string place_text(const Instruction& instruction);
/// The place and the mnemonic, `@f#9 all_reduce`; empty if unknown.
std::string name_of(const Instruction& instruction);

}  // namespace hostir::model
