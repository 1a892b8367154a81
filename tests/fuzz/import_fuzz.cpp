// Reads any bytes as a dump of another tool (pickle, JSON, gzip, text lines) makes a run of it,
// judges it: a diagnostic, never a crash, and no memory that is not there.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interp/diagnose/recorded.h"
#include "traces/import/assemble.h"
#include "traces/import/read_dumps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir::traces::import;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto file = read_dump(bytes, "trace_0");
  if (!file) return 0;
  // The same file once more as another rank, so that ranks meet.
  std::vector<ProcessDump> dumps = file->dumps;
  for (ProcessDump& dump : file->dumps) {
    if (dump.rank && *dump.rank < 1000) dump.rank = *dump.rank + 1;
    dumps.push_back(dump);
  }
  const auto run = assemble(std::move(dumps));
  if (run) (void)hostir::diagnose::judge(*run);
  return 0;
}
