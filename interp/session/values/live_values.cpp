#include "interp/session/values/live_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hostir/ir/access.h"
#include "hostir/support/text.h"
#include "interp/core/code/integer_list.h"
#include "interp/session/commands/places.h"
#include "interp/session/values/assemble.h"

namespace hostir::interp {
namespace {

tl::unexpected<Error> refused(const char* id, std::string message) {
  return fail(ErrorKind::kRuntime, id, std::move(message));
}

std::string buffer_names(const Code& code) {
  std::set<std::string> names;
  for (const RegisterInfo& info : code.registers) {
    if (info.buffer && info.value.valid())
      names.insert(code.functions[info.function]->value(info.value).name);
  }
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "%" : ", %") + n;
  return out;
}

// Registers with this name; those in the scope of the rank's program counter come first.
std::vector<uint32_t> candidates(const Interpreter& interpreter, Rank rank,
                                 const std::string& name) {
  const Code& code = interpreter.code();
  std::vector<uint32_t> out = find_registers(code, name);
  const CodeIndex call = code.instructions[interpreter.rank(rank).code].call;
  std::stable_partition(out.begin(), out.end(),
                        [&](uint32_t reg) { return code.registers[reg].call == call; });
  return out;
}

void add_state(const Interpreter& interpreter, Rank rank, const BufferRef& buffer,
               ValueReading& out) {
  const auto allocation = find_allocation(interpreter, rank, buffer.allocation);
  if (!allocation) return;
  out.version = allocation->version;
  const TaskRecord* writer = interpreter.task(allocation->written_task);
  const bool in_flight = writer && !writer->finished() && allocation->version > 0;
  out.write_in_flight = out.write_in_flight || in_flight;
  // Poisoned until the first write is visible.
  const bool never = !allocation->initialised && allocation->version == 0;
  out.undefined = out.undefined || never || (in_flight && allocation->version == 1);
}

// One integer, or the part of a list that the query asks for.
ValueReading integer_reading(const std::vector<int64_t>& values, const ValueQuery& query) {
  ValueReading out;
  const auto size = static_cast<int64_t>(values.size());
  out.placement = {DType::kI64, size == 1 ? Extents{} : Extents{size}, {}, {}};
  out.placement.box = Box::whole(out.placement.global);
  const bool part = query.box && query.box->lo.size() == out.placement.global.size();
  out.box = part ? query.box->intersect(out.placement.box) : out.placement.box;
  out.tensor = Tensor::zeros(DType::kI64, out.box.extents());
  const int64_t first = out.box.lo.empty() ? 0 : out.box.lo[0];
  for (int64_t i = 0; i < out.tensor.element_count(); ++i)
    out.tensor.set_int(i, values[static_cast<size_t>(first + i)]);
  out.type = IndexType{};
  return out;
}

Expected<ValueReading> read_rank(const Interpreter& interpreter, const ValueQuery& query) {
  HOSTIR_ASSIGN_OR_RETURN(const BufferRef buffer,
                          find_buffer(interpreter, query.rank, query.value));
  ValueReading out;
  out.placement = *buffer.placement;
  out.type = current_type(interpreter, query.rank, buffer, query.value);
  out.box = query.box ? query.box->intersect(out.placement.box) : out.placement.box;
  if (out.box.empty() && query.box && !query.box->empty()) {
    out.notes.push_back(fmt::format("rank {} holds nothing of this part", query.rank));
    out.tensor = Tensor::zeros(out.placement.dtype, out.box.extents());
    return out;
  }
  HOSTIR_ASSIGN_OR_RETURN(out.tensor, interpreter.backend().read(query.rank, buffer, out.box));
  add_state(interpreter, query.rank, buffer, out);
  return out;
}

void add_notes(const Assembled& whole, ValueReading& out) {
  for (const Rank r : whole.missing) out.notes.push_back(fmt::format("rank {} has no part", r));
  if (whole.disagreement && !out.write_in_flight) {  // replicas differ during a write
    const auto& d = *whole.disagreement;
    out.notes.push_back(fmt::format("ranks {} and {} hold different values at {}", d.first,
                                    d.second, index_text(d.index)));
  }
}

// Reads from each rank only what it holds of the requested part.
Expected<ValueReading> read_global(const Interpreter& interpreter, const ValueQuery& query) {
  const Rank ranks = interpreter.code().rank_count;
  std::vector<std::pair<Rank, BufferRef>> held;
  ValueReading out;
  std::optional<Error> error;
  for (Rank r = 0; r < ranks; ++r) {
    auto buffer = find_buffer(interpreter, r, query.value);
    if (!buffer) {
      error = buffer.error();
      continue;
    }
    Type type = current_type(interpreter, r, *buffer, query.value);
    // If only some ranks have issued a reduction, all ranks still hold addends.
    const Sharding* sharding = sharding_of(type);
    if (held.empty() || (sharding && sharding->is_partial())) out.type = std::move(type);
    add_state(interpreter, r, *buffer, out);
    held.emplace_back(r, std::move(*buffer));
  }
  if (held.empty() && error) return tl::unexpected(std::move(*error));
  const Sharding* sharding = sharding_of(out.type);
  if (sharding && sharding->is_partial()) {
    if (query.partial == ValueQuery::Partial::kAddends) {
      return refused("partial_value", fmt::format("%{} is partial: {}; read it rank by rank",
                                                  query.value, sharding->to_string()));
    }
    out.notes.push_back(fmt::format("partial: {}; shown reduced", sharding->to_pytorch()));
  }
  const Extents extents =
      constant_extents(shape_of(out.type)).value_or(held.front().second.placement->global);
  const Box all = Box::whole(extents);
  out.placement = {dtype_of(out.type), extents, all, {}};
  out.box = query.box ? query.box->intersect(all) : all;
  std::vector<Tensor> parts(held.size());
  std::vector<ShardData> shards;
  for (size_t i = 0; i < held.size(); ++i) {
    const auto& [rank, buffer] = held[i];
    const Box part = buffer.placement->box.intersect(out.box);
    if (part.empty()) {
      parts[i] = Tensor::zeros(buffer.placement->dtype, part.extents());
    } else {
      HOSTIR_ASSIGN_OR_RETURN(parts[i], interpreter.backend().read(rank, buffer, part));
    }
    shards.push_back({rank, buffer.placement->box, &parts[i]});
  }
  Assembled whole = assemble(*interpreter.code().program, out.type, shards, out.box);
  add_notes(whole, out);
  out.tensor = std::move(whole.tensor);
  return out;
}

}  // namespace

