// The cost of a window frame with a large log, without a screen.
//
//   gui_bench RUN.db [PANEL]
// Opens the log in a 1600 x 1000 window without pixels and prints the times until the first picture
// and the whole timeline are shown. Then, at every zoom level from everything to single events,
// prints CPU time and vertices per frame (median and maximum of 40 frames with a moving pointer),
// and finally how long the log takes to answer a frame's queries.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "gui/window/headless.h"
#include "hostir/api/open/open_session.h"
#include "traces/reader/log_reader.h"

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

struct Frames {
  double median_ms = 0;
  double largest_ms = 0;
  int vertices = 0;
};

Frames measure(hostir::gui::Headless& window) {
  constexpr int kFrames = 40;
  std::vector<double> ms;
  Frames frames;
  for (int i = 0; i < kFrames; ++i) {
    window.step();
    ms.push_back(window.cpu_ms());
    frames.vertices = std::max(frames.vertices, window.vertex_count());
  }
  std::sort(ms.begin(), ms.end());
  frames.median_ms = ms[ms.size() / 2];
  frames.largest_ms = ms.back();
  return frames;
}

bool is_reading(hostir::gui::Headless& window) {
  return window.app().model().worker().log_progress().reading;
}

int open_and_zoom(const std::string& path, const std::string& panel) {
  using namespace hostir;
  api::SessionOpener factory{api::SessionOptions{}};
  gui::AppOptions options;
  options.open.path = path;
  const auto start = Clock::now();
  gui::Headless window(factory, options, 1600, 1000);
  double first_s = -1;
  while (since(start) < 300) {
    window.step();
    const bool shown = window.has("timeline") && window.app().model().snapshot();
    if (first_s < 0 && shown) first_s = since(start);
    if (shown && !is_reading(window)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (first_s < 0) {
    fmt::print(stderr, "no timeline: {}\n", window.app().model().open_error());
    return 3;
  }
  window.wait_until_idle(60);
  fmt::print("first picture {:.2f} s, whole timeline {:.2f} s\n", first_s, since(start));
  if (!panel.empty()) {
    window.app().perform("panel." + panel);
    window.app().tree().maximise(panel);
    window.wait_until_idle(60);
  }
  window.hover("timeline");
  for (int zoom = 0; zoom < 14; ++zoom) {
    const Frames f = measure(window);
    fmt::print("zoom {:>2}  frame {:>6.2f} ms  largest {:>6.2f} ms  vertices {:>6}  {}\n", zoom,
               f.median_ms, f.largest_ms, f.vertices, window.text("timeline/status"));
    for (int i = 0; i < 5; ++i) window.scroll("timeline", 1);
    window.wait_until_idle(60);
  }
  return 0;
}

// Views read directly from the file: every track at several zoom levels.
int views(const std::string& path) {
  using namespace hostir;
  auto log = traces::open_log(path);
  if (!log) return 3;
  const auto start = Clock::now();
  const auto extent = (*log)->refresh();
  if (!extent) {
    fmt::print(stderr, "{}\n", extent.error().message());
    return 3;
  }
  fmt::print("{} events read in {:.2f} s\n", extent->event_count, since(start));
  const int64_t whole = std::max<int64_t>(1, extent->end_ns - extent->begin_ns);
  for (int64_t part = 1; whole / part > 1000; part *= 16) {
    const int64_t from = extent->begin_ns + whole / 3;
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto begin = Clock::now();
      for (size_t t = 0; t < (*log)->tracks().size(); ++t) {
        (void)(*log)->timeline({static_cast<interp::TrackId>(t),
                                part == 1 ? extent->begin_ns : from, from + whole / part, 2000});
      }
      best = std::min(best, since(begin));
    }
    fmt::print("1/{:<10} of the run, {} tracks, 2000 columns: {:.2f} ms\n", part,
               (*log)->tracks().size(), best * 1e3);
  }
  const auto begin = Clock::now();
  const auto sums = (*log)->sums(extent->begin_ns, extent->end_ns + 1);
  fmt::print("sums of the whole run: {} rows in {:.1f} ms\n", sums.size(), since(begin) * 1e3);
  for (const interp::LogTensor& tensor : (*log)->tensors()) {
    const std::vector<int64_t> element(tensor.extents.size(), 0);
    const auto asked = Clock::now();
    const auto list = (*log)->find_writes({.value = tensor.name, .element = element});
    if (!list) continue;
    const double listed = since(asked);
    constexpr size_t kVisible = 64;
    const std::span<const interp::LogWrite> places(list->places);
    const auto visible =
        (*log)->read_writes(places.first(std::min(kVisible, places.size())), element);
    const double shown = since(asked);
    const auto all = (*log)->read_writes(places, element);
    if (visible && all)
      fmt::print(
          "writes of %{}: {} listed in {:.1f} ms, the first {} with values after {:.1f} ms, "
          "all {} of this stretch after {:.1f} ms\n",
          tensor.name, places.size(), listed * 1e3, visible->size(), shown * 1e3, all->size(),
          since(asked) * 1e3);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: gui_bench RUN.db [PANEL]\n");
    return 64;
  }
  const int failed = views(argv[1]);
  return failed != 0 ? failed : open_and_zoom(argv[1], argc > 2 ? argv[2] : "");
}
