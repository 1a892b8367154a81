// Why each value has its sharding and why each collective exists, as recorded by the compiler.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "gui/panels/log/log_fetch.h"
#include "gui/panels/program/code_text.h"

namespace hostir::gui {

namespace {

class ExplainPanel : public Panel {
 public:
  std::string_view id() const override { return "explain"; }
  std::string_view title() const override { return "Explain"; }
  std::string_view hint() const override {
    return "Why the selected value is sharded as it is, and why each collective is there. Programs "
           "written by hand have "
           "no such records.";
  }

  void draw(Frame& frame) override {
    const uint64_t key = frame.model.last_opened();
    const auto* records =
        fetch_.get(frame.model, key,
                   [](const interp::LogView& log, std::stop_token)
                       -> Expected<std::vector<interp::LogExplain>> { return log.explanations(); });
    if (!records || records->empty()) return frame.ui.empty_hint(hint());
    ImGui::Checkbox("only the selected value", &selected_only_);
    frame.ui.tag("explain/only", selected_only_ ? "on" : "off");
    const std::string wanted = frame.model.selection.value;
    size_t shown = 0;
    ImGui::BeginChild("records");
    // Records about the selection come first, regardless of the filter.
    for (const bool related : {true, false}) {
      for (size_t i = 0; i < records->size(); ++i) {
        if (is_related(frame, (*records)[i], wanted) != related) continue;
        draw_record(frame, (*records)[i], related, shown++);
      }
      if (selected_only_) break;
      if (related && shown > 0 && shown < records->size()) ImGui::Separator();
    }
    if (shown == 0)
      frame.ui.empty_hint(
          fmt::format("nothing was recorded about %{}; clear the box to see everything", wanted));
    ImGui::EndChild();
  }

 private:
  // True if `is_wanted` holds for a fusion instruction, `@mlp#4`, from which this one was made.
  template <class F>
  static bool has_origin(const interp::Code& code, interp::CodeIndex index, F is_wanted) {
    const auto& from = code.source(index).from;
    return std::any_of(from.begin(), from.end(), [&](const OpRef& ref) {
      return is_wanted(fmt::format("@{}#{}", ref.function, ref.number));
    });
  }

  // True if the record is about the selected value, about the value of the fusion that the selected
  // buffer is for, or about a fusion instruction that the selected instruction was made from.
  static bool is_related(const Frame& frame, const interp::LogExplain& r,
                         const std::string& wanted) {
    if (!wanted.empty() && (r.subject == wanted || r.subject == "%" + wanted)) return true;
    const interp::ProgramView& program = *frame.model.snapshot()->program;
    if (r.value.valid() && program.code) {
      const Function& host = *program.code->functions.front();
      const auto buffer = host.find_value(wanted);
      if (buffer && host.value(*buffer).origin.value == r.value.value) return true;
    }
    const auto& code = frame.model.selection.code;
    if (!code || *code >= program.instructions.size()) return false;
    return r.subject == program.address(*code) ||
           (program.code && has_origin(*program.code, *code, [&](const std::string& origin) {
              return r.subject == origin;
            }));
  }

  static void draw_record(Frame& frame, const interp::LogExplain& r, bool related, size_t number) {
    const std::string subject =
        (r.subject.starts_with('%') || r.subject.starts_with('@') ? "" : "%") + r.subject;
    ImGui::PushID(static_cast<int>(number));
    ImGui::PushFont(frame.ui.fonts.mono);
    draw_word(frame, subject);
    ImGui::PopFont();
    frame.ui.tag(fmt::format("explain/{}/subject", number), subject);
    ImGui::SameLine();
    frame.ui.text_dim(r.rule + (related ? "   (selected)" : ""));
    draw_linked_text(frame, r.text);
    frame.ui.tag(fmt::format("explain/{}", number), r.text);
    ImGui::Dummy(ImVec2(0, frame.ui.px(3)));
    ImGui::PopID();
  }

  // Draws a text with its %names and @f#n as links, with manual line wrapping.
  static void draw_linked_text(Frame& frame, std::string_view text) {
    const float right = ImGui::GetWindowContentRegionMax().x;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing,
                        ImVec2(0, ImGui::GetStyle().ItemSpacing.y * 0.4f));
    bool first = true;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find_first_of(" \n", at), text.size());
      const std::string word(text.substr(at, end - at));
      const bool line_break = end < text.size() && text[end] == '\n';
      at = end + 1;
      const float space = ImGui::CalcTextSize(" ").x;
      if (!first) {
        ImGui::SameLine(0, space);
        if (ImGui::GetCursorPosX() + ImGui::CalcTextSize(word.c_str()).x > right) ImGui::NewLine();
      }
      draw_word(frame, word);
      first = line_break;
    }
    ImGui::PopStyleVar();
  }

  static void draw_word(Frame& frame, const std::string& word) {
    const size_t begin = word.find_first_of("%@");
    const bool link = begin != std::string::npos && begin <= 1 && begin + 1 < word.size();
    ImGui::PushStyleColor(ImGuiCol_Text, link ? frame.ui.pal().link : frame.ui.pal().text);
    frame.ui.text(word);
    ImGui::PopStyleColor();
    if (!link || !ImGui::IsItemClicked()) return;
    const std::string_view name = name_at(word, begin);
    if (name.starts_with('%')) {
      frame.model.selection.value = std::string(name.substr(1));
    } else {
      select_origin(frame, std::string_view(word).substr(begin));
    }
  }

  // `@mlp#4` selects the first host instruction made from it; `@mlp.host#9` selects that
  // instruction.
  static void select_origin(Frame& frame, std::string_view reference) {
    const interp::ProgramView& program = *frame.model.snapshot()->program;
    const auto names = [&](const std::string& address) {
      return reference.starts_with(address) &&
             (reference.size() == address.size() ||
              !std::isdigit(static_cast<unsigned char>(reference[address.size()])));
    };
    for (interp::CodeIndex i = 0; i < program.instructions.size(); ++i) {
      if (program.mnemonic(i).empty()) continue;
      if (!names(program.address(i)) && !(program.code && has_origin(*program.code, i, names)))
        continue;
      frame.model.selection.code = i;
      return;
    }
  }

  bool selected_only_ = false;
  LogFetch<uint64_t, std::vector<interp::LogExplain>> fetch_{"explain"};
};

}  // namespace

std::unique_ptr<Panel> make_explain_panel() { return std::make_unique<ExplainPanel>(); }

}  // namespace hostir::gui
