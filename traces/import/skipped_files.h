// Files that could not be read, summed up in a few sentences.
//
// A folder of dumps often has a log file per rank beside them. A sentence for each would hide the
// verdict.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces::import {

struct SkippedFile {
  std::string path;
  std::string why;       // a full sentence, with the path
  bool unknown = false;  // not damaged, but of a format that no reader knows
};

class SkippedFiles {
 public:
  enum class Found : uint8_t { kByName, kInFolder };
  /// `error`: why `path` could not be read. A file of an unknown format counts only if its name
  /// contains a rank, or if the user named the file.
  void add(const std::string& path, const Error& error, Found found = Found::kInFolder);
  const std::vector<SkippedFile>& files() const { return files_; }
  /// At most one sentence for files of unknown formats, and one more than kMostTold for damaged
  /// ones.
  std::vector<std::string> notes() const;

 private:
  static constexpr size_t kMostTold = 3;
  std::vector<SkippedFile> files_;
};

}  // namespace hostir::traces::import
