// Parses the `run` statement and its options.
#include "hostir/text/parse/parse_script.h"

namespace hostir::text {

namespace {

bool parse_mesh_sizes(Cursor& cursor, RunStatement& run) {
  do {
    const Token* axis = cursor.expect(TokenKind::kWord, "a mesh axis, as in tp=4");
    if (!axis || !cursor.expect("=")) return false;
    const std::string name(axis->text);
    const auto size = parse_int(cursor);
    if (!size) return false;
    run.mesh_sizes.emplace_back(name, *size);
  } while (cursor.accept(","));
  return true;
}

bool parse_ranks(Cursor& cursor, RunStatement& run) {
  do {
    const auto rank = parse_int(cursor);
    if (!rank) return false;
    run.ranks.push_back(*rank);
  } while (cursor.accept(","));
  return true;
}

bool parse_keep(Cursor& cursor, RunStatement& run) {
  do {
    const Token* value = cursor.expect(TokenKind::kValue, "a value name");
    if (!value) return false;
    run.keep.emplace_back(value->text);
  } while (cursor.accept(","));
  return true;
}

bool parse_overlap(Cursor& cursor, RunStatement& run) {
  for (const char* way : {"none", "collectives", "ring", "auto"}) {
    if (!cursor.accept(way)) continue;
    run.overlap = way;
    return true;
  }
  cursor.unexpected("none, collectives, ring or auto");
  return false;
}

bool parse_feeding(Cursor& cursor, RunStatement& run) {
  do {
    const Token* value = cursor.expect(TokenKind::kValue, "an argument, as in %w1 = output 1");
    if (!value || !cursor.expect("=") || !cursor.expect("output")) return false;
    const std::string name(value->text);
    const auto output = parse_int(cursor);
    if (!output) return false;
    run.feeding.emplace_back(name, *output);
  } while (cursor.accept(","));
  return true;
}

bool parse_run_option(Cursor& cursor, RunStatement& run) {
  const auto number = [&](auto& target) {
    return in_parentheses(cursor,
                          [&] { return read_into(target, [&] { return parse_int(cursor); }); });
  };
  if (cursor.accept("schedules")) return number(run.schedules);
  if (cursor.accept("seed")) {
    return in_parentheses(cursor,
                          [&] { return read_into(run.seed, [&] { return parse_seed(cursor); }); });
  }
  if (cursor.accept("ranks")) {
    return in_parentheses(cursor, [&] { return parse_ranks(cursor, run); });
  }
  if (cursor.accept("mesh")) {
    return in_parentheses(cursor, [&] { return parse_mesh_sizes(cursor, run); });
  }
  if (cursor.accept("keep")) {
    return in_parentheses(cursor, [&] { return parse_keep(cursor, run); });
  }
  if (cursor.accept("overlap")) {
    return in_parentheses(cursor, [&] { return parse_overlap(cursor, run); });
  }
  if (cursor.accept("feeding")) return parse_feeding(cursor, run);
  if (cursor.accept("against")) {
    return read_into(run.against, [&] { return cursor.expect_symbol("a fusion"); });
  }
  cursor.unexpected(
      "an option of run: schedules, seed, ranks, mesh, keep, overlap, feeding or against");
  return false;
}

}  // namespace

std::optional<RunStatement> parse_run(Cursor& cursor) {
  RunStatement run;
  if (!read_into(run.function, [&] { return cursor.expect_symbol("a function"); })) return {};
  if (!cursor.expect("(")) return std::nullopt;
  while (!cursor.at(")")) {
    auto value = parse_value(cursor);
    if (!value) return std::nullopt;
    run.arguments.push_back(std::move(*value));
    if (!cursor.accept(",")) break;
  }
  if (!cursor.expect(")")) return std::nullopt;
  while (cursor.at(TokenKind::kWord) && !cursor.peek().first_on_line) {
    if (!parse_run_option(cursor, run)) return std::nullopt;
  }
  return run;
}

}  // namespace hostir::text
