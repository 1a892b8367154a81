// Files that do not outlive the process, also if a signal ends it.
#pragma once

#include <cstdint>
#include <string>

namespace hostir {

/// Owns a file that is deleted with this object, together with SQLite's side files. May be used
/// from several threads.
class TemporaryFile {
 public:
  /// `keep`: the file is not temporary, and stays.
  explicit TemporaryFile(std::string path, bool keep = false);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  bool is_temporary() const { return !kept_; }

 private:
  static constexpr size_t kNoSlot = SIZE_MAX;
  std::string path_;
  bool kept_;
  size_t slot_ = kNoSlot;  // among those that a signal deletes
};

/// Deletes the temporary files of this process. May be called from a signal handler.
void delete_temporary_files();

/// From here on, a hangup, an interrupt or a request to terminate that would end the process
/// deletes its temporary files before. Signals that are ignored or handled stay so. For programs;
/// a library leaves signals alone.
void delete_temporary_files_at_signals();

}  // namespace hostir