Expected<BufferRef> find_buffer(const Interpreter& interpreter, Rank rank,
                                const std::string& name) {
  const std::vector<uint32_t> registers = candidates(interpreter, rank, name);
  for (const uint32_t reg : registers) {
    auto buffer = interpreter.buffer(rank, reg);
    if (buffer && buffer->placement) return std::move(*buffer);
  }
  if (registers.empty()) {
    return refused("no_value",
                   fmt::format("@{} has no buffer %{}; its buffers are {}",
                               interpreter.code().entry, name, buffer_names(interpreter.code())));
  }
  return refused("not_live", fmt::format("%{} is not live on rank {} here", name, rank));
}

std::optional<AllocationView> find_allocation(const Interpreter& interpreter, Rank rank,
                                              AllocationId id) {
  for (const AllocationView& a : interpreter.allocations(rank)) {
    if (a.id == id) return a;
  }
  return std::nullopt;
}

std::vector<int64_t> find_integers(const Interpreter& interpreter, Rank rank,
                                   const std::string& name) {
  for (const uint32_t reg : candidates(interpreter, rank, name)) {
    const RegisterInfo& info = interpreter.code().registers[reg];
    const Type& type = interpreter.code().functions[info.function]->value(info.value).type;
    if (!std::holds_alternative<IndexType>(type)) continue;
    if (!interpreter.integer(rank, reg)) continue;
    std::vector<int64_t> values;
    for (uint32_t i = 0; i < list_size(interpreter.code(), reg); ++i)
      values.push_back(interpreter.integer(rank, reg + i).value_or(0));
    return values;
  }
  return {};
}

