#include "traces/import/open_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "hostir/support/lists.h"
#include "traces/import/assemble/assemble.h"
#include "traces/import/formats/inspector.h"
#include "traces/import/formats/ras.h"

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

// The sentence of a verdict with `if_stuck` ends with the sentence of `if_stuck`.
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

/// Nothing is known about a rank whose file was not read or not written: the sentence must not
/// acquit it.
void limit(const std::vector<std::string>& limits, diagnose::RecordedVerdict& verdict) {
  if (limits.empty()) return;
  constexpr std::string_view kAcquits = "no rank is at fault: ";
  if (verdict.sentence.starts_with(kAcquits))
    verdict.sentence.replace(0, kAcquits.size(), "no rank is accused: ");
  for (const std::string& text : limits) verdict.sentence += "; " + text;
}

std::set<std::string> files_of(const std::vector<ProcessDump>& dumps) {
  std::set<std::string> out;
  for (const ProcessDump& dump : dumps) out.insert(dump.file);
  return out;
}

std::string unread_sentence(const std::set<std::string>& unread) {
  constexpr size_t kMostTold = 3;
  std::string names;
  size_t told = 0;
  for (const std::string& file : unread) {
    if (told++ == kMostTold) break;
    names += (names.empty() ? "" : ", ") + file;
  }
  if (unread.size() > kMostTold) names += fmt::format(" and {} more", unread.size() - kMostTold);
  return fmt::format("{} {} not read, and may be of another job, which may hang: {}", unread.size(),
                     unread.size() == 1 ? "file is" : "files are", names);
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
    std::vector<std::string> limits;
    if (format == DumpFormat::kInspector) {
      limits = inspector_sentences(dumps);
      limits.insert(limits.begin(), "NCCL Inspector writes finished calls only");
    }
    std::set<std::string> unread = files_of(dumps);
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
    for (const std::string& file : opened.run->producer.files) unread.erase(file);
    const bool acquits = !opened.verdict.is_fault() && !opened.verdict.if_stuck;
    if (acquits && !unread.empty()) limits.push_back(unread_sentence(unread));
    limit(limits, opened.verdict);
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
  // A verdict based on a rank's record says more than one based on a missing record.
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
