// Files of whatever other tools wrote, told apart by what is in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// Who writes such files; the order is the one in which they are believed.
enum class DumpFormat : uint8_t { kFlightRecorder, kClog, kNcclDebug, kRas, kInspector };
std::string_view name(DumpFormat format);

struct DumpFile {
  DumpFormat format = DumpFormat::kFlightRecorder;
  std::vector<ProcessDump> dumps;  // NCCL's debug lines and reports hold several processes
};

struct DumpFiles {
  std::vector<DumpFile> files;
  std::vector<std::string> notes;  // files that were left out, one sentence each
};

/// One file's bytes; `path` is for messages and for the rank in the name. Errors: those of the
/// format, `import_format` (nothing that can be read here).
Expected<DumpFile> read_dump(std::string_view bytes, const std::string& path);
/// Files, and folders two levels deep. A file that was named must be readable; of a folder what is
/// something else is left out, what is damaged is noted. Errors: `import_files` (nothing there).
Expected<DumpFiles> read_dumps(const std::vector<std::string>& paths);

}  // namespace hostir::traces::import
