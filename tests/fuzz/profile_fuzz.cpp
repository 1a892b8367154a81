// Reads any bytes as a profile (Kineto JSON, gzip, a SQLite export of Nsight Systems), joins it
// with a copy of itself as another rank, and makes a run of it: gives a diagnostic, never a crash
// or an excessive allocation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/support/json_text.h"
#include "scratch_file.h"
#include "traces/profile/kineto.h"
#include "traces/profile/nsys.h"
#include "traces/profile/open_profiles.h"
#include "traces/profile/profile_json.h"
#include "traces/profile/profile_run.h"

namespace {

using namespace hostir::traces::profile;

std::vector<ProcessProfile> read(std::string_view bytes) {
  std::vector<ProcessProfile> out;
  if (bytes.starts_with("SQLite format 3")) {
    static const std::string path = hostir::fuzz::scratch_file("report.sqlite");
    hostir::fuzz::write_scratch(path, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (auto several = read_nsys(path)) out = std::move(*several);
    return out;
  }
  auto one = read_kineto(
      [&](std::span<char> to) {
        const size_t size = std::min(to.size(), bytes.size());
        std::copy_n(bytes.data(), size, to.data());
        bytes.remove_prefix(size);
        return size;
      },
      "trace_0.json");
  if (one) out.push_back(std::move(*one));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<ProcessProfile> processes = read({reinterpret_cast<const char*>(data), size});
  if (processes.empty()) return 0;
  processes.push_back(processes.front());
  if (processes.front().rank) processes.back().rank = *processes.front().rank ^ 1;
  const auto job = join(std::move(processes));
  if (!job) return 0;
  (void)hostir::json_text(json_of(*job));
  (void)details_text(*job);
  if (job->processes.back().rank < 1000) (void)to_run(*job);
  return 0;
}
