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
    case Cell::State::kRunning:
      return StateKind::kWaiting;
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
      return "all have arrived, running";
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
      frame.ui.say_hidden(fmt::format("ledger of ranks {}..{}", ranks, shot.rank_count() - 1));
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
      draw_cell(frame, row, *cell->second, state, fmt::format("ledger/{}/{}", i, r));
    }
    ImGui::TableNextColumn();
    frame.ui.text_mono(fmt::format("{}  {} B", row.kind, row.bytes));
    ImGui::PopID();
  }

  // A cell says its state by glyph; a click goes to the rank and its instruction.
  static void draw_cell(Frame& frame, const Row& row, const Cell& cell, StateKind state,
                        const std::string& name) {
    if (cell.state == Cell::State::kRunning) {
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().accent);
      ImGui::TextUnformatted("\u25b6");
      ImGui::PopStyleColor();
    } else {
      frame.ui.state_word(state, "");
    }
    frame.ui.tag(name, word_of(cell.state));
    if (frame.model.was_hovered.rank == cell.rank)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg,
                             with_alpha(frame.ui.pal().state(state), 0.5f));
    if (!ImGui::IsItemHovered()) return;
    frame.model.hovered.rank = cell.rank;
    if (cell.state != Cell::State::kMissing) frame.model.hovered.code = cell.code;
    ImGui::SetTooltip("rank %d: %s\n%s %s\nclick: go there", cell.rank, word_of(cell.state),
                      cell.fingerprint.c_str(), cell.address.c_str());
    if (!ImGui::IsItemClicked()) return;
    const interp::Snapshot& shot = *frame.model.snapshot();
    frame.actions.command(fmt::format("rank {}", cell.rank));
    frame.model.selection.collective = std::pair(row.comm, row.sequence);
    frame.model.selection.code =
        cell.state == Cell::State::kMissing ? shot.rank(cell.rank).code : cell.code;
  }

  // What most ranks called stands first; each rank that differs below, with the fields that differ.
  static void draw_card(Frame& frame, const Row& row) {
    ImGui::Separator();
    ImGui::BeginChild("card");
    ImGui::PushTextWrapPos(0);
    frame.ui.state_word(StateKind::kMismatch,
                        fmt::format("%{} sequence {}: the ranks called different things",
                                    row.comm_name, row.sequence));
    frame.ui.tag("ledger/mismatch");
    ImGui::PopTextWrapPos();
    std::map<std::string, std::vector<const Cell*>> groups;
    for (const Cell& c : row.cells) groups[c.fingerprint].push_back(&c);
    std::vector<const std::pair<const std::string, std::vector<const Cell*>>*> order;
    for (const auto& g : groups) order.push_back(&g);
    // Most ranks first; on a tie by rank, and neither side is the expected one.
    std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
      return std::pair(b->second.size(), a->second.front()->rank) <
             std::pair(a->second.size(), b->second.front()->rank);
    });
    const bool majority = order.size() > 1 && order[0]->second.size() > order[1]->second.size() &&
                          !order[0]->first.empty();
    for (const auto* group : order) {
      const bool first_of_tie = group == order.front() && !majority && order.size() > 1;
      draw_side(frame, *group, first_of_tie ? *order[1] : *order.front(), majority);
    }
    ImGui::PushTextWrapPos(0);
    const std::string cause = likely_cause(row);
    if (!cause.empty()) frame.ui.text_dim("Likely cause: " + cause);
    frame.ui.tag("ledger/cause", cause);
    ImGui::PopTextWrapPos();
    ImGui::EndChild();
  }

  using Side = std::pair<const std::string, std::vector<const Cell*>>;

  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return words;
  }

  // One thing that was called, who called it and where; fields unlike the first side's are marked.
  static void draw_side(Frame& frame, const Side& side, const Side& reference, bool majority) {
    const Palette& p = frame.ui.pal();
    for (const Cell* c : side.second) {
      if (frame.ui.rank_chip(c->rank, c->rank == frame.model.snapshot()->focus,
                             fmt::format("ledger/card/{}", c->rank)))
        frame.actions.command(fmt::format("rank {}", c->rank));
      ImGui::SameLine();
    }
    if (side.first.empty()) return frame.ui.text_dim("not arrived");
    const std::vector<std::string_view> expected = words_of(reference.first);
    const std::vector<std::string_view> words = words_of(side.first);
    ImGui::PushFont(frame.ui.fonts.mono);
    for (size_t i = 0; i < words.size(); ++i) {
      const bool differs = &side != &reference && (i >= expected.size() || words[i] != expected[i]);
      const std::string word = std::string(words[i]) + (differs ? " \u2260" : "");
      ImGui::PushStyleColor(ImGuiCol_Text, differs ? p.state(StateKind::kMismatch) : p.text);
      ImGui::TextUnformatted(word.c_str());
      ImGui::PopStyleColor();
      ImGui::SameLine();
    }
    ImGui::PushStyleColor(ImGuiCol_Text, p.link);
    ImGui::TextUnformatted(side.second.front()->address.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    frame.ui.tag("ledger/card/at/" + side.second.front()->address, side.first);
    if (ImGui::IsItemClicked()) frame.model.selection.code = side.second.front()->code;
    if (majority && &side == &reference) {
      ImGui::SameLine();
      frame.ui.state_word(StateKind::kOk, "expected: most ranks");
    }
  }

  static std::string likely_cause(const Row& row) {
    const Cell* first = nullptr;
    bool elsewhere = false;
    bool other_kind = false;
    for (const Cell& c : row.cells) {
      if (c.state == Cell::State::kMissing) continue;
      if (!first) first = &c;
      elsewhere = elsewhere || c.code != first->code;
      other_kind =
          other_kind || words_of(c.fingerprint).front() != words_of(first->fingerprint).front();
    }
    if (!first) return {};
    if (!elsewhere)
      return "all are at the same instruction, so it is its sizes or arguments that differ: look "
             "at "
             "uneven shards and at what depends on the rank.";
    return other_kind ? "the ranks are at different instructions: one took another branch, or left "
                        "a collective out."
                      : "the ranks are at different instructions of the same kind: the order is "
                        "swapped, or they took different branches.";
  }

  static constexpr int kMaxColumns = 48;
  size_t seen_rows_ = 0;
  bool scroll_to_frontier_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_ledger_panel() { return std::make_unique<LedgerPanel>(); }

}  // namespace hostir::gui
