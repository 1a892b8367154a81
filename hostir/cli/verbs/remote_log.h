// Logs on other machines: `ssh:HOST:PATH` in place of a log's path.
//
// What the log holds now is copied through `ssh HOST hostir trace export --format log PATH`, so
// keys, jump hosts and ports are those of the user's ssh configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "traces/reader/open_file.h"

namespace hostir::cli {

/// Copies of the remote logs among a command's words; deleted with this object.
class RemoteLogs {
 public:
  /// Replaces `ssh:HOST:PATH` in `words` by the path of a copy.
  /// Errors: `remote_log` if the text has no host or path, or if ssh fails (it says why itself).
  Expected<void> fetch(std::vector<std::string>& words);

 private:
  Expected<std::string> fetch_one(const std::string& word);
  std::vector<std::unique_ptr<traces::TemporaryDirectory>> copies_;
};

}  // namespace hostir::cli
