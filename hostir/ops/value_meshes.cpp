#include "hostir/ops/value_meshes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "hostir/ops/loops.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

class MeshInference {
 public:
  explicit MeshInference(const Function& fusion) : f_(fusion) {
    out_.of.resize(f_.values.size());
    out_.at.resize(f_.instructions.size());
    order_ = f_.preorder();
    for (const Value& v : f_.values) note(sharding_of(v.type));
    for (const ResultDecl& r : f_.results) note(sharding_of(r.type));
  }

  ValueMeshes run() {
    if (out_.used.size() <= 1) {
      const std::string only = out_.used.empty() ? std::string() : out_.used.front();
      std::fill(out_.of.begin(), out_.of.end(), only);
      std::fill(out_.at.begin(), out_.at.end(), only);
      return std::move(out_);
    }
    for (size_t v = 0; v < f_.values.size(); ++v) {
      if (const Sharding* s = sharding_of(f_.values[v].type)) out_.of[v] = s->mesh;
    }
    free_.assign(out_.of.size(), false);
    forwards();
    for (size_t v = 0; v < free_.size(); ++v) free_[v] = out_.of[v].empty();
    backwards(free_);
    follow_operands();
    // A source has no operands to follow. It goes where the user is that was just placed.
    std::vector<bool> unplaced;
    for (const std::string& mesh : out_.of) unplaced.push_back(mesh.empty());
    backwards(unplaced);
    for (std::string& mesh : out_.of) {
      if (mesh.empty()) mesh = out_.used.front();
    }
    for (const InstrId id : body()) place(id, /*report=*/true);
    return std::move(out_);
  }

 private:
  // In preorder, so that the ops of a loop come between its start and its yield.
  const std::vector<InstrId>& body() const { return order_; }

  void note(const Sharding* s) {
    if (s == nullptr || contains(out_.used, s->mesh)) return;
    out_.used.push_back(s->mesh);
  }

  // Sources, and values that depend on nothing that is on a mesh, can be used on any mesh.
  bool ties(ValueId v) const {
    if (!v.valid() || free_[v.index] || out_.of[v.index].empty()) return false;
    const InstrId by = f_.value(v).defined_by;
    return !by.valid() || record(f_.instr(by).kind).shape != OpShape::kSource;
  }

  // The mesh annotated on a result; empty if there is none.
  std::string annotated(const Instruction& i) const {
    for (const ValueId r : i.results) {
      if (const Sharding* s = sharding_of(f_.value(r).type)) return s->mesh;
    }
    return {};
  }

  // Decides where one op runs, from its operands and its annotated result.
  void place(InstrId id, bool report) {
    const Instruction& i = f_.instr(id);
    if (i.results.empty() || !i.regions.empty()) return;
    std::string& at = out_.at[id.index];
    const std::string wanted = annotated(i);
    if (record(i.kind).shape == OpShape::kLayout) {
      at = wanted;
      return;
    }
    ValueId first;
    ValueId other;
    for (const Operand& o : i.operands) {
      if (!ties(o.value)) continue;
      if (!first.valid()) first = o.value;
      if (out_.of[o.value.index] != out_.of[first.index] && !other.valid()) other = o.value;
    }
    at = out_.of[(first.valid() ? first : i.results.front()).index];
    if ((!first.valid() || other.valid()) && !wanted.empty()) at = wanted;
    if (other.valid() && wanted.empty() && report) out_.conflicts.push_back({id, first, other});
  }

  // A carried value of a loop: before the loop, at the start and end of a pass, and after the loop.
  struct Carried {
    ValueId initial, argument, yielded, result;
  };

  void note_loops() {
    for (const InstrId id : body()) {
      const Instruction& loop = f_.instr(id);
      if (loop.regions.empty()) continue;
      const Region& region = f_.region(loop.regions.front());
      if (region.instructions.empty()) continue;  // reported elsewhere
      const Instruction& yield = f_.instr(region.instructions.back());
      const std::span<const Operand> values = yielded_values(yield);
      for (size_t i = 0; yield.results.empty() && i < values.size(); ++i) {
        Carried c;
        c.yielded = values[i].value;
        if (i < loop.operands.size()) c.initial = loop.operands[i].value;
        if (i + 1 < region.arguments.size()) c.argument = region.arguments[i + 1];
        if (i < loop.results.size()) c.result = loop.results[i];
        carried_.push_back(c);
      }
    }
  }

  // If one of the four has a mesh, gives it to those without; true if there were any.
  bool follow_carried() {
    bool changed = false;
    for (const Carried& c : carried_) {
      const std::array<ValueId, 4> all = {c.initial, c.argument, c.yielded, c.result};
      const auto has_mesh = [&](ValueId v) { return v.valid() && !out_.of[v.index].empty(); };
      const auto* first = std::find_if(all.begin(), all.end(), has_mesh);
      if (first == all.end()) continue;
      for (const ValueId v : all) {
        if (!v.valid() || has_mesh(v)) continue;
        out_.of[v.index] = out_.of[first->index];
        changed = true;
      }
    }
    return changed;
  }

  void forwards() {
    note_loops();
    do {
      place_all();
    } while (follow_carried());
  }

  void place_all() {
    for (const InstrId id : body()) {
      place(id, /*report=*/false);
      for (const ValueId r : f_.instr(id).results) {
        if (out_.of[r.index].empty()) out_.of[r.index] = out_.at[id.index];
      }
    }
  }

  // Gives each of these values the mesh of its first user. Visits users before definitions.
  void backwards(const std::vector<bool>& values) {
    for (auto id = body().rbegin(); id != body().rend(); ++id) {
      const Instruction& i = f_.instr(*id);
      std::string& at = out_.at[id->index];
      if (at.empty() && !i.results.empty()) at = out_.of[i.results.front().index];
      if (at.empty() || record(i.kind).shape == OpShape::kLayout) continue;
      for (const Operand& o : i.operands) {
        if (o.value.valid() && values[o.value.index]) out_.of[o.value.index] = at;
      }
    }
  }

  // An unused value is on the mesh of its operands.
  void follow_operands() {
    for (const InstrId id : body()) {
      const Instruction& i = f_.instr(id);
      for (const ValueId r : i.results) {
        for (const Operand& o : i.operands) {
          if (out_.of[r.index].empty() && o.value.valid())
            out_.of[r.index] = out_.of[o.value.index];
        }
      }
    }
  }

  const Function& f_;
  std::vector<InstrId> order_;
  std::vector<Carried> carried_;
  std::vector<bool> free_;  // by value
  ValueMeshes out_;
};

}  // namespace

std::string conflict_sentence(const Function& fusion, const ValueMeshes& meshes,
                              const MeshConflict& c) {
  return fmt::format(
      "{} has %{} on mesh @{} and %{} on mesh @{}: an op runs on one mesh; reshard one of them, or "
      "write the sharding of its result",
      record(fusion.instr(c.instruction).kind).mnemonic, fusion.value(c.first).name,
      meshes.of[c.first.index], fusion.value(c.second).name, meshes.of[c.second.index]);
}

ValueMeshes value_meshes(const Function& fusion) { return MeshInference(fusion).run(); }

}  // namespace hostir
