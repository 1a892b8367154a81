#include "hostir/text/attribute_text.h"

#include <algorithm>
#include <array>

#include "hostir/ir/inline_value.h"
#include "hostir/support/lists.h"
#include "hostir/text/parse/parse_expr.h"
#include "hostir/text/parse/parse_type.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

using Type_ = AttributeSpec::Type;

struct Reader {
  Cursor& cursor;
  const SourceManager& sources;
  const AttributeSpec& spec;
  ListBrackets brackets;
};
using Result = std::optional<Attribute>;

// Reports a word that is not in its fixed set, and lists the set.
Result bad_word(Cursor& cursor, const AttributeSpec& spec, const std::vector<std::string>& words) {
  if (!cursor.at(TokenKind::kWord)) {
    cursor.unexpected("one of " + quoted_list(words));
    return std::nullopt;
  }
  const std::string word(cursor.peek().text);
  Diagnostic& d =
      cursor.error("op_c4",
                   "\"" + word + "\" is not a value of the attribute \"" + std::string(spec.name) +
                       "\"; it must be one of " + quoted_list(words),
                   cursor.span_here());
  suggest(d, word, words);
  return std::nullopt;
}

Result read_bool(const Reader& r) {
  if (r.cursor.accept("true")) return Attribute(true);
  if (r.cursor.accept("false")) return Attribute(false);
  r.cursor.unexpected("true or false");
  return std::nullopt;
}

Result read_int(const Reader& r) {
  const auto value = parse_int(r.cursor);
  return value ? Result(*value) : std::nullopt;
}

Result read_float(const Reader& r) {
  const auto value = parse_number(r.cursor);
  return value ? Result(*value) : std::nullopt;
}

Result read_string(const Reader& r) {
  auto value = parse_string(r.cursor, "a string in quotes");
  return value ? Result(std::move(*value)) : std::nullopt;
}

Result read_keyword(const Reader& r) {
  const Token& token = r.cursor.peek();
  const auto& words = r.spec.keywords;
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kInt) {
    r.cursor.unexpected("a word");
    return std::nullopt;
  }
  if (!contains(words, token.text)) {
    return bad_word(r.cursor, r.spec, {words.begin(), words.end()});
  }
  return Attribute(Keyword{std::string(r.cursor.next().text)});
}

Result read_symbol(const Reader& r) {
  auto symbol = r.cursor.expect_symbol("a symbol");
  return symbol ? Result(Symbol{std::move(*symbol)}) : std::nullopt;
}

Result read_expr(const Reader& r) {
  auto expr = parse_expr(r.cursor);
  return expr ? Result(std::move(*expr)) : std::nullopt;
}

Result read_ints(const Reader& r) {
  auto list = parse_int_list(r.cursor);
  return list ? Result(std::move(*list)) : std::nullopt;
}

Result read_int_lists(const Reader& r) {
  IntLists lists;
  if (!r.cursor.expect("[")) return std::nullopt;
  while (!r.cursor.at("]")) {
    auto list = parse_int_list(r.cursor);
    if (!list) return std::nullopt;
    lists.push_back(std::move(*list));
    if (!r.cursor.accept(",")) break;
  }
  return r.cursor.expect("]") ? Result(std::move(lists)) : std::nullopt;
}

Result read_exprs(const Reader& r) {
  const bool brackets = r.brackets == ListBrackets::kWritten;
  if (brackets && !r.cursor.expect("[")) return std::nullopt;
  if (brackets && r.cursor.accept("]")) return Attribute(ExprList{});
  if (!brackets && (r.cursor.at("]") || r.cursor.at(")"))) return Attribute(ExprList{});
  auto list = parse_expr_list(r.cursor);
  if (!list || (brackets && !r.cursor.expect("]"))) return std::nullopt;
  return Attribute(std::move(*list));
}

