// Reads any bytes as a dump of another tool (pickle, JSON, gzip, text lines), makes a run of it and
// diagnoses it: gives a diagnostic, never a crash or an excessive allocation.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interp/diagnose/recorded.h"
#include "traces/import/assemble/assemble.h"
#include "traces/import/read_dumps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir::traces::import;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto file = read_dump(bytes, "trace_0");
  if (!file) return 0;
  // Use the file a second time as another rank, so that calls match across ranks.
  std::vector<ProcessDump> dumps = file->dumps;
  for (ProcessDump& dump : file->dumps) {
    if (dump.rank && *dump.rank < 1000) dump.rank = *dump.rank + 1;
    dumps.push_back(dump);
  }
  const auto run = assemble(std::move(dumps));
  if (run) (void)hostir::diagnose::judge(*run);
  return 0;
}
