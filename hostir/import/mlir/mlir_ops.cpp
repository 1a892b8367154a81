// Operations. All pretty forms share one reader of items (operands, `key = value`, words,
// literals). Only forms with regions or parenthesised pairs have their own functions.

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "hostir/import/mlir/mlir_reader.h"

namespace hostir::importer {

namespace {

bool is_reshard_like(std::string_view name) {
  return name == "sdy.all_gather" || name == "sdy.all_slice" || name == "sdy.all_to_all" ||
         name == "sdy.collective_permute" || name == "sdy.all_reduce" ||
         name == "sdy.reduce_scatter" || name == "sdy.sharded_to_unreduced" ||
         name == "sdy.replicated_to_unreduced";
}

}  // namespace

ValueNumber MlirReader::define(std::string_view name, ModuleType type, SourceSpan span) {
  const auto number = static_cast<ValueNumber>(function_->values.size());
  function_->values.push_back({std::string(name), std::move(type), span, 0});
  return number;
}

// `%0#1` is the second value of `%0:2`.
std::optional<ValueNumber> MlirReader::resolve(const MlirToken& token) {
  std::string_view name = token.text.substr(1);
  uint32_t index = 0;
  if (const size_t hash = name.find('#'); hash != std::string_view::npos) {
    const std::string_view digits = name.substr(hash + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    name = name.substr(0, hash);
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(std::string(name));
    if (found == scope->end()) continue;
    if (index < found->second.second) {
      ++function_->values[found->second.first + index].uses;
      return found->second.first + index;
    }
    error(
        fmt::format("%{} has {} results, there is no number {}", name, found->second.second, index),
        span_of(token));
    return std::nullopt;
  }
  error(fmt::format("%{} is not defined before its use", name), span_of(token));
  return std::nullopt;
}

bool MlirReader::read_operand(ModuleOp& op) {
  if (!at(MlirTokenKind::kValue)) return unexpected("a value");
  const auto value = resolve(next());
  if (value) op.operands.push_back(*value);
  return value.has_value();
}

bool MlirReader::read_defined(Defined& out) {
  if (!at(MlirTokenKind::kValue)) return true;
  do {
    if (!at(MlirTokenKind::kValue)) return unexpected("a value");
    const MlirToken name = next();
    uint32_t count = 1;
    if (accept(":")) {
      const auto number = read_integer();
      if (!number) return false;
      if (*number < 1 || *number > 100000)
        return error("an operation must have 1 to 100000 results", span_of(name));
      count = static_cast<uint32_t>(*number);
    }
    out.names.emplace_back(name, count);
    out.count += count;
  } while (accept(","));
  return expect("=");
}

bool MlirReader::read_block_arguments(ModuleBlock& out) {
  if (!expect("(")) return false;
  while (at(MlirTokenKind::kValue)) {
    const MlirToken name = next();
    if (!expect(":")) return false;
    auto type = read_type();
    if (!type) return false;
    const ValueNumber value = define(name.text.substr(1), std::move(*type), span_of(name));
    out.arguments.push_back(value);
    scopes_.back()[std::string(name.text.substr(1))] = {value, 1};
    if (!skip_location()) return false;
    if (!accept(",")) break;
  }
  return expect(")");
}

bool MlirReader::read_block(ModuleBlock& out) {
  const Nesting nesting(*this);
  if (!nesting.ok() || !expect("{")) return false;
  if (!read_ops(out)) return false;
  return expect("}");
}

// A region in generic form. It must have one block, because StableHLO has no control flow graph.
bool MlirReader::read_region(ModuleBlock& out) {
  const Nesting nesting(*this);
  if (!nesting.ok() || !expect("{")) return false;
  scopes_.emplace_back();
  if (at(MlirTokenKind::kBlock)) {
    next();
    if (at("(") && !read_block_arguments(out)) return false;
    if (!expect(":")) return false;
  }
  const bool good = read_ops(out);
  scopes_.pop_back();
  if (!good) return false;
  if (at(MlirTokenKind::kBlock))
    return error("a region with several blocks cannot be imported", span_of(token_));
  return expect("}");
}

bool MlirReader::read_ops(ModuleBlock& out) {
  while (!at("}") && !at(MlirTokenKind::kEnd) && !at(MlirTokenKind::kBlock)) {
    if (++op_count_ > kMaxOps)
      return error(fmt::format("more than {} operations", kMaxOps), span_of(token_));
    if (!read_op(out)) return false;
  }
  return true;
}

bool MlirReader::read_op(ModuleBlock& out) {
  Defined defined;
  if (!read_defined(defined)) return false;
  ModuleOp op;
  op.span = span_of(token_);
  bool good = false;
  if (at(MlirTokenKind::kString)) {
    op.name = unescaped(next().text);
    good = read_generic(op);
  } else if (at(MlirTokenKind::kWord)) {
    op.name = std::string(next().text);
    // An op is printed without its prefix inside the scope of its dialect.
    if (op.name == "return" || op.name == "call") op.name = "func." + op.name;
    if (op.name == "stablehlo.reduce" && at("("))
      good = read_reduce(op);
    else if (op.name == "stablehlo.while" && at("("))
      good = read_while(op);
    else if (op.name == "sdy.manual_computation" || op.name == "sdy.named_computation")
      good = read_manual(op);
    else if (is_reshard_like(op.name))
      good = read_reshard_like(op);
    else
      good = read_pretty(op);
  } else {
    return unexpected("an operation");
  }
  if (!good || !finish(op, defined) || !skip_location()) return false;
  out.ops.push_back(std::move(op));
  return true;
}

// Reads the optional signature, which has the result types, and defines the result names.
bool MlirReader::finish(ModuleOp& op, const Defined& defined) {
  std::vector<ModuleType> types;
  const uint32_t resume_at = std::exchange(resume_at_, 0);
  if (accept(":")) {
    auto signature = read_signature();
    if (!signature) return false;
    types = std::move(signature->results);
    if (!signature->arrow) {
      // Without an arrow, either there is one type per result, or the last type is the result's.
      if (signature->operands.size() == defined.count) {
        types = std::move(signature->operands);
      } else if (defined.count > 0) {
        types.assign(defined.count, signature->operands.back());
      }
    }
  }
  if (resume_at != 0) move_to(resume_at);
  if (types.size() < defined.count) {
    return error(
        fmt::format("{} gives {} results, {} are named", op.name, types.size(), defined.count),
        op.span);
  }
  // The literal of a constant precedes its type, so read it again now.
  for (auto& [name, attr] : op.attributes) {
    if (attr.kind != Attr::Kind::kRaw || name != "value" || types.empty()) continue;
    const uint32_t behind = token_.begin;
    move_to(static_cast<uint32_t>(attr.integer));
    const auto raw = read_raw_literal();
    if (!raw) return false;
    auto literal = literal_of(*raw, types.front());
    if (!literal) return false;
    attr.kind = Attr::Kind::kLiteral;
    attr.text.clear();
    attr.literal = std::move(literal);
    move_to(behind);
  }
  size_t at_type = 0;
  for (const auto& [token, count] : defined.names) {
    const auto first = static_cast<ValueNumber>(function_->values.size());
    const std::string_view name = token.text.substr(1);
    for (uint32_t i = 0; i < count; ++i) {
      op.results.push_back(define(count > 1 ? fmt::format("{}_{}", name, i) : std::string(name),
                                  std::move(types[at_type++]), span_of(token)));
    }
    if (!scopes_.back().emplace(name, std::pair(first, count)).second) {
      return error(fmt::format("%{} is defined twice", name), span_of(token));
    }
  }
  return true;
}

// `"name"(%a, %b) <{props}> ({region}, ...) {attrs}`.
bool MlirReader::read_generic(ModuleOp& op) {
  if (!expect("(")) return false;
  while (at(MlirTokenKind::kValue)) {
    if (!read_operand(op)) return false;
    if (!accept(",")) break;
  }
  if (!expect(")")) return false;
  if (at("[")) {  // successors: not in StableHLO
    return unexpected("attributes or a type");
  }
  if (accept("<")) {
    if (!at("{")) return unexpected("\"{\"");
    if (!read_fields(op.attributes, "}") || !expect(">")) return false;
  }
  if (accept("(")) {
    do {
      op.regions.emplace_back();
      if (!read_region(op.regions.back())) return false;
    } while (accept(","));
    if (!expect(")")) return false;
  }
  return !at("{") || read_fields(op.attributes, "}");
}

bool MlirReader::read_pretty(ModuleOp& op) {
  while (!at(":") && !at("}") && !at(MlirTokenKind::kEnd)) {
    if (at("loc")) return true;
    // An empty `stablehlo.return` has no operands, types or results and ends at the newline.
    const uint32_t begin = token_.begin;
    if (op.operands.empty() && op.attributes.empty() &&
        lexer_.text().substr(last_end_, begin - last_end_).find('\n') != std::string_view::npos) {
      return true;
    }
    if (!read_pretty_item(op)) return false;
    accept(",");
  }
  return true;
}

bool MlirReader::read_pretty_item(ModuleOp& op) {
  if (at(MlirTokenKind::kValue)) {
    if (!read_operand(op)) return false;
    return !at("[") || read_ranges(op);
  }
  if (at("(")) return read_parenthesised(op);
  if (at("{")) return read_fields(op.attributes, "}");
  if (at("dense") || at("dense_resource")) {
    // Remember the position; the literal is read again when its type is known.
    Attr place;
    place.kind = Attr::Kind::kRaw;
    place.integer = token_.begin;
    if (!read_raw_literal()) return false;
    op.attributes.emplace_back("value", std::move(place));
    return true;
  }
  if (at(MlirTokenKind::kSymbol)) {
    auto symbol = read_attr();
    if (!symbol) return false;
    op.attributes.emplace_back("callee", std::move(*symbol));
    return true;
  }
  if (at(MlirTokenKind::kString)) {
    op.attributes.emplace_back("name", Attr::of_word(unescaped(next().text)));
    return true;
  }
  if (at("<")) {
    auto sharding = read_sharding();
    if (!sharding) return false;
    Attr attr;
    attr.kind = Attr::Kind::kShardings;
    attr.shardings.push_back(std::move(*sharding));
    op.attributes.emplace_back("sharding", std::move(attr));
    return true;
  }
  if (!at(MlirTokenKind::kWord)) return unexpected("an operand, an attribute or a type");
  const std::string key(next().text);
  if (key == "attributes" && at("{")) return read_fields(op.attributes, "}");
  if (!accept("=")) {
    op.attributes.emplace_back("word", Attr::of_word(key));
    return true;
  }
  // In `dim = 0 : T`, T is the type of the operation, not of the number.
  auto value = at(MlirTokenKind::kNumber) ? std::optional(read_number()) : read_attr();
  if (!value) return false;
  // Adjacent lists: `contracting_dims = [2] x [0]`, `[b, 0]x[0, i]->[b, 0]`.
  if (value->kind == Attr::Kind::kList && (at("x") || at("->"))) {
    Attr lists;
    lists.kind = Attr::Kind::kList;
    lists.items.push_back(std::move(*value));
    while (accept("x") || accept("->")) {
      auto more = read_attr();
      if (!more) return false;
      lists.items.push_back(std::move(*more));
    }
    value = std::move(lists);
  }
  op.attributes.emplace_back(key, std::move(*value));
  return true;
}

// `(%a, %b)` of calls and custom calls, `(%a, k = 5)` of chlo.top_k.
bool MlirReader::read_parenthesised(ModuleOp& op) {
  next();
  while (!at(")")) {
    if (at(MlirTokenKind::kValue)) {
      if (!read_operand(op)) return false;
    } else if (at(MlirTokenKind::kWord)) {
      std::string key(next().text);
      if (!expect("=")) return false;
      auto value = read_attr();
      if (!value) return false;
      op.attributes.emplace_back(std::move(key), std::move(*value));
    } else {
      return unexpected("an operand");
    }
    if (!accept(",")) break;
  }
  return expect(")");
}

// `[0:4, 2:8:2]` after the operand of a slice, `[0]` after a tuple.
bool MlirReader::read_ranges(ModuleOp& op) {
  next();
  std::vector<int64_t> start;
  std::vector<int64_t> limit;
  std::vector<int64_t> stride;
  while (!at("]")) {
    const auto lo = read_integer();
    if (!lo) return false;
    start.push_back(*lo);
    if (accept(":")) {
      const auto hi = read_integer();
      if (!hi) return false;
      limit.push_back(*hi);
      std::optional<int64_t> step = 1;
      if (accept(":")) step = read_integer();
      if (!step) return false;
      stride.push_back(*step);
    }
    if (!accept(",")) break;
  }
  op.attributes.emplace_back("start_indices", Attr::of_ints(start));
  op.attributes.emplace_back("limit_indices", Attr::of_ints(limit));
  op.attributes.emplace_back("strides", Attr::of_ints(stride));
  return expect("]");
}

}  // namespace hostir::importer
