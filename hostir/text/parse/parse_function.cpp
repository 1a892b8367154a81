// Parses signatures, regions and names; parse_instruction.cpp parses instructions.
#include "hostir/text/parse/parse_function.h"

#include "hostir/ir/unique_names.h"
#include "hostir/text/parse/parse_type.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

void strip_blank_ends(std::vector<std::string>& lines) {
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
}

}  // namespace

bool FunctionParser::parse() {
  const uint32_t begin = cursor_.begin_here();
  scopes_.emplace_back();
  if (!parse_signature()) {
    notes_.broken = true;
    return false;
  }
  function_.body = function_.add_region();
  if (!parse_region(function_.body, {})) notes_.broken = true;
  name_literals();
  function_.span = cursor_.span_from(begin);
  function_.comments.trailing = cursor_.take_trailing_comment();
  return true;
}

void FunctionParser::name_literals() {
  if (notes_.literals.empty()) return;
  UniqueNames names(function_);
  for (const auto& [index, literal] : notes_.literals) {
    function_.value(ValueId(index)).name = names.fresh("literal");
  }
}

bool FunctionParser::parse_signature() {
  function_.name_span = cursor_.span_here();
  auto name = cursor_.expect_symbol("a name, as in @f");
  if (!name) return false;
  function_.name = std::move(*name);
  if (function_.kind == FunctionKind::kHost) {
    if (!cursor_.expect("on")) return false;
    auto mesh = cursor_.expect_symbol("a mesh");
    if (!mesh) return false;
    function_.mesh = std::move(*mesh);
  }
  if (!cursor_.expect("(")) return false;
  while (!cursor_.at(")") && !cursor_.at_end()) {
    parse_parameter();
    if (!cursor_.accept(",")) break;
  }
  if (!cursor_.expect(")")) return false;
  if (cursor_.accept("->") && !parse_results()) return false;
  if (function_.kind == FunctionKind::kKernel && cursor_.accept("rule")) {
    function_.rule_span = cursor_.span_here();
    auto rule = parse_string(cursor_, "a sharding rule, as in \"([i,k],[k,j])->([i,j])\"");
    if (!rule) return false;
    function_.rule = std::move(*rule);
    if (cursor_.accept("gradient")) {
      function_.gradient_span = cursor_.span_here();
      auto gradient = cursor_.expect_symbol("a kernel or fusion, as in gradient @g");
      if (!gradient) return false;
      function_.gradient = std::move(*gradient);
    }
  }
  return true;
}

void FunctionParser::parse_parameter() {
  Parameter parameter;
  parameter.inout = cursor_.accept("inout");
  const SourceSpan span = cursor_.span_here();
  const Token* name = cursor_.expect(TokenKind::kValue, "a parameter, as in %x: tensor<4xf32>");
  std::optional<Type> type;
  if (name && cursor_.expect(":")) {
    type = parse_type(cursor_, sources_);
    if (type) check_names(*type, span);
  }
  if (!type) {
    notes_.broken = true;
    cursor_.skip_parameter();
  }
  if (!name) return;
  parameter.value = declare({std::string(name->text), span}, type ? std::move(*type) : Type());
  function_.params.push_back(parameter);
}

bool FunctionParser::parse_results() {
  if (!cursor_.accept("(")) return parse_result();
  while (!cursor_.at(")") && !cursor_.at_end()) {
    if (!parse_result()) {
      notes_.broken = true;
      function_.results.push_back({});
      cursor_.skip_parameter();
    }
    if (!cursor_.accept(",")) break;
  }
  return cursor_.expect(")");
}

bool FunctionParser::parse_result() {
  ResultDecl result;
  const uint32_t begin = cursor_.begin_here();
  if (cursor_.at(TokenKind::kValue)) {
    result.name = std::string(cursor_.next().text);
    if (!cursor_.expect(":")) return false;
  }
  auto type = parse_type(cursor_, sources_);
  if (!type) return false;
  result.type = std::move(*type);
  if (cursor_.accept("alias")) {
    if (!cursor_.expect("(")) return false;
    const Token* parameter = cursor_.expect(TokenKind::kValue, "a parameter");
    if (!parameter || !cursor_.expect(")")) return false;
    result.alias = std::string(parameter->text);
  }
  result.span = cursor_.span_from(begin);
  check_names(result.type, result.span);
  function_.results.push_back(std::move(result));
  return true;
}

