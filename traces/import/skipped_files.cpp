#include "traces/import/skipped_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "traces/import/file_name.h"

namespace hostir::traces::import {

namespace {

/// `a, b, c and 9 more`.
std::string first_of(const std::vector<std::string>& names, size_t begin, size_t most) {
  const size_t end = std::min(names.size(), begin + most);
  std::string out;
  for (size_t i = begin; i < end; ++i) out += (i == begin ? "" : ", ") + names[i];
  if (end < names.size()) out += fmt::format(" and {} more", names.size() - end);
  return out;
}

}  // namespace

void SkippedFiles::add(const std::string& path, const Error& error) {
  const bool unknown = error.diagnostics.front().id == "import_format";
  if (unknown && !rank_in_name(path)) return;
  const std::string& message = error.message();
  const bool named = message.find(path) != std::string::npos;
  (unknown ? unknown_ : damaged_).push_back(std::filesystem::path(path).filename().string());
  (unknown ? unknown_told_ : damaged_told_)
      .push_back(named ? message : fmt::format("{}: {}", path, message));
}

std::vector<std::string> SkippedFiles::notes() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(kMostTold, damaged_told_.size()); ++i)
    out.push_back(damaged_told_[i]);
  if (damaged_.size() > kMostTold) {
    out.push_back(fmt::format("{} more damaged files: {}", damaged_.size() - kMostTold,
                              first_of(damaged_, kMostTold, kMostTold)));
  }
  if (unknown_.size() == 1) out.push_back(unknown_told_.front());
  if (unknown_.size() > 1) {
    out.push_back(
        fmt::format("{} files are skipped, because they are not dumps of a known "
                    "recorder: {}",
                    unknown_.size(), first_of(unknown_, 0, kMostTold)));
  }
  return out;
}

}  // namespace hostir::traces::import
