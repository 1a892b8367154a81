// How fast the log takes events: from the interpreter's thread, and to the disk.
//
//   trace_bench [EVENTS] [FILE] [default|plain|packed]
// Plays a tensor-parallel MLP's instruction mix (launch, all_reduce, free, wait; a loop path each
// iteration) on 8 ranks, closes the log, opens it again and counts. "sink" is what the caller's
// thread spent per event, "to disk" includes closing with digests and the checkpoint, "processor"
// is the time of all threads, which does not depend on who else uses the machine.

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/unit/traces/synthetic_run.h"
#include "traces/log_reader.h"
#include "traces/trace_writer.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

int fail(const hostir::Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  return 3;
}

int measure(const char* name, const std::string& path, int64_t target, int64_t plain_events) {
  using namespace hostir::traces;
  constexpr hostir::interp::Rank kRanks = 8;
  TraceOptions options;
  options.plain_events = plain_events;
  auto writer = TraceWriter::create(path, testing::synthetic_description(kRanks), options);
  if (!writer) return fail(writer.error());
  testing::SyntheticRun run(**writer, kRanks);

  const std::clock_t processor_start = std::clock();
  const auto start = Clock::now();
  run.iterate(target / (4 * kRanks));
  const auto issued = Clock::now();
  const auto statistics = (*writer)->close();
  const auto closed = Clock::now();
  const double processor =
      static_cast<double>(std::clock() - processor_start) / static_cast<double>(CLOCKS_PER_SEC);
  if (!statistics) return fail(statistics.error());
  writer->reset();

  auto log = open_log(path);
  if (!log) return fail(log.error());
  const auto extent = (*log)->refresh();
  if (!extent) return fail(extent.error());
  const auto loaded = Clock::now();
  const auto counted = (*log)->query("SELECT COUNT(*) FROM event");
  if (!counted) return fail(counted.error());

  const auto events = static_cast<double>(run.events());
  fmt::print(
      "{:<8} {:>9} events  sink {:>6.1f} ns/event  to disk {:>5.2f} M events/s  stalls {}  "
      "{:>5.1f} B/event  opened with timeline in {:.2f} s  counted {}\n",
      name, run.events(), seconds(start, issued) * 1e9 / events,
      events / seconds(start, closed) * 1e-6, statistics->stalls,
      static_cast<double>(std::filesystem::file_size(path)) / events, seconds(closed, loaded),
      std::get<int64_t>(counted->rows[0][0]));
  return extent->event_count == run.events() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t events = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const std::string path = argc > 2 ? argv[2] : "trace_bench.db";
  const int failed = measure("default", path, events, hostir::traces::TraceOptions{}.plain_events) +
                     measure("plain", path, events, events + 1) +
                     measure("packed", path, events, 0);
  std::filesystem::remove(path);
  return failed;
}
