// Inputs and outputs: cuts a global tensor into the ranks' parts, and assembles parts into a global
// tensor.
//
// Parts are dense over the placement's box, or in block order if the placement has blocks. A
// partial parameter is stored at coordinate 0 of its unreduced axes; the other ranks hold the
// identity. Partial results are reduced in group order (position order along the unreduced axes).
// 16- and 8-bit floats are accumulated in f32 and rounded once.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "hostir/ir/fold_into.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

namespace {

// Calls f(offset in the outer box, offset in the part, elements) for every row of `part`, a sub-box
// of `outer`. Offsets are in elements.
template <class F>
void for_each_row(const Box& outer, const Box& part, F f) {
  if (part.empty()) return;
  const Extents whole = outer.extents();
  const Extents local = part.extents();
  const size_t n = local.size();
  const int64_t row = n == 0 ? 1 : local[n - 1];
  const int64_t rows = part.volume() / row;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r;
    int64_t offset = n == 0 ? 0 : part.lo[n - 1] - outer.lo[n - 1];
    int64_t stride = n == 0 ? 1 : whole[n - 1];
    for (size_t d = n - (n > 0); d-- > 0;) {
      offset += (rest % local[d] + part.lo[d] - outer.lo[d]) * stride;
      rest /= local[d];
      stride *= whole[d];
    }
    f(offset, r * row, row);
  }
}

std::vector<Box> parts_of(const Placement& p) {
  return p.blocks.empty() ? std::vector<Box>{p.box} : p.blocks;
}

void fill_identity(Tensor& tensor, Reduction kind) {
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    if (kind == Reduction::kProd) {
      tensor.set_double(i, 1);
    } else if (kind == Reduction::kMin || kind == Reduction::kMax) {
      const double sign = kind == Reduction::kMin ? 1 : -1;
      if (is_float(tensor.dtype)) {
        tensor.set_double(i, sign * facts_of(tensor.dtype).top);
      } else {
        tensor.set_int(i, sign > 0 ? greatest(tensor.dtype) : least(tensor.dtype));
      }
    }
  }
}

// This rank's part of a global value, in the buffer's storage order.
Tensor part_of(const Tensor& global, const Placement& placement) {
  Tensor part = Tensor::zeros(global.dtype, {placement.box.volume()});
  const auto element = static_cast<size_t>(size_bytes(global.dtype));
  const Box outer = Box::whole(global.extents);
  int64_t at = 0;
  for (const Box& box : parts_of(placement)) {
    for_each_row(outer, box, [&](int64_t from, int64_t to, int64_t count) {
      std::memcpy(part.data.data() + static_cast<size_t>(at + to) * element,
                  global.data.data() + static_cast<size_t>(from) * element,
                  static_cast<size_t>(count) * element);
    });
    at += box.volume();
  }
  return part;
}

// `into` and `from` in f64, f32, i64 or u64.
void fold_box(Tensor& into, const Box& outer, const Tensor& from, const Box& box, Reduction kind,
              bool first) {
  for_each_row(outer, box, [&](int64_t to, int64_t at, int64_t count) {
    if (!first) return fold_into(into, to, from, at, count, kind);
    for (int64_t i = 0; i < count; ++i) {
      if (is_float(into.dtype))
        into.set_double(to + i, from.get_double(at + i));
      else
        into.set_int(to + i, from.get_int(at + i));
    }
  });
}

// The index of a rank's addend in the reduction: its position along the unreduced axes, in their
// order.
int64_t addend_of(const Mesh& mesh, const Sharding& sharding, int64_t position) {
  int64_t at = 0;
  for (const AxisRef& axis : sharding.unreduced) {
    at = at * mesh.axis_size(axis) + mesh.coord(position, axis);
  }
  return at;
}

}  // namespace

Expected<void> Interpreter::bind(size_t parameter, const Tensor& global) {
  const Code& code = *engine_->run.code;
  if (parameter >= code.parameters.size()) {
    return fail(ErrorKind::kUsage, "bind_parameter",
                fmt::format("@{} has {} parameters", code.entry, code.parameters.size()));
  }
  const uint32_t reg = code.parameters[parameter];
  const LayoutTable& table = code.layouts[code.registers[reg].layout];
  const std::string name = code.register_name(reg);
  if (!table.is_static()) {
    return fail(ErrorKind::kUsage, "bind_shape", name + " has no fixed size");
  }
  if (dtype_of(table.type) != global.dtype) {
    return fail(ErrorKind::kUsage, "bind_dtype",
                fmt::format("{} is declared {}, but the value given is {}", name,
                            hostir::name(dtype_of(table.type)), hostir::name(global.dtype)));
  }
  const Sharding* sharding = sharding_of(table.type);
  const Mesh* mesh = sharding != nullptr ? code.program->find_mesh(sharding->mesh) : nullptr;
  const bool has_values = engine_->run.backend.capabilities().reads_values;
  for (Rank r = 0; r < engine_->run.rank_count(); ++r) {
    const Placement& placement = table.by_rank[static_cast<size_t>(r)];
    if (engine_->run.state.ranks[static_cast<size_t>(r)].status == RankStatus::kRemote) continue;
    if (placement.global != global.extents) {
      Shape have;
      for (const int64_t n : global.extents) have.emplace_back(n);
      return fail(ErrorKind::kUsage, "bind_shape",
                  fmt::format("{} is declared {}, but the value given is {}", name,
                              shape_to_string(shape_of(table.type), global.dtype),
                              shape_to_string(have, global.dtype)));
    }
    const auto position = mesh != nullptr ? mesh->position_of(r) : std::nullopt;
    Tensor part;
    if (!has_values) {
      // The value may be a shape without data.
    } else if (position && sharding->is_partial() &&
               !is_partial_root(*mesh, *sharding, *position)) {
      part = Tensor::zeros(global.dtype, {placement.box.volume()});
      fill_identity(part, sharding->unreduced_kind);
    } else {
      part = part_of(global, placement);
    }
    RankState& rank = engine_->run.state.ranks[static_cast<size_t>(r)];
    Allocation& a = rank.allocations[rank.registers[reg].slot];
    HOSTIR_TRY(engine_->run.backend.write(r, a.id, placement, 0, part.data));
    a.initialised = true;
  }
  return {};
}

