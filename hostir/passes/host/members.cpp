#include "hostir/passes/host/members.h"

#include <algorithm>

#include "hostir/ir/access.h"
#include "hostir/passes/host/host_builder.h"

namespace hostir {

namespace {

// The mesh of the buffers that a launch writes; empty if they have none.
std::string written_mesh(const Function& host, const Instruction& launch) {
  for (const Operand& o : launch.operands) {
    if (!writes(o.access)) continue;
    if (const Sharding* s = sharding_of(host.value(o.value).type)) return s->mesh;
  }
  return {};
}

}  // namespace

Members::Members(const Program& program, const Function& host) : host_(host) {
  set_of(program.find_mesh(host.mesh)->ranks());
  for (const InstrId id : host.preorder()) {
    const Instruction& i = host.instr(id);
    if (i.kind == OpKind::comm) {
      std::vector<int64_t> ranks;
      const auto* mesh = i.attributes.get<Symbol>("mesh");
      if (const auto* groups = i.attributes.get<IntLists>("groups")) {
        for (const auto& group : *groups) ranks.insert(ranks.end(), group.begin(), group.end());
      } else {
        ranks = program.find_mesh(mesh != nullptr ? mesh->name : host.mesh)->ranks();
      }
      by_comm_[i.results.front().index] = set_of(std::move(ranks));
    } else if (i.kind == OpKind::launch) {
      const std::string name = written_mesh(host, i);
      if (!name.empty() && by_mesh_.count(name) == 0) {
        by_mesh_[name] = set_of(program.find_mesh(name)->ranks());
      }
    }
  }
}

uint32_t Members::set_of(std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const auto at = std::find(sets_.begin(), sets_.end(), ranks);
  if (at != sets_.end()) return static_cast<uint32_t>(at - sets_.begin());
  sets_.push_back(std::move(ranks));
  return static_cast<uint32_t>(sets_.size() - 1);
}

uint32_t Members::set(const Instruction& i) const {
  if (i.kind == OpKind::launch) {
    const auto at = by_mesh_.find(written_mesh(host_, i));
    return at == by_mesh_.end() ? 0 : at->second;
  }
  const ValueId comm =
      i.kind == OpKind::comm ? ValueId() : slot_value(*members_of(host_, i).front(), "comm");
  const auto at = comm.valid() ? by_comm_.find(comm.index) : by_comm_.end();
  return at == by_comm_.end() ? 0 : at->second;
}

bool Members::includes(uint32_t outer, uint32_t inner) const {
  return std::includes(sets_[outer].begin(), sets_[outer].end(), sets_[inner].begin(),
                       sets_[inner].end());
}

std::vector<std::vector<uint32_t>> Members::classes() const {
  std::vector<std::vector<uint32_t>> out(sets_.size());
  std::map<std::vector<bool>, uint32_t> known;  // the sets that a rank belongs to -> class
  for (const int64_t rank : all()) {
    std::vector<bool> in;
    for (const auto& set : sets_) in.push_back(std::binary_search(set.begin(), set.end(), rank));
    const auto number = static_cast<uint32_t>(known.size());
    if (!known.emplace(in, number).second) continue;
    for (size_t s = 0; s < in.size(); ++s) {
      if (in[s]) out[s].push_back(number);
    }
  }
  return out;
}

}  // namespace hostir