Result read_axes(const Reader& r) {
  auto dim = parse_axes(r.cursor);
  return dim ? Result(AxisList(std::move(dim->axes))) : std::nullopt;
}

Result read_dtype(const Reader& r) {
  if (const auto dtype = parse_dtype(r.cursor.peek().text))
    return r.cursor.next(), Attribute(*dtype);
  std::vector<std::string> words;
  for (const DType dtype : kAllDTypes) words.emplace_back(name(dtype));
  return bad_word(r.cursor, r.spec, words);
}

Result read_reduction(const Reader& r) {
  if (const auto kind = parse_reduction(r.cursor.peek().text)) {
    return r.cursor.next(), Attribute(*kind);
  }
  return bad_word(r.cursor, r.spec, {"sum", "avg", "prod", "min", "max"});
}

Result read_sharding(const Reader& r) {
  auto sharding = parse_sharding(r.cursor);
  return sharding ? Result(std::move(*sharding)) : std::nullopt;
}

Result read_type(const Reader& r) {
  auto type = parse_type(r.cursor, r.sources);
  return type ? Result(std::move(*type)) : std::nullopt;
}

Result read_tensor(const Reader& r) {
  const SourceSpan span = r.cursor.span_here();
  const auto text = parse_string(r.cursor, "an inline value, as in \"2xf32=[1 2]\"");
  if (!text) return std::nullopt;
  auto tensor = parse_inline_value(*text);
  if (tensor) return Attribute(std::move(*tensor));
  r.cursor.error("value_c3", tensor.error().message(), span);
  return std::nullopt;
}

// In the order of AttributeSpec::Type.
constexpr std::array<Result (*)(const Reader&), 16> kReaders = {
    read_bool,      read_int,      read_float,     read_string, read_keyword, read_symbol,
    read_expr,      read_ints,     read_int_lists, read_exprs,  read_axes,    read_dtype,
    read_reduction, read_sharding, read_type,      read_tensor};

bool word_starts(const Token& token) { return token.kind == TokenKind::kWord; }
bool bracket_starts(const Token& token) { return token.is("["); }
bool brace_starts(const Token& token) { return token.is("{"); }
bool angle_starts(const Token& token) { return token.is("<"); }
bool string_starts(const Token& token) { return token.kind == TokenKind::kString; }
bool symbol_starts(const Token& token) { return token.kind == TokenKind::kSymbol; }

constexpr std::array<bool (*)(const Token&), 16> kStarts = {
    word_starts, starts_expr,    starts_expr,    string_starts, word_starts,  symbol_starts,
    starts_expr, bracket_starts, bracket_starts, starts_expr,   brace_starts, word_starts,
    word_starts, angle_starts,   word_starts,    string_starts};

std::string print_exprs(const ExprList& list) {
  std::string out;
  for (const IndexExpr& e : list) out += (out.empty() ? "" : ", ") + e.to_string();
  return out;
}

struct Printer {
  ListBrackets brackets;
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number_to_string(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const Keyword& v) const { return v.word; }
  std::string operator()(const Symbol& v) const { return symbol_text(v.name); }
  std::string operator()(const IndexExpr& v) const { return v.to_string(); }
  std::string operator()(const IntList& v) const { return print_int_list(v); }
  std::string operator()(const IntLists& v) const { return print_int_lists(v); }
  std::string operator()(const ExprList& v) const {
    return brackets == ListBrackets::kWritten ? "[" + print_exprs(v) + "]" : print_exprs(v);
  }
  std::string operator()(const AxisList& v) const {
    std::string out;
    for (const AxisRef& a : v) out += (out.empty() ? "" : ", ") + a.to_string();
    return "{" + out + "}";
  }
  std::string operator()(DType v) const { return std::string(name(v)); }
  std::string operator()(Reduction v) const { return std::string(name(v)); }
  std::string operator()(const Sharding& v) const { return v.to_string(); }
  std::string operator()(const Type& v) const { return to_string(v); }
  std::string operator()(const Tensor& v) const { return quoted(format_inline_value(v)); }
};

}  // namespace

