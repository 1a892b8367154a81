// shard_map before Shardy: a call between `SPMDFullToShardShape`, which cuts its operands, and
// `SPMDShardToFullShape`, which joins its results. It becomes an sdy.manual_computation over the
// whole mesh. Computations that are manual over some axes only are left as they are.

#include <algorithm>
#include <unordered_map>

#include "hostir/import/gspmd.h"
#include "hostir/import/tile_sharding.h"

namespace hostir::importer {

namespace {

bool is_call_of(const ModuleOp& op, std::string_view target) {
  const Attr* callee = op.find("callee");
  if (callee == nullptr) callee = op.find("call_target_name");
  return op.name == "stablehlo.custom_call" && callee != nullptr && callee->text == target &&
         op.operands.size() == 1 && op.results.size() == 1;
}

class ManualCalls {
 public:
  ManualCalls(const Mesh& mesh, ModuleFunction& function) : mesh_(mesh), f_(function) {}

  void rewrite() {
    std::vector<ModuleOp>& ops = f_.body.ops;
    maker_.assign(f_.values.size(), kNone);
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const ValueNumber result : ops[i].results) maker_[result] = i;
      for (const ValueNumber operand : ops[i].operands) users_[operand].push_back(i);
    }
    dropped_.assign(ops.size(), false);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (ops[i].name != "func.call") continue;
      if (auto made = manual(ops[i])) ops[i] = std::move(*made);
    }
    std::vector<ModuleOp> kept;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!dropped_[i]) kept.push_back(std::move(ops[i]));
    }
    ops = std::move(kept);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  const ModuleOp* made_by(ValueNumber value) const {
    return maker_[value] == kNone ? nullptr : &f_.body.ops[maker_[value]];
  }

  // The sharding of a full value, which the text gives just before it is cut.
  std::optional<Sharding> sharding_of(ValueNumber full) const {
    const ModuleOp* op = made_by(full);
    const Attr* attr =
        op != nullptr && op->name == "sdy.sharding_constraint" ? op->find("sharding") : nullptr;
    if (attr != nullptr && !attr->shardings.empty()) return attr->shardings.front();
    return std::nullopt;
  }

  std::optional<size_t> only_user(ValueNumber value) const {
    const auto found = users_.find(value);
    if (found == users_.end() || found->second.size() != 1) return std::nullopt;
    return found->second.front();
  }

  // The operation that joins a result, perhaps behind a marker.
  std::optional<size_t> joined_by(ValueNumber result, std::vector<size_t>& passed) const {
    for (std::optional<size_t> user = only_user(result); user;
         user = only_user(f_.body.ops[*user].results[0])) {
      const ModuleOp& op = f_.body.ops[*user];
      if (!is_call_of(op, "Sharding") && !is_call_of(op, "SPMDShardToFullShape"))
        return std::nullopt;
      passed.push_back(*user);
      if (is_call_of(op, "SPMDShardToFullShape")) return user;
    }
    return std::nullopt;
  }

  std::optional<ModuleOp> manual(const ModuleOp& call) {
    ModuleOp out;
    out.name = "sdy.manual_computation";
    out.span = call.span;
    Attr in;
    Attr results;
    in.kind = results.kind = Attr::Kind::kShardings;
    std::vector<size_t> gone;
    ModuleBlock region;
    if (call.operands.empty()) return std::nullopt;
    for (const ValueNumber operand : call.operands) {
      const ModuleOp* cut = made_by(operand);
      if (cut == nullptr || !is_call_of(*cut, "SPMDFullToShardShape")) return std::nullopt;
      const auto sharding = sharding_of(cut->operands[0]);
      if (!sharding) return std::nullopt;
      if (std::find(region.arguments.begin(), region.arguments.end(), operand) !=
          region.arguments.end())
        continue;
      in.shardings.push_back(*sharding);
      out.operands.push_back(cut->operands[0]);
      region.arguments.push_back(operand);
      gone.push_back(maker_[operand]);
    }
    ModuleOp end;
    end.name = "sdy.return";
    end.span = call.span;
    for (const ValueNumber result : call.results) {
      if (users_.find(result) == users_.end()) continue;
      const auto join = joined_by(result, gone);
      const ModuleOp* op = join ? &f_.body.ops[*join] : nullptr;
      const Attr* tiles = op != nullptr ? op->find("mhlo.sharding") : nullptr;
      const auto parsed = tiles != nullptr ? parse_tile_sharding(tiles->text) : std::nullopt;
      if (!parsed) return std::nullopt;
      const auto sharding = sharding_on(mesh_, *parsed, f_.type(op->results[0]).dims.size());
      if (!sharding) return std::nullopt;
      results.shardings.push_back(*sharding);
      out.results.push_back(op->results[0]);
      end.operands.push_back(result);
    }
    for (const size_t op : gone) dropped_[op] = true;
    Attr axes;
    axes.kind = Attr::Kind::kList;
    for (const MeshAxis& axis : mesh_.axes) axes.items.push_back(Attr::of_word(axis.name));
    out.attributes.emplace_back("in_shardings", std::move(in));
    out.attributes.emplace_back("out_shardings", std::move(results));
    out.attributes.emplace_back("manual_axes", std::move(axes));
    region.ops.push_back(call);
    region.ops.push_back(std::move(end));
    out.regions.push_back(std::move(region));
    return out;
  }

  const Mesh& mesh_;
  ModuleFunction& f_;
  std::vector<size_t> maker_;  // by value: the operation that makes it
  std::unordered_map<ValueNumber, std::vector<size_t>> users_;
  std::vector<bool> dropped_;
};

}  // namespace

void name_manual_calls(const Mesh& mesh, ModuleFunction& function) {
  ManualCalls(mesh, function).rewrite();
}

}  // namespace hostir::importer
