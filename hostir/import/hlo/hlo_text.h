// Parses HLO text, long or short form, into named instructions. Only shapes are interpreted.
//
// Attributes stay text; `hlo_module.h` interprets them. Errors: `hlo_syntax`, with the position.
// Nesting and sizes are limited. Metadata and stack frame tables are skipped.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// A shape: the type and the memory layout of each array (empty: row-major).
struct HloShape {
  ModuleType type;
  std::vector<int64_t> minor_to_major;
  std::string tiles;  // `T(8,128)(2,1)`: the order in memory inside the minor dimensions
  std::vector<HloShape> parts;
  bool is_tuple() const { return type.kind == ModuleType::Kind::kTuple; }
};

struct HloInstruction {
  std::string name;
  HloShape shape;
  std::string opcode;
  std::vector<std::string> operands;
  std::string literal;  // constants only
  int64_t parameter = -1;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool is_root = false;
  SourceSpan span;

  /// The text of an attribute; empty if there is none.
  std::string_view attribute(std::string_view key) const;
};

struct HloComputation {
  std::string name;
  bool is_entry = false;
  std::vector<HloInstruction> instructions;

  const HloInstruction* find(std::string_view instruction) const;
  const HloInstruction* root() const;
};

struct HloText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<HloComputation> computations;

  const HloComputation* find(std::string_view computation) const;
  const HloComputation* entry() const;
  std::string_view attribute(std::string_view key) const;
};

Expected<HloText> read_hlo_text(const SourceManager& sources, uint32_t file);

/// All integers in a text such as `{0,1}` or `{{0,1},{2,3}}`, in order.
std::vector<int64_t> integers_in(std::string_view text);

}  // namespace hostir::importer
