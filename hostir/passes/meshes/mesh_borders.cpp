#include "hostir/passes/meshes/mesh_borders.h"

#include <map>

#include "hostir/ops/rebuild.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

class BorderBuilder {
 public:
  BorderBuilder(const Function& fusion, const ValueMeshes& meshes)
      : f_(fusion), meshes_(meshes), rebuild_(fusion) {}

  Expected<Function> run() {
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      if (is_terminator(i)) {
        finish(i);
      } else if (record(i.kind).shape == OpShape::kLayout) {
        lower_reshard(i);
      } else {
        copy(i, meshes_.at[id.index]);
      }
    }
    if (rebuild_.builder().error()) return tl::unexpected(*rebuild_.builder().error());
    return rebuild_.take();
  }

 private:
  static Sharding open_on(const std::string& mesh, size_t rank) {
    Sharding s = Sharding::replicated(mesh, rank);
    for (DimSharding& d : s.dims) d.open = true;
    return s;
  }

  bool is_source(ValueId v) const {
    const InstrId by = f_.value(v).defined_by;
    return by.valid() && record(f_.instr(by).kind).shape == OpShape::kSource;
  }

  // A value without dimensions crosses as addends (mesh_moves.h), and i1 has no sum.
  bool goes_as_number(ValueId value) {
    ops::Builder& b = rebuild_.builder();
    return b.dtype(value) == DType::kI1 && b.rank(value) == 0;
  }

  // A reshard of a new value, named after `name`.
  ValueId moved(const Instruction& by, ValueId value, const std::string& name, Sharding to) {
    ops::Builder& b = rebuild_.builder();
    b.begin(by, name);
    const std::string suffix = "on_" + to.mesh;
    const Attributes attributes = ops::attrs({{"to", std::move(to)}});
    const ValueId made =
        goes_as_number(value)
            ? b.cast(b.op(OpKind::reshard, {b.cast(value, DType::kI32)}, attributes), DType::kI1)
            : b.op(OpKind::reshard, {value}, attributes, suffix);
    if (made.valid()) rebuild_.out().value(made).origin = rebuild_.out().value(value).origin;
    return made;
  }

  // A reshard that the user wrote.
  void lower_reshard(const Instruction& i) {
    const ValueId from = i.operands.front().value;
    const ValueId to = i.results.front();
    if (meshes_.of[from.index] == meshes_.of[to.index]) {
      rebuild_.copy(i);
    } else {
      rebuild_.out().add_instruction(rebuild_.out().body, crossing(i, rebuild_.at(from), to));
    }
  }

  // The instruction that moves a value to the mesh of `to`.
  Instruction crossing(const Instruction& by, ValueId value, ValueId to) {
    const Sharding sharding = *sharding_of(f_.value(to).type);
    Instruction made = by;
    made.kind = OpKind::reshard;
    made.attributes = ops::attrs({{"to", sharding}});
    if (goes_as_number(value)) {
      rebuild_.builder().begin(by, f_.value(to).name);
      value = rebuild_.builder().cast(value, DType::kI32);
      value = rebuild_.builder().op(OpKind::reshard, {value}, made.attributes);
      made.kind = OpKind::cast;
      made.attributes = ops::attrs({{"to", DType::kI1}});
    }
    made.operands = {Operand{.value = value}};
    made.results = {result(to, f_.value(to).name, sharding)};
    rebuild_.set(to, made.results.front());
    return made;
  }

  // The value on a mesh: itself, a source computed again, or a reshard of it.
  ValueId on(const Instruction& by, ValueId value, const std::string& mesh) {
    if (meshes_.of[value.index] == mesh) return rebuild_.at(value);
    const auto [at, is_new] = on_mesh_.try_emplace({value.index, mesh});
    if (!is_new) return at->second;
    const Value& v = f_.value(value);
    if (!is_source(value)) {
      return at->second =
                 moved(by, rebuild_.at(value), v.name, open_on(mesh, shape_of(v.type).size()));
    }
    Instruction again = f_.instr(v.defined_by);
    again.comments = {};
    TensorType type = tensor_type(f_, value);
    type.sharding = open_on(mesh, type.shape.size());
    again.results = {
        rebuild_.out().add_value(rebuild_.names().fresh(v.name + "_on_" + mesh), type)};
    at->second = again.results.front();
    rebuild_.out().value(at->second).origin = v.origin;
    rebuild_.out().add_instruction(rebuild_.out().body, std::move(again));
    return at->second;
  }

  // Adds a value to the new function, with the type and position of one of the given fusion.
  ValueId result(ValueId of, const std::string& name, std::optional<Sharding> sharding) {
    TensorType type = tensor_type(f_, of);
    type.sharding = std::move(sharding);
    const ValueId made = rebuild_.out().add_value(name, type);
    rebuild_.out().value(made).span = f_.value(of).span;
    if (name == f_.value(of).name) rebuild_.out().value(made).origin = f_.value(of).origin;
    return made;
  }

  void copy(const Instruction& i, const std::string& mesh) {
    Instruction made = rebuild_.with_operands(i);
    for (size_t o = 0; o < i.operands.size(); ++o) {
      if (i.operands[o].value.valid()) made.operands[o].value = on(i, i.operands[o].value, mesh);
    }
    std::vector<std::pair<ValueId, ValueId>> moves;  // the result, the value as computed
    for (const ValueId r : i.results) {
      const Value& v = f_.value(r);
      const Sharding* s = sharding_of(v.type);
      if (s == nullptr || s->mesh == mesh) {
        made.results.push_back(result(r, v.name, s ? std::optional(*s) : std::nullopt));
        rebuild_.set(r, made.results.back());
        continue;
      }
      made.results.push_back(
          result(r, rebuild_.names().fresh(v.name + "_on_" + mesh), std::nullopt));
      moves.emplace_back(r, made.results.back());
    }
    rebuild_.out().add_instruction(rebuild_.out().body, std::move(made));
    Instruction bare = i;
    bare.comments = {};
    for (const auto& [r, made_as] : moves) {
      Instruction move = crossing(bare, made_as, r);
      rebuild_.out().add_instruction(rebuild_.out().body, std::move(move));
    }
  }

  void finish(const Instruction& i) {
    Instruction made = rebuild_.with_operands(i);
    for (size_t r = 0; r < i.operands.size() && r < f_.results.size(); ++r) {
      const Sharding* declared = sharding_of(f_.results[r].type);
      const ValueId value = i.operands[r].value;
      if (declared == nullptr || declared->mesh == meshes_.of[value.index]) continue;
      made.operands[r].value = moved(i, made.operands[r].value, f_.value(value).name, *declared);
    }
    rebuild_.out().add_instruction(rebuild_.out().body, std::move(made));
  }

  const Function& f_;
  const ValueMeshes& meshes_;
  ops::Rebuild rebuild_;
  std::map<std::pair<uint32_t, std::string>, ValueId> on_mesh_;
};

}  // namespace

Expected<Function> with_mesh_borders(Function fusion) {
  const ValueMeshes meshes = value_meshes(fusion);
  if (meshes.used.size() <= 1) return fusion;
  if (!meshes.conflicts.empty()) {
    const MeshConflict& c = meshes.conflicts.front();
    return fail_at(ErrorKind::kInvalid, "mesh_c9", conflict_sentence(fusion, meshes, c),
                   fusion.instr(c.instruction).name_span);
  }
  uint32_t number = 0;
  for (const InstrId id : body_of(fusion)) {
    Instruction& i = fusion.instr(id);
    ++number;
    if (i.from.empty()) i.from = {{fusion.name, number}};
  }
  return BorderBuilder(fusion, meshes).run();
}

}  // namespace hostir
