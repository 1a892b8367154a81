#include "hostir/import/module.h"

#include <fmt/format.h>

namespace hostir::importer {

namespace {

template <class Fields>
const Attr* find_field(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return &value;
  }
  return nullptr;
}

void add_uses(const ModuleBlock& block, std::vector<ModuleValue>& values) {
  for (const ModuleOp& op : block.ops) {
    for (const ValueNumber operand : op.operands) ++values[operand].uses;
    for (const ModuleBlock& region : op.regions) add_uses(region, values);
  }
}

}  // namespace

void count_uses(ModuleFunction& function) {
  for (ModuleValue& value : function.values) value.uses = 0;
  add_uses(function.body, function.values);
}

int64_t ModuleType::element_count() const {
  int64_t count = 1;
  for (const int64_t size : dims) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return -1;
  }
  return count;
}

std::optional<DType> ModuleType::dtype() const {
  if (!is_tensor()) return std::nullopt;
  // Unsigned integers are `ui8` in MLIR and `u8` here. All other names are equal, except fp8.
  // Integers of 2 and 4 bits are kept in 8.
  if (element == "i4" || element == "i2") return DType::kI8;
  if (element == "ui4" || element == "ui2") return DType::kU8;
  if (element.starts_with("ui")) return parse_dtype("u" + element.substr(2));
  if (element == "f8E4M3FN") return parse_dtype("f8e4m3");
  if (element == "f8E5M2") return parse_dtype("f8e5m2");
  if (is_only_stored(*this)) return DType::kU8;
  return parse_dtype(element);
}

std::string ModuleType::to_string() const {
  if (kind == Kind::kOther) return element;
  std::string out;
  if (kind == Kind::kTuple) {
    for (const ModuleType& part : parts) out += (out.empty() ? "" : ", ") + part.to_string();
    return "tuple<" + out + ">";
  }
  for (const int64_t size : dims) out += size < 0 ? "?x" : fmt::format("{}x", size);
  return "tensor<" + out + element + ">";
}

bool is_only_stored(const ModuleType& type) {
  const std::string& e = type.element;
  if (!type.is_tensor() || e.size() < 4 || e == "f8E4M3FN" || e == "f8E5M2") return false;
  return e[0] == 'f' && (e[1] == '4' || e[1] == '6' || e[1] == '8') && (e[2] | 0x20) == 'e';
}

ModuleType tensor_type(std::string element, std::vector<int64_t> dims) {
  ModuleType type;
  type.kind = ModuleType::Kind::kTensor;
  type.element = std::move(element);
  type.dims = std::move(dims);
  return type;
}

const Attr* Attr::find(std::string_view name) const { return find_field(fields, name); }

bool is_complex(const ModuleType& type) {
  return type.is_tensor() && type.element.starts_with("complex<");
}

ModuleType part_of(const ModuleType& type) {
  if (!is_complex(type)) return type;
  return tensor_type(type.element.substr(8, type.element.size() - 9), type.dims);
}

std::vector<int64_t> Attr::integers() const {
  std::vector<int64_t> out;
  if (kind == Kind::kInt) return {integer};
  for (const Attr& item : items) out.push_back(item.integer);
  if (literal && literal->data && !is_float(literal->data->dtype)) {
    const int64_t count =
        literal->splat ? literal->type.element_count() : literal->data->element_count();
    for (int64_t i = 0; i < count && i < (int64_t{1} << 24); ++i) {
      out.push_back(literal->data->get_int(literal->splat ? 0 : i));
    }
  }
  return out;
}

Attr Attr::of_int(int64_t value) {
  Attr attr;
  attr.kind = Kind::kInt;
  attr.integer = value;
  return attr;
}

Attr Attr::of_ints(const std::vector<int64_t>& values) {
  Attr attr;
  attr.kind = Kind::kList;
  for (const int64_t value : values) attr.items.push_back(of_int(value));
  return attr;
}

Attr Attr::of_word(std::string word) {
  Attr attr;
  attr.kind = Kind::kWord;
  attr.text = std::move(word);
  return attr;
}

const Attr* ModuleOp::find(std::string_view attribute) const {
  return find_field(attributes, attribute);
}

std::vector<int64_t> ModuleOp::integers(std::string_view attribute) const {
  const Attr* attr = find(attribute);
  return attr != nullptr ? attr->integers() : std::vector<int64_t>();
}

int64_t ModuleOp::integer_or(std::string_view attribute, int64_t fallback) const {
  const Attr* attr = find(attribute);
  if (attr == nullptr) return fallback;
  if (attr->kind == Attr::Kind::kInt || attr->kind == Attr::Kind::kBool) return attr->integer;
  const auto all = attr->integers();
  return all.size() == 1 ? all.front() : fallback;
}

std::string_view ModuleOp::word(std::string_view attribute) const {
  const Attr* attr = find(attribute);
  if (attr == nullptr) return {};
  // `#stablehlo<comparison_direction LT>` is a list of words; take the last one.
  if (attr->kind == Attr::Kind::kList && !attr->items.empty()) return attr->items.back().text;
  return attr->text;
}

const ModuleFunction* Module::find(std::string_view function) const {
  for (const ModuleFunction& f : functions) {
    if (f.name == function) return &f;
  }
  return nullptr;
}

const Mesh* Module::find_mesh(std::string_view mesh) const {
  for (const Mesh& m : meshes) {
    if (m.name == mesh) return &m;
  }
  return nullptr;
}

}  // namespace hostir::importer
