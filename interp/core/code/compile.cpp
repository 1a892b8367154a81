#include <fmt/core.h>

#include "interp/core/claims/partial_claims.h"
#include "interp/core/code/flattener.h"

namespace hostir::interp {

static_assert(make_task_id(Mesh::kMaxPositions - 1, 0) < kNoTask &&
              task_rank(make_task_id(Mesh::kMaxPositions - 1, 0)) == Mesh::kMaxPositions - 1);

std::string Code::address(CodeIndex index) const {
  if (index >= instructions.size()) return "@" + entry;
  const CodeInstruction& c = instructions[index];
  return fmt::format("@{}#{}", functions[c.function]->name, c.address);
}

std::string Code::register_name(uint32_t reg) const {
  if (reg >= registers.size()) return "";
  const RegisterInfo& info = registers[reg];
  return "%" + functions[info.function]->value(info.value).name;
}

std::vector<uint32_t> Code::find_registers(std::string_view name) const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < registers.size(); ++i) {
    const RegisterInfo& info = registers[i];
    if (functions[info.function]->value(info.value).name == name) out.push_back(i);
  }
  return out;
}

namespace {

Expected<std::shared_ptr<const Code>> compile(std::shared_ptr<const Program> program,
                                              const CodeOptions& options,
                                              Flattener::Blocks blocks) {
  const Function* entry = nullptr;
  for (const Function& f : program->functions) {
    if (f.kind != FunctionKind::kHost) continue;
    if (options.entry.empty() ? entry == nullptr : f.name == options.entry) entry = &f;
  }
  if (entry == nullptr) {
    return fail(ErrorKind::kInvalid, "code_entry",
                options.entry.empty() ? "the program has no host function"
                                      : fmt::format("no host function @{}", options.entry));
  }
  auto code = std::make_shared<Code>();
  code->program = program;
  code->entry = entry->name;
  code->sizes = options.sizes;
  code->world = program->find_mesh(entry->mesh);
  if (code->world == nullptr) {
    return fail_at(ErrorKind::kInvalid, "code_mesh",
                   fmt::format("unknown mesh @{} of @{}", entry->mesh, entry->name),
                   entry->name_span);
  }
  for (const int64_t rank : code->world->ranks()) {
    code->rank_count = std::max(code->rank_count, static_cast<Rank>(rank + 1));
  }
  HOSTIR_TRY(Flattener(*code, *program, blocks).run(*entry));
  if (blocks == Flattener::Blocks::kOfAllRanks) HOSTIR_TRY(check_partial_claims(*code));
  return std::shared_ptr<const Code>(std::move(code));
}

}  // namespace

Expected<std::shared_ptr<const Code>> compile_code(std::shared_ptr<const Program> program,
                                                   const CodeOptions& options) {
  return compile(std::move(program), options, Flattener::Blocks::kOfAllRanks);
}

Expected<std::shared_ptr<const Code>> compile_for_first_rank(std::shared_ptr<const Program> program,
                                                             const CodeOptions& options) {
  return compile(std::move(program), options, Flattener::Blocks::kOfFirstRank);
}

}  // namespace hostir::interp
