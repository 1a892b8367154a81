#include "kernels/cuda/generate/emit_common.h"

#include <fmt/format.h>

#include "kernels/cuda/generate/emit.h"

namespace hostir::cuda {

std::string body_function(const std::string& name, size_t arguments, const std::string& index,
                          int threads, const std::string& body) {
  return fmt::format(
      "template <bool A>\ninline void {}(const args<{}>& a, const unsigned block) {{\n"
      "  typedef {} index;\n  constexpr int kThreads = {};\n{}}}\n",
      name, arguments, index, threads, body);
}

std::string entries(const std::string& name, size_t arguments, int threads,
                    const std::string& body_of_aligned, const std::string& body_of_unaligned) {
  const auto entry = [&](std::string_view suffix, const std::string& body) {
    return fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) {}{}(const args<{}> a) {{\n{}}}\n",
        threads, name, suffix, arguments, body);
  };
  return entry("", body_of_aligned) + entry("_u", body_of_unaligned);
}

std::vector<BufferUse> uses_of_group(const Group& group, bool elementwise) {
  std::vector<BufferUse> uses;
  const auto walk_text = [&](const Walk& walk, const Register& reg) {
    if (!elementwise || reg.is_row) return std::string();
    return fmt::format("{}:{}x{}", walk.offset, fmt::join(walk.strides, ","),
                       size_bytes(reg.dtype));
  };
  for (const Register& reg : group.registers()) {
    if (reg.from != Register::From::kLoad) continue;
    uses.push_back({reg.buffer, false, walk_text(reg.walk, reg)});
  }
  for (const Store& store : group.stores()) {
    uses.push_back({store.buffer, true, walk_text(store.walk, group.at(store.reg))});
  }
  return uses;
}

std::string next_name(const Plan& plan) { return fmt::format("k{}", plan.steps.size()); }

void emit_group(const Group& group, Plan& plan) {
  if (group.space().box.empty()) return;
  if (group.has_folds()) {
    group.is_split() ? emit_split(group, plan) : emit_rows(group, plan);
    return;
  }
  emit_parts({group}, plan);
}

}  // namespace hostir::cuda
