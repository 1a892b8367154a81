#include "hostir/passes/host/kernel_table.h"

#include <optional>

#include "hostir/passes/host/attribute_ids.h"
#include "hostir/support/hash.h"

namespace hostir {

namespace {

// The kernel without names and comments, for comparison.
Function anonymous(Function k) {
  k.name.clear();
  for (ResultDecl& r : k.results) {
    r.name.clear();
    if (r.alias) r.alias = "v" + std::to_string(k.find_value(*r.alias)->index);
  }
  for (size_t v = 0; v < k.values.size(); ++v) k.values[v].name = "v" + std::to_string(v);
  return k;
}

// Hashes ops, uses and known sizes. Shardings are compared but not hashed.
size_t hash_of(const Function& k) {
  size_t hash = k.values.size();
  for (const Instruction& i : k.instructions) {
    hash = hash_with(hash, static_cast<size_t>(i.kind));
    for (const Operand& o : i.operands) hash = hash_with(hash, o.value.index);
    hash = hash_with(hash, hash_of(i.attributes));
  }
  for (const Value& v : k.values) {
    const auto* tensor = std::get_if<TensorType>(&v.type);
    if (tensor == nullptr) continue;
    hash = hash_with(hash, static_cast<size_t>(tensor->dtype));
    for (const IndexExpr& e : tensor->shape) {
      hash = hash_with(hash, hash_of(e));
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
