#include "gui/window/script.h"

#include <fmt/core.h>
#include <imgui.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

class Player {
 public:
  using FrameFunction = std::function<void(const ScriptInput*)>;

  Player(App& app, const FrameFunction& frame) : app_(app), frame_(frame) {}

  bool wait_until_idle() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int frames = 3; frames > 0 || app_.wants_frame(); --frames) {
      draw();
      if (std::chrono::steady_clock::now() > end) return false;
      const bool reading = app_.model().worker().log_progress().reading;
      if (app_.wants_frame())
        std::this_thread::sleep_for(std::chrono::milliseconds(reading ? 200 : 1));
    }
    return true;
  }

  void draw() {
    const ScriptInput input{[this] {
      ImGuiIO& io = ImGui::GetIO();
      io.MousePos = mouse_.value_or(ImVec2(-1, -1));
      for (int i = 0; i < 3; ++i) io.MouseDown[i] = i == button_;
      io.KeyCtrl = ctrl_;
      io.KeyShift = shift_;
      io.KeyAlt = alt_;
      if (key_ >= 0) io.KeysDown[key_] = key_down_;
    }};
    frame_(&input);
  }

  bool hover(const std::string& name) {
    const WidgetRect* rect = app_.ui().find(name);
    if (!rect) return false;
    mouse_ = ImVec2((rect->min.x + rect->max.x) / 2, (rect->min.y + rect->max.y) / 2);
    draw();
    draw();
    return true;
  }

  bool click(const std::string& name, int button) {
    if (!hover(name)) return false;
    button_ = button;
    draw();
    button_ = -1;
    draw();
    return true;
  }

  bool press(std::string_view keys) {
    ctrl_ = keys.find("Ctrl+") != std::string_view::npos;
    shift_ = keys.find("Shift+") != std::string_view::npos || keys == "?";
    alt_ = keys.find("Alt+") != std::string_view::npos;
    const size_t plus = keys.rfind('+');
    key_ = key_code(
        plus == std::string_view::npos || plus + 1 == keys.size() ? keys : keys.substr(plus + 1));
    if (key_ < 0) return false;
    key_down_ = true;
    draw();
    key_down_ = false;
    ctrl_ = shift_ = alt_ = false;
    draw();
    key_ = -1;
    return true;
  }

  App& app() { return app_; }

 private:
  App& app_;
  const FrameFunction& frame_;
  std::optional<ImVec2> mouse_;
  int button_ = -1;
  int key_ = -1;
  bool key_down_ = false;
  bool ctrl_ = false;
  bool shift_ = false;
  bool alt_ = false;
};

// Runs one step; returns the error, empty on success.
std::string perform(Player& player, const std::string& word, const std::string& rest,
                    const std::string& line) {
  if (word == "key") return player.press(rest) ? "" : "unknown key " + rest;
  if (word == "click" || word == "rclick") {
    return player.click(rest, word == "rclick" ? 1 : 0) ? "" : "no widget is called " + rest;
  }
  if (word == "hover") return player.hover(rest) ? "" : "no widget is called " + rest;
  if (word == "type") {
    ImGui::GetIO().AddInputCharactersUTF8(rest.c_str());
    player.draw();
    return "";
  }
  if (word == "wait") return player.wait_until_idle() ? "" : "is still busy";
  if (word == "frames") {
    int n = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), n);
    for (int i = 0; i < n && i < 10000; ++i) player.draw();
    return "";
  }
  if (word == "expect") {
    const size_t space = std::min(rest.find(' '), rest.size());
    const WidgetRect* rect = player.app().ui().find(rest.substr(0, space));
    if (!rect) return "no widget is called " + rest.substr(0, space);
    const std::string wanted = space < rest.size() ? rest.substr(space + 1) : "";
    return rect->text.find(wanted) != std::string::npos ? "" : "it says \"" + rect->text + "\"";
  }
  return player.app().perform(line) ? "" : "neither an action nor a command";
}

// `folder` may have leading blanks.
Expected<void> match_picture(const Image& shown, const std::string& path,
                             const std::string& folder) {
  HOSTIR_ASSIGN_OR_RETURN(const Image wanted, read_png(path));
  const std::string differs = why_not_same(shown, wanted);
  if (differs.empty()) return {};
  const std::filesystem::path into = trimmed(folder);
  const std::string stem = std::filesystem::path(path).stem().string();
  HOSTIR_TRY(write_png((into / (stem + ".png")).string(), shown));
  HOSTIR_TRY(
      write_png((into / (stem + ".diff.png")).string(), difference(shown, wanted, kSameThreshold)));
  return fail(ErrorKind::kExpectation, "gui_picture",
              fmt::format("{}: {}; the picture and its differences are in {}", path, differs,
                          into.string()));
}

}  // namespace

Expected<void> Script::run(App& app, const std::function<void(const ScriptInput*)>& frame,
                           const std::function<Image()>& grab) {
  Player player(app, frame);
  player.wait_until_idle();
  size_t begin = 0;
  for (int number = 1; begin < text_.size(); ++number) {
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    const std::string line = text_.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    if (word == "screenshot") {
      HOSTIR_TRY(write_png(rest, grab()));
      continue;
    }
    if (word == "match") {
      HOSTIR_TRY(match_picture(grab(), rest.substr(0, rest.find(' ')),
                               rest.substr(std::min(rest.size(), rest.find(' ')))));
      continue;
    }
    const std::string problem = perform(player, word, rest, line);
    if (!problem.empty()) {
      return fail(ErrorKind::kExpectation, "gui_script",
                  "line " + std::to_string(number) + " `" + line + "`: " + problem);
    }
    if (!player.wait_until_idle()) {
      return fail(ErrorKind::kRuntime, "gui_script",
                  "line " + std::to_string(number) + " `" + line + "`: is still busy");
    }
  }
  return {};
}

}  // namespace hostir::gui
