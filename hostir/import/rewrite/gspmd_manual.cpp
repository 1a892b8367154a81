// shard_map before Shardy: `SPMDFullToShardShape` cuts values, and `SPMDShardToFullShape` joins
// them again. What lies between is a call or is written in place. It becomes an
// sdy.manual_computation over the whole mesh. Computations that are manual over some axes only are
// left as they are.

#include <algorithm>
#include <map>

#include "hostir/import/rewrite/gspmd.h"
#include "hostir/import/rewrite/tile_sharding.h"
#include "hostir/ir/axes.h"
#include "hostir/support/union_find.h"

namespace hostir::importer {

namespace {

bool is_call_of(const ModuleOp& op, std::string_view target) {
  const Attr* callee = op.find("callee");
  if (callee == nullptr) callee = op.find("call_target_name");
  return op.name == "stablehlo.custom_call" && callee != nullptr && callee->text == target &&
         op.operands.size() == 1 && op.results.size() == 1;
}

bool cuts(const ModuleOp& op) { return is_call_of(op, "SPMDFullToShardShape"); }
bool joins(const ModuleOp& op) { return is_call_of(op, "SPMDShardToFullShape"); }

// The values that an operation and its regions read.
void add_reads(const ModuleOp& op, std::vector<ValueNumber>& out) {
  out.insert(out.end(), op.operands.begin(), op.operands.end());
  for (const ModuleBlock& region : op.regions) {
    for (const ModuleOp& inner : region.ops) add_reads(inner, out);
  }
}

// The manual computations of one block.
//
// 1. Operations that read a value of one device's shape belong together, with the cuts and joins
//    that they are connected to. These are the parts.
// 2. An operation that only a part reads, such as a constant or the device's number, belongs to it.
// 3. Each part becomes one operation, at the place of its last operation before a join.
class ManualParts {
 public:
  ManualParts(const Mesh& mesh, ModuleFunction& function, ModuleBlock& block)
      : mesh_(mesh), f_(function), block_(block), parts_(block.ops.size()) {}

  void rewrite() {
    connect();
    std::map<size_t, std::vector<size_t>> parts;
    for (size_t i = 0; i < ops().size(); ++i) {
      if (local_[i]) parts[parts_.root(i)].push_back(i);
    }
    std::map<size_t, ModuleOp> made;  // by the place where it goes
    std::vector<bool> gone(ops().size(), false);
    for (const auto& [first, members] : parts) {
      const size_t place = last_before_joins(members);
      auto part = manual(members, place);
      if (!part) continue;
      made.emplace(place, std::move(*part));
      for (const size_t i : members) gone[i] = true;
    }
    std::vector<ModuleOp> kept;
    for (size_t i = 0; i < ops().size(); ++i) {
      if (const auto here = made.find(i); here != made.end())
        kept.push_back(std::move(here->second));
      else if (!gone[i])
        kept.push_back(std::move(ops()[i]));
    }
    ops() = std::move(kept);
  }

 private:
  std::vector<ModuleOp>& ops() { return block_.ops; }

  void connect() {
    const size_t count = ops().size();
    local_.assign(count, false);
    reads_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const ModuleOp& op = ops()[i];
      add_reads(op, reads_[i]);
      local_[i] = cuts(op) || joins(op);
      for (const ValueNumber value : reads_[i]) {
        users_[value].push_back(i);
        const auto maker = maker_.find(value);
        if (cuts(op) || maker == maker_.end() || !local_[maker->second] ||
            joins(ops()[maker->second]))
          continue;
        local_[i] = true;
        parts_.unite(i, maker->second);
      }
      for (const ValueNumber result : op.results) maker_[result] = i;
    }
    for (size_t i = count; i-- > 0;) {
      if (!local_[i]) absorb(i);
    }
  }

  void absorb(size_t i) {
    std::optional<size_t> part;
    for (const ValueNumber result : ops()[i].results) {
      for (const size_t user : users_[result]) {
        if (!local_[user] || cuts(ops()[user]) || (part && *part != parts_.root(user))) return;
        part = parts_.root(user);
      }
    }
    if (!part) return;
    local_[i] = true;
    parts_.unite(i, *part);
  }

  size_t last_before_joins(const std::vector<size_t>& members) {
    size_t last = members.front();
    for (const size_t i : members) {
      if (!joins(ops()[i])) last = i;
    }
    return last;
  }

