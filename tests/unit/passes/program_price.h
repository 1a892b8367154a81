// The cost of a sharded fusion: its reshards and the work of its ops, by the compiler's cost model.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hostir/passes/homes/fusion_price.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

/// The size of the largest value, for MeshMoves.
inline double bytes_of(const Function& f) {
  double largest = 0;
  for (const Value& v : f.values) {
    const double bytes = largest_local_elems({}, shape_of(v.type),
                                             Sharding::replicated({}, shape_of(v.type).size())) *
                         static_cast<double>(size_bytes(dtype_of(v.type)));
    largest = std::max(largest, bytes);
  }
  return largest;
}

struct ProgramPrice {
  std::string collectives;
  double bytes = 0;
  double ns = 0;
  double shared_ns = 0;  // with one start for collectives that can share a call; 0: not computed
};

inline constexpr double kMebibyte = 1
                                    << 20;  // the compiler costs smaller programs as if this large

// Adds up the reshards and the work of a fusion whose values have their final shardings.
class Pricing {
 public:
  Pricing(const Program& program, const Function& f, MeshMoves& moves)
      : program_(program), f_(f), moves_(moves), uses_(uses_of(f)) {}

  ProgramPrice price() {
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      if (is_terminator(i)) {
        for (size_t r = 0; r < i.operands.size(); ++r) {
          const Sharding* declared = sharding_of(f_.results[r].type);
          const ValueId v = i.operands[r].value;
          if (declared != nullptr) add_moves(v, *declared);
        }
      } else if (record(i.kind).shape == OpShape::kLayout) {
        const bool only_resharded = std::all_of(
            uses_[i.results[0].index].begin(), uses_[i.results[0].index].end(), [&](InstrId use) {
              return record(f_.instr(use).kind).shape == OpShape::kLayout ||
                     is_terminator(f_.instr(use));
            });
        if (!only_resharded) add_moves(i.operands[0].value, sharding(i.results[0]));
      } else {
        add_work(i);
        add_exchange(i);
      }
    }
    return out_;
  }

 private:
  Sharding sharding(ValueId v) const {
    const TensorType& type = tensor_type(f_, v);
    const std::string& first = program_.meshes.front().name;
    return on_its_mesh(type.sharding.value_or(Sharding::replicated(first, type.shape.size())));
  }

  Sharding on_its_mesh(const Sharding& s) const { return effective(moves_.mesh(s.mesh), s); }
  const Mesh& mesh_of(ValueId v) const { return moves_.mesh(sharding(v).mesh); }

  // Several reshards one after the other are one: Shardy reduces before it reshards, and fuses both
  // later.
  void add_moves(ValueId v, const Sharding& to) {
    while (f_.value(v).defined_by.valid() && uses_[v.index].size() == 1) {
      const Instruction& by = f_.instr(f_.value(v).defined_by);
      if (record(by.kind).shape != OpShape::kLayout) break;
      v = by.operands[0].value;
    }
    const Sharding target = on_its_mesh(to);
    if (!moved_.insert({v.index, target.to_string()}).second) return;
    const TensorType& type = tensor_type(f_, v);
    Sharding at = sharding(v);
    const Redistribution plan = moves_.plan(type, at, target);
    out_.ns += plan.cost_ns;
    for (const RedistributeStep& step : plan.steps) {
      out_.bytes += moves_.step_bytes(type, at, step);
      at = step.to;
      if (step.kind == StepKind::kLocal || step.kind == StepKind::kRelabel) continue;
      out_.collectives += (out_.collectives.empty() ? "" : ", ") + std::string(name(step.kind)) +
                          " " +
                          (step.ranks.empty() ? axes_to_string(step.axes) : "between the meshes");
    }
  }

  // Shardy leaves slices and concats on cut dimensions to its partitioner, which moves missing
  // elements. Each operand then costs at least one permute of the most elements that a rank lacks.
  void add_exchange(const Instruction& i) {
    if (i.kind != OpKind::slice && i.kind != OpKind::concat) return;
    const Mesh& mesh = mesh_of(i.results[0]);
    const ValueId result = i.results[0];
    const auto made = shard_boxes(mesh, sharding(result), extents(result));
    const size_t dim = static_cast<size_t>(i.attributes.get_or<int64_t>("dim", 0));
    int64_t offset = 0;  // of the operand in a concat's result
    for (const Operand& o : i.operands) {
      const auto held = shard_boxes(mesh, sharding(o.value), extents(o.value));
      Box all = Box::whole(extents(o.value));
      double lacking = 0;
      for (size_t p = 0; p < made.size(); ++p) {
        Box needed = made[p];
        if (i.kind == OpKind::concat) {
          needed.lo[dim] -= offset;
          needed.hi[dim] -= offset;
        } else {
          const ExprList start = i.attributes.get_or<ExprList>("start", {});
          for (size_t d = 0; d < start.size(); ++d) {
            needed.lo[d] += start[d].simplified().value();
            needed.hi[d] += start[d].simplified().value();
          }
        }
        needed = needed.intersect(all);
        lacking = std::max(
            lacking, static_cast<double>(needed.volume() - needed.intersect(held[p]).volume()));
      }
      offset += all.hi.empty() ? 0 : all.hi[dim];
      if (lacking == 0) continue;
      const double bytes =
          lacking * static_cast<double>(size_bytes(tensor_type(f_, o.value).dtype));
      std::vector<int32_t> ranks(static_cast<size_t>(mesh.size()));
      std::iota(ranks.begin(), ranks.end(), 0);
      const double scale = std::max(1.0, kMebibyte / bytes_of(f_));
      out_.bytes += bytes;
      out_.ns += collective_ns(default_machine(), OpKind::permute, scale * bytes,
                               place_group(default_machine(), ranks));
      out_.collectives += (out_.collectives.empty() ? "" : ", ") + std::string("halo");
    }
  }

  Extents extents(ValueId v) const { return *constant_extents(tensor_type(f_, v).shape); }

  Extents box(ValueId v) const {
    const TensorType& type = tensor_type(f_, v);
    const Sharding s = sharding(v);
    Extents out;
    for (size_t d = 0; d < type.shape.size(); ++d) {
      const Sharding one{s.mesh, {s.dims[d]}, {}, Reduction::kSum, {}};
      out.push_back(static_cast<int64_t>(largest_local_elems(mesh_of(v), {type.shape[d]}, one)));
    }
    return out;
  }

  void add_work(const Instruction& i) {
    const OpRecord& op = record(i.kind);
    if (op.cost == nullptr || op.shape == OpShape::kSource) return;
    std::vector<Extents> operands;
    std::vector<Extents> results;
    for (const Operand& o : i.operands) operands.push_back(box(o.value));
    for (const ValueId r : i.results) results.push_back(box(r));
    const BoundCall bound(program_, f_, i);
    const Cost cost = op.cost(bound.call, operands, results);
    const StepCost& price = moves_.on(sharding(i.results[0]).mesh).cost();
    out_.ns += price.kernel_ns(tensor_type(f_, i.results[0]).dtype, cost.flops,
                               cost.read_bytes + cost.write_bytes);
  }

  const Program& program_;
  const Function& f_;
  MeshMoves& moves_;
  std::vector<std::vector<InstrId>> uses_;
  std::set<std::pair<uint32_t, std::string>> moved_;  // value, and sharding that it moved to
  ProgramPrice out_;
};

/// The cost of a fusion as the compiler lowers it.
inline ProgramPrice compiled_price(const Program& program, const std::string& fusion) {
  const auto lowered = lower(program, fusion, {.until = LowerPhase::kSharded});
  if (!lowered) {
    ADD_FAILURE() << fusion << ": " << lowered.error().message();
    return {};
  }
  MeshMoves moves(program, default_machine(), bytes_of(*program.find_function(fusion)));
  ProgramPrice out = Pricing(program, lowered->sharded, moves).price();
  out.shared_ns = price_of(program, lowered->sharded, moves).shared_ns;
  return out;
}

/// The cost of a fusion that has its final shardings and reshards in the text.
inline ProgramPrice written_price(const Program& program, const std::string& fusion) {
  const Function& f = *program.find_function(fusion);
  MeshMoves moves(program, default_machine(), bytes_of(f));
  return Pricing(program, f, moves).price();
}

}  // namespace hostir
