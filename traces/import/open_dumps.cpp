#include "traces/import/open_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hostir/support/lists.h"
#include "traces/import/assemble.h"
#include "traces/import/nccl_members.h"

namespace hostir::traces::import {

Expected<OpenedDumps> open_dumps(const std::vector<std::string>& paths) {
  HOSTIR_ASSIGN_OR_RETURN(DumpFiles read, read_dumps(paths));
  std::map<DumpFormat, std::vector<ProcessDump>> by_format;
  for (DumpFile& file : read.files) {
    std::vector<ProcessDump>& dumps = by_format[file.format];
    std::move(file.dumps.begin(), file.dumps.end(), std::back_inserter(dumps));
    std::move(file.notes.begin(), file.notes.end(), std::back_inserter(read.notes));
  }
  // Each of these files knows only its own process.
  if (const auto at = by_format.find(DumpFormat::kNcclPlugin); at != by_format.end())
    name_members(at->second);
  std::vector<OpenedDumps> all;
  for (auto& [format, dumps] : by_format) {
    if (dumps.empty()) continue;
    auto run = assemble(std::move(dumps));
    if (!run) {
      // A stray log next to good dumps must not hide their verdict.
      if (by_format.size() == 1) return tl::unexpected(std::move(run.error()));
      read.notes.push_back(run.error().message());
      continue;
    }
    OpenedDumps& opened = all.emplace_back();
    opened.run = std::make_shared<const model::Run>(std::move(*run));
    opened.format = format;
    opened.verdict = diagnose::judge(*opened.run);
    if (opened.verdict.charge != diagnose::Charge::kNoRecord) continue;
    for (const auto& [rank, file] : read.unreadable) {
      if (!contains(opened.verdict.culprits, rank)) continue;
      opened.verdict.sentence += fmt::format(
          "; its file {} is there but cannot be read, so rank {} may have done nothing wrong", file,
          rank);
    }
  }
  if (all.empty() && by_format.empty() && !read.profiles.empty()) {
    OpenedDumps only_profiles;
    only_profiles.profiles = std::move(read.profiles);
    only_profiles.notes = std::move(read.notes);
    return only_profiles;
  }
  if (all.empty()) {
    return fail(ErrorKind::kInvalid, "import_files",
                read.notes.empty() ? std::string("the files hold no process") : read.notes.front());
  }
  // A verdict based on a rank's record is more informative than that a record is missing.
  const auto weight = [](const OpenedDumps& o) {
    if (!o.verdict.is_fault()) return o.verdict.if_stuck ? 1 : 0;
    const bool named = !o.verdict.culprits.empty();
    return named && o.verdict.charge != diagnose::Charge::kNoRecord ? 3 : 2;
  };
  const auto chosen = std::max_element(
      all.begin(), all.end(),
      [&](const OpenedDumps& a, const OpenedDumps& b) { return weight(a) < weight(b); });
  OpenedDumps out = *chosen;
  out.profiles = std::move(read.profiles);
  out.notes = std::move(read.notes);
  for (const OpenedDumps& other : all) {
    if (other.format == out.format) continue;
    const bool accuses = other.verdict.is_fault() && other.verdict.culprits != out.verdict.culprits;
    out.notes.push_back(fmt::format("{}{}: {}", name(other.format),
                                    accuses ? " tells it differently" : "",
                                    other.verdict.sentence));
  }
  return out;
}

OpenedDumps taken_as_stuck(OpenedDumps opened) {
  if (!opened.verdict.if_stuck) return opened;
  diagnose::RecordedVerdict stuck = *opened.verdict.if_stuck;
  opened.verdict = std::move(stuck);
  return opened;
}

}  // namespace hostir::traces::import
