// The file: aliases, the module, meshes, functions, resources.

#include "hostir/import/mlir/mlir_reader.h"

namespace hostir::importer {

Module MlirReader::read_module() {
  while (!at(MlirTokenKind::kEnd)) {
    if (!read_top()) break;
  }
  resolve_resources();
  if (diagnostics_.empty() && module_.functions.empty()) {
    error("the text has no func.func", {file_, 0, 0});
  }
  return std::move(module_);
}

bool MlirReader::read_top() {
  if (at(MlirTokenKind::kHash) || at(MlirTokenKind::kBang)) return read_alias();
  if (at("builtin.module") || at("module")) return read_module_op();
  if (token_.is_name("builtin.module")) return read_generic_module();
  if (at("{")) return read_trailer();
  if (at("func.func") || at("sdy.mesh"))
    return read_module_body();  // a module without its brackets
  return unexpected("module");
}

// `#name = attribute`, `!name = type`, `#loc3 = loc(...)`.
bool MlirReader::read_alias() {
  const bool is_type = at(MlirTokenKind::kBang);
  const std::string name = is_type ? std::string(next().text) : std::string(next().text.substr(1));
  if (!expect("=")) return false;
  if (at("loc")) return skip_location();
  if (is_type) {
    auto type = read_type();
    if (type) type_aliases_[name] = std::move(*type);
    return type.has_value();
  }
  auto attr = read_attr();
  if (attr) aliases_[name] = std::move(*attr);
  return attr.has_value();
}

bool MlirReader::read_module_op() {
  next();
  if (at(MlirTokenKind::kSymbol)) module_.name = symbol_name(next().text);
  if (accept("attributes")) {
    std::vector<NamedAttr> fields;
    if (!at("{")) return unexpected("\"{\"");
    if (!read_fields(fields, "}")) return false;
    for (const auto& [name, attr] : fields) {
      if (name == "mhlo.num_partitions") module_.partitions = attr.integer;
      if (name == "mhlo.num_replicas") module_.replicas = attr.integer;
    }
  }
  if (!expect("{") || !read_module_body()) return false;
  return expect("}") && skip_location();
}

bool MlirReader::read_module_body() {
  while (!at("}") && !at(MlirTokenKind::kEnd)) {
    const size_t errors = diagnostics_.size();
    bool good = false;
    if (at("sdy.mesh")) {
      good = read_mesh();
    } else if (at("func.func")) {
      good = read_function();
    } else if (token_.is_name("sdy.mesh")) {
      good = read_generic_mesh();
    } else if (token_.is_name("func.func")) {
      good = read_generic_function();
    } else {
      good = unexpected("func.func or sdy.mesh");
    }
    if (!good && diagnostics_.size() == errors) return false;
    if (!good) skip_to_function();
  }
  return true;
}

bool MlirReader::read_mesh() {
  next();
  if (!at(MlirTokenKind::kSymbol)) return unexpected("the name of a mesh");
  const MlirToken name = next();
  if (!expect("=")) return false;
  auto mesh = read_mesh_body(symbol_name(name.text));
  if (!mesh) return false;
  mesh->span = span_of(name);
  module_.meshes.push_back(std::move(*mesh));
  std::vector<NamedAttr> unused;
  if (at("{") && !read_fields(unused, "}")) return false;
  return skip_location();
}

// After an error, skips to the next function and resets the nesting, which is unknown by then.
void MlirReader::skip_to_function() {
  scopes_.clear();
  depth_ = 0;
  while (!at(MlirTokenKind::kEnd) && !at("func.func") && !token_.is_name("func.func")) next();
}

void set_port(Port& port, const std::vector<NamedAttr>& fields) {
  for (const auto& [name, attr] : fields) {
    if (name == "sdy.sharding" && !attr.shardings.empty()) port.sharding = attr.shardings.front();
    if (name == "mhlo.sharding") port.tiles = attr.text;
    if (name == "tf.aliasing_output") port.alias = attr.integer;
    if (name == "jax.result_info") port.info = attr.text;
    if (name == "mhlo.is_same_data_across_replicas")
      port.same_on_replicas = attr.kind == Attr::Kind::kUnit || attr.integer != 0;
  }
}

bool MlirReader::read_port_attributes(Port& port) {
  std::vector<NamedAttr> fields;
  if (!at("{")) return true;
  if (!read_fields(fields, "}")) return false;
  set_port(port, fields);
  return true;
}

bool MlirReader::read_parameters(ModuleFunction& f) {
  if (!expect("(")) return false;
  while (at(MlirTokenKind::kValue)) {
    const MlirToken name = next();
    if (!expect(":")) return false;
    auto type = read_type();
    if (!type) return false;
    Port port;
    port.type = *type;
    port.span = span_of(name);
    const ValueNumber value = define(name.text.substr(1), std::move(*type), span_of(name));
    f.body.arguments.push_back(value);
    if (!scopes_.back().emplace(name.text.substr(1), std::pair(value, 1)).second) {
      return error("two parameters are called " + std::string(name.text), span_of(name));
    }
    if (!read_port_attributes(port) || !skip_location()) return false;
    f.params.push_back(std::move(port));
    if (!accept(",")) break;
  }
  return expect(")");
}

bool MlirReader::read_results(ModuleFunction& f) {
  if (!accept("->")) return true;
  const bool list = accept("(");
  if (list && accept(")")) return true;
  do {
    Port port;
    port.span = span_of(token_);
    auto type = read_type();
    if (!type) return false;
    port.type = std::move(*type);
    if (list && !read_port_attributes(port)) return false;
    if (list && !skip_location()) return false;
    f.results.push_back(std::move(port));
  } while (list && accept(","));
  return !list || expect(")");
}

bool MlirReader::read_function() {
  next();
  ModuleFunction f;
  f.is_public = at("public");
  if (at("public") || at("private") || at("nested")) next();
  if (!at(MlirTokenKind::kSymbol)) return unexpected("the name of a function");
  f.span = span_of(token_);
  f.name = symbol_name(next().text);
  function_ = &f;
  scopes_.assign(1, Scope());
  bool good = read_parameters(f) && read_results(f);
  if (good && accept("attributes")) {
    std::vector<NamedAttr> unused;
    good = at("{") ? read_fields(unused, "}") : unexpected("\"{\"");
  }
  if (good && at("{")) good = read_block(f.body);
  if (good) good = skip_location();
  function_ = nullptr;
  scopes_.clear();
  return good && add_function(std::move(f));
}

bool MlirReader::add_function(ModuleFunction f) {
  if (module_.find(f.name) != nullptr) return error("there are two functions @" + f.name, f.span);
  module_.functions.push_back(std::move(f));
  return true;
}

// `{-# dialect_resources: { builtin: { name: "0x04000000..." } } #-}`.
bool MlirReader::read_trailer() {
  std::string key;
  while (!at(MlirTokenKind::kEnd)) {
    const MlirToken token = next();
    if (token.kind == MlirTokenKind::kWord) key = std::string(token.text);
    if (token.kind != MlirTokenKind::kString) continue;
    if (!token.text.starts_with("\"0x")) {
      key = unescaped(token.text);
      continue;
    }
    std::string bytes;
    const std::string_view digits = token.text.substr(3);
    for (size_t i = 0; i + 2 < digits.size(); i += 2) {
      const auto nibble = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
      bytes += static_cast<char>(nibble(digits[i]) * 16 + nibble(digits[i + 1]));
    }
    resources_[key] =
        bytes.size() > 4 ? bytes.substr(4) : std::string();  // skip 4 bytes of alignment
  }
  return true;
}

void MlirReader::resolve_resources() {
  if (resources_.empty()) return;
  const auto fill = [this](auto&& self, ModuleBlock& block) -> void {
    for (ModuleOp& op : block.ops) {
      for (auto& [name, attr] : op.attributes) {
        if (!attr.literal || attr.literal->resource.empty() || !attr.literal->type.dtype())
          continue;
        const auto found = resources_.find(attr.literal->resource);
        if (found != resources_.end()) store_bytes(*attr.literal, found->second, op.span);
      }
      for (ModuleBlock& region : op.regions) self(self, region);
    }
  };
  for (ModuleFunction& f : module_.functions) fill(fill, f.body);
}

bool looks_like_mlir(std::string_view text) {
  MlirLexer lexer(text);
  const MlirToken token = lexer.at(0);
  return token.is("module") || token.is("builtin.module") || token.is("func.func") ||
         token.is("sdy.mesh") || token.is_name("builtin.module") ||
         token.kind == MlirTokenKind::kHash || token.kind == MlirTokenKind::kBang;
}

Expected<Module> read_mlir(const SourceManager& sources, uint32_t file) {
  std::vector<Diagnostic> diagnostics;
  Module module = MlirReader(file, sources.text(file), diagnostics).read_module();
  if (!diagnostics.empty())
    return tl::unexpected(Error{ErrorKind::kInvalid, std::move(diagnostics)});
  return module;
}

}  // namespace hostir::importer
