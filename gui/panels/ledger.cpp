// Collectives: communicator x sequence number x rank, with the card that explains a mismatch.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

using Row = interp::LedgerRow;
using Cell = interp::LedgerCell;

StateKind state_of(Cell::State state) {
  switch (state) {
    case Cell::State::kMissing:
      return StateKind::kMissing;
    case Cell::State::kArrived:
      return StateKind::kWaiting;
    case Cell::State::kRunning:
    case Cell::State::kDone:
      return StateKind::kOk;
    case Cell::State::kDiffers:
      return StateKind::kMismatch;
  }
  return StateKind::kMissing;
}

const char* word_of(Cell::State state) {
  switch (state) {
    case Cell::State::kMissing:
      return "not arrived";
    case Cell::State::kArrived:
      return "arrived, waits for others";
    case Cell::State::kRunning:
      return "running";
    case Cell::State::kDone:
      return "done";
    case Cell::State::kDiffers:
      return "called something else";
  }
  return "";
}

class LedgerPanel : public Panel {
 public:
  std::string_view id() const override { return "ledger"; }
  std::string_view title() const override { return "Collectives"; }
  std::string_view hint() const override {
    return "One row per collective of a group, one column per rank: who has arrived, who is "
           "missing, who called "
           "something else. It fills as ranks issue collectives (F6 goes to the next).";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (shot.ledger->empty()) return frame.ui.empty_hint(hint());
    const Row* mismatch = nullptr;
    for (const Row& row : *shot.ledger) {
      if (row.state == Row::State::kMismatch && !mismatch) mismatch = &row;
    }
    const float card = mismatch ? ImGui::GetContentRegionAvail().y * 0.45f : 0;
    draw_table(frame, shot, card);
    if (mismatch) draw_card(frame, *mismatch);
  }

 private:
  void draw_table(Frame& frame, const interp::Snapshot& shot, float below) {
    const int ranks = std::min(shot.rank_count(), kMaxColumns);
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                       ImGuiTableFlags_BordersInnerV;
    if (!ImGui::BeginTable("ledger", ranks + 2, kFlags, ImVec2(0, -below))) return;
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableSetupColumn("seq");
    for (int r = 0; r < ranks; ++r) ImGui::TableSetupColumn(fmt::format("r{}", r).c_str());
    ImGui::TableSetupColumn("collective");
    ImGui::TableHeadersRow();
    const auto& rows = *shot.ledger;
    if (rows.size() != seen_rows_) scroll_to_frontier_ = true;
    seen_rows_ = rows.size();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, rows[static_cast<size_t>(i)], i, ranks);
    }
    if (std::exchange(scroll_to_frontier_, false)) scroll_to(rows);
    ImGui::EndTable();
    if (shot.rank_count() > ranks) {
      frame.ui.text_dim(
          fmt::format("ranks {}..{} are not shown: select a row to see all its members", ranks,
                      shot.rank_count() - 1));
    }
  }

  static void scroll_to(const std::vector<Row>& rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].state != Row::State::kDone) {
        ImGui::SetScrollY(
            std::max(0.0f, (static_cast<float>(i) - 3) * ImGui::GetTextLineHeightWithSpacing()));
        return;
      }
    }
    ImGui::SetScrollY(ImGui::GetScrollMaxY());
  }

  static void draw_row(Frame& frame, const Row& row, int i, int ranks) {
    ImGui::PushID(i);
    ImGui::TableNextRow();
    const bool selected = frame.model.selection.collective == std::pair(row.comm, row.sequence);
    if (selected)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, with_alpha(frame.ui.pal().accent, 0.22f));
    ImGui::TableNextColumn();
    const std::string name =
        fmt::format("%{} {}{}", row.comm_name, row.point_to_point ? "p2p " : "", row.sequence);
    if (ImGui::Selectable(
            name.c_str(), selected,
            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap)) {
      frame.model.selection.collective = std::pair(row.comm, row.sequence);
      for (const Cell& c : row.cells) {
        if (c.state != Cell::State::kMissing) frame.model.selection.code = c.code;
      }
    }
    frame.ui.tag(fmt::format("ledger/{}", i), name);
    std::map<interp::Rank, const Cell*> by_rank;
    for (const Cell& c : row.cells) by_rank[c.rank] = &c;
    for (int r = 0; r < ranks; ++r) {
      ImGui::TableNextColumn();
      const auto cell = by_rank.find(r);
      if (cell == by_rank.end()) continue;
      const StateKind state = state_of(cell->second->state);
      ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg,
                             with_alpha(frame.ui.pal().state(state), 0.28f));
      frame.ui.state_word(state, "");
      frame.ui.tag(fmt::format("ledger/{}/{}", i, r), word_of(cell->second->state));
      if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("rank %d: %s\n%s %s", r, word_of(cell->second->state),
                          cell->second->fingerprint.c_str(), cell->second->address.c_str());
        frame.model.hovered.rank = r;
      }
    }
    ImGui::TableNextColumn();
    frame.ui.text_mono(fmt::format("{}  {} B", row.kind, row.bytes));
    ImGui::PopID();
  }

  // What most ranks called stands first; each rank that differs below, with the fields that differ.
  static void draw_card(Frame& frame, const Row& row) {
    ImGui::Separator();
    frame.ui.state_word(StateKind::kMismatch,
                        fmt::format("%{} sequence {}: the ranks called different things",
                                    row.comm_name, row.sequence));
    frame.ui.tag("ledger/mismatch");
    std::map<std::string, std::vector<const Cell*>> groups;
    for (const Cell& c : row.cells) groups[c.fingerprint].push_back(&c);
    std::vector<const std::pair<const std::string, std::vector<const Cell*>>*> order;
    for (const auto& g : groups) order.push_back(&g);
    std::stable_sort(order.begin(), order.end(),
                     [](auto* a, auto* b) { return a->second.size() > b->second.size(); });
    for (const auto* group : order) {
      std::string ranks;
      for (const Cell* c : group->second)
        ranks += fmt::format("{}r{}", ranks.empty() ? "" : " ", c->rank);
      const bool missing = group->first.empty();
      const bool expected = group == order.front() && order.size() > 1 &&
                            group->second.size() > order[1]->second.size();
      const std::string what = missing ? "has not arrived" : group->first;
      const StateKind state = missing    ? StateKind::kMissing
                              : expected ? StateKind::kOk
                                         : StateKind::kMismatch;
      frame.ui.state_word(
          state, fmt::format("{}  {}{}", ranks, what, expected ? "   (expected: most ranks)" : ""));
      if (!missing && ImGui::IsItemClicked())
        frame.model.selection.code = group->second.front()->code;
      if (!missing) {
        ImGui::SameLine();
        frame.ui.text_dim("at " + group->second.front()->address);
      }
    }
  }

  static constexpr int kMaxColumns = 48;
  size_t seen_rows_ = 0;
  bool scroll_to_frontier_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_ledger_panel() { return std::make_unique<LedgerPanel>(); }

}  // namespace hostir::gui
