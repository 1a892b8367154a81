#include "gui/draw/find_text.h"

#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace hostir::gui {

std::vector<TextMark> find_all(std::string_view text, std::string_view words) {
  std::vector<TextMark> out;
  if (words.empty()) return out;
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  size_t line = 0;
  size_t line_begin = 0;
  for (auto at = text.begin(); at != text.end();) {
    const auto next = std::search(at, text.end(), words.begin(), words.end(), same);
    if (next == text.end()) break;
    const auto place = static_cast<size_t>(next - text.begin());
    for (size_t end = text.find('\n', line_begin); end < place; end = text.find('\n', line_begin)) {
      ++line;
      line_begin = end + 1;
    }
    out.push_back(
        {line, place - line_begin, place - line_begin + words.size(), Severity::kNote, ""});
    at = next + static_cast<std::ptrdiff_t>(words.size());
  }
  return out;
}

// True if the matches may have changed.
bool FindText::search(std::string_view text) {
  if (of_words_ == words_ && of_text_ == text) return false;
  of_words_ = words_;
  of_text_ = text;
  found_ = find_all(text, words_);
  at_ = 0;
  return true;
}

std::optional<TextMark> FindText::draw(Frame& frame, const std::string& name,
                                       std::string_view text) {
  int step = 0;
  if (frame.model.find_wish && frame.model.find_wish->panel == frame.ui.panel) {
    step = frame.model.find_wish->step;
    focus_ = step == 0;
    open_ = true;
    frame.model.find_wish.reset();
  }
  if (!open_) return std::nullopt;
  if (std::exchange(focus_, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(frame.ui.px(180));
  const bool entered = ImGui::InputTextWithHint(
      "##find", "find", &words_,
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
  if (entered) step = ImGui::GetIO().KeyShift ? -1 : 1;
  focus_ = entered;
  const bool field = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  const bool close = field && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape));
  frame.ui.tag(name + "/find", words_);
  const bool fresh = search(text);
  if (!found_.empty() && !fresh && step != 0) {
    const size_t n = found_.size();
    at_ = (at_ + (step > 0 ? 1 : n - 1)) % n;
  }
  ImGui::SameLine();
  const std::string count = found_.empty() ? words_.empty() ? "" : "not found"
                                           : fmt::format("{} of {}", at_ + 1, found_.size());
  frame.ui.text_dim(count);
  frame.ui.tag(name + "/found", count);
  ImGui::SameLine();
  if (ImGui::SmallButton("\u2715") || close) {
    open_ = false;
    found_.clear();
    of_words_.clear();
    return std::nullopt;
  }
  frame.ui.tag(name + "/find_close");
  if (found_.empty() || (!fresh && step == 0)) return std::nullopt;
  return found_[at_];
}

}  // namespace hostir::gui
