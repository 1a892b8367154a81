// The whole window without pixels, on a real session: the fixture of the tests in this folder.
//
// Widgets are named (`ui.tag` in the panels); a test clicks and reads them by name. A Workbench is
// one ImGui context; create one per test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "gui/window/headless.h"
#include "hostir/api/open/open_session.h"

namespace hostir::gui {

inline constexpr const char* kMlp = "tests/programs/tp_mlp.hir";

// A generous deadline, because a sanitizer build on a busy machine is slow.
inline constexpr double kIdleSeconds = 120;

class Workbench {
 public:
  explicit Workbench(const std::string& path, int width = 1600, int height = 1000,
                     const std::string& settings_file = "", const std::string& function = "",
                     const api::SessionOptions& options = session_options())
      : factory_(options),
        window_(factory_, app_options(path, settings_file, function), width, height) {
    window_.wait_until_idle(kIdleSeconds);
  }

  static api::SessionOptions session_options() {
    api::SessionOptions options;
    options.values = "stats";
    options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
    return options;
  }

  Headless* operator->() { return &window_; }
  Model& model() { return window_.app().model(); }
  const interp::Snapshot& shot() { return *model().snapshot(); }

  /// Runs an action or a command line to its end. Returns false if it is neither.
  bool perform(const std::string& text) {
    const bool known = window_.app().perform(text);
    return window_.wait_until_idle(kIdleSeconds) && known;
  }
  bool press(const std::string& keys) {
    return window_.press(keys) && window_.wait_until_idle(kIdleSeconds);
  }
  bool click(const std::string& name, int button = 0) {
    return window_.click(name, button) && window_.wait_until_idle(kIdleSeconds);
  }
  bool fill(const std::string& name, const std::string& text, const std::string& end = "Enter") {
    return window_.fill(name, text, end) && window_.wait_until_idle(kIdleSeconds);
  }
  /// A widget's text. A widget that is not on screen fails the test at the caller's line.
  std::string text(const std::string& name, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) const {
    if (!has(name)) ADD_FAILURE_AT(file, line) << "no widget is called " << name;
    return window_.text(name);
  }
  bool has(const std::string& name) const { return window_.has(name); }
  uint64_t decision() { return shot().position.decision; }
  /// Shows only this panel.
  void only(const std::string& panel) {
    perform("panel." + panel);
    window_.app().tree().maximise(panel);
    window_.wait_until_idle(kIdleSeconds);
  }

 private:
  static AppOptions app_options(const std::string& path, const std::string& settings_file,
                                const std::string& function) {
    AppOptions options;
    options.open.path = path;
    options.open.function = function;
    options.settings_file = settings_file;
    return options;
  }

  api::SessionOpener factory_;
  Headless window_;
};

/// Writes a file for this test run and returns its path.
inline std::string write_file(const std::string& name, const std::string& bytes) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// The first program line that contains the text, 1-based; 0 if none does.
inline int line_of(Workbench& w, const std::string& text) {
  const std::string_view program = w.shot().program->text();
  const size_t at = program.find(text);
  if (at == std::string_view::npos) return 0;
  int line = 1;
  for (const char c : program.substr(0, at)) line += c == '\n' ? 1 : 0;
  return line;
}

/// Runs a query on the log's own thread and waits for it.
inline void ask(Workbench& w,
                const std::function<void(const interp::LogView&, std::stop_token)>& what) {
  bool asked = false;
  w.model().worker().query_log("test", [&](const interp::LogView& log, std::stop_token stop) {
    what(log, std::move(stop));
    return std::function<void()>([&] { asked = true; });
  });
  w->wait_until_idle(kIdleSeconds);
  EXPECT_TRUE(asked);
}

inline bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hostir::gui