bool FunctionParser::parse_region(RegionId region, const std::vector<NewName>& arguments) {
  Cursor::Nesting nesting(cursor_);
  if (!nesting.ok() || !cursor_.expect("{")) return false;
  scopes_.emplace_back();
  for (const NewName& argument : arguments) {
    const ValueId id = declare(argument, NoType{});
    function_.region(region).arguments.push_back(id);
  }
  parse_region_body(region);
  scopes_.pop_back();
  std::vector<std::string> closing = cursor_.take_comments();
  strip_blank_ends(closing);
  function_.region(region).closing_comments = std::move(closing);
  return cursor_.expect("}");
}

void FunctionParser::parse_region_body(RegionId region) {
  while (!cursor_.at("}") && !cursor_.at_end() && !cursor_.at_piece()) {
    if (cursor_.too_many_errors()) return;
    const size_t start = cursor_.position();
    const int braces = cursor_.braces();
    const size_t depth = scopes_.size();
    if (parse_instruction(region)) continue;
    notes_.broken = true;
    scopes_.resize(depth);
    cursor_.skip_to_next_instruction(start, braces);
  }
}

std::optional<ValueId> FunctionParser::lookup(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto at = scope->find(name); at != scope->end()) return at->second;
  }
  return std::nullopt;
}

ValueId FunctionParser::resolve(std::string_view name, SourceSpan span) {
  if (const auto id = lookup(name)) return *id;
  Diagnostic& d = cursor_.error("value_c2", "unknown value \"%" + std::string(name) + "\"", span);
  std::vector<std::string> visible;
  for (const auto& scope : scopes_) {
    for (const auto& [key, id] : scope) visible.push_back(key);
  }
  suggest(d, name, visible, "%");
  notes_.broken = true;
  const ValueId id = function_.add_value(std::string(name), NoType{});
  scopes_.back().emplace(std::string(name), id);
  return id;
}

ValueId FunctionParser::declare(const NewName& name, Type type) {
  const ValueId id = function_.add_value(name.name, std::move(type));
  function_.value(id).span = name.span;
  if (const auto earlier = lookup(name.name)) {
    Diagnostic& d = cursor_.error(
        "value_c1", "the name \"%" + name.name + "\" is already in use where it is defined again",
        name.span);
    d.notes.push_back({"it is defined here", function_.value(*earlier).span});
    notes_.broken = true;
  }
  scopes_.back()[name.name] = id;
  return id;
}

void FunctionParser::check_names(const IndexExpr& expr, SourceSpan span) {
  expr.for_each_leaf([&](const IndexExpr& leaf) {
    if (leaf.kind() == IndexExpr::Kind::kName) resolve(leaf.symbol(), span);
  });
}

void FunctionParser::check_names(const Type& type, SourceSpan span) {
  if (!std::holds_alternative<TensorType>(type) && !std::holds_alternative<ShardType>(type)) return;
  for (const IndexExpr& size : shape_of(type)) check_names(size, span);
}

void FunctionParser::check_names(const Attribute& attribute, SourceSpan span) {
  if (const auto* expr = std::get_if<IndexExpr>(&attribute)) check_names(*expr, span);
  if (const auto* list = std::get_if<ExprList>(&attribute)) {
    for (const IndexExpr& expr : *list) check_names(expr, span);
  }
  if (const auto* type = std::get_if<Type>(&attribute)) check_names(*type, span);
}

const std::string& FunctionParser::mesh_of(ValueId value) const {
  const Sharding* sharding = value.valid() ? sharding_of(function_.value(value).type) : nullptr;
  return sharding ? sharding->mesh : function_.mesh;
}

}  // namespace hostir::text
