// Parses `test` pieces: one small function per statement, selected by its first word in a table.
#include <array>

#include "hostir/ops/record.h"
#include "hostir/text/parse/parse_piece.h"
#include "hostir/text/parse/parse_script.h"
#include "hostir/text/parse/parse_type.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

using Body = decltype(Statement::body);
using MaybeBody = std::optional<Body>;

// `all_reduce#1`, `@f#9`.
std::optional<std::string> parse_address(Cursor& cursor) {
  std::string out;
  if (cursor.at(TokenKind::kSymbol)) {
    out = symbol_text(cursor.next().text);
  } else if (cursor.at(TokenKind::kWord)) {
    out = std::string(cursor.next().text);
  } else if (!cursor.at("#")) {
    cursor.unexpected("an instruction, as in all_reduce#1 or @f#9");
    return std::nullopt;
  }
  if (!cursor.expect("#")) return std::nullopt;
  const auto number = parse_int(cursor, "a number");
  if (!number) return std::nullopt;
  return out + "#" + std::to_string(*number);
}

bool parse_point_suffix(Cursor& cursor, ValuePoint& point) {
  if (cursor.accept("#")) {
    return read_into(point.instance, [&] { return parse_int(cursor); });
  }
  if (cursor.accept("before")) {
    return read_into(point.before, [&] { return parse_address(cursor); });
  }
  if (cursor.accept("after")) {
    return read_into(point.after, [&] { return parse_address(cursor); });
  }
  if (cursor.accept("iteration")) {
    return read_into(point.iteration, [&] { return parse_int(cursor); });
  }
  if (cursor.accept("rank")) return read_into(point.rank, [&] { return parse_int(cursor); });
  cursor.unexpected("\"==\"");
  return false;
}

MaybeBody parse_expect_value(Cursor& cursor, bool output) {
  ExpectValue out;
  out.output = output;
  const Token* name = cursor.expect(TokenKind::kValue, "a value name");
  if (!name) return std::nullopt;
  out.point.value = std::string(name->text);
  while (!cursor.at("==")) {
    if (output && !cursor.at("rank")) {
      cursor.unexpected("\"==\" or \"rank\": an output is checked at the end of the run");
      return std::nullopt;
    }
    if (!parse_point_suffix(cursor, out.point)) return std::nullopt;
  }
  cursor.next();
  if (!read_into(out.expected, [&] { return parse_value(cursor); })) return std::nullopt;
  if (!read_into(out.tolerance, [&] { return parse_tolerance(cursor); })) return std::nullopt;
  return out;
}

MaybeBody parse_expect_output(Cursor& cursor) { return parse_expect_value(cursor, true); }
MaybeBody parse_expect_any(Cursor& cursor) { return parse_expect_value(cursor, false); }

MaybeBody parse_expect_sharding(Cursor& cursor) {
  ExpectSharding out;
  if (!read_into(out.function, [&] { return cursor.expect_symbol("a fusion"); })) return {};
  const Token* value = cursor.expect(TokenKind::kValue, "a value name");
  if (!value || !cursor.expect("=")) return std::nullopt;
  out.value = std::string(value->text);
  if (!read_into(out.sharding, [&] { return parse_sharding(cursor); })) return std::nullopt;
  return out;
}

// The name of a collective; reports any other word.
std::optional<std::string> parse_collective(Cursor& cursor) {
  const SourceSpan span = cursor.span_here();
  const Token* word = cursor.expect(TokenKind::kWord, "a collective");
  if (!word) return std::nullopt;
  const std::string name(word->text);
  const auto kind = find_op(name);
  if (kind && record(*kind).op_class == OpClass::kCommunication) return name;
  Diagnostic& d = cursor.error("test_c2", "\"" + name + "\" is not a collective", span);
  std::vector<std::string> names;
  for (const OpKind op : kCommunicationOps) names.emplace_back(record(op).mnemonic);
  suggest(d, name, names);
  return std::nullopt;
}

