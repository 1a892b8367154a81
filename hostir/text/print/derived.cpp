#include "hostir/text/print/derived.h"

#include <algorithm>

#include "hostir/ir/axes.h"
#include "hostir/text/attribute_text.h"

namespace hostir::text {

namespace {

// Larger part counts are summarised as smallest and largest.
constexpr size_t kMaxParts = 16;

std::string parts_text(const std::vector<int64_t>& parts) {
  const auto [low, high] = std::minmax_element(parts.begin(), parts.end());
  if (*low == *high) return std::to_string(*low);
  if (parts.size() > kMaxParts) return std::to_string(*low) + ".." + std::to_string(*high);
  std::string out;
  for (const int64_t p : parts) out += (out.empty() ? "" : "|") + std::to_string(p);
  return out;
}

bool axes_known(const Mesh& mesh, const Sharding& sharding) {
  const auto known = [&](const AxisRef& a) { return mesh.axis_index(a.name).has_value(); };
  return std::all_of(sharding.dims.begin(), sharding.dims.end(), [&](const DimSharding& d) {
    return std::all_of(d.axes.begin(), d.axes.end(), known);
  });
}

// The largest local size in bytes over all ranks.
std::optional<int64_t> local_bytes(const Program& program, const Type& type) {
  if (!std::holds_alternative<ShardType>(type) && !std::holds_alternative<TensorType>(type)) {
    return std::nullopt;
  }
  const auto extents = constant_extents(shape_of(type));
  if (!extents) return std::nullopt;
  const Sharding* sharding = sharding_of(type);
  if (!sharding) {
    const auto count = element_count(*extents);
    return count ? std::optional(*count * size_bytes(dtype_of(type))) : std::nullopt;
  }
  const Mesh* mesh = program.find_mesh(sharding->mesh);
  if (!mesh || sharding->dims.size() != extents->size() || !axes_known(*mesh, *sharding)) {
    return std::nullopt;
  }
  int64_t bytes = 0;
  for (const Box& box : shard_boxes(*mesh, *sharding, *extents)) {
    bytes = std::max(bytes, box.volume() * size_bytes(dtype_of(type)));
  }
  return bytes;
}

bool depends_on_rank(const Shape& shape) {
  bool depends = false;
  for (const IndexExpr& size : shape) {
    size.for_each_leaf([&](const IndexExpr& leaf) {
      depends = depends || leaf.kind() == IndexExpr::Kind::kRank ||
                leaf.kind() == IndexExpr::Kind::kCoord;
    });
  }
  return depends;
}

}  // namespace

std::optional<std::string> Derived::local_extents(const Type& type) const {
  if (const auto* tensor = std::get_if<TensorType>(&type)) return extents_by_rank(tensor->shape);
  const auto* shard = std::get_if<ShardType>(&type);
  const Mesh* mesh = shard ? program_.find_mesh(shard->sharding->mesh) : nullptr;
  const auto extents = shard ? constant_extents(shard->shape) : std::nullopt;
  if (!mesh || !extents || shard->sharding->dims.size() != extents->size() || extents->empty() ||
      !axes_known(*mesh, *shard->sharding)) {
    return std::nullopt;
  }
  std::string out;
  for (size_t d = 0; d < extents->size(); ++d) {
    std::vector<int64_t> parts;
    for (const Range& part : parts_of(*mesh, shard->sharding->dims[d], (*extents)[d]))
      parts.push_back(part.hi - part.lo);
    out += (d ? " x " : "") + parts_text(parts);
  }
  return out;
}

std::optional<std::string> Derived::extents_by_rank(const Shape& shape) const {
  const Mesh* mesh = program_.find_mesh(function_.mesh);
  if (!mesh || !depends_on_rank(shape)) return std::nullopt;
  const std::vector<int64_t> ranks = mesh->ranks();
  std::string out;
  for (const IndexExpr& size : shape) {
    std::vector<int64_t> by_position;
    for (size_t p = 0; p < ranks.size(); ++p) {
      const auto value = size.evaluate([&](const IndexExpr& leaf) -> std::optional<int64_t> {
        if (leaf.kind() == IndexExpr::Kind::kRank) return ranks[p];
        const auto axis = mesh->axis_index(leaf.symbol());
        if (!axis) return std::nullopt;
        if (leaf.kind() == IndexExpr::Kind::kAxisSize) return mesh->axes[*axis].size;
        if (leaf.kind() != IndexExpr::Kind::kCoord) return std::nullopt;
        return mesh->coord(static_cast<int64_t>(p), *axis);
      });
      if (!value) return std::nullopt;
      by_position.push_back(*value);
    }
    out += (out.empty() ? "" : " x ") + parts_text(by_position);
  }
  return out;
}

std::string Derived::comment(const Instruction& instruction) {
  if (record(instruction.kind).op_class == OpClass::kCommunication) return collective(instruction);
  if (instruction.results.empty()) return {};
  const Type& type = function_.value(instruction.results.front()).type;
  if (std::holds_alternative<CommType>(type)) return groups(instruction);
  const auto local = local_extents(type);
  return local ? "local " + *local : std::string();
}

std::string Derived::groups(const Instruction& instruction) const {
  const auto* axes = instruction.attributes.get<AxisList>("axes");
  const auto* symbol = instruction.attributes.get<Symbol>("mesh");
  const Mesh* mesh = program_.find_mesh(symbol ? symbol->name : function_.mesh);
  if (!axes || !mesh) return {};
  const bool known = std::all_of(axes->begin(), axes->end(), [&](const AxisRef& a) {
    return mesh->axis_index(a.name).has_value();
  });
  return known ? "groups " + print_int_lists(groups_over(*mesh, *axes)) : std::string();
}

std::string Derived::collective(const Instruction& instruction) {
  const Operand* communicator = nullptr;
  std::optional<int64_t> bytes;
  for (const Operand& operand : instruction.operands) {
    if (!operand.value.valid()) continue;
    const Type& type = function_.value(operand.value).type;
    if (std::holds_alternative<CommType>(type)) communicator = &operand;
    if (operand.access != Access::kUse && !bytes) bytes = local_bytes(program_, type);
  }
  std::string out;
  if (communicator) {
    auto& sequence = sequence_.try_emplace(communicator->value, 0).first->second;
    // In a loop or branch, this number and all later ones depend on the run.
    if (depth_ > 0) sequence = std::nullopt;
    if (sequence) out = "seq " + std::to_string((*sequence)++);
  }
  if (bytes) out += (out.empty() ? "" : ", ") + std::to_string(*bytes) + " bytes per rank";
  return out;
}

}  // namespace hostir::text
