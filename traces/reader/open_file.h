// Identifies a file and makes it readable without changing its contents.
//
// Copies are made only if necessary: of an older log, to migrate it, and of a cut log where SQLite
// can neither create its shared memory file nor roll back the writer's last transaction.
#pragma once

#include <memory>
#include <string>

#include "traces/database/sqlite.h"

namespace hostir::traces {

/// A temporary directory that is deleted by its destructor.
class TemporaryDirectory {
 public:
  static Expected<std::unique_ptr<TemporaryDirectory>> create();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// A log file that can be opened with `mode` any number of times.
struct ReadableFile {
  std::string path;  // the file itself, or a copy of it
  Database::Mode mode = Database::Mode::kReadOnly;
  std::unique_ptr<TemporaryDirectory> copy;  // set if `path` is a copy
  Expected<Database> connect() const;
  /// Copies what is committed to a new file. Errors: `log_exists`, `log_io`, `log_full`.
  Expected<void> copy_to(const std::string& target) const;
};

/// A folder is read as the set of logs in it (log_set.h).
/// Errors: `log_missing`, `log_not_a_log`, `log_newer`, `log_old`, `log_damaged`, `log_io`.
Expected<ReadableFile> open_file(const std::string& path);

}  // namespace hostir::traces
