#include "traces/import/formats/nccl_members.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace hostir::traces::import {

namespace {

bool has_position(const ProcessDump& dump, const DumpGroup& group) {
  return dump.rank && group.position && group.size && !group.members;
}

/// Two ranks at one position are in two communicators of the same name.
void tell_apart(std::vector<ProcessDump>& dumps) {
  std::map<std::pair<std::string, int32_t>, model::Rank> holders;
  std::set<std::string> ambiguous;
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (!has_position(dump, group)) continue;
      const auto at = holders.try_emplace({group.name, *group.position}, *dump.rank).first;
      if (at->second != *dump.rank) ambiguous.insert(group.name);
    }
  }
  for (ProcessDump& dump : dumps) {
    for (DumpGroup& group : dump.groups) {
      if (!has_position(dump, group) || !ambiguous.contains(group.name)) continue;
      dump.remarks.push_back(fmt::format(
          "several communicators have the name {}, so their members cannot be told apart",
          group.description));
      group.name += fmt::format(" of rank {}", *dump.rank);
      group.description += fmt::format(" of rank {}", *dump.rank);
    }
  }
}

}  // namespace

void name_members(std::vector<ProcessDump>& dumps) {
  tell_apart(dumps);
  std::map<std::string, std::map<int32_t, model::Rank>> members;
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (has_position(dump, group)) members[group.name][*group.position] = *dump.rank;
    }
  }
  for (ProcessDump& dump : dumps) {
    for (DumpGroup& group : dump.groups) {
      if (!has_position(dump, group)) continue;
      const auto& known = members[group.name];
      std::vector<model::Rank> list;
      if (known.size() == *group.size) {
        for (const auto& [position, rank] : known) list.push_back(rank);
      } else if (*group.size == dump.world_size) {
        for (model::Rank r = 0; r < *dump.world_size; ++r) list.push_back(r);
      }
      if (!list.empty()) group.members = std::move(list);
    }
  }
}

}  // namespace hostir::traces::import