  // The sharding of a full value, which the text gives just before it is cut.
  std::optional<Sharding> sharding_before(const ModuleOp& cut) {
    const auto maker = maker_.find(cut.operands[0]);
    if (maker == maker_.end() || ops()[maker->second].name != "sdy.sharding_constraint")
      return std::nullopt;
    const Attr* attr = ops()[maker->second].find("sharding");
    if (attr == nullptr || attr->shardings.empty()) return std::nullopt;
    return attr->shardings.front();
  }

  std::optional<Sharding> sharding_after(const ModuleOp& join) {
    const Attr* tiles = join.find("mhlo.sharding");
    const auto parsed = tiles != nullptr ? parse_tile_sharding(tiles->text) : std::nullopt;
    if (!parsed) return std::nullopt;
    return sharding_on(mesh_, *parsed, f_.type(join.results[0]).dims.size());
  }

  bool fits(const Sharding& sharding, const ModuleType& full, const ModuleType& local) const {
    if (full.dims.size() != local.dims.size() || sharding.dims.size() != full.dims.size())
      return false;
    for (size_t d = 0; d < full.dims.size(); ++d) {
      if (full.dims[d] != local.dims[d] * part_count(mesh_, sharding.dims[d].axes)) return false;
    }
    return true;
  }

  // The part as one operation. nullopt if a sharding is not known, if something before `place`
  // reads a joined value, or if something outside of the part reads a value of one device.
  std::optional<ModuleOp> manual(const std::vector<size_t>& members, size_t place) {
    ModuleOp out;
    out.name = "sdy.manual_computation";
    out.span = ops()[place].span;
    Attr in;
    Attr results;
    in.kind = results.kind = Attr::Kind::kShardings;
    ModuleBlock region;
    ModuleOp end;
    end.name = "sdy.return";
    end.span = out.span;
    for (const size_t i : members) {
      const ModuleOp& op = ops()[i];
      const bool joined = joins(op);
      if (!cuts(op) && !joined) {
        if (op.results.empty()) return std::nullopt;  // the block's return
        region.ops.push_back(op);
        continue;
      }
      const auto sharding = joined ? sharding_after(op) : sharding_before(op);
      const ValueNumber full = joined ? op.results[0] : op.operands[0];
      const ValueNumber local = joined ? op.operands[0] : op.results[0];
      if (!sharding || !fits(*sharding, f_.type(full), f_.type(local))) return std::nullopt;
      if (!joined) {
        in.shardings.push_back(*sharding);
        out.operands.push_back(full);
        region.arguments.push_back(local);
        continue;
      }
      for (const size_t user : users_[full]) {
        if (user < place) return std::nullopt;
      }
      results.shardings.push_back(*sharding);
      out.results.push_back(full);
      end.operands.push_back(local);
    }
    if (out.results.empty() || region.ops.empty()) return std::nullopt;
    Attr axes;
    axes.kind = Attr::Kind::kList;
    for (const MeshAxis& axis : mesh_.axes) axes.items.push_back(Attr::of_word(axis.name));
    out.attributes.emplace_back("in_shardings", std::move(in));
    out.attributes.emplace_back("out_shardings", std::move(results));
    out.attributes.emplace_back("manual_axes", std::move(axes));
    region.ops.push_back(std::move(end));
    out.regions.push_back(std::move(region));
    return out;
  }

  const Mesh& mesh_;
  ModuleFunction& f_;
  ModuleBlock& block_;
  UnionFind parts_;          // of operations
  std::vector<bool> local_;  // by operation: a cut, a join, or an operation between them
  std::vector<std::vector<ValueNumber>> reads_;
  std::map<ValueNumber, size_t> maker_;
  std::map<ValueNumber, std::vector<size_t>> users_;
};

void name_in(const Mesh& mesh, ModuleFunction& function, ModuleBlock& block) {
  const auto cut_or_joined = [](const ModuleOp& op) { return cuts(op) || joins(op); };
  if (std::any_of(block.ops.begin(), block.ops.end(), cut_or_joined))
    ManualParts(mesh, function, block).rewrite();
  for (ModuleOp& op : block.ops) {
    for (ModuleBlock& region : op.regions) name_in(mesh, function, region);
  }
}

}  // namespace

void name_manual_computations(const Mesh& mesh, ModuleFunction& function) {
  name_in(mesh, function, function.body);
}

}  // namespace hostir::importer
