// Helpers for comparison tests: the log of another run, and a window that compares with it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {

// Runs a program to its end and returns the path of the closed log.
inline std::string log_of(const std::string& name, const std::string& program,
                          const std::string& kernels, const std::string& values = "stats",
                          std::vector<std::pair<std::string, std::string>> inputs = {}) {
  const std::string path = testing::TempDir() + name;
  std::filesystem::remove(path);
  api::SessionOptions options;
  options.log_path = path;
  options.values = values;
  options.backend.kernels = kernels;
  options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
  api::SessionOpener factory{options};
  auto session = factory.open({.path = program, .inputs = std::move(inputs)});
  EXPECT_TRUE(session) << (session ? "" : session.error().message());
  if (session) {
    EXPECT_TRUE((*session)->execute(*interp::parse_command("continue"), {}));
  }
  return path;
}

inline void compare_with(Workbench& w, const std::string& path) {
  w.only("diff");
  ASSERT_TRUE(w.fill("diff/path", path, ""));
  ASSERT_TRUE(w.click("diff/open"));
  w->wait_until_idle(30);
}

}  // namespace hostir::gui
