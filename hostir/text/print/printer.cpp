#include "hostir/text/print/printer.h"

#include "hostir/text/attribute_text.h"
#include "hostir/text/parse/cursor.h"
#include "hostir/text/print/print_function.h"

namespace hostir::text {

namespace {

const std::vector<std::string>& leading_lines(const Program& program, const Program::Piece& piece) {
  switch (piece.kind) {
    case Program::PieceKind::kFunction:
      return program.functions[piece.index].comments.leading;
    case Program::PieceKind::kTest:
      return program.tests[piece.index].leading_comments;
    case Program::PieceKind::kMesh:
    case Program::PieceKind::kMachine:
      break;
  }
  return piece.comments.leading;
}

// Consecutive meshes are separated by a blank line only if the source has one. All other pieces are
// always separated.
bool blank_line_before(const Program& program, size_t index) {
  if (index == 0) return false;
  const Program::Piece& piece = program.order[index];
  const Program::Piece& before = program.order[index - 1];
  const bool meshes = piece.kind == Program::PieceKind::kMesh && before.kind == piece.kind;
  if (!meshes) return true;
  const auto& lines = leading_lines(program, piece);
  return !lines.empty() && lines.front().empty();
}

// Whether, and in which program, spans are moved into the text.
struct Locating {
  Program* program = nullptr;  // null: nowhere
  uint32_t file = 0;           // id of the text
};

void print_piece(std::string& out, const Program& program, const Program::Piece& piece,
                 const PrintOptions& options, const Locating& locating) {
  switch (piece.kind) {
    case Program::PieceKind::kMesh: {
      auto lines = piece.comments.leading;
      if (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
      append_comments(out, lines, 0);
      out += print_mesh(program.meshes[piece.index]) + trailing_comment(piece.comments.trailing) +
             "\n";
      return;
    }
    case Program::PieceKind::kMachine:
      append_comments(out, piece.comments.leading, 0);
      out += print_machine(program.machines[piece.index], options.machine_fields) +
             trailing_comment(piece.comments.trailing) + "\n";
      return;
    case Program::PieceKind::kFunction: {
      FunctionPrinter printer(&program, program.functions[piece.index], options);
      const std::string text = printer.print();
      if (locating.program)
        printer.locate(locating.program->functions[piece.index], locating.file, out.size());
      out += text;
      return;
    }
    case Program::PieceKind::kTest:
      out +=
          print_test(program.tests[piece.index]) + trailing_comment(piece.comments.trailing) + "\n";
      return;
  }
}

std::string print_pieces(const Program& program, const PrintOptions& options,
                         const Locating& locating) {
  std::string out;
  append_comments(out, program.leading_comments, 0);
  if (!program.leading_comments.empty() && !program.order.empty()) out += "\n";
  for (size_t i = 0; i < program.order.size(); ++i) {
    if (blank_line_before(program, i)) out += "\n";
    print_piece(out, program, program.order[i], options, locating);
  }
  if (!program.closing_comments.empty() && !out.empty()) out += "\n";
  append_comments(out, program.closing_comments, 0);
  return out;
}

}  // namespace

void append_comments(std::string& out, const std::vector<std::string>& lines, size_t indent) {
  for (const std::string& line : lines) {
    if (!line.empty()) {
      out += std::string(indent, ' ') + "//";
      if (line != " ") out += " " + line;
      if (line == "-----") out += "-";  // a line `// -----` would separate parts
    }
    out += "\n";
  }
}

void append_documentation(std::string& out, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out += line.empty() ? "//!\n" : "//! " + line + "\n";
}

std::string trailing_comment(const std::string& text) {
  if (text.empty()) return {};
  return text == " " ? "  //" : "  // " + text;
}

std::string print_mesh(const Mesh& mesh) {
  std::string out;
  append_documentation(out, mesh.documentation);
  out += "mesh " + symbol_text(mesh.name) + " = ";
  std::string list;
  if (!mesh.parent.empty()) {
    for (const FixedCoord& f : mesh.fixed) {
      list += (list.empty() ? "" : ", ") + f.axis + "=" + std::to_string(f.position);
    }
    return out + symbol_text(mesh.parent) + "[" + list + "]";
  }
  for (const MeshAxis& axis : mesh.axes) {
    list += (list.empty() ? "" : ", ") + axis.name + "=" + std::to_string(axis.size);
  }
  if (!mesh.device_ids.empty()) {
    list += (list.empty() ? "" : ", ") + ("device_ids=" + print_int_list(mesh.device_ids));
  }
  return out + "<" + list + ">";
}

std::string print_machine(const Machine& machine, MachineFields fields) {
  std::string out;
  append_documentation(out, machine.documentation);
  out += "machine " + symbol_text(machine.name) + " {\n";
  for (const MachineField& field : machine_fields()) {
    const double value = field.get(machine);
    if (fields == MachineFields::kChanged && value == field.get(default_machine())) continue;
    std::string number = number_to_string(value);
    if (number.ends_with(".0")) number.resize(number.size() - 2);
    out += "  " + field.name + " = " + number + "\n";
  }
  return out + "}";
}

std::string print(const Program& program, const PrintOptions& options) {
  return print_pieces(program, options, {});
}

std::string print_and_locate(Program& program, uint32_t file) {
  return print_pieces(program, {}, {&program, file});
}

std::string print(const SourceFileProgram& file, const PrintOptions& options) {
  std::string out;
  for (size_t i = 0; i < file.parts.size(); ++i) {
    if (i > 0) out += "// -----\n";
    out += print(file.parts[i], options);
  }
  return out;
}

std::string print_line(const Function& function, InstrId instruction) {
  return FunctionPrinter(nullptr, function, {}).line(function.instr(instruction));
}

}  // namespace hostir::text
