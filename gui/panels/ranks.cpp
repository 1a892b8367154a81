// One row per rank: where it is, what it waits for, its queues and memory. Click focuses, checkbox
// freezes.
#include <fmt/core.h>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

StateKind state_of(const interp::RankSnapshot& r) {
  if (r.frozen) return StateKind::kFrozen;
  switch (r.status) {
    case interp::RankStatus::kRunnable:
      return StateKind::kOk;
    case interp::RankStatus::kBlocked:
      return StateKind::kWaiting;
    case interp::RankStatus::kDone:
    case interp::RankStatus::kNotStarted:
      return StateKind::kMissing;
  }
  return StateKind::kMissing;
}

class RanksPanel : public Panel {
 public:
  std::string_view id() const override { return "ranks"; }
  std::string_view title() const override { return "Ranks"; }
  std::string_view hint() const override {
    return "Where every rank is and what it waits for. Click a rank to focus it; the box freezes "
           "it.";
  }

  Room room(const Frame& frame) const override {
    const float row = ImGui::GetFrameHeight() + frame.ui.px(5);
    return Room::some(row * static_cast<float>(frame.model.snapshot()->rank_count() + 1) +
                      frame.ui.px(14));
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                       ImGuiTableFlags_Resizable;
    if (!ImGui::BeginTable("ranks", 8, kFlags)) return;
    ImGui::TableSetupScrollFreeze(1, 1);
    for (const char* column :
         {"rank", "\u2744", "state", "at", "steps", "in flight", "clock", "memory"}) {
      ImGui::TableSetupColumn(column);
    }
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(shot.rank_count());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, shot, i);
    }
    ImGui::EndTable();
  }

 private:
  static void draw_row(Frame& frame, const interp::Snapshot& shot, int i) {
    const interp::RankSnapshot& r = shot.rank(i);
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (frame.ui.rank_chip(i, i == shot.focus, fmt::format("ranks/{}", i)))
      frame.actions.command(fmt::format("rank {}", i));
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = i;
    ImGui::TableNextColumn();
    bool frozen = r.frozen;
    if (ImGui::Checkbox("##frozen", &frozen))
      frame.actions.command(fmt::format("{} {}", frozen ? "freeze" : "thaw", i));
    frame.ui.tag(fmt::format("ranks/{}/freeze", i), r.frozen ? "frozen" : "");
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("%s", r.frozen ? "thaw this rank" : "freeze: this rank does not move");
    ImGui::TableNextColumn();
    std::string state(r.frozen ? "frozen" : interp::name(r.status));
    if (r.status == interp::RankStatus::kDone && r.outstanding() > 0) {
      state += ", streams busy";
      frame.ui.state_word(StateKind::kWaiting, state);
    } else {
      frame.ui.state_word(state_of(r), state);
    }
    frame.ui.tag(fmt::format("ranks/{}/state", i), state);
    if (r.waits && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", r.waits->sentence.c_str());
    ImGui::TableNextColumn();
    const std::string at = r.address + " " + r.op;
    frame.ui.text_mono(at);
    frame.ui.tag(fmt::format("ranks/{}/at", i), at);
    if (ImGui::IsItemClicked()) frame.model.selection.code = r.code;
    ImGui::TableNextColumn();
    frame.ui.text_mono(std::to_string(r.steps));
    ImGui::TableNextColumn();
    frame.ui.text_mono(std::to_string(r.outstanding()));
    ImGui::TableNextColumn();
    frame.ui.text_mono(fmt::format("{:.3f} us", static_cast<double>(r.host_clock_ns) / 1000));
    ImGui::TableNextColumn();
    const interp::MemorySnapshot& m = *shot.memory[static_cast<size_t>(i)];
    frame.ui.text_mono(fmt::format("{:.1f} / {:.1f} KiB", static_cast<double>(m.live_bytes) / 1024,
                                   static_cast<double>(m.peak_bytes) / 1024));
    ImGui::PopID();
  }
};

}  // namespace

std::unique_ptr<Panel> make_ranks_panel() { return std::make_unique<RanksPanel>(); }

}  // namespace hostir::gui
