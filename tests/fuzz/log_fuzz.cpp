// Opens any bytes as a log and reads everything that can be read: gives a diagnostic, never a
// crash.
//
// The corpus has a small log; mutations of it reach deep code, because only blocks have checksums.

#include <cstddef>
#include <cstdint>

#include "scratch_file.h"
#include "traces/reader/log_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string path = hostir::fuzz::scratch_file("log.db");
  hostir::fuzz::write_scratch(path, data, size);
  auto opened = hostir::traces::open_log(path);
  if (!opened) return 0;
  hostir::traces::LogReader& log = **opened;
  const auto extent = log.refresh();
  for (hostir::interp::TrackId track = 0; track < 4; ++track) {
    if (extent) (void)log.timeline({track, extent->begin_ns, extent->end_ns, 100});
  }
  (void)log.events({});
  (void)log.event(1);
  (void)log.loop_path(1);
  (void)log.collectives({});
  (void)log.memory(0, 0, 1000, 10);
  for (const hostir::interp::LogTensor& tensor : log.tensors())
    (void)log.writes({.value = tensor.name, .element = std::vector<int64_t>{0, 0}});
  (void)log.faults();
  (void)log.decisions();
  (void)log.input_data(0);
  (void)log.check();
  return 0;
}
