// Operations with their own syntax: reduce, while, manual_computation, and Shardy's collectives.

#include <fmt/format.h>

#include "hostir/import/mlir/mlir_reader.h"

namespace hostir::importer {

// `(%x init: %c), (%y init: %d) applies stablehlo.add across dimensions = [1] : F`, or with
// ` reducer(%a: T, %b: T) (%c: T, %d: T) { ... }` after the signature. The operands are all inputs,
// then all inits. The block arguments are all left-hand ones, then all right-hand ones.
bool MlirReader::read_reduce(ModuleOp& op) {
  std::vector<ValueNumber> inits;
  do {
    if (!expect("(") || !read_operand(op) || !expect("init") || !expect(":")) return false;
    if (!at(MlirTokenKind::kValue)) return unexpected("a value");
    const auto init = resolve(next());
    if (!init || !expect(")")) return false;
    inits.push_back(*init);
  } while (accept(","));
  op.operands.insert(op.operands.end(), inits.begin(), inits.end());
  std::string applied;
  if (accept("applies")) {
    if (!at(MlirTokenKind::kWord)) return unexpected("the name of an operation");
    applied = std::string(next().text);
    op.attributes.emplace_back("applies", Attr::of_word(applied));
  }
  if (!expect("across") || !expect("dimensions") || !expect("=")) return false;
  auto dims = read_attr();
  if (!dims) return false;
  op.attributes.emplace_back("dimensions", std::move(*dims));
  if (at("{") && !read_fields(op.attributes, "}")) return false;
  if (!applied.empty()) return true;
  // The long form has the signature before the reducer. `finish` reads the signature again.
  const uint32_t colon = token_.begin;
  if (!expect(":") || !read_signature()) return false;
  if (!accept("reducer")) {
    move_to(colon);
    return true;
  }
  ModuleBlock block;
  scopes_.emplace_back();
  std::vector<ValueNumber> left;
  std::vector<ValueNumber> right;
  while (at("(")) {
    block.arguments.clear();
    if (!read_block_arguments(block)) return false;
    if (block.arguments.size() != 2)
      return error("each pair of blocks of a reducer takes 2 arguments", op.span);
    left.push_back(block.arguments[0]);
    right.push_back(block.arguments[1]);
  }
  block.arguments = left;
  block.arguments.insert(block.arguments.end(), right.begin(), right.end());
  const bool good = read_block(block);
  scopes_.pop_back();
  if (!good) return false;
  op.regions.push_back(std::move(block));
  resume_at_ = token_.begin;  // `finish` reads the signature, then continues here
  move_to(colon);
  return true;
}

// `(%iterArg = %c, %iterArg_0 = %x) : T, T attributes {..} cond { ... } do { ... }`.
bool MlirReader::read_while(ModuleOp& op) {
  if (!expect("(")) return false;
  std::vector<MlirToken> names;
  while (at(MlirTokenKind::kValue)) {
    names.push_back(next());
    if (!expect("=") || !read_operand(op)) return false;
    if (!accept(",")) break;
  }
  if (!expect(")")) return false;
  const uint32_t colon = token_.begin;
  std::vector<ModuleType> types;
  if (accept(":")) {
    auto signature = read_signature();
    if (!signature) return false;
    types = std::move(signature->operands);
  }
  if (types.size() != names.size()) {
    return error(
        fmt::format("while carries {} values but has {} types", names.size(), types.size()),
        op.span);
  }
  if (accept("attributes")) {
    if (!at("{")) return unexpected("\"{\"");
    if (!read_fields(op.attributes, "}")) return false;
  }
  for (const std::string_view word : {"cond", "do"}) {
    if (!expect(word)) return false;
    ModuleBlock block;
    scopes_.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i].text.substr(1);
      const ValueNumber value = define(name, types[i], span_of(names[i]));
      block.arguments.push_back(value);
      scopes_.back()[std::string(name)] = {value, 1};
    }
    const bool good = read_block(block);
    scopes_.pop_back();
    if (!good) return false;
    op.regions.push_back(std::move(block));
  }
  resume_at_ = token_.begin;
  move_to(colon);
  return true;
}

bool MlirReader::read_axis_names(Attr& out) {
  if (!expect("{")) return false;
  out.kind = Attr::Kind::kList;
  while (at(MlirTokenKind::kString)) {
    out.items.push_back(Attr::of_word(unescaped(next().text)));
    if (!accept(",")) break;
  }
  return expect("}");
}

bool MlirReader::read_manual_axes(ModuleOp& op) {
  Attr axes;
  if (!expect("manual_axes") || !expect("=") || !read_axis_names(axes)) return false;
  op.attributes.emplace_back("manual_axes", std::move(axes));
  return true;
}

// `(%a) in_shardings=[<..>] out_shardings=[<..>] manual_axes={"x"} (%b: T) { ... sdy.return %v : T
// } : F`.
bool MlirReader::read_manual(ModuleOp& op) {
  const bool manual = op.name == "sdy.manual_computation";
  if (!manual && at("<") && !skip_balanced()) return false;
  if (!at("(") || !read_parenthesised(op)) return at("(") ? false : unexpected("\"(\"");
  for (const std::string_view key : {"in_shardings", "out_shardings"}) {
    if (!manual && !at(key)) continue;  // both may be left out
    if (!expect(key) || !expect("=") || !expect("[")) return false;
    Attr attr;
    attr.kind = Attr::Kind::kShardings;
    while (at("<")) {
      auto sharding = read_sharding();
      if (!sharding) return false;
      attr.shardings.push_back(std::move(*sharding));
      if (!accept(",")) break;
    }
    if (!expect("]")) return false;
    op.attributes.emplace_back(key, std::move(attr));
  }
  if (manual && !read_manual_axes(op)) return false;
  scopes_.emplace_back();
  op.regions.emplace_back();
  const bool good =
      (!at("(") || read_block_arguments(op.regions.back())) && read_block(op.regions.back());
  scopes_.pop_back();
  return good && (!at("{") || read_fields(op.attributes, "}"));
}

// `sdy.all_gather [{"y"}, {}] %x out_sharding=<...> : T`; only the output sharding is used.
bool MlirReader::read_reshard_like(ModuleOp& op) {
  while (!at(MlirTokenKind::kValue)) {
    if (at(MlirTokenKind::kEnd) || at(":")) return unexpected("an operand");
    if (at("[") || at("{")) {
      if (!skip_balanced()) return false;
    } else {
      next();
    }
  }
  if (!read_operand(op) || !expect("out_sharding") || !expect("=")) return false;
  auto sharding = read_sharding();
  if (!sharding) return false;
  Attr attr;
  attr.kind = Attr::Kind::kShardings;
  attr.shardings.push_back(std::move(*sharding));
  op.attributes.emplace_back("sharding", std::move(attr));
  return !at("{") || read_fields(op.attributes, "}");
}

}  // namespace hostir::importer
