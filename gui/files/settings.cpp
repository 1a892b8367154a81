#include "gui/files/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "hostir/io/files.h"

namespace hostir::gui {

void Settings::add_recent(const std::string& path) {
  recent.erase(std::remove(recent.begin(), recent.end(), path), recent.end());
  recent.insert(recent.begin(), path);
  constexpr size_t kMax = 10;
  if (recent.size() > kMax) recent.resize(kMax);
}

void Settings::keep_program(ProgramSettings program) {
  std::erase_if(programs, [&](const ProgramSettings& p) { return p.path == program.path; });
  if (!program.empty()) programs.insert(programs.begin(), std::move(program));
  constexpr size_t kMax = 30;
  if (programs.size() > kMax) programs.resize(kMax);
}

void Settings::take_programs(const Settings& theirs, const std::string& own) {
  std::vector<ProgramSettings> mine;
  if (const ProgramSettings* program = find_program(own)) mine.push_back(*program);
  programs = theirs.programs;
  std::erase_if(programs, [&](const ProgramSettings& p) { return p.path == own; });
  for (ProgramSettings& program : mine) keep_program(std::move(program));
  const std::vector<std::string> first = recent;
  recent = theirs.recent;
  for (size_t i = first.size(); i > 0; --i) add_recent(first[i - 1]);
}

const ProgramSettings* Settings::find_program(const std::string& path) const {
  for (const ProgramSettings& p : programs) {
    if (p.path == path) return &p;
  }
  return nullptr;
}

void Settings::keep_panel(std::string_view panel, std::string_view state) {
  const std::string prefix = std::string(panel) + ": ";
  std::erase_if(panel_state, [&](const std::string& line) { return line.starts_with(prefix); });
  while (!state.empty()) {
    const size_t end = std::min(state.find('\n'), state.size());
    if (end > 0) panel_state.push_back(prefix + std::string(state.substr(0, end)));
    state.remove_prefix(std::min(end + 1, state.size()));
  }
}

std::string Settings::panel(std::string_view panel) const {
  const std::string prefix = std::string(panel) + ": ";
  std::string state;
  for (const std::string& line : panel_state) {
    if (line.starts_with(prefix)) state += line.substr(prefix.size()) + "\n";
  }
  return state;
}

Settings Settings::parse(const std::string& text) {
  Settings s;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 3);
    if (key == "theme") {
      s.theme = value == "light" ? ThemeKind::kLight : ThemeKind::kDark;
    } else if (key == "scale") {
      float scale = 1;
      std::from_chars(value.data(), value.data() + value.size(), scale);
      s.scale = std::clamp(scale, 0.5f, 3.0f);
    } else if (key == "layout") {
      s.layout = value;
    } else if (key == "saved_layout") {
      s.saved_layouts.push_back(value);
    } else if (key == "recent") {
      s.recent.push_back(value);
    } else if (key == "compared") {
      s.compared.push_back(value);
    } else if (key == "panel") {
      s.panel_state.push_back(value);
    } else if (key == "program") {
      s.programs.push_back({value, {}, {}, {}, {}});
    } else if (key == "break" && !s.programs.empty()) {
      s.programs.back().breaks.push_back(value);
    } else if (key == "watch" && !s.programs.empty()) {
      s.programs.back().watches.push_back(value);
    } else if (key == "bookmark" && !s.programs.empty()) {
      s.programs.back().bookmarks.push_back(value);
    } else if (key == "note" && !s.programs.empty()) {
      s.programs.back().notes.push_back(value);
    } else {
      s.other.push_back(line);
    }
  }
  return s;
}

std::string Settings::to_string() const {
  std::string out =
      fmt::format("theme = {}\nscale = {}\n", theme == ThemeKind::kLight ? "light" : "dark", scale);
  if (!layout.empty()) out += "layout = " + layout + "\n";
  for (const std::string& l : saved_layouts) out += "saved_layout = " + l + "\n";
  for (const std::string& r : recent) out += "recent = " + r + "\n";
  for (const std::string& c : compared) out += "compared = " + c + "\n";
  for (const std::string& p : panel_state) out += "panel = " + p + "\n";
  for (const std::string& o : other) out += o + "\n";
  for (const ProgramSettings& p : programs) {
    out += "program = " + p.path + "\n";
    for (const std::string& b : p.breaks) out += "break = " + b + "\n";
    for (const std::string& w : p.watches) out += "watch = " + w + "\n";
    for (const std::string& b : p.bookmarks) out += "bookmark = " + b + "\n";
    for (const std::string& n : p.notes) out += "note = " + n + "\n";
  }
  return out;
}

std::string settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config && *config) return std::string(config) + "/hostir/gui.conf";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.config/hostir/gui.conf" : std::string();
}

Settings load_settings(const std::string& path) {
  const auto text = path.empty() ? Expected<std::string>("") : io::read_file(path);
  return text ? Settings::parse(*text) : Settings{};
}

bool save_settings(const std::string& path, const Settings& settings) {
  if (path.empty()) return false;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return io::write_file(path, settings.to_string()).has_value();
}

}  // namespace hostir::gui
