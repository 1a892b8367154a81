// Parses values and tolerances in scripts.
#include <array>

#include "hostir/ir/inline_value.h"
#include "hostir/text/parse/parse_script.h"

namespace hostir::text {

namespace {

// Parses an optional `, 4x8xf32`.
bool parse_generator_type(Cursor& cursor, ValueSpec& spec) {
  if (!cursor.accept(",")) return true;
  const bool dtype = cursor.at(TokenKind::kWord) && parse_dtype(cursor.peek().text);
  if (!cursor.at(TokenKind::kShape) && !dtype) {
    cursor.unexpected("a shape, as in 4x8xf32");
    return false;
  }
  spec.type = std::string(cursor.next().text);
  return true;
}

bool parse_full(Cursor& cursor, ValueSpec& spec) {
  spec.kind = ValueSpec::Kind::kFull;
  return read_into(spec.a, [&] { return parse_number(cursor); });
}

bool parse_uniform(Cursor& cursor, ValueSpec& spec) {
  spec.kind = ValueSpec::Kind::kUniform;
  return read_into(spec.seed, [&] { return parse_seed(cursor); }) && cursor.expect(",") &&
         read_into(spec.a, [&] { return parse_number(cursor); }) && cursor.expect(",") &&
         read_into(spec.b, [&] { return parse_number(cursor); });
}

bool parse_normal(Cursor& cursor, ValueSpec& spec) {
  spec.kind = ValueSpec::Kind::kNormal;
  if (!read_into(spec.seed, [&] { return parse_seed(cursor); })) return false;
  const bool numbers =
      cursor.at(",") && (cursor.peek(1).kind == TokenKind::kInt ||
                         cursor.peek(1).kind == TokenKind::kFloat || cursor.peek(1).is("-"));
  if (!numbers) return true;
  cursor.next();
  return read_into(spec.a, [&] { return parse_number(cursor); }) && cursor.expect(",") &&
         read_into(spec.b, [&] { return parse_number(cursor); });
}

bool parse_iota(Cursor& cursor, ValueSpec& spec) {
  spec.kind = ValueSpec::Kind::kIota;
  if (!cursor.at("(")) return true;
  cursor.next();
  if (cursor.accept(")")) return true;
  const bool dtype = cursor.at(TokenKind::kWord) && parse_dtype(cursor.peek().text);
  if (!cursor.at(TokenKind::kShape) && !dtype) {
    cursor.unexpected("a shape, as in 4x8xf32");
    return false;
  }
  spec.type = std::string(cursor.next().text);
  return cursor.expect(")");
}

bool parse_inline(Cursor& cursor, ValueSpec& spec) {
  spec.kind = ValueSpec::Kind::kInline;
  auto text = parse_string(cursor, "an inline value");
  if (!text) return false;
  const auto tensor = parse_inline_value(*text);
  if (!tensor) {
    cursor.error("value_c3", tensor.error().message(), spec.span);
    return false;
  }
  spec.text = std::move(*text);
  return true;
}

bool parse_value_body(Cursor& cursor, ValueSpec& spec) {
  if (cursor.at(TokenKind::kString)) return parse_inline(cursor, spec);
  if (cursor.at(TokenKind::kSymbol) || cursor.at(TokenKind::kValue)) {
    spec.kind = cursor.at(TokenKind::kSymbol) ? ValueSpec::Kind::kFile : ValueSpec::Kind::kName;
    spec.text = std::string(cursor.next().text);
    return true;
  }
  if (cursor.accept("iota")) return parse_iota(cursor, spec);
  using Generator = bool (*)(Cursor&, ValueSpec&);
  constexpr std::array<std::pair<std::string_view, Generator>, 3> kGenerators = {
      {{"full", parse_full}, {"uniform", parse_uniform}, {"normal", parse_normal}}};
  for (const auto& [word, read] : kGenerators) {
    if (!cursor.accept(word)) continue;
    return in_parentheses(cursor, [&, reader = read] {
      return reader(cursor, spec) && parse_generator_type(cursor, spec);
    });
  }
  cursor.unexpected(
      "a value: \"4xf32=[1 2 3 4]\", @file.npy, full, iota, uniform, normal or a name");
  return false;
}

bool parse_one_tolerance(Cursor& cursor, Tolerance& tolerance) {
  if (cursor.accept("exact")) {
    tolerance.kind = Tolerance::Kind::kExact;
    return true;
  }
  if (cursor.accept("ulp")) {
    tolerance.kind = Tolerance::Kind::kUlp;
    return in_parentheses(
        cursor, [&] { return read_into(tolerance.ulp, [&] { return parse_int(cursor); }); });
  }
  const bool absolute = cursor.at("atol");
  if (!absolute && !cursor.at("rtol")) {
    cursor.unexpected("exact, ulp(n), atol(x) or rtol(x)");
    return false;
  }
  cursor.next();
  tolerance.kind = Tolerance::Kind::kAbsRel;
  double& target = absolute ? tolerance.atol : tolerance.rtol;
  return in_parentheses(cursor,
                        [&] { return read_into(target, [&] { return parse_number(cursor); }); });
}

bool at_tolerance(const Cursor& cursor) {
  return !cursor.peek().first_on_line &&
         (cursor.at("exact") || cursor.at("ulp") || cursor.at("atol") || cursor.at("rtol"));
}

}  // namespace

std::optional<ValueSpec> parse_value(Cursor& cursor) {
  ValueSpec spec;
  const uint32_t begin = cursor.begin_here();
  spec.span = cursor.span_here();
  if (!parse_value_body(cursor, spec)) return std::nullopt;
  spec.span = cursor.span_from(begin);
  return spec;
}

std::optional<Tolerance> parse_tolerance(Cursor& cursor) {
  Tolerance tolerance;
  const bool wrapped = cursor.at("tolerance");
  if (wrapped) {
    cursor.next();
    if (!cursor.expect("(")) return std::nullopt;
  }
  while (at_tolerance(cursor)) {
    if (!parse_one_tolerance(cursor, tolerance)) return std::nullopt;
  }
  if (wrapped && tolerance.kind == Tolerance::Kind::kDefault) {
    cursor.unexpected("exact, ulp(n), atol(x) or rtol(x)");
    return std::nullopt;
  }
  if (wrapped && !cursor.expect(")")) return std::nullopt;
  return tolerance;
}

}  // namespace hostir::text
