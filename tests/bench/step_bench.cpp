// The cost of a step and of a window frame with small programs, without a screen.
//
//   step_bench
// Measures the time from the key press to a window that shows the complete new state, minus the
// engine's own time for the same steps; then CPU time and vertices per frame at the end of a run.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

interp::OpenRequest large_mlp() {
  interp::OpenRequest request;
  request.path = "tests/programs/tp_mlp.hir";
  request.mesh_sizes = {{"tp", 4}};
  request.inputs = {{"x", "normal(1, 2x64x2048xf32)"},
                    {"w1", "normal(2, 0, 0.03, 8192x2048xf32)"},
                    {"b1", "normal(3, 8192xf32)"},
                    {"w2", "normal(4, 0, 0.03, 2048x8192xf32)"},
                    {"b2", "normal(5, 2048xf32)"}};
  return request;
}

// From the key press to a window that shows the complete new state, minus the engine's own time for
// the same steps.
bool steps() {
  Workbench window("");
  window.model().open(large_mlp());
  if (!window->wait_until_idle(120) || !window.model().snapshot()) {
    fmt::print(stderr, "{}\n", window.model().open_error());
    return false;
  }
  api::SessionOptions options;
  options.values = "stats";
  api::SessionOpener factory(options);
  auto engine = factory.open(large_mlp());
  const auto next = interp::parse_command("next");
  if (!engine || !next) return false;
  std::vector<double> extra;
  for (int i = 0; i < 12; ++i) {
    auto begin = Clock::now();
    if (!(*engine)->execute(*next, {})) return false;
    const double alone = ms_since(begin);
    begin = Clock::now();
    window->press("F10");
    if (!window->wait_until_idle(60)) return false;
    const double shown = ms_since(begin);
    extra.push_back(shown - alone);
    fmt::print("step {:>2}: engine alone {:8.2f} ms, to the redrawn window {:8.2f} ms\n", i, alone,
               shown);
  }
  fmt::print("beyond the instruction: median {:.2f} ms, worst {:.2f} ms\n", median(extra),
             *std::max_element(extra.begin(), extra.end()));
  return true;
}

void frames() {
  for (const char* program : {"tests/programs/tp_mlp.hir", "tests/programs/sp_toy.hir"}) {
    Workbench w(program);
    w.press("F5");
    std::vector<double> times;
    for (int i = 0; i < 200; ++i) {
      w->step();
      times.push_back(w->cpu_ms());
    }
    fmt::print("{}: median {:.3f} ms of CPU per frame, {} vertices\n", program, median(times),
               w->vertex_count());
  }
}

}  // namespace
}  // namespace hostir::gui

int main() {
  if (!hostir::gui::steps()) return 3;
  hostir::gui::frames();
  return 0;
}
