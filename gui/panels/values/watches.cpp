// Watches: expressions evaluated on every rank, one column per rank for comparison.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>

#include "gui/panels/values/tensor_pick.h"
#include "hostir/support/lists.h"
#include "interp/session/expressions/watch_expr.h"

namespace hostir::gui {

namespace {

constexpr int kMaxRankColumns = 32;

struct WatchCell {
  std::string text;
  enum class Tone : uint8_t { kPlain, kChanged, kDim, kPending } tone = Tone::kPlain;
  std::string note;  // shown in the tooltip
};

WatchCell make_cell(Frame& frame, const interp::WatchExpr& expr, const interp::ValueQuery& query) {
  const ReadingSlot& slot = frame.model.reading(query);
  if (!slot.reading) return {slot.pending ? "..." : "-", WatchCell::Tone::kDim, slot.error};
  WatchCell cell{interp::watch_text(expr, slot.reading->tensor), WatchCell::Tone::kPlain, ""};
  for (const std::string& note : slot.reading->notes) cell.note += note + "\n";
  if (slot.reading->undefined) return {"not written", WatchCell::Tone::kDim, cell.note};
  const ReadingPtr before = frame.model.previous_reading(query);
  if (before && before != slot.reading && !(before->tensor == slot.reading->tensor)) {
    cell.tone = WatchCell::Tone::kChanged;
    cell.note += "changed since the last stop; it was " + interp::watch_text(expr, before->tensor);
  }
  if (slot.pending) cell.tone = WatchCell::Tone::kPending;
  return cell;
}

class WatchesPanel : public Panel {
 public:
  std::string_view id() const override { return "watches"; }
  std::string_view title() const override { return "Watches"; }
  std::string_view hint() const override {
    return "Expressions to watch, whole and on every rank: %y[0, 1], %g.max, %h.nan. "
           "Changes since the last stop are highlighted. They are kept with the program.";
  }

  void draw(Frame& frame) override {
    ImGui::SetNextItemWidth(-1);
    if (ImGui::InputTextWithHint("##new", "%y[0, 1]   %y[0, :].max   %y.sum   %y.nan", &text_,
                                 ImGuiInputTextFlags_EnterReturnsTrue))
      add(frame);
    frame.ui.tag("watches/new", text_);
    if (!problem_.empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, problem_);
      ImGui::PopTextWrapPos();
      frame.ui.tag("watches/error", problem_);
    }
    offer_selection(frame);
    if (frame.model.watches.empty()) return frame.ui.empty_hint(hint());
    draw_table(frame);
  }

 private:
  void add(Frame& frame) {
    if (text_.empty()) return;
    const bool no_percent = text_.find('%') == std::string::npos;  // `y.max` means `%y.max`
    const bool adds_it = no_percent && interp::parse_watch("%" + text_);
    const std::string text = adds_it ? "%" + text_ : text_;
    const auto parsed = interp::parse_watch(text);
    problem_ = parsed ? "" : parsed.error().message();
    if (!parsed) return;
    keep(frame.model, text);
    text_.clear();
  }

  static void keep(Model& model, const std::string& text) { add_once(model.watches, text); }

  static void offer_selection(Frame& frame) {
    const Selection& s = frame.model.selection;
    if (s.value.empty()) return;
    std::string text = "%" + s.value;
    for (size_t d = 0; d < s.element.size(); ++d)
      text += (d == 0 ? "[" : ", ") + std::to_string(s.element[d]);
    if (!s.element.empty()) text += "]";
    const auto& all = frame.model.watches;
    if (contains(all, text)) return;
    if (ImGui::SmallButton(("+ " + text).c_str())) keep(frame.model, text);
    frame.ui.tag("watches/selected", text);
    if (ImGui::IsItemHovered()) Ui::tooltip("Watch what is selected");
  }

  static void draw_table(Frame& frame) {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const int ranks = std::min(shot.rank_count(), kMaxRankColumns);
    if (ranks < shot.rank_count())
      frame.ui.say_hidden(fmt::format("watches of {} ranks", shot.rank_count() - ranks));
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_BordersInnerV;
    if (!ImGui::BeginTable("watches", ranks + 3, kFlags)) return;
    ImGui::TableSetupScrollFreeze(2, 1);
    ImGui::TableSetupColumn("");
    ImGui::TableSetupColumn("watch");
    ImGui::TableSetupColumn("whole");
    for (int r = 0; r < ranks; ++r) ImGui::TableSetupColumn(fmt::format("r{}", r).c_str());
    ImGui::TableHeadersRow();
    const std::vector<std::string> all = frame.model.watches;
    for (size_t i = 0; i < all.size(); ++i) draw_row(frame, all[i], static_cast<int>(i), ranks);
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const std::string& text, int i, int ranks) {
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (ImGui::SmallButton("\u2715")) std::erase(frame.model.watches, text);
    frame.ui.tag(fmt::format("watches/{}/delete", i), text);
    ImGui::TableNextColumn();
    const auto expr = interp::parse_watch(text);
    if (ImGui::Selectable(text.c_str(), expr && frame.model.selection.value == expr->value) && expr)
      frame.model.selection.value = expr->value;
    frame.ui.tag(fmt::format("watches/{}", i), text);
    if (expr) draw_cells(frame, *expr, i, ranks);
    ImGui::PopID();
  }

  static void draw_cells(Frame& frame, const interp::WatchExpr& expr, int i, int ranks) {
    const TensorView& tensor = frame.model.tensor(expr.value);
    if (!tensor.valid()) {
      ImGui::TableNextColumn();
      frame.ui.text_dim("not there now");
      frame.ui.tag(fmt::format("watches/{}/whole", i), "not there now");
      return;
    }
    const auto box = interp::slice_box(expr.slice, tensor.first->placement.global);
    ImGui::TableNextColumn();
    if (!box) {
      const std::string why = box.error().message();
      frame.ui.state_word(StateKind::kMismatch, why);
      frame.ui.tag(fmt::format("watches/{}/whole", i), why);
      return;
    }
    interp::ValueQuery query;
    query.value = expr.value;
    query.from = interp::ValueQuery::From::kGlobal;
    query.box = *box;
    show(frame, make_cell(frame, expr, query), fmt::format("watches/{}/whole", i));
    query.from = interp::ValueQuery::From::kRank;
    for (int r = 0; r < ranks; ++r) {
      ImGui::TableNextColumn();
      const interp::AllocationSnapshot* held = tensor.by_rank[static_cast<size_t>(r)];
      const Box part = held ? box->intersect(held->placement.box) : Box();
      WatchCell cell{"\u00b7", WatchCell::Tone::kDim, "this rank does not hold it"};
      if (held && !part.empty()) {
        query.rank = r;
        query.box = part;
        cell = make_cell(frame, expr, query);
      }
      show(frame, cell, fmt::format("watches/{}/r{}", i, r));
    }
  }

  static void show(Frame& frame, const WatchCell& cell, const std::string& name) {
    const Palette& p = frame.ui.pal();
    const bool changed = cell.tone == WatchCell::Tone::kChanged;
    const ImU32 colour = changed                                ? p.changed
                         : cell.tone == WatchCell::Tone::kPlain ? p.text
                                                                : p.text_dim;
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    frame.ui.text_mono(changed ? "\u25b8 " + cell.text : cell.text);
    ImGui::PopStyleColor();
    frame.ui.tag(name, cell.text);
    if (!cell.note.empty() && ImGui::IsItemHovered()) Ui::tooltip("%s", cell.note.c_str());
  }

  std::string text_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<Panel> make_watches_panel() { return std::make_unique<WatchesPanel>(); }

}  // namespace hostir::gui
