// The module in generic form, as `print_generic_op_form` writes it:
// `"builtin.module"() <{..}> ({ "sdy.mesh"() <{..}> ..  "func.func"() <{..}> ({ .. }) .. }) {..}`.

#include <fmt/format.h>

#include "hostir/import/mlir/mlir_reader.h"

namespace hostir::importer {

namespace {

const Attr* find(const std::vector<NamedAttr>& fields, std::string_view name) {
  for (const auto& [key, attr] : fields) {
    if (key == name) return &attr;
  }
  return nullptr;
}

std::string text_of(const std::vector<NamedAttr>& fields, std::string_view name) {
  const Attr* attr = find(fields, name);
  return attr == nullptr ? std::string() : attr->text;
}

void set_ports(std::vector<Port>& ports, const Attr* attributes) {
  if (attributes == nullptr) return;
  for (size_t i = 0; i < ports.size() && i < attributes->items.size(); ++i)
    set_port(ports[i], attributes->items[i].fields);
}

}  // namespace

// `<{a = 1, function_type = (T) -> T, mesh = #sdy.mesh<..>}>` or the same in braces only.
bool MlirReader::read_properties(Properties& out) {
  const bool angle = accept("<");
  if (!expect("{")) return false;
  while (!at("}")) {
    if (!at(MlirTokenKind::kWord) && !at(MlirTokenKind::kString))
      return unexpected("the name of an attribute");
    const MlirToken first = next();
    const std::string key =
        first.kind == MlirTokenKind::kString ? unescaped(first.text) : std::string(first.text);
    if (!accept("=")) {
      out.fields.emplace_back(key, Attr());
    } else if (key == "function_type") {
      out.function = read_signature();
      if (!out.function) return false;
    } else if (key == "mesh" && at("#sdy.mesh")) {
      next();
      out.mesh = read_mesh_body("");
      if (!out.mesh) return false;
    } else {
      auto value = read_attr();
      if (!value) return false;
      out.fields.emplace_back(key, std::move(*value));
    }
    if (!accept(",")) break;
  }
  return expect("}") && (!angle || expect(">"));
}

// After the closing bracket of the regions: attributes, `: () -> ()` and a location.
bool MlirReader::read_generic_end(Properties& out) {
  if (at("{") && !read_properties(out)) return false;
  return (!accept(":") || read_signature().has_value()) && skip_location();
}

bool MlirReader::read_generic_module() {
  next();
  Properties properties;
  if (!expect("(") || !expect(")")) return false;
  if (at("<") && !read_properties(properties)) return false;
  if (!expect("(") || !expect("{")) return false;
  if (at(MlirTokenKind::kBlock)) {
    next();
    if (!expect(":")) return false;
  }
  if (!read_module_body() || !expect("}") || !expect(")") || !read_generic_end(properties))
    return false;
  module_.name = text_of(properties.fields, "sym_name");
  if (const Attr* count = find(properties.fields, "mhlo.num_partitions"))
    module_.partitions = count->integer;
  if (const Attr* count = find(properties.fields, "mhlo.num_replicas"))
    module_.replicas = count->integer;
  return true;
}

bool MlirReader::read_generic_mesh() {
  const SourceSpan span = span_of(next());
  Properties properties;
  if (!expect("(") || !expect(")")) return false;
  if (at("<") && !read_properties(properties)) return false;
  if (!read_generic_end(properties)) return false;
  if (!properties.mesh) return error("sdy.mesh has no attribute \"mesh\"", span);
  properties.mesh->name = text_of(properties.fields, "sym_name");
  properties.mesh->span = span;
  module_.meshes.push_back(std::move(*properties.mesh));
  return true;
}

bool MlirReader::read_generic_function() {
  ModuleFunction f;
  f.span = span_of(next());
  function_ = &f;
  scopes_.assign(1, Scope());
  Properties properties;
  bool good = expect("(") && expect(")") && (!at("<") || read_properties(properties)) &&
              expect("(") && read_region(f.body) && expect(")") && read_generic_end(properties);
  function_ = nullptr;
  scopes_.clear();
  if (!good) return false;
  f.name = text_of(properties.fields, "sym_name");
  f.is_public = text_of(properties.fields, "sym_visibility") == "public";
  if (!properties.function) return error("func.func has no attribute \"function_type\"", f.span);
  if (properties.function->operands.size() != f.body.arguments.size()) {
    return error(fmt::format("@{} takes {} values, but its body {}", f.name,
                             properties.function->operands.size(), f.body.arguments.size()),
                 f.span);
  }
  for (const ValueNumber argument : f.body.arguments) {
    Port port;
    port.type = f.type(argument);
    port.span = f.values[argument].span;
    f.params.push_back(std::move(port));
  }
  for (const ModuleType& type : properties.function->results) {
    Port port;
    port.type = type;
    port.span = f.span;
    f.results.push_back(std::move(port));
  }
  set_ports(f.params, find(properties.fields, "arg_attrs"));
  set_ports(f.results, find(properties.fields, "res_attrs"));
  return add_function(std::move(f));
}

}  // namespace hostir::importer