namespace {

// False for a view of a part, or with other extents: it has its own type.
bool is_whole(const BufferRef& buffer, const AllocationView& allocation) {
  return buffer.allocation == allocation.id && buffer.offset_bytes == 0 && buffer.placement &&
         allocation.placement && *buffer.placement == *allocation.placement;
}

// Until an in-place write finishes, the contents have the layout from before it: addends, if a
// collective will reduce them.
std::optional<Type> type_before_write(const Interpreter& interpreter, Rank rank,
                                      const AllocationView& allocation) {
  const TaskRecord* writer = interpreter.task(allocation.written_task);
  if (!writer || writer->finished() || allocation.version == 0) return std::nullopt;
  const Code& code = interpreter.code();
  const CodeInstruction& c = code.instructions[writer->code];
  if (c.role != CodeRole::kInstruction) return std::nullopt;
  const std::vector<Operand>& operands = code.source(writer->code).operands;
  for (size_t i = 0; i < operands.size() && i < c.operands.size() && i < c.layouts.size(); ++i) {
    if (operands[i].access != Access::kReadWrite || c.operands[i] == kNoRegister ||
        c.layouts[i] == kNoLayout)
      continue;
    const auto buffer = interpreter.buffer(rank, c.operands[i]);
    if (buffer && is_whole(*buffer, allocation)) return code.layouts[c.layouts[i]].type;
  }
  return std::nullopt;
}

}  // namespace

Type current_type(const Interpreter& interpreter, Rank rank, const BufferRef& buffer,
                  const std::string& name) {
  const Code& code = interpreter.code();
  const auto allocation = find_allocation(interpreter, rank, buffer.allocation);
  const bool whole = allocation && is_whole(buffer, *allocation);
  if (whole) {
    if (auto before = type_before_write(interpreter, rank, *allocation)) return *std::move(before);
  }
  if (whole && allocation->layout != kNoLayout) return code.layouts[allocation->layout].type;
  for (const uint32_t reg : candidates(interpreter, rank, name)) {
    if (code.registers[reg].layout != kNoLayout)
      return code.layouts[code.registers[reg].layout].type;
  }
  TensorType plain;
  if (buffer.placement) {
    plain.dtype = buffer.placement->dtype;
    for (const int64_t n : buffer.placement->global) plain.shape.emplace_back(n);
  }
  return plain;
}

std::optional<NotFinite> find_not_finite(const Interpreter& interpreter, Rank rank,
                                         CodeIndex code_index) {
  const Code& code = interpreter.code();
  if (code.instructions[code_index].role != CodeRole::kInstruction) return std::nullopt;
  const Function& function = *code.functions[code.instructions[code_index].function];
  for (const Operand& operand : code.source(code_index).operands) {
    if (!writes(operand.access) || operand.value.index >= function.values.size()) continue;
    ValueQuery query;
    query.value = function.value(operand.value).name;
    query.rank = rank;
    const auto reading = read_rank(interpreter, query);
    if (!reading || reading->undefined) continue;
    NotFinite out{query.value, {}, 0, 0, reading->tensor.element_count()};
    for (int64_t i = 0; i < out.element_count; ++i) {
      const double v = reading->tensor.get_double(i);
      if (std::isfinite(v)) continue;
      if (out.nan_count + out.inf_count == 0) out.index = reading->box.index_at(i);
      ++(std::isnan(v) ? out.nan_count : out.inf_count);
    }
    if (out.nan_count + out.inf_count > 0) return out;
  }
  return std::nullopt;
}

Expected<ValueReading> read_value(const Interpreter& interpreter, const ValueQuery& query) {
  if (query.rank < 0 || query.rank >= interpreter.code().rank_count)
    return refused("no_rank", fmt::format("there is no rank {}", query.rank));
  const std::vector<int64_t> integers = find_integers(interpreter, query.rank, query.value);
  if (!integers.empty()) return integer_reading(integers, query);
  if (query.from == ValueQuery::From::kRank) return read_rank(interpreter, query);
  return read_global(interpreter, query);
}

}  // namespace hostir::interp
