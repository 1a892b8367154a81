// The log's event rate: on the interpreter's thread, and to disk.
//
//   trace_bench [EVENTS] [FILE] [default|plain|packed]
// Plays the instruction mix of a tensor-parallel MLP (launch, all_reduce, free, wait; one loop path
// per iteration) on 8 ranks, closes the log, reopens it and counts. "sink" is the caller's time per
// event: CPU time, and including waits for a full ring. "to disk" includes closing with digests and
// the checkpoint. "processor" is the CPU time of all threads, which does not depend on other load.

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/traces/synthetic_run.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

int fail(const hostir::Error& error) {
  fmt::print(stderr, "{}\n", error.message());
  return 3;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int measure(std::string_view name, const std::string& path, int64_t target, int64_t plain_events) {
  using namespace hostir::traces;
  constexpr hostir::interp::Rank kRanks = 8;
  TraceOptions options;
  options.plain_events = plain_events;
  auto writer = TraceWriter::create(path, testing::synthetic_description(kRanks), options);
  if (!writer) return fail(writer.error());
  testing::SyntheticRun run(**writer, kRanks);

  const std::clock_t processor_start = std::clock();
  const double thread_start = thread_seconds();
  const auto start = Clock::now();
  run.iterate(target / (4 * kRanks));
  const auto issued = Clock::now();
  const double sink = thread_seconds() - thread_start;
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
      "{:<8} {} events  sink {:.0f} ns/event ({:.0f} with waits, {} stalls)  to disk {:.2f} M "
      "events/s  processor {:.0f} ns/event  {:.1f} B/event  opened with timeline in {:.2f} s  "
      "counted {}\n",
      name, run.events(), sink * 1e9 / events, seconds(start, issued) * 1e9 / events,
      statistics->stalls, events / seconds(start, closed) * 1e-6, processor * 1e9 / events,
      static_cast<double>(std::filesystem::file_size(path)) / events, seconds(closed, loaded),
      std::get<int64_t>(counted->rows[0][0]));
  return extent->event_count == run.events() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t events = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const std::string path = argc > 2 ? argv[2] : "trace_bench.db";
  const std::string_view only = argc > 3 ? argv[3] : "";
  const std::pair<std::string_view, int64_t> kinds[] = {
      {"default", hostir::traces::TraceOptions{}.plain_events},
      {"plain", events + 1},
      {"packed", 0}};
  int failed = 0;
  for (const auto& [name, plain_events] : kinds) {
    if (only.empty() || only == name) failed += measure(name, path, events, plain_events);
  }
  std::filesystem::remove(path);
  return failed;
}
