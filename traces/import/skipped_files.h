// The files of a folder that could not be read as dumps, told in a few sentences.
//
// A folder of dumps often has a log file per rank beside them. A sentence for each would hide the
// verdict.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces::import {

class SkippedFiles {
 public:
  /// `error`: why `path` could not be read. A file of an unknown format counts only if its name
  /// has a rank.
  void add(const std::string& path, const Error& error);
  /// At most one sentence for files of unknown formats, and one more than kMostTold for damaged
  /// ones.
  std::vector<std::string> notes() const;

 private:
  static constexpr size_t kMostTold = 3;
  std::vector<std::string> unknown_;  // names
  std::vector<std::string> unknown_told_;
  std::vector<std::string> damaged_;  // names
  std::vector<std::string> damaged_told_;
};

}  // namespace hostir::traces::import