std::optional<BufferRef> Interpreter::result(Rank rank, size_t index) const {
  const auto remote = engine_->remote.parts.find({rank, index});
  if (remote != engine_->remote.parts.end()) return remote->second.ref;
  if (rank >= engine_->run.rank_count()) return std::nullopt;
  const RankState& r = engine_->run.state.ranks[static_cast<size_t>(rank)];
  if (index >= r.results.size()) return std::nullopt;
  return engine_->operands.buffer_of(r, r.results[index]);
}

Expected<Tensor> Interpreter::global_result(size_t index) const {
  std::vector<std::optional<BufferRef>> parts;
  const Code& code = *engine_->run.code;
  const Function& entry = *code.functions[0];
  for (Rank r = 0; r < code.rank_count; ++r) parts.push_back(result(r, index));
  const CodeInstruction& last = code.instructions.back();
  if (index >= last.operands.size() || last.operands[index] == kNoRegister) {
    return fail(ErrorKind::kUsage, "result_index",
                fmt::format("@{} returns {} values", code.entry, entry.results.size()));
  }
  const LayoutIndex layout = last.layouts[index];
  return assemble(parts, layout);
}

Expected<Tensor> Interpreter::assemble(std::span<const std::optional<BufferRef>> parts,
                                       LayoutIndex layout) const {
  const Code& code = *engine_->run.code;
  if (layout == kNoLayout) return fail(ErrorKind::kUsage, "result_index", "no buffer");
  const LayoutTable& table = code.layouts[layout];
  const Sharding* sharding = sharding_of(table.type);
  const Mesh* mesh = sharding != nullptr ? code.program->find_mesh(sharding->mesh) : nullptr;
  const bool partial = sharding != nullptr && sharding->is_partial();
  const DType dtype = dtype_of(table.type);
  const DType wide = is_narrow_float(dtype)                    ? DType::kF32
                     : is_float(dtype) || dtype == DType::kU64 ? dtype
                                                               : DType::kI64;
  std::vector<std::pair<int64_t, size_t>> order;  // (addend, rank)
  for (size_t r = 0; r < parts.size(); ++r) {
    const auto position =
        mesh != nullptr ? mesh->position_of(static_cast<int64_t>(r)) : std::nullopt;
    if (mesh != nullptr && !position) continue;
    if (!parts[r]) continue;
    order.emplace_back(partial ? addend_of(*mesh, *sharding, *position) : 0, r);
  }
  std::sort(order.begin(), order.end());
  Tensor out;
  bool made = false;
  std::set<std::pair<Extents, Extents>> seen;  // boxes already filled at this addend
  int64_t addend = -1;
  for (const auto& [at, r] : order) {
    const Placement& placement = *parts[r]->placement;
    if (!made) out = Tensor::zeros(partial ? wide : dtype, placement.global);
    made = true;
    if (at != addend) seen.clear();
    addend = at;
    if (placement.box.empty() || !seen.emplace(placement.box.lo, placement.box.hi).second) {
      continue;  // replicas: the first holder counts
    }
    HOSTIR_ASSIGN_OR_RETURN(const Tensor local,
                            engine_->read_part(static_cast<Rank>(r), *parts[r]));
    fold_box(out, Box::whole(placement.global), local, placement.box,
             partial ? sharding->unreduced_kind : Reduction::kSum, !partial || at == 0);
  }
  if (!made) return fail(ErrorKind::kRuntime, "result_missing", "no rank has returned this value");
  return partial ? converted(out, dtype) : out;
}

Expected<void> Interpreter::edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                                 std::span<const std::byte> data) {
  return engine_->edit(rank, allocation, offset_bytes, data);
}

Expected<void> Engine::edit(Rank r, AllocationId id, int64_t offset_bytes,
                            std::span<const std::byte> data) {
  if (r < 0 || r >= run.code->rank_count)
    return fail(ErrorKind::kUsage, "step_rank", "no such rank");
  RankState& rank = run.state.ranks[static_cast<size_t>(r)];
  const auto at = std::find_if(rank.allocations.begin(), rank.allocations.end(),
                               [&](const Allocation& a) { return a.live && a.id == id; });
  const auto size = static_cast<int64_t>(data.size());
  if (at == rank.allocations.end() || offset_bytes < 0 || offset_bytes + size > at->bytes) {
    return fail(ErrorKind::kUsage, "edit_range",
                fmt::format("rank {}: the edited bytes are outside the buffer", r));
  }
  HOSTIR_TRY(run.backend.write(r, id, *at->placement, offset_bytes, data));
  if (!at->initialised) buffers.note_written(*at, {offset_bytes, offset_bytes + size}, 0);
  ++at->version;
  if (run.is_logging()) {
    DecisionRecord record;
    record.kind = DecisionRecord::Kind::kEdit;
    record.number = run.state.position;
    record.branch = run.branch;
    record.rank = r;
    record.detail = fmt::format("{}+{}:", run.code->register_name(at->reg), offset_bytes);
    for (const std::byte b : data) record.detail += fmt::format("{:02x}", static_cast<int>(b));
    run.sink->decision(record);
  }
  ++run.state.position;
  return {};
}

}  // namespace hostir::interp
