// Attributes: builtin ones; StableHLO's, by their general form `#name<key = value, ...>`; and
// Shardy's, by their own grammar. Any other form is kept as text.

#include <charconv>

#include "hostir/import/mlir/mlir_reader.h"

namespace hostir::importer {

namespace {

Attr text_attr(Attr::Kind kind, std::string text) {
  Attr attr;
  attr.kind = kind;
  attr.text = std::move(text);
  return attr;
}

}  // namespace

std::optional<Attr> MlirReader::read_attr() {
  const Nesting nesting(*this);
  if (!nesting.ok()) return std::nullopt;
  if (at(MlirTokenKind::kHash)) return read_hash_attr();
  if (at(MlirTokenKind::kNumber)) {
    Attr number = read_number();
    if (accept(":") && !read_type()) return std::nullopt;
    return number;
  }
  if (at("dense") || at("dense_resource")) return read_literal_attr();
  if (at(MlirTokenKind::kString)) {
    Attr attr = text_attr(Attr::Kind::kString, unescaped(next().text));
    if (accept(":") && !read_type()) return std::nullopt;
    return attr;
  }
  if (at(MlirTokenKind::kSymbol)) {
    Attr attr = text_attr(Attr::Kind::kSymbol, symbol_name(next().text));
    while (accept(":")) {  // @a::@b
      if (!expect(":") || !at(MlirTokenKind::kSymbol)) return std::nullopt;
      next();
    }
    return attr;
  }
  if (at("[")) {
    next();
    return read_list_attr("]");
  }
  if (at("{") || at("<")) {
    Attr attr;
    attr.kind = Attr::Kind::kDict;
    const std::string close = at("{") ? "}" : ">";
    if (!read_fields(attr.fields, close)) return std::nullopt;
    return attr;
  }
  if (at("true") || at("false")) {
    Attr attr;
    attr.kind = Attr::Kind::kBool;
    attr.integer = next().text == "true" ? 1 : 0;
    return attr;
  }
  if (at("array")) {  // array<i64: 1, 2>
    next();
    if (!expect("<")) return std::nullopt;
    next();  // the element type
    if (accept(">")) return Attr::of_ints({});
    if (!expect(":")) return std::nullopt;
    return read_list_attr(">");
  }
  if (at("tensor") || at("tuple") || at(MlirTokenKind::kBang)) {
    const auto type = read_type();
    if (!type) return std::nullopt;
    return text_attr(Attr::Kind::kRaw, type->to_string());
  }
  if (at("(")) return read_raw_attr(token_.begin);
  if (at(MlirTokenKind::kWord)) {
    const uint32_t begin = token_.begin;
    Attr word = text_attr(Attr::Kind::kWord, std::string(next().text));
    if (at("<") || at("(")) return read_raw_attr(begin);  // affine_map<...>, loc(...)
    return word;
  }
  unexpected("an attribute");
  return std::nullopt;
}

// The text from `begin` through the next balanced bracket.
std::optional<Attr> MlirReader::read_raw_attr(uint32_t begin) {
  if (!skip_balanced()) return std::nullopt;
  return text_attr(Attr::Kind::kRaw, std::string(lexer_.text().substr(begin, last_end_ - begin)));
}

Attr MlirReader::read_number() {
  const MlirToken token = next();
  Attr attr;
  const char* end = token.text.data() + token.text.size();
  const auto whole = std::from_chars(token.text.data(), end, attr.integer);
  attr.kind = Attr::Kind::kInt;
  if (whole.ec != std::errc() || whole.ptr != end) {
    attr.kind = Attr::Kind::kFloat;
    attr.integer = 0;
    if (!token.text.starts_with("0x")) std::from_chars(token.text.data(), end, attr.real);
  }
  return attr;
}

std::optional<Attr> MlirReader::read_literal_attr() {
  const auto raw = read_raw_literal();
  if (!raw || !expect(":")) return std::nullopt;
  const auto type = read_type();
  if (!type) return std::nullopt;
  Attr attr;
  attr.kind = Attr::Kind::kLiteral;
  attr.literal = literal_of(*raw, *type);
  if (!attr.literal) return std::nullopt;
  return attr;
}

std::optional<Attr> MlirReader::read_list_attr(std::string_view close) {
  Attr list;
  list.kind = Attr::Kind::kList;
  if (accept(close)) return list;
  do {
    auto item = read_attr();
    if (!item) return std::nullopt;
    list.items.push_back(std::move(*item));
  } while (accept(","));
  if (!expect(close)) return std::nullopt;
  return list;
}

// One field is `key = value`, `key` alone, or a value alone (its key is empty).
bool MlirReader::read_fields(std::vector<NamedAttr>& out, std::string_view close) {
  const Nesting nesting(*this);
  if (!nesting.ok()) return false;
  next();
  if (accept(close)) return true;
  do {
    std::string key;
    const MlirToken first = peek();
    if (at(MlirTokenKind::kWord) || at(MlirTokenKind::kString)) {
      next();
      key = first.kind == MlirTokenKind::kString ? unescaped(first.text) : std::string(first.text);
      if (accept("=")) {
        // `sub_axis_info = (2)4` is the product of the sizes before it, and its size.
        if (at("(")) {
          next();
          const auto pre = read_integer();
          if (!pre || !expect(")")) return false;
          const auto size = read_integer();
          if (!size) return false;
          out.emplace_back(std::move(key), Attr::of_ints({*pre, *size}));
          continue;
        }
        auto value = read_attr();
        if (!value) return false;
        out.emplace_back(std::move(key), std::move(*value));
        continue;
      }
      out.emplace_back(std::move(key), Attr());
      // `#stablehlo<comparison_direction LT>` is a sequence of words.
      while (at(MlirTokenKind::kWord)) out.emplace_back(std::string(next().text), Attr());
      continue;
    }
    auto value = read_attr();
    if (!value) return false;
    out.emplace_back(std::string(), std::move(*value));
  } while (accept(","));
  return expect(close);
}

std::optional<Attr> MlirReader::read_hash_attr() {
  const MlirToken token = next();
  const std::string name(token.text.substr(1));
  if (!at("<")) {
    if (const auto alias = aliases_.find(name); alias != aliases_.end()) return alias->second;
    return text_attr(Attr::Kind::kWord, name);
  }
  return read_dialect_body(name);
}

// Reads the body after `#name`; the next token must be `<`.
std::optional<Attr> MlirReader::read_dialect_body(std::string name) {
  Attr attr;
  if (name == "sdy.sharding") {
    auto sharding = read_sharding();
    if (!sharding) return std::nullopt;
    attr.kind = Attr::Kind::kShardings;
    attr.shardings.push_back(std::move(*sharding));
    return attr;
  }
  if (name == "sdy.sharding_per_value") {
    attr.kind = Attr::Kind::kShardings;
    if (!expect("<") || !expect("[")) return std::nullopt;
    while (!accept("]")) {  // an operation without operands has an empty list
      if (!attr.shardings.empty() && !expect(",")) return std::nullopt;
      auto sharding = read_sharding();
      if (!sharding) return std::nullopt;
      attr.shardings.push_back(std::move(*sharding));
    }
    if (!expect(">")) return std::nullopt;
    return attr;
  }
  const uint32_t begin = token_.begin;
  if (name == "sdy") {  // #sdy<manual_axes{"x"}>
    next();
    if (accept("manual_axes")) {
      if (!read_axis_names(attr) || !expect(">")) return std::nullopt;
      return attr;
    }
    move_to(begin);
  }
  const size_t errors = diagnostics_.size();
  attr.kind = Attr::Kind::kDict;
  attr.text = name;
  if (read_fields(attr.fields, ">")) {
    if (name == "stablehlo") {  // #stablehlo<comparison_direction LT>
      Attr words;
      words.kind = Attr::Kind::kList;
      for (const auto& [word, unused] : attr.fields) words.items.push_back(Attr::of_word(word));
      return words;
    }
    return attr;
  }
  if (too_deep_) return std::nullopt;
  diagnostics_.resize(errors);  // another form: keep it as text
  move_to(begin);
  return read_raw_attr(begin);
}

// `<@mesh, [{"x"}, {"y", ?}], replicated={"z"}, unreduced=max{"w"}>`.
std::optional<Sharding> MlirReader::read_sharding() {
  Sharding out;
  const uint32_t begin = token_.begin;
  if (!expect("<")) return std::nullopt;
  if (at(MlirTokenKind::kSymbol)) {
    out.mesh = symbol_name(next().text);
  } else if (accept("mesh")) {
    auto mesh = read_mesh_body("mesh_inline_" + std::to_string(module_.meshes.size()));
    if (!mesh) return std::nullopt;
    out.mesh = mesh->name;
    module_.meshes.push_back(std::move(*mesh));
  } else {
    unexpected("a mesh");
    return std::nullopt;
  }
  if (!expect(",") || !read_sharding_dims(out)) return std::nullopt;
  while (accept(",")) {
    const bool replicated = at("replicated");
    if (!replicated && !at("unreduced")) {
      unexpected("\"replicated\" or \"unreduced\"");
      return std::nullopt;
    }
    next();
    if (!expect("=")) return std::nullopt;
    if (at("max") || at("min")) {
      out.unreduced_kind = next().text == "max" ? Reduction::kMax : Reduction::kMin;
    }
    std::vector<AxisRef> axes;
    if (!expect("{") || !read_axes(axes) || !expect("}")) return std::nullopt;
    (replicated ? out.pinned : out.unreduced) = std::move(axes);
  }
  if (!expect(">")) return std::nullopt;
  out.span = {file_, begin, last_end_};
  return out;
}

bool MlirReader::read_sharding_dims(Sharding& out) {
  if (!expect("[")) return false;
  if (accept("]")) return true;
  do {
    DimSharding dim;
    if (!expect("{")) return false;
    if (accept("?")) {
      dim.open = true;
    } else if (!at("}") && !read_axes(dim.axes)) {
      return false;
    }
    // read_axes stops after the comma before `?`.
    if (accept("?")) dim.open = true;
    if (!expect("}")) return false;
    // An optional priority after the brace: `p1`.
    if (at(MlirTokenKind::kWord) && token_.text.starts_with("p")) {
      const std::string_view text = next().text;
      std::from_chars(text.data() + 1, text.data() + text.size(), dim.priority);
    }
    out.dims.push_back(std::move(dim));
  } while (accept(","));
  return expect("]");
}

bool MlirReader::read_axes(std::vector<AxisRef>& out) {
  while (at(MlirTokenKind::kString)) {
    AxisRef axis;
    axis.name = unescaped(next().text);
    if (accept(":")) {
      if (!expect("(")) return false;
      const auto pre = read_integer();
      if (!pre || !expect(")")) return false;
      const auto size = read_integer();
      if (!size) return false;
      if (*pre < 1 || *size < 1)
        return error("a sub-axis must have a size of at least 1", {file_, token_.begin, last_end_});
      axis.pre = *pre;
      axis.size = *size;
    }
    out.push_back(std::move(axis));
    if (!accept(",")) return true;
  }
  return true;
}

// `<["x"=2, "y"=4], device_ids=[3, 2, 1, 0]>`.
std::optional<Mesh> MlirReader::read_mesh_body(std::string name) {
  Mesh mesh;
  mesh.name = std::move(name);
  const uint32_t begin = token_.begin;
  if (!expect("<") || !expect("[")) return std::nullopt;
  int64_t positions = 1;
  while (at(MlirTokenKind::kString)) {
    MeshAxis axis;
    axis.name = unescaped(next().text);
    if (!expect("=")) return std::nullopt;
    const auto size = read_integer();
    if (!size) return std::nullopt;
    axis.size = *size;
    if (*size < 1 || __builtin_mul_overflow(positions, *size, &positions) ||
        positions > Mesh::kMaxPositions) {
      error("a mesh must have between 1 and " + std::to_string(Mesh::kMaxPositions) + " positions",
            {file_, begin, last_end_});
      return std::nullopt;
    }
    mesh.axes.push_back(std::move(axis));
    if (!accept(",")) break;
  }
  if (!expect("]")) return std::nullopt;
  if (accept(",")) {
    if (!expect("device_ids") || !expect("=") || !expect("[")) return std::nullopt;
    while (at(MlirTokenKind::kNumber)) {
      const auto id = read_integer();
      if (!id) return std::nullopt;
      mesh.device_ids.push_back(*id);
      if (!accept(",")) break;
    }
    if (!expect("]")) return std::nullopt;
  }
  if (!expect(">")) return std::nullopt;
  mesh.span = {file_, begin, last_end_};
  return mesh;
}

}  // namespace hostir::importer
