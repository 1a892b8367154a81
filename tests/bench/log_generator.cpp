// Generates large logs quickly, for benchmarks of log readers.
//
//   log_generator EVENTS FILE [RANKS=8]
// Writes the instruction mix of a tensor-parallel MLP in a loop through the real writer: as many
// events as requested, rounded down to whole iterations. The log is closed as after a run.

#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "tests/unit/traces/synthetic_run.h"
#include "traces/writer/trace_writer.h"

int main(int argc, char** argv) {
  using namespace hostir::traces;
  const int64_t events = argc > 2 ? std::atoll(argv[1]) : 0;
  const int ranks = argc > 3 ? std::atoi(argv[3]) : 8;
  if (events <= 0 || ranks <= 0) {
    fmt::print(stderr, "usage: log_generator EVENTS FILE [RANKS=8]\n");
    return 64;
  }
  auto writer = TraceWriter::create(argv[2], testing::synthetic_description(ranks));
  if (!writer) {
    fmt::print(stderr, "{}\n", writer.error().message());
    return 3;
  }
  testing::SyntheticRun run(**writer, ranks);
  run.iterate(events / (int64_t{4} * ranks));
  const auto closed = (*writer)->close();
  if (!closed) {
    fmt::print(stderr, "{}\n", closed.error().message());
    return 3;
  }
  fmt::print("{}: {} events\n", argv[2], closed->events);
  return 0;
}
