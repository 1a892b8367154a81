#include "traces/import/skipped_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "traces/import/formats/file_name.h"

namespace hostir::traces::import {

namespace {

/// `a, b, c and 9 more`.
std::string names_of(const std::vector<const SkippedFile*>& files, size_t begin, size_t most) {
  const size_t end = std::min(files.size(), begin + most);
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    out += i == begin ? "" : ", ";
    out += std::filesystem::path(files[i]->path).filename().string();
  }
  if (end < files.size()) out += fmt::format(" and {} more", files.size() - end);
  return out;
}

}  // namespace

void SkippedFiles::add(const std::string& path, const Error& error, Found found) {
  const bool unknown = error.diagnostics.front().id == "import_format";
  if (unknown && found == Found::kInFolder && !rank_in_name(path)) return;
  const std::string& message = error.message();
  const bool named = message.find(path) != std::string::npos;
  files_.push_back({path, named ? message : fmt::format("{}: {}", path, message), unknown});
}

std::vector<std::string> SkippedFiles::notes() const {
  std::vector<const SkippedFile*> damaged, unknown;
  for (const SkippedFile& file : files_) (file.unknown ? unknown : damaged).push_back(&file);
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(kMostTold, damaged.size()); ++i) out.push_back(damaged[i]->why);
  if (damaged.size() > kMostTold) {
    const size_t more = damaged.size() - kMostTold;
    out.push_back(fmt::format("{} more damaged file{}: {}", more, more == 1 ? "" : "s",
                              names_of(damaged, kMostTold, kMostTold)));
  }
  if (unknown.size() == 1) out.push_back(unknown.front()->why);
  if (unknown.size() > 1) {
    out.push_back(
        fmt::format("{} files are skipped, because they are not dumps of a known "
                    "recorder: {}",
                    unknown.size(), names_of(unknown, 0, kMostTold)));
  }
  return out;
}

}  // namespace hostir::traces::import
