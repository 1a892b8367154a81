#include "hostir/ops/table.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "hostir/support/text.h"

namespace hostir {

namespace {

constexpr size_t kColumns = 5;
using Row = std::vector<std::string>;

constexpr std::array<std::string_view, 3> kClassNames = {"compute", "communication", "host"};

std::string operand_text(const OperandSpec& spec) {
  constexpr std::array<std::string_view, 3> kMarks = {"", "?", "..."};
  const std::string_view access = access_word(spec.access);
  return fmt::format("{}{}{}{}", access, access.empty() ? "" : " ", spec.name,
                     kMarks[static_cast<size_t>(spec.arity)]);
}

template <class Specs, class F>
std::string joined(const Specs& specs, F text) {
  std::string out;
  for (const auto& spec : specs) out += (out.empty() ? "" : ", ") + text(spec);
  return out;
}

Row row_of(const OpRecord& op) {
  const auto attribute = [](const AttributeSpec& a) {
    return std::string(a.name) + (a.required ? "" : "?");
  };
  return {std::string(op.mnemonic), std::string(kClassNames[static_cast<size_t>(op.op_class)]),
          joined(op.operands, operand_text), joined(op.attributes, attribute),
          std::string(op.summary)};
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = {{"op", "kind", "operands", "attributes", "what it does"}};
  for (size_t i = 0; i < kOpCount; ++i) rows.push_back(row_of(record(static_cast<OpKind>(i))));
  return rows;
}

std::string markdown(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) {
    out += "|";
    for (size_t c = 0; c < kColumns; ++c) {
      std::string cell = row[c];
      for (size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2)) {
        cell.insert(at, 1, '\\');
      }
      out += c == 0 && &row != &rows.front() ? fmt::format(" `{}` |", cell)
                                             : fmt::format(" {} |", cell);
    }
    out += "\n";
    if (&row == &rows.front()) out += "|---|---|---|---|---|\n";
  }
  return out;
}

// `label  text`, wrapped, continuation lines indented to the text.
void append_entry(std::string& out, std::string_view label, std::string_view text) {
  constexpr size_t kIndent = 14;
  constexpr size_t kWidth = 100;
  std::string line = fmt::format("  {:<{}}", label, kIndent - 2);
  bool fresh = true;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
    if (!fresh && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = std::string(kIndent, ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + std::string(word);
    fresh = false;
  }
  out += line + "\n";
}

void append_example(std::string& out, std::string_view example) {
  out += "Example\n";
  while (!example.empty()) {
    const size_t end = example.find('\n');
    out += fmt::format("  {}\n", example.substr(0, end));
    example = end == std::string_view::npos ? std::string_view() : example.substr(end + 1);
  }
}

}  // namespace

std::string_view access_word(Access access) {
  constexpr std::array<std::string_view, 4> kWords = {"", "ro", "wo", "rw"};
  return kWords[static_cast<size_t>(access)];
}

std::string ops_table(TableFormat format) {
  const std::vector<Row> rows = all_rows();
  return format == TableFormat::kMarkdown ? markdown(rows) : aligned(rows);
}

std::string op_documentation(OpKind kind) {
  const OpRecord& op = record(kind);
  std::string out = fmt::format("{} ({}): {}\n", op.mnemonic,
                                kClassNames[static_cast<size_t>(op.op_class)], op.summary);
  append_entry(out, "Shapes", op.doc.shapes);
  append_entry(out, "Sharding", op.doc.sharding);
  append_entry(out, "Dtypes", op.doc.dtypes);
  std::string_view errors = "Errors";
  for (const Constraint& c : op.constraints) {
    append_entry(out, std::exchange(errors, ""), fmt::format("{}: {}", c.id, c.text));
  }
  if (!op.doc.errors.empty()) append_entry(out, errors, op.doc.errors);
  append_entry(out, "Cost", op.doc.cost);
  append_entry(out, "Gradient", op.gradient);
  append_entry(out, "Source", op.source);
  if (!op.operands.empty()) out += "Operands\n";
  for (const OperandSpec& spec : op.operands) append_entry(out, operand_text(spec), spec.doc);
  if (!op.attributes.empty()) out += "Attributes\n";
  for (const AttributeSpec& spec : op.attributes) append_entry(out, spec.name, spec.doc);
  if (!op.results.empty()) out += "Results\n";
  for (const ResultSpec& spec : op.results) append_entry(out, spec.name, spec.doc);
  append_example(out, op.example);
  return out;
}

}  // namespace hostir
