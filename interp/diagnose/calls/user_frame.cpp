#include "interp/diagnose/calls/user_frame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace hostir::diagnose {

namespace {

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ends_with_any(std::string_view text) {
  constexpr std::array<std::string_view, 8> kCompiled = {".cpp", ".cc", ".c",   ".h",
                                                         ".hpp", ".cu", ".cuh", ".so"};
  return std::any_of(kCompiled.begin(), kCompiled.end(),
                     [&](std::string_view end) { return text.ends_with(end); });
}

/// `.../lib/python3.12/contextlib.py`, but not installed packages.
bool is_python_library(std::string_view file) {
  const size_t at = file.find("/lib/python");
  if (at == std::string_view::npos) return false;
  return !has_part(file, "/site-packages/") && !has_part(file, "/dist-packages/");
}

}  // namespace

bool is_user_frame(const model::StackFrame& frame) {
  const std::string_view file = frame.place.file;
  if (file.empty() || file == "??" || file.front() == '<' || ends_with_any(file)) return false;
  if (has_part(file, ".so.") || file.starts_with("torch/")) return false;
  if (has_part(file, "/site-packages/torch/") || has_part(file, "/dist-packages/torch/")) {
    return false;
  }
  if (has_part(file, "/torch/distributed/") || has_part(file, "/torchcomms/")) return false;
  return !is_python_library(file);
}

const model::StackFrame* user_frame(const std::vector<model::StackFrame>& frames) {
  const auto at = std::find_if(frames.begin(), frames.end(), is_user_frame);
  return at == frames.end() ? nullptr : &*at;
}

std::vector<std::string> stack_lines(const model::Instruction& instruction) {
  constexpr size_t kMostFrames = 6;
  std::vector<std::string> lines;
  for (const model::StackFrame& frame : instruction.frames) {
    if (!is_user_frame(frame)) continue;
    if (lines.size() == kMostFrames) {
      lines.emplace_back("...");
      break;
    }
    std::string_view name = frame.place.file;
    // Print the folder once; for other files the name is enough.
    if (!lines.empty()) name.remove_prefix(name.rfind('/') == name.npos ? 0 : name.rfind('/') + 1);
    std::string& line = lines.emplace_back(lines.empty() ? "" : "from ");
    line += frame.place.line ? fmt::format("{}:{}", name, *frame.place.line) : std::string(name);
    if (!frame.function.empty()) line += " in " + frame.function;
  }
  if (lines.empty()) lines.push_back(model::place_text(instruction));
  if (lines.front().empty()) lines.clear();
  return lines;
}

std::string stack_text(const model::Instruction& instruction) {
  return fmt::format("{}", fmt::join(stack_lines(instruction), ", "));
}

}  // namespace hostir::diagnose
