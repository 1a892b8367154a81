// Reads files of other tools; detects the format by content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"
#include "traces/import/skipped_files.h"

namespace hostir::traces::import {

/// The tool that wrote a file, in order of precedence.
enum class DumpFormat : uint8_t {
  kFlightRecorder,
  kClog,
  kNcclPlugin,
  kNcclDebug,
  kRas,
  kInspector
};
std::string_view name(DumpFormat format);

struct DumpFile {
  DumpFormat format = DumpFormat::kFlightRecorder;
  std::vector<ProcessDump> dumps;  // NCCL's debug lines and reports cover several processes
  std::vector<std::string> notes;  // one sentence each
};

struct DumpFiles {
  std::vector<DumpFile> files;
  std::vector<std::string> profiles;  // files that hold profiles: traces/profile reads them
  SkippedFiles skipped;
  std::vector<std::pair<model::Rank, std::string>> unreadable;  // damaged or empty: rank, name
};

/// One file's bytes; `path` is used for messages and for the rank in the name.
/// Errors: those of the format, `import_format` (unknown format).
Expected<DumpFile> read_dump(std::string_view bytes, const std::string& path);
/// Reads files, and folders two levels deep. Damaged files are skipped, and so are files of unknown
/// formats. Profiles are only listed.
/// Errors: `import_files` (a folder without a readable file), `file_open`; if only files are named
/// and none is readable, the error of the first.
Expected<DumpFiles> read_dumps(const std::vector<std::string>& paths);

}  // namespace hostir::traces::import
