#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "hostir/ir/axes.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/code/flattener.h"

namespace hostir::interp {

namespace {

// The axes in which two shardings differ, dimension by dimension after the common prefix. This is
// the exchange group of a packed buffer if no communication instruction names it.
std::vector<AxisRef> differing_axes(const Sharding& a, const Sharding& b) {
  std::vector<AxisRef> out;
  const auto add = [&](const AxisRef& axis) { add_once(out, axis); };
  for (size_t d = 0; d < std::max(a.dims.size(), b.dims.size()); ++d) {
    const std::vector<AxisRef> none;
    const auto& x = d < a.dims.size() ? a.dims[d].axes : none;
    const auto& y = d < b.dims.size() ? b.dims[d].axes : none;
    size_t common = 0;
    const bool alike = d >= a.dims.size() || d >= b.dims.size() || a.dims[d].cuts_alike(b.dims[d]);
    while (alike && common < x.size() && common < y.size() && x[common] == y[common]) ++common;
    for (size_t i = common; i < x.size(); ++i) add(x[i]);
    for (size_t i = common; i < y.size(); ++i) add(y[i]);
  }
  return out;
}

Box box_on(const Mesh& mesh, const Sharding& sharding, const Extents& extents, int64_t rank) {
  const auto position = mesh.position_of(rank);
  if (position) return shard_box(mesh, sharding, extents, *position);
  Box empty = Box::whole(extents);
  empty.hi.assign(extents.size(), 0);
  return empty;
}

// True if all ranks hold parts of equal size.
bool parts_are_equal(const Mesh& mesh, const Sharding& sharding, const Extents& extents,
                     Rank ranks) {
  bool equal = mesh.size() == ranks;
  for (size_t d = 0; d < extents.size() && equal; ++d) {
    int64_t parts = 1;
    for (const AxisRef& axis : sharding.dims[d].axes) parts *= mesh.axis_size(axis);
    equal = sharding.dims[d].block == 0 && extents[d] % (parts * sharding.dims[d].unit) == 0;
  }
  return equal;
}

std::vector<int64_t> block_members(const Mesh& mesh, const Mesh& blocks_mesh, const ShardType& type,
                                   Rank rank, const Communicator* comm) {
  if (comm != nullptr) {
    const int32_t group = comm->group_of_rank[static_cast<size_t>(rank)];
    if (group < 0) return {};
    const auto& members = comm->groups[static_cast<size_t>(group)];
    return {members.begin(), members.end()};
  }
  if (type.blocks->mesh != mesh.name) return blocks_mesh.ranks();
  for (const auto& group : groups_over(mesh, differing_axes(*type.sharding, *type.blocks))) {
    if (contains(group, rank)) return group;
  }
  return {};
}

// Everything that a placement depends on besides its extents: the coordinates along the axes that
// cut the value and, for a packed buffer, the group whose blocks it holds. Ranks with equal keys
// share it.
class PlacementKey {
 public:
  PlacementKey(const Program& program, const Type& type, const Communicator* comm, Rank ranks)
      : comm_(comm) {
    const Sharding* sharding = sharding_of(type);
    mesh_ = sharding != nullptr ? program.find_mesh(sharding->mesh) : nullptr;
    if (mesh_ == nullptr) return;
    positions_.assign(static_cast<size_t>(ranks), -1);
    for (int64_t p = 0; p < mesh_->size(); ++p) {
      const int64_t rank = mesh_->rank_at(p);
      if (rank >= 0 && rank < ranks) positions_[static_cast<size_t>(rank)] = p;
    }
    add_axes(*sharding, {});
    const auto* shard = std::get_if<ShardType>(&type);
    packed_ = shard != nullptr && shard->blocks;
    if (packed_ && comm == nullptr && shard->blocks->mesh == mesh_->name) {
      add_axes(*shard->blocks, differing_axes(*shard->sharding, *shard->blocks));
    }
  }

  // The coordinates as digits of one number, -1 outside the mesh, and the group.
  std::pair<int64_t, int32_t> of(Rank rank) const {
    if (mesh_ == nullptr) return {0, 0};
    const int64_t position = positions_[static_cast<size_t>(rank)];
    int64_t coordinates = position < 0 ? -1 : 0;
    for (const AxisDigit& d : digits_) {
      if (position >= 0) coordinates = coordinates * d.size + d.of(position);
    }
    const bool grouped = packed_ && comm_ != nullptr;
    return {coordinates, grouped ? comm_->group_of_rank[static_cast<size_t>(rank)] : 0};
  }

