#include "traces/import/open_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hostir/support/lists.h"
#include "traces/import/assemble.h"
#include "traces/import/inspector.h"
#include "traces/import/ras.h"

namespace hostir::traces::import {

namespace {

// A process that lives writes its file, so a rank without one is accused. A rank whose file cannot
// be read may have done nothing wrong.
void spare_unreadable(const std::vector<std::pair<model::Rank, std::string>>& unreadable,
                      diagnose::RecordedVerdict& verdict) {
  if (verdict.charge != diagnose::Charge::kNoRecord) return;
  std::vector<model::Rank> ranks;
  std::string files;
  for (const auto& [rank, file] : unreadable) {
    if (!contains(verdict.culprits, rank) && !contains(verdict.suspects, rank)) continue;
    ranks.push_back(rank);
    files += fmt::format("{}{} of rank {}", files.empty() ? "" : ", ", file, rank);
  }
  diagnose::spare(ranks, "a file is there but cannot be read: " + files, verdict);
}

// The sentence of a verdict with `if_stuck` ends with that of `if_stuck`.
void spare_if_stuck(const std::vector<std::pair<model::Rank, std::string>>& unreadable,
                    diagnose::RecordedVerdict& verdict) {
  if (!verdict.if_stuck) return;
  auto stuck = std::make_shared<diagnose::RecordedVerdict>(*verdict.if_stuck);
  spare_unreadable(unreadable, *stuck);
  if (stuck->sentence == verdict.if_stuck->sentence) return;
  verdict.sentence.resize(verdict.sentence.size() - verdict.if_stuck->sentence.size());
  verdict.sentence += stuck->sentence;
  verdict.if_stuck = std::move(stuck);
}

}  // namespace

Expected<OpenedDumps> open_dumps(const std::vector<std::string>& paths) {
  HOSTIR_ASSIGN_OR_RETURN(DumpFiles read, read_dumps(paths));
  std::map<DumpFormat, std::vector<ProcessDump>> by_format;
  std::vector<std::string> notes;
  for (DumpFile& file : read.files) {
    std::vector<ProcessDump>& dumps = by_format[file.format];
    std::move(file.dumps.begin(), file.dumps.end(), std::back_inserter(dumps));
    std::move(file.notes.begin(), file.notes.end(), std::back_inserter(notes));
  }
  std::vector<OpenedDumps> all;
  for (auto& [format, dumps] : by_format) {
    if (dumps.empty()) continue;
    if (format == DumpFormat::kRas) dumps = newest_report(std::move(dumps));
    std::vector<std::string> more;
    if (format == DumpFormat::kInspector) {
      more = inspector_sentences(dumps);
      more.insert(more.begin(), "NCCL Inspector writes finished calls only");
    }
    auto run = assemble(std::move(dumps));
    if (!run) {
      // A stray log next to good dumps must not hide their verdict.
      if (by_format.size() == 1) return tl::unexpected(std::move(run.error()));
      notes.push_back(run.error().message());
      continue;
    }
    OpenedDumps& opened = all.emplace_back();
    opened.run = std::make_shared<const model::Run>(std::move(*run));
    opened.format = format;
    opened.verdict = diagnose::judge(*opened.run);
    spare_unreadable(read.unreadable, opened.verdict);
    spare_if_stuck(read.unreadable, opened.verdict);
    for (const std::string& text : more) opened.verdict.sentence += "; " + text;
  }
  if (all.empty() && by_format.empty() && !read.profiles.empty()) {
    OpenedDumps only_profiles;
    only_profiles.profiles = std::move(read.profiles);
    only_profiles.skipped = std::move(read.skipped);
    only_profiles.notes = std::move(notes);
    return only_profiles;
  }
  if (all.empty()) {
    return fail(ErrorKind::kInvalid, "import_files",
                notes.empty() ? std::string("the files hold no process") : notes.front());
  }
  // A verdict based on a rank's record is more informative than that a record is missing.
  const auto weight = [](const OpenedDumps& o) {
    if (!o.verdict.is_fault()) return o.verdict.if_stuck || o.verdict.unknown ? 1 : 0;
    const bool named = !o.verdict.culprits.empty();
    return named && o.verdict.charge != diagnose::Charge::kNoRecord ? 3 : 2;
  };
  const auto chosen = std::max_element(
      all.begin(), all.end(),
      [&](const OpenedDumps& a, const OpenedDumps& b) { return weight(a) < weight(b); });
  OpenedDumps out = *chosen;
  out.profiles = std::move(read.profiles);
  out.skipped = std::move(read.skipped);
  out.notes = std::move(notes);
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