std::optional<CollectiveLine> parse_collective_line(Cursor& cursor) {
  CollectiveLine line;
  if (!read_into(line.kind, [&] { return parse_collective(cursor); })) return std::nullopt;
  if (cursor.at(TokenKind::kWord)) {
    line.reduction = parse_reduction(cursor.peek().text);
    if (line.reduction) cursor.next();
  }
  if (cursor.accept("over")) {
    auto axes = parse_axes(cursor);
    if (!axes) return std::nullopt;
    line.over = std::move(axes->axes);
    if (cursor.accept("in") &&
        !read_into(line.mesh, [&] { return cursor.expect_symbol("a mesh, as in @m"); }))
      return std::nullopt;
  }
  if (cursor.at(TokenKind::kInt)) {
    if (!read_into(line.bytes, [&] { return parse_int(cursor); })) return std::nullopt;
    if (!cursor.expect("bytes")) return std::nullopt;
  }
  if (cursor.accept("x") && !read_into(line.times, [&] { return parse_int(cursor); })) return {};
  return line;
}

MaybeBody parse_expect_collectives(Cursor& cursor) {
  ExpectCollectives out;
  if (!cursor.expect("{")) return std::nullopt;
  while (!cursor.at("}")) {
    auto line = parse_collective_line(cursor);
    if (!line) return std::nullopt;
    out.lines.push_back(std::move(*line));
    cursor.accept(",");
  }
  cursor.next();
  return out;
}

MaybeBody parse_expect_no(Cursor& cursor) {
  ExpectNo out;
  do {
    auto kind = parse_collective(cursor);
    if (!kind) return std::nullopt;
    out.kinds.push_back(std::move(*kind));
  } while (cursor.accept(","));
  return out;
}

MaybeBody parse_expect_unsharded(Cursor& cursor) {
  ExpectSameAsUnsharded out;
  if (!read_into(out.tolerance, [&] { return parse_tolerance(cursor); })) return std::nullopt;
  return out;
}

MaybeBody parse_expect_no_leaks(Cursor&) { return ExpectNoLeaks{}; }

MaybeBody parse_expect_error(Cursor& cursor) {
  const Token* id = cursor.expect(TokenKind::kWord, "the id of an error");
  if (!id) return std::nullopt;
  const Token* text = cursor.expect(TokenKind::kRaw, "{{the text of the error}}");
  if (!text) return std::nullopt;
  return ExpectError{std::string(id->text), std::string(text->text)};
}

MaybeBody parse_expect_deadlock(Cursor& cursor) {
  const Token* text = cursor.expect(TokenKind::kRaw, "{{the text of the report}}");
  if (!text) return std::nullopt;
  return ExpectDeadlock{std::string(text->text)};
}

MaybeBody parse_happens_before(Cursor& cursor) {
  ExpectHappensBefore out;
  if (!read_into(out.first, [&] { return parse_address(cursor); })) return std::nullopt;
  if (!cursor.expect(",")) return std::nullopt;
  if (!read_into(out.second, [&] { return parse_address(cursor); })) return std::nullopt;
  return out;
}

std::vector<std::string> parse_lines(Cursor& cursor) {
  std::vector<std::string> lines;
  while (cursor.at(TokenKind::kRaw)) lines.emplace_back(cursor.next().text);
  return lines;
}

MaybeBody parse_change(Cursor& cursor) {
  ChangeStatement out;
  out.from = parse_lines(cursor);
  if (out.from.empty()) {
    cursor.unexpected("{{a line of the program}}");
    return std::nullopt;
  }
  if (!cursor.expect("to")) return std::nullopt;
  out.to = parse_lines(cursor);
  return out;
}

MaybeBody parse_run_statement(Cursor& cursor) {
  auto run = parse_run(cursor);
  return run ? MaybeBody(std::move(*run)) : std::nullopt;
}

MaybeBody parse_bind(Cursor& cursor) {
  BindStatement bind;
  bind.name = std::string(cursor.next().text);
  if (!cursor.expect("=") || !cursor.expect("value")) return std::nullopt;
  if (!read_into(bind.value, [&] { return parse_value(cursor); })) return std::nullopt;
  return bind;
}

class TestParser {
 public:
  TestParser(Cursor& cursor, bool& complete) : cursor_(cursor), complete_(complete) {}