std::optional<Attribute> parse_attribute(Cursor& cursor, const SourceManager& sources,
                                         const AttributeSpec& spec, ListBrackets brackets) {
  return kReaders[static_cast<size_t>(spec.type)]({cursor, sources, spec, brackets});
}

bool starts_attribute(const Token& token, const AttributeSpec& spec) {
  if (spec.type == AttributeSpec::Type::kKeyword) {
    const auto& words = spec.keywords;
    return contains(words, token.text);
  }
  return kStarts[static_cast<size_t>(spec.type)](token);
}

std::string print_attribute(const Attribute& attribute, ListBrackets brackets) {
  return std::visit(Printer{brackets}, attribute);
}

namespace {

// The upper bound of a single index.
IndexExpr one_after(const IndexExpr& lo) {
  if (lo.is_const()) return lo.value() < INT64_MAX ? lo.value() + 1 : lo.value();
  return IndexExpr::binary(IndexExpr::Kind::kAdd, lo, 1);
}

}  // namespace

bool are_single_indices(const ExprList& lower, const ExprList& upper) {
  return std::equal(lower.begin(), lower.end(), upper.begin(), upper.end(),
                    [](const IndexExpr& lo, const IndexExpr& hi) { return hi == one_after(lo); });
}

bool takes_elements(const OpRecord& op, std::string_view upper) {
  const AttributeSpec* spec = find_attribute_spec(op, upper);
  return spec != nullptr && !spec->required;
}

bool parse_ranges(Cursor& cursor, ExprList& lower, ExprList& upper) {
  do {
    IndexExpr lo = 0;
    IndexExpr hi = -1;
    const bool open_start = cursor.at(":");
    if (!open_start) {
      auto first = parse_expr(cursor);
      if (!first) return false;
      lo = std::move(*first);
    }
    if (cursor.accept(":")) {
      if (!cursor.at(",") && !cursor.at("]")) {
        auto last = parse_expr(cursor);
        if (!last) return false;
        hi = std::move(*last);
      }
    } else {
      hi = one_after(lo);
    }
    lower.push_back(std::move(lo));
    upper.push_back(std::move(hi));
  } while (cursor.accept(","));
  return true;
}

std::string print_ranges(const ExprList& lower, const ExprList& upper, SingleIndex single_index) {
  std::string out;
  for (size_t i = 0; i < lower.size() && i < upper.size(); ++i) {
    const bool to_end = upper[i] == IndexExpr(-1);
    const bool from_start = lower[i] == IndexExpr(0);
    out += i ? ", " : "";
    if (!(from_start && to_end)) out += lower[i].to_string();
    if (single_index == SingleIndex::kAlone && upper[i] == one_after(lower[i])) continue;
    out += ":";
    if (!to_end) out += upper[i].to_string();
  }
  return out;
}

std::optional<IntList> parse_int_list(Cursor& cursor) {
  IntList list;
  if (!cursor.expect("[")) return std::nullopt;
  while (!cursor.at("]")) {
    const auto value = parse_int(cursor);
    if (!value) return std::nullopt;
    list.push_back(*value);
    if (!cursor.accept(",")) break;
  }
  return cursor.expect("]") ? std::optional(std::move(list)) : std::nullopt;
}

std::string print_int_list(const IntList& list) {
  std::string out;
  for (const int64_t v : list) out += (out.empty() ? "" : ", ") + std::to_string(v);
  return "[" + out + "]";
}

std::string print_int_lists(const IntLists& lists) {
  std::string out;
  for (const IntList& list : lists) {
    std::string inner;
    for (const int64_t v : list) inner += (inner.empty() ? "" : ",") + std::to_string(v);
    out += (out.empty() ? "[" : ",[") + inner + "]";
  }
  return "[" + out + "]";
}

}  // namespace hostir::text
