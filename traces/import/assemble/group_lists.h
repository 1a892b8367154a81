// Combines what the files of all ranks say about groups: members, and descriptions that differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// If a rank's settings omit a group, takes the members from another rank's. Groups of one name
/// whose lists contradict each other stay apart; their descriptions get the members. Returns one
/// sentence for each such list except the most frequent one, and names a rank that gives it. Every
/// dump has its rank.
std::vector<std::pair<model::Rank, std::string>> share_members(std::vector<ProcessDump>& dumps);
/// `tp (group 3)`, if groups of several names have the description `tp`.
void tell_groups_apart(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