  // Parses statements through the closing brace. False if the brace is missing.
  bool parse_statements(std::vector<Statement>& out, std::vector<std::string>& closing) {
    Cursor::Nesting nesting(cursor_);
    if (!nesting.ok() || !cursor_.expect("{")) return false;
    while (!cursor_.at("}") && !cursor_.at_end() && !cursor_.at_piece()) {
      if (cursor_.too_many_errors()) return false;
      const size_t start = cursor_.position();
      const int braces = cursor_.braces();
      if (parse_statement(out)) continue;
      complete_ = false;
      cursor_.skip_to_next_instruction(start, braces);
    }
    closing = cursor_.take_comments();
    while (!closing.empty() && closing.back().empty()) closing.pop_back();
    while (!closing.empty() && closing.front().empty()) closing.erase(closing.begin());
    return cursor_.expect("}");
  }

 private:
  bool parse_statement(std::vector<Statement>& out) {
    Statement statement;
    cursor_.begin_construct();
    statement.leading_comments = cursor_.take_comments();
    auto& lines = statement.leading_comments;
    while (out.empty() && !lines.empty() && lines.front().empty()) lines.erase(lines.begin());
    const uint32_t begin = cursor_.begin_here();
    auto body = parse_body();
    if (!body) return false;
    statement.body = std::move(*body);
    statement.span = cursor_.span_from(begin);
    for (std::string& line : cursor_.take_inner_comments()) lines.push_back(std::move(line));
    statement.trailing_comment = cursor_.take_trailing_comment();
    out.push_back(std::move(statement));
    return true;
  }

  MaybeBody parse_body() {
    if (cursor_.at(TokenKind::kValue)) return parse_bind(cursor_);
    if (cursor_.accept("repeat")) return parse_repeat();
    using Reader = MaybeBody (*)(Cursor&);
    constexpr std::array<std::pair<std::string_view, Reader>, 12> kStatements = {
        {{"run", parse_run_statement},
         {"change", parse_change},
         {"expect_output", parse_expect_output},
         {"expect_value", parse_expect_any},
         {"expect_sharding", parse_expect_sharding},
         {"expect_collectives", parse_expect_collectives},
         {"expect_no", parse_expect_no},
         {"expect_same_as_unsharded", parse_expect_unsharded},
         {"expect_no_leaks", parse_expect_no_leaks},
         {"expect_error", parse_expect_error},
         {"expect_deadlock", parse_expect_deadlock},
         {"happens_before", parse_happens_before}}};
    for (const auto& [word, reader] : kStatements) {
      if (cursor_.accept(word)) return reader(cursor_);
    }
    unknown_statement({"run", "change", "repeat", "expect_output", "expect_value",
                       "expect_sharding", "expect_collectives", "expect_no",
                       "expect_same_as_unsharded", "expect_no_leaks", "expect_error",
                       "expect_deadlock", "happens_before"});
    return std::nullopt;
  }

  void unknown_statement(const std::vector<std::string>& words) {
    if (!cursor_.at(TokenKind::kWord)) return cursor_.unexpected("a statement of a test");
    const std::string word(cursor_.peek().text);
    Diagnostic& d =
        cursor_.error("test_c1", "unknown statement \"" + word + "\"", cursor_.span_here());
    suggest(d, word, words);
  }

  MaybeBody parse_repeat() {
    RepeatStatement repeat;
    const SourceSpan span = cursor_.span_here();
    const auto count = parse_int(cursor_, "the number of repetitions");
    if (!count) return std::nullopt;
    if (*count < 0) {
      cursor_.error("test_c3", "repeat needs a number that is not negative", span);
      return std::nullopt;
    }
    repeat.count = *count;
    if (!parse_statements(repeat.body, repeat.closing_comments)) return std::nullopt;
    return repeat;
  }

  Cursor& cursor_;
  bool& complete_;
};

}  // namespace

std::optional<TestPiece> parse_test(Cursor& cursor, bool& complete) {
  TestPiece test;
  const uint32_t begin = cursor.begin_here();
  auto title = parse_string(cursor, "a title");
  if (!title) return std::nullopt;
  test.title = std::move(*title);
  if (!TestParser(cursor, complete).parse_statements(test.statements, test.closing_comments)) {
    return std::nullopt;
  }
  test.span = cursor.span_from(begin);
  return test;
}

}  // namespace hostir::text
