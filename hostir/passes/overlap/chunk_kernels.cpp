#include "hostir/passes/overlap/chunk_kernels.h"

#include <fmt/format.h>

#include "hostir/ops/record.h"

namespace hostir {

ChunkKernels::ChunkKernels(const Program& program) : program_(program) {
  for (const Function& f : program.functions) names_.add(f.name);
  for (const Mesh& m : program.meshes) names_.add(m.name);
  for (const Machine& m : program.machines) names_.add(m.name);
}

const Function* ChunkKernels::of(const ChunkedLaunch& launch, int64_t rows, bool local) {
  std::string key = fmt::format("{} {} {}", launch.kernel->name, rows, local);
  for (const auto& dim : launch.rows.dims) key += dim ? fmt::format(" {}", *dim) : " -";
  const auto known = made_.find(key);
  if (known != made_.end()) return &known->second;
  const auto make = local ? local_chunk_kernel : chunk_kernel;
  auto made = make(program_, *launch.kernel, launch.rows, rows);
  if (!made) return nullptr;
  return &keep(std::move(key), launch.kernel->name + (local ? "_block" : "_rows"),
               std::move(*made));
}

const Function& ChunkKernels::of_op(OpKind kind, const std::string& stem, const TensorType& type,
                                    size_t operands, Attributes attributes) {
  std::string key = fmt::format("{} {} {} {}", record(kind).mnemonic, operands,
                                attributes_.id(attributes), to_string(Type(type)));
  Function k;
  k.kind = FunctionKind::kKernel;
  k.body = k.add_region();
  Instruction op;
  op.kind = kind;
  op.attributes = std::move(attributes);
  for (size_t n = 0; n < operands; ++n) {
    const ValueId in = k.add_value(std::string(1, static_cast<char>('a' + n)), type);
    k.params.push_back({in, false});
    op.operands.push_back(Operand{.value = in, .slot = static_cast<uint8_t>(n)});
  }
  const ValueId out = k.add_value("out", type);
  op.results = {out};
  k.add_instruction(k.body, std::move(op));
  Instruction ret;
  ret.kind = OpKind::return_;
  ret.operands = {Operand{.value = out}};
  k.results.push_back({"out", type, std::nullopt, {}});
  k.add_instruction(k.body, std::move(ret));
  return keep(std::move(key), stem, std::move(k));
}

std::vector<Function> ChunkKernels::take(const std::set<std::string>& used) const {
  std::vector<Function> out;
  for (const std::string& key : order_) {
    if (used.count(made_.at(key).name) != 0) out.push_back(made_.at(key));
  }
  return out;
}

const Function& ChunkKernels::keep(std::string key, const std::string& stem, Function kernel) {
  const auto [at, is_new] = made_.try_emplace(key);
  if (!is_new) return at->second;
  kernel.name = names_.fresh(stem);
  at->second = std::move(kernel);
  order_.push_back(std::move(key));
  return at->second;
}

}  // namespace hostir
