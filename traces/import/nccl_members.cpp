#include "traces/import/nccl_members.h"

#include <map>
#include <string>

namespace hostir::traces::import {

void name_members(std::vector<ProcessDump>& dumps) {
  std::map<std::string, std::map<int32_t, model::Rank>> members;
  std::map<std::string, int64_t> sizes;
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (dump.rank && group.position) members[group.name][*group.position] = *dump.rank;
      sizes[group.name] = group.size.value_or(0);
    }
  }
  for (ProcessDump& dump : dumps) {
    for (DumpGroup& group : dump.groups) {
      const auto& known = members[group.name];
      const int64_t size = sizes[group.name];
      std::vector<model::Rank> list;
      if (static_cast<int64_t>(known.size()) == size) {
        for (const auto& [position, rank] : known) list.push_back(rank);
      } else if (size == dump.world_size) {
        for (model::Rank r = 0; r < size; ++r) list.push_back(r);
      }
      if (!list.empty()) group.members = std::move(list);
    }
  }
}

}  // namespace hostir::traces::import