 private:
  void add_axes(const Sharding& sharding, const std::vector<AxisRef>& but) {
    for (const DimSharding& d : sharding.dims) {
      for (const AxisRef& axis : d.axes) {
        if (!contains(but, axis)) add_once(digits_, AxisDigit(*mesh_, axis));
      }
    }
  }

  const Mesh* mesh_ = nullptr;
  const Communicator* comm_ = nullptr;
  bool packed_ = false;
  std::vector<int64_t> positions_;  // by rank; -1: not in the mesh
  std::vector<AxisDigit> digits_;
};

bool has_axes(const Mesh& mesh, const Sharding& sharding) {
  const auto known = [&](const AxisRef& a) { return mesh.axis_index(a.name).has_value(); };
  for (const DimSharding& d : sharding.dims) {
    if (!std::all_of(d.axes.begin(), d.axes.end(), known)) return false;
  }
  return std::all_of(sharding.unreduced.begin(), sharding.unreduced.end(), known);
}

}  // namespace

Placement make_placement(const Program& program, const Type& type, const Extents& extents,
                         Rank rank, const Communicator* comm) {
  Placement placement;
  placement.dtype = dtype_of(type);
  placement.global = extents;
  placement.box = Box::whole(extents);
  const Sharding* sharding = sharding_of(type);
  const Mesh* mesh = sharding != nullptr ? program.find_mesh(sharding->mesh) : nullptr;
  if (mesh == nullptr) return placement;
  placement.box = box_on(*mesh, *sharding, extents, rank);
  const auto* shard = std::get_if<ShardType>(&type);
  if (shard == nullptr || !shard->blocks) return placement;
  const Mesh* other = program.find_mesh(shard->blocks->mesh);
  if (other == nullptr) return placement;
  for (const int64_t member : block_members(*mesh, *other, *shard, rank, comm)) {
    placement.blocks.push_back(
        placement.box.intersect(box_on(*other, *shard->blocks, extents, member)));
  }
  return placement;
}

CommIndex Flattener::communicator_of(const Scope& scope, ValueId value) const {
  for (const Instruction& instruction : scope.function->instructions) {
    if (record(instruction.kind).op_class != OpClass::kCommunication) continue;
    bool uses = false;
    CommIndex comm = kNoComm;
    for (const Operand& o : instruction.operands) {
      if (!o.value.valid()) continue;
      uses = uses || o.value == value;
      if (scope.comms[o.value.index] != kNoComm) comm = scope.comms[o.value.index];
    }
    if (uses && comm != kNoComm) return comm;
  }
  return kNoComm;
}

Expected<Extents> Flattener::extents_on(Rank rank, const std::vector<IndexCodeId>& codes,
                                        const Type& type) const {
  Extents extents;
  for (const IndexCodeId id : codes) {
    int64_t value = 0;
    if (!code_.exprs[id].evaluate(nullptr, code_.rank_tables, rank, value) || value < 0) {
      return fail(ErrorKind::kInvalid, "code_size",
                  fmt::format("a size of {} is not a number >= 0", to_string(type)));
    }
    extents.push_back(value);
  }
  const auto elements = element_count(extents);
  if (!elements || *elements > INT64_MAX / 16) {
    return fail(ErrorKind::kInvalid, "code_size",
                fmt::format("{} is larger than any memory", to_string(type)));
  }
  return extents;
}

Expected<LayoutTable> Flattener::make_layout(const Scope& scope, const Type& type, CommIndex comm) {
  LayoutTable table;
  table.type = type;
  const Sharding* sharding = sharding_of(type);
  if (sharding != nullptr) {
    const Mesh* mesh = program_.find_mesh(sharding->mesh);
    if (mesh == nullptr || !has_axes(*mesh, *sharding)) {
      return fail(ErrorKind::kInvalid, "code_mesh",
                  fmt::format("layout {} names an unknown mesh or axis", sharding->to_string()));
    }
    if (sharding->dims.size() != shape_of(type).size()) {
      return fail(ErrorKind::kInvalid, "code_mesh",
                  fmt::format("layout {} has a different rank from its tensor", to_string(type)));
    }
  }
  Shape shape = shape_of(type);
  std::vector<IndexCodeId> codes;
  bool dynamic = false;
  for (IndexExpr& size : shape) {
    HOSTIR_ASSIGN_OR_RETURN(const IndexCodeId id, compile_expr(scope, size));
    codes.push_back(id);
    dynamic = dynamic || !code_.exprs[id].is_static();
    size = size.simplified(code_.sizes.lookup());
  }
  std::visit(
      [&](auto& t) {
        if constexpr (requires { t.shape; }) t.shape = shape;
      },
      table.type);
  if (dynamic) {
    table.dynamic_shape = std::move(codes);
    return table;
  }
  const Communicator* group = comm == kNoComm ? nullptr : &code_.communicators[comm];
  const bool same_extents = std::all_of(codes.begin(), codes.end(), [&](const IndexCodeId id) {
    return code_.exprs[id].is_constant();
  });
  if (blocks_ == Blocks::kOfFirstRank && same_extents && sharding != nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(const Extents extents, extents_on(0, codes, type));
    if (parts_are_equal(*program_.find_mesh(sharding->mesh), *sharding, extents,
                        code_.rank_count)) {
      // Of the other ranks, only the sizes count.
      table.by_rank.add(make_placement(program_, table.type, extents, 0, group));
      for (Rank r = 1; r < code_.rank_count; ++r) table.by_rank.add(uint32_t{0});
      return table;
    }
  }
  const PlacementKey keys(program_, table.type, group, code_.rank_count);
  Type without_blocks = table.type;
  if (auto* shard = std::get_if<ShardType>(&without_blocks)) shard->blocks.reset();
  std::map<Extents, size_t> sizes;
  std::map<std::tuple<size_t, int64_t, int32_t>, uint32_t> known;
  auto size = sizes.end();
  for (Rank r = 0; r < code_.rank_count; ++r) {
    if (r == 0 || !same_extents) {
      HOSTIR_ASSIGN_OR_RETURN(Extents extents, extents_on(r, codes, type));
      size = sizes.try_emplace(std::move(extents), sizes.size()).first;
    }
    const auto [coordinates, in_group] = keys.of(r);
    const auto [at, added] =
        known.try_emplace({size->second, coordinates, in_group}, table.by_rank.distinct().size());
    const bool packed = r == 0 || blocks_ == Blocks::kOfAllRanks;
    if (added) {
      table.by_rank.add(
          make_placement(program_, packed ? table.type : without_blocks, size->first, r, group));
    } else {
      table.by_rank.add(at->second);
    }
  }
  return table;
}

Expected<LayoutIndex> Flattener::layout(const Scope& scope, const Type& type, ValueId used_as) {
  CommIndex comm = kNoComm;
  std::string key = to_string(type) + " " + scope.mesh->name;
  if (const auto* shard = std::get_if<ShardType>(&type); shard != nullptr && shard->blocks) {
    comm = communicator_of(scope, used_as);
    key += " " + shard->blocks->to_string() + " " + std::to_string(comm);
  }
  const auto at = layout_index_.find(key);
  if (at != layout_index_.end()) return at->second;
  HOSTIR_ASSIGN_OR_RETURN(LayoutTable table, make_layout(scope, type, comm));
  const std::vector<Placement>& placements = table.by_rank.distinct();
  const auto wrong = std::find_if(placements.begin(), placements.end(),
                                  [](const Placement& p) { return !p.blocks_fill_box(); });
  for (size_t r = 0; wrong != placements.end() && r < table.by_rank.size(); ++r) {
    if (&table.by_rank[r] != &*wrong) continue;
    const Value& v = scope.function->value(used_as);
    return fail_at(ErrorKind::kInvalid, "code_blocks",
                   fmt::format("the blocks of %{} do not make up the part of rank {}: each of its "
                               "{} elements must be in one block of the group",
                               v.name, r, table.by_rank[r].box.volume()),
                   v.span);
  }
  const auto index = static_cast<LayoutIndex>(code_.layouts.size());
  // Host-read sizes belong to one place in the source: never share their tables.
  if (table.is_static()) layout_index_.emplace(key, index);
  code_.layouts.push_back(std::move(table));
  return index;
}

}  // namespace hostir::interp
