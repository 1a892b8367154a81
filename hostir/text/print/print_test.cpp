// Prints `test` pieces.
#include "hostir/text/attribute_text.h"
#include "hostir/text/parse/cursor.h"
#include "hostir/text/print/print_function.h"

namespace hostir::text {

namespace {

std::string value_text(const ValueSpec& v) {
  const std::string type = v.type ? ", " + *v.type : "";
  switch (v.kind) {
    case ValueSpec::Kind::kInline:
      return quoted(v.text);
    case ValueSpec::Kind::kFile:
      return symbol_text(v.text);
    case ValueSpec::Kind::kName:
      return "%" + v.text;
    case ValueSpec::Kind::kIota:
      return v.type ? "iota(" + *v.type + ")" : "iota";
    case ValueSpec::Kind::kFull:
      return "full(" + number_to_string(v.a) + type + ")";
    case ValueSpec::Kind::kUniform:
      return "uniform(" + std::to_string(static_cast<int64_t>(v.seed)) + ", " +
             number_to_string(v.a) + ", " + number_to_string(v.b) + type + ")";
    case ValueSpec::Kind::kNormal: {
      const bool standard = v.a == 0 && v.b == 1;
      const std::string numbers =
          standard ? "" : ", " + number_to_string(v.a) + ", " + number_to_string(v.b);
      return "normal(" + std::to_string(static_cast<int64_t>(v.seed)) + numbers + type + ")";
    }
  }
  return {};
}

std::string tolerance_text(const Tolerance& t) {
  switch (t.kind) {
    case Tolerance::Kind::kDefault:
      return {};
    case Tolerance::Kind::kExact:
      return "exact";
    case Tolerance::Kind::kUlp:
      return "ulp(" + std::to_string(t.ulp) + ")";
    case Tolerance::Kind::kAbsRel: {
      std::string out = t.atol != 0 ? "atol(" + number_to_string(t.atol) + ")" : "";
      if (t.rtol != 0 || t.atol == 0) {
        out += (out.empty() ? "rtol(" : " rtol(") + number_to_string(t.rtol) + ")";
      }
      return out;
    }
  }
  return {};
}

std::string point_text(const ValuePoint& p) {
  std::string out = "%" + p.value;
  if (p.instance) out += "#" + std::to_string(*p.instance);
  if (p.before) out += " before " + *p.before;
  if (p.after) out += " after " + *p.after;
  if (p.iteration) out += " iteration " + std::to_string(*p.iteration);
  if (p.rank) out += " rank " + std::to_string(*p.rank);
  return out;
}

std::string collective_line(const CollectiveLine& line) {
  std::string out = line.kind;
  if (line.reduction) out += " " + std::string(name(*line.reduction));
  if (!line.over.empty()) {
    out += " over " + print_attribute(Attribute(AxisList(line.over)), ListBrackets::kWritten);
    if (!line.mesh.empty()) out += " in @" + line.mesh;
  }
  if (line.bytes) out += " " + std::to_string(*line.bytes) + " bytes";
  if (line.times) out += " x " + std::to_string(*line.times);
  return out;
}

template <class T, class Text>
std::string list(const std::vector<T>& items, const Text& text) {
  std::string out;
  for (const T& item : items) out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

void print_statements(std::string& out, const std::vector<Statement>& statements, size_t indent);

struct StatementPrinter {
  size_t indent;

  std::string operator()(const BindStatement& s) const {
    return "%" + s.name + " = value " + value_text(s.value);
  }
  std::string operator()(const RunStatement& s) const {
    std::string out = "run " + symbol_text(s.function) + "(" + list(s.arguments, value_text) + ")";
    if (!s.mesh_sizes.empty()) out += " mesh(" + list(s.mesh_sizes, axis_size_text) + ")";
    if (!s.ranks.empty()) out += " ranks(" + list(s.ranks, number_text) + ")";
    if (s.schedules != 1) out += " schedules(" + std::to_string(s.schedules) + ")";
    if (s.seed != 0) out += " seed(" + std::to_string(static_cast<int64_t>(s.seed)) + ")";
    if (!s.keep.empty()) out += " keep(" + list(s.keep, value_name) + ")";
    if (!s.overlap.empty()) out += " overlap(" + s.overlap + ")";
    if (!s.feeding.empty()) {
      out += " feeding " + list(s.feeding, [](const auto& f) {
               return "%" + f.first + " = output " + std::to_string(f.second);
             });
    }
    if (s.against) out += " against " + symbol_text(*s.against);
    return out;
  }
  std::string operator()(const ChangeStatement& s) const {
    return "change" + raw_lines(s.from, indent + 7) + "\n" + std::string(indent + 2, ' ') + "to" +
           raw_lines(s.to, indent + 5);
  }
  std::string operator()(const RepeatStatement& s) const {
    std::string out = "repeat " + std::to_string(s.count) + " {\n";
    print_statements(out, s.body, indent + 2);
    append_comments(out, s.closing_comments, indent + 2);
    return out + std::string(indent, ' ') + "}";
  }
  std::string operator()(const ExpectValue& s) const {
    const std::string tolerance = tolerance_text(s.tolerance);
    return (s.output ? "expect_output " : "expect_value ") + point_text(s.point) +
           " == " + value_text(s.expected) + (tolerance.empty() ? "" : " " + tolerance);
  }
  std::string operator()(const ExpectSharding& s) const {
    return "expect_sharding " + symbol_text(s.function) + " %" + s.value + " = " +
           s.sharding.to_string();
  }
  std::string operator()(const ExpectCollectives& s) const {
    if (s.lines.empty()) return "expect_collectives {}";
    if (s.lines.size() == 1) return "expect_collectives { " + collective_line(s.lines[0]) + " }";
    std::string out = "expect_collectives {\n";
    for (const CollectiveLine& line : s.lines) {
      out += std::string(indent + 2, ' ') + collective_line(line) + "\n";
    }
    return out + std::string(indent, ' ') + "}";
  }
  std::string operator()(const ExpectNo& s) const {
    return "expect_no " + list(s.kinds, [](const std::string& k) { return k; });
  }
  std::string operator()(const ExpectSameAsUnsharded& s) const {
    const std::string tolerance = tolerance_text(s.tolerance);
    return "expect_same_as_unsharded" + (tolerance.empty() ? "" : " tolerance(" + tolerance + ")");
  }
  std::string operator()(const ExpectNoLeaks&) const { return "expect_no_leaks"; }
  std::string operator()(const ExpectError& s) const {
    return "expect_error " + s.id + " {{" + s.text + "}}";
  }
  std::string operator()(const ExpectDeadlock& s) const {
    return "expect_deadlock {{" + s.text + "}}";
  }
  std::string operator()(const ExpectHappensBefore& s) const {
    return "happens_before " + s.first + ", " + s.second;
  }

  static std::string raw_lines(const std::vector<std::string>& lines, size_t column) {
    std::string out;
    for (const std::string& line : lines)
      out += (out.empty() ? " " : "\n" + std::string(column, ' ')) + "{{" + line + "}}";
    return out;
  }
  static std::string number_text(int64_t n) { return std::to_string(n); }
  static std::string value_name(const std::string& n) { return "%" + n; }
  static std::string axis_size_text(const std::pair<std::string, int64_t>& p) {
    return p.first + "=" + std::to_string(p.second);
  }
};

void print_statements(std::string& out, const std::vector<Statement>& statements, size_t indent) {
  for (const Statement& s : statements) {
    append_comments(out, s.leading_comments, indent);
    out += std::string(indent, ' ') + std::visit(StatementPrinter{indent}, s.body) +
           trailing_comment(s.trailing_comment) + "\n";
  }
}

}  // namespace

std::string print_test(const TestPiece& test) {
  std::string out;
  append_comments(out, test.leading_comments, 0);
  append_documentation(out, test.documentation);
  out += "test " + quoted(test.title) + " {\n";
  print_statements(out, test.statements, 2);
  append_comments(out, test.closing_comments, 2);
  return out + "}";
}

}  // namespace hostir::text
