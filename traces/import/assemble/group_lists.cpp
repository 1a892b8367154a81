#include "traces/import/assemble/group_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/support/lists.h"

namespace hostir::traces::import {

namespace {

using Name = std::pair<std::string, std::string>;  // and description

/// The members of a name, as some ranks give them.
struct List {
  std::vector<model::Rank> members;
  std::vector<model::Rank> given_by;
  bool contradicted = false;  // a member is in another list of the name too
};
using Lists = std::vector<List>;

bool has_description(const DumpGroup& group) {
  return !group.description.empty() && group.description != "undefined";
}

std::string shown(const DumpGroup& group) {
  return has_description(group) ? group.description : "group " + group.name;
}

Lists::const_iterator list_with(const Lists& lists, const std::vector<model::Rank>& members) {
  return std::ranges::find(lists, members, &List::members);
}

std::map<Name, Lists> lists_of(const std::vector<ProcessDump>& dumps) {
  std::map<Name, Lists> named;
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (!group.members) continue;
      Lists& lists = named[{group.name, group.description}];
      auto at = std::ranges::find(lists, *group.members, &List::members);
      if (at == lists.end()) at = lists.insert(lists.end(), {*group.members, {}, false});
      insert_once(at->given_by, *dump.rank);
    }
  }
  for (auto& [name, lists] : named) {
    std::map<model::Rank, size_t> uses;
    for (const List& list : lists) {
      for (const model::Rank rank : list.members) ++uses[rank];
    }
    for (List& list : lists) {
      list.contradicted =
          std::ranges::any_of(list.members, [&](model::Rank rank) { return uses[rank] > 1; });
    }
  }
  return named;
}

std::string says(const List& list) {
  return fmt::format("{} {} {}", model::list_of(list.given_by),
                     list.given_by.size() == 1 ? "lists" : "list", model::list_of(list.members));
}

}  // namespace

std::vector<std::pair<model::Rank, std::string>> share_members(std::vector<ProcessDump>& dumps) {
  const std::map<Name, Lists> named = lists_of(dumps);
  std::map<std::string, std::pair<model::Rank, std::string>> remarks;  // each once
  for (ProcessDump& dump : dumps) {
    for (DumpGroup& group : dump.groups) {
      const auto at = named.find({group.name, group.description});
      if (at == named.end()) continue;
      const Lists& lists = at->second;
      if (!group.members) {
        const auto mine = std::ranges::find_if(
            lists, [&](const List& list) { return contains(list.members, *dump.rank); });
        if (mine != lists.end()) group.members = mine->members;
      }
      if (!group.members) continue;
      const List& mine = *list_with(lists, *group.members);
      if (!mine.contradicted) continue;
      const List& usual = *std::ranges::max_element(
          lists, {}, [](const List& list) { return list.given_by.size(); });
      const std::string name = shown(group);
      group.description = fmt::format("{} of {}", name, model::list_of(mine.members));
      if (&mine == &usual) continue;
      std::string text =
          fmt::format("{} as the members of {}, and {}", says(mine), name, says(usual));
      remarks.try_emplace(text, mine.given_by.front(), text);
    }
  }
  std::vector<std::pair<model::Rank, std::string>> out;
  for (auto& [text, remark] : remarks) out.push_back(std::move(remark));
  return out;
}

void tell_groups_apart(std::vector<ProcessDump>& dumps) {
  std::map<std::string, std::set<std::string>> names;  // by description
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (has_description(group)) names[group.description].insert(group.name);
    }
  }
  for (ProcessDump& dump : dumps) {
    for (DumpGroup& group : dump.groups) {
      if (has_description(group) && names[group.description].size() > 1)
        group.description += fmt::format(" (group {})", group.name);
    }
  }
}

}  // namespace hostir::traces::import
