#include "hostir/passes/kernel_table.h"

#include <functional>
#include <optional>

namespace hostir {

namespace {

// The kernel without names and comments, for comparison.
Function anonymous(Function k) {
  k.name.clear();
  for (size_t v = 0; v < k.values.size(); ++v) k.values[v].name = "v" + std::to_string(v);
  for (ResultDecl& r : k.results) r.name.clear();
  return k;
}

void combine(size_t& hash, size_t with) {
  hash ^= with + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
}

size_t hash_of(const IndexExpr& e) { return e.is_const() ? std::hash<int64_t>()(e.value()) : 0; }

// Hashes numbers and strings. Other attributes are compared but not hashed.
size_t hash_of(const Attribute& a) {
  if (const auto* n = std::get_if<int64_t>(&a)) return std::hash<int64_t>()(*n);
  if (const auto* x = std::get_if<double>(&a)) return std::hash<double>()(*x);
  if (const auto* text = std::get_if<std::string>(&a)) return std::hash<std::string>()(*text);
  if (const auto* word = std::get_if<Keyword>(&a)) return std::hash<std::string>()(word->word);
  size_t hash = a.index();
  if (const auto* list = std::get_if<IntList>(&a)) {
    for (const int64_t n : *list) combine(hash, std::hash<int64_t>()(n));
  }
  if (const auto* list = std::get_if<ExprList>(&a)) {
    for (const IndexExpr& e : *list) combine(hash, hash_of(e));
  }
  return hash;
}

// Hashes ops, uses and known sizes. Shardings are compared but not hashed.
size_t hash_of(const Function& k) {
  size_t hash = k.values.size();
  for (const Instruction& i : k.instructions) {
    combine(hash, static_cast<size_t>(i.kind));
    for (const Operand& o : i.operands) combine(hash, o.value.index);
    for (const auto& [name, value] : i.attributes.entries()) combine(hash, hash_of(value));
  }
  for (const Value& v : k.values) {
    const auto* tensor = std::get_if<TensorType>(&v.type);
    if (tensor == nullptr) continue;
    combine(hash, static_cast<size_t>(tensor->dtype));
    for (const IndexExpr& e : tensor->shape) {
      combine(hash, hash_of(e));
    }
  }
  return hash;
}

}  // namespace

KernelTable::KernelTable(const Program& program, std::vector<Function> kernels) {
  for (const Function& f : program.functions) names_.add(f.name);
  for (const Mesh& m : program.meshes) names_.add(m.name);
  for (const Machine& m : program.machines) names_.add(m.name);
  for (Function& k : kernels) {
    names_.add(k.name);
    Function plain = anonymous(k);
    const size_t hash = hash_of(plain);
    add(std::move(k), std::move(plain), hash);
  }
}

void KernelTable::add(Function kernel, Function anonymous, size_t hash) {
  by_hash_.emplace(hash, kernels_.size());
  kernels_.push_back(std::move(kernel));
  anonymous_.push_back(std::move(anonymous));
}

std::string KernelTable::share(Function kernel) {
  Function wanted = anonymous(kernel);
  const size_t hash = hash_of(wanted);
  // Take the first match: the list given to the constructor may contain equal kernels.
  std::optional<size_t> found;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if ((!found || at->second < *found) && anonymous_[at->second] == wanted) found = at->second;
  }
  if (found) return kernels_[*found].name;
  kernel.name = names_.fresh(kernel.name);
  std::string name = kernel.name;
  add(std::move(kernel), std::move(wanted), hash);
  return name;
}

}  // namespace hostir
