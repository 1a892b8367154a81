// Collectives: communicator x sequence number x rank, with the card that explains a mismatch.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "gui/panels/collectives/collective_glyph.h"
#include "gui/panels/collectives/comm_groups.h"
#include "gui/panels/collectives/mismatch_card.h"
#include "gui/panels/collectives/permute_routes.h"
#include "hostir/support/number_from.h"
#include "hostir/support/text.h"
#include "interp/session/snapshots/declarations.h"

namespace hostir::gui {

namespace {

using Row = interp::LedgerRow;
using Cell = interp::LedgerCell;
using interp::Rank;

StateKind cell_state(Cell::State state) {
  switch (state) {
    case Cell::State::kMissing:
    case Cell::State::kUnknown:
      return StateKind::kMissing;
    case Cell::State::kQueued:
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

const char* cell_word(Cell::State state) {
  switch (state) {
    case Cell::State::kMissing:
      return "not arrived";
    case Cell::State::kQueued:
      return "issued; other work of its stream comes first";
    case Cell::State::kArrived:
      return "arrived, waits for others";
    case Cell::State::kRunning:
      return "all have arrived, running";
    case Cell::State::kDone:
      return "done";
    case Cell::State::kDiffers:
      return "called something else";
    case Cell::State::kUnknown:
      return "not known";
  }
  return "";
}

CollectiveId id_of(const Row& row) {
  CollectiveId id{row.comm, row.group, row.sequence, std::nullopt};
  if (row.point_to_point && row.cells.size() == 2)
    id.pair = std::pair(row.cells[0].rank(), row.cells[1].rank());
  return id;
}

// Number of finished collectives whose rows are no longer kept: those before the first row of each
// group.
uint64_t count_older(const std::vector<Row>& rows) {
  std::map<std::tuple<interp::CommIndex, uint32_t, Rank, Rank>, uint64_t> first;
  for (const Row& row : rows) {
    const CollectiveId id = id_of(row);
    const auto [source, destination] =
        id.pair.value_or(std::pair(interp::kNoRank, interp::kNoRank));
    const auto [at, is_new] =
        first.emplace(std::tuple(row.comm, row.group, source, destination), row.sequence);
    if (!is_new) at->second = std::min(at->second, row.sequence);
  }
  uint64_t count = 0;
  for (const auto& [group, sequence] : first) count += sequence;
  return count;
}

class LedgerPanel : public Panel {
 public:
  std::string_view id() const override { return "ledger"; }
  std::string_view title() const override { return "Collectives"; }
  std::string_view hint() const override {
    return "Who has arrived at each collective, who is missing, who called something else. One "
           "row per collective of a group, one column per rank; it fills as ranks issue "
           "collectives (F6 goes to the next).";
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (shot.ledger->empty()) return HeightRequest::idle();
    const bool mismatch = frame.model.mismatch() != nullptr;
    const bool deadlock = shot.stop.kind == interp::StopKind::kDeadlock;
    // Asks for a few rows in advance, so that new rows do not move the panels below.
    HeightRequest wanted =
        HeightRequest::some(table_height(frame, std::max(shot.ledger->size(), kFewestRows)) +
                            (mismatch ? frame.ui.px(kCardHeight) : 0));
    wanted.fewest = rows_height(kFewestRows);
    const float rows = rows_height(std::min(shot.ledger->size(), kFewestRows));
    if (mismatch) wanted.least = rows + frame.ui.px(kCardHeight);
    if (deadlock) wanted.least = rows;
    return wanted;
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (shot.ledger->empty()) return frame.ui.empty_hint(hint());
    if (program_ != shot.program.get()) name_groups(shot);
    const Row* mismatch = frame.model.mismatch();
    // The mismatch card comes first; the table scrolls below it.
    if (mismatch) {
      ImGui::BeginChild("card", ImVec2(0, card_height(frame, shot.ledger->size())));
      frame.ui.tag_rect("ledger/card", ImGui::GetWindowPos(),
                        ImVec2(ImGui::GetWindowPos().x + ImGui::GetWindowWidth(),
                               ImGui::GetWindowPos().y + ImGui::GetWindowHeight()));
      card_.draw(frame, *mismatch);
      ImGui::EndChild();
      ImGui::Separator();
    }
    const float five = rows_height(kFewestRows);
    const bool low = ImGui::GetContentRegionAvail().y < five + ImGui::GetFrameHeightWithSpacing();
    draw_filter(frame, shot, low && filter_.empty() && !only_open_);
    if (std::exchange(counted_, frame.model.generation()) != frame.model.generation())
      older_ = count_older(*shot.ledger);
    if (older_ > 0) {
      const std::string text = fmt::format(
          "{} older collectives are not listed here; all are in Events "
          "(class=comm) and in SQL (collectives)",
          older_);
      frame.ui.say_hidden(text);
      // In a low panel only the status bar shows this, because five rows come first.
      if (ImGui::GetContentRegionAvail().y >= five + ImGui::GetTextLineHeightWithSpacing()) {
        frame.ui.text_dim(text);
        frame.ui.tag("ledger/older", std::to_string(older_));
      }
    }
    const float legend_height = frame.ui.fonts.small->FontSize + frame.ui.px(5);
    const bool legend = ImGui::GetContentRegionAvail().y > five + legend_height;
    draw_table(frame, shot, legend ? legend_height : 0);
    if (legend) draw_legend(frame);
  }

 private:
  // The header and rows, and the scroll bar below them.
  static float rows_height(size_t rows) {
    const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y + 1;
    return row * static_cast<float>(rows + 1) + ImGui::GetStyle().ScrollbarSize;
  }
  // The same with the filter above the table and the legend below it.
  static float table_height(const Frame& frame, size_t rows) {
    return rows_height(rows) + ImGui::GetFrameHeightWithSpacing() + frame.ui.px(36);
  }

  void draw_legend(Frame& frame) const {
    ImGui::PushFont(frame.ui.fonts.small);
    frame.ui.text_dim(
        fmt::format("{} not arrived   \u25b7 queued   {} arrived   \u25b6 running   {} done   {} "
                    "differs   {}\u25b8 a group's first unfinished one",
                    glyph(StateKind::kMissing), glyph(StateKind::kWaiting), glyph(StateKind::kOk),
                    glyph(StateKind::kMismatch), unknown_ ? "? not known   " : ""));
    ImGui::PopFont();
  }

  // Leaves room for five table rows, but takes its share of a low panel; the card scrolls.
  static float card_height(const Frame& frame, size_t rows) {
    const float space = ImGui::GetContentRegionAvail().y;
    const float left = space - rows_height(std::min(rows, kFewestRows)) - frame.ui.px(8);
    return std::min(frame.ui.px(kMostCard), std::max(left, space * 0.4f));
  }

  // Names by communicator and group; empty for a communicator with a single group.
  void name_groups(const interp::Snapshot& shot) {
    program_ = shot.program.get();
    groups_.clear();
    const interp::Declarations declared(*shot.run);
    for (size_t i = 0; i < shot.run->communicators.size(); ++i) {
      const auto& members = shot.run->communicators[i].members;
      groups_.resize(declared.index_of(model::CommunicatorId(i)) + size_t{1});
      groups_.back().push_back(members ? group_text(shot.program->mesh(), *members) : "");
    }
    for (std::vector<std::string>& names : groups_) {
      if (names.size() == 1) names.clear();
    }
  }

  std::string name_of(const Row& row) const {
    std::string group;
    if (row.comm < groups_.size() && row.group < groups_[row.comm].size())
      group = groups_[row.comm][row.group];
    std::string pair;  // a send and its recv
    if (const auto id = id_of(row); id.pair)
      pair = fmt::format("r{}\u2192r{} ", id.pair->first, id.pair->second);
    return fmt::format("{} {}{}{}{}", row.comm_text, group, group.empty() ? "" : " ", pair,
                       row.sequence);
  }

  // Filters by communicator, kind, rank `r3`, and unfinished state. A low panel shows rows instead
  // of the filter.
  void draw_filter(Frame& frame, const interp::Snapshot& shot, bool low) {
    if (!low) draw_filter_line(frame);
    choose_rows(frame, shot);
  }

  void draw_filter_line(Frame& frame) {
    ImGui::SetNextItemWidth(std::max(frame.ui.px(80), ImGui::GetContentRegionAvail().x * 0.5f));
    ImGui::InputTextWithHint("##filter", "filter: all_reduce, %c, r3", &filter_);
    frame.ui.tag("ledger/filter", filter_);
    Ui::flow(frame.ui.px(96));
    ImGui::Checkbox("not done", &only_open_);
    frame.ui.tag("ledger/open", only_open_ ? "on" : "off");
    if (ImGui::IsItemHovered()) Ui::tooltip("Only collectives that are not complete");
  }

  void choose_rows(Frame& frame, const interp::Snapshot& shot) {
    const auto& rows = *shot.ledger;
    const auto chosen_by = std::tuple(frame.model.generation(), filter_, only_open_);
    if (std::exchange(chosen_by_, chosen_by) != chosen_by) filter_rows(rows);
    if (shown_.size() < rows.size()) {
      frame.ui.say_hidden(fmt::format("{} collectives (filter)", rows.size() - shown_.size()));
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    frame.ui.tag_rect("ledger/count", at, ImVec2(at.x + 1, at.y + 1),
                      std::to_string(shown_.size()));
  }

  void filter_rows(const std::vector<Row>& rows) {
    shown_.clear();
    frontiers_.clear();
    unknown_ = false;
    const Rank rank = filtered_rank();
    const Row* last = nullptr;  // its group's first unfinished row has been found
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const bool same = last && last->comm == row.comm && last->group == row.group &&
                        last->point_to_point == row.point_to_point;
      if (row.state != Row::State::kDone && !same) {
        frontiers_.push_back(i);
        last = &row;
      }
      unknown_ = unknown_ || std::any_of(row.cells.begin(), row.cells.end(), [](const Cell& c) {
                   return c.state == Cell::State::kUnknown;
                 });
      if (matches(row, rank)) shown_.push_back(i);
    }
  }

  // The rank in a filter such as `r3`; kNoRank if the filter is not a rank.
  Rank filtered_rank() const {
    if (!filter_.starts_with('r')) return interp::kNoRank;
    return number_from<Rank>(std::string_view(filter_).substr(1)).value_or(interp::kNoRank);
  }

  bool matches(const Row& row, Rank rank) const {
    if (only_open_ && row.state == Row::State::kDone) return false;
    if (filter_.empty()) return true;
    const std::string what = name_of(row) + " " + row.kind;
    if (what.find(filter_) != std::string::npos) return true;
    return rank != interp::kNoRank && std::any_of(row.cells.begin(), row.cells.end(),
                                                  [&](const Cell& c) { return c.rank() == rank; });
  }

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
    // A new table knows its height after two frames; until then ImGui limits the scroll position.
    if (rows.size() != seen_rows_) scroll_frames_ = 3;
    seen_rows_ = rows.size();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown_.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, rows[shown_[static_cast<size_t>(i)]],
                 static_cast<int>(shown_[static_cast<size_t>(i)]), ranks);
    }
    if (scroll_frames_ > 0) {
      scroll_to();
      --scroll_frames_;
    }
    ImGui::EndTable();
    if (shot.rank_count() > ranks) {
      frame.ui.say_hidden(fmt::format("ledger of ranks {}..{}", ranks, shot.rank_count() - 1));
    }
  }

  void scroll_to() const {
    const size_t first = frontiers_.empty() ? seen_rows_ : frontiers_.front();
    const auto at = std::lower_bound(shown_.begin(), shown_.end(), first);
    ImGui::SetScrollY(std::max(0.0f, (static_cast<float>(at - shown_.begin()) - 3) *
                                         ImGui::GetTextLineHeightWithSpacing()));
  }

  void draw_row(Frame& frame, const Row& row, int i, int ranks) const {
    ImGui::PushID(i);
    ImGui::TableNextRow();
    const bool selected = frame.model.selection.collective == id_of(row);
    if (selected)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, with_alpha(frame.ui.pal().accent, 0.22f));
    const bool frontier =
        std::binary_search(frontiers_.begin(), frontiers_.end(), static_cast<size_t>(i));
    if (frontier && !selected)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0,
                             with_alpha(frame.ui.pal().state(StateKind::kWaiting), 0.16f));
    ImGui::TableNextColumn();
    const std::string name = (frontier ? "\u25b8 " : "  ") + name_of(row);
    if (ImGui::Selectable(
            name.c_str(), selected,
            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap)) {
      frame.model.selection.collective = id_of(row);
      for (const Cell& c : row.cells) {
        if (c.arrived()) frame.model.selection.code = c.code();
      }
    }
    frame.ui.tag(fmt::format("ledger/{}", i), name);
    if (frontier) {
      if (static_cast<size_t>(i) == frontiers_.front()) frame.ui.tag("ledger/frontier", name);
      if (ImGui::IsItemHovered())
        Ui::tooltip(
            "The first collective that some members of this group have not done: look here first");
    }
    by_rank_.assign(static_cast<size_t>(ranks), nullptr);
    for (const Cell& c : row.cells) {
      if (c.rank() < ranks) by_rank_[static_cast<size_t>(c.rank())] = &c;
    }
    for (int r = 0; r < ranks; ++r) {
      ImGui::TableNextColumn();
      const Cell* cell = by_rank_[static_cast<size_t>(r)];
      if (!cell) continue;
      const StateKind state = cell_state(cell->state);
      ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg,
                             with_alpha(frame.ui.pal().state(state), 0.28f));
      draw_cell(frame, row, *cell, state, fmt::format("ledger/{}/{}", i, r));
    }
    ImGui::TableNextColumn();
    const std::vector<RankRoute> routes = routes_of(*frame.model.snapshot(), row);
    const std::string what = with_glyph(row.kind) + "  " + bytes_text(row.bytes) +
                             (routes.empty() ? "" : "  " + routes_text(routes));
    frame.ui.text_mono(what);
    frame.ui.tag(fmt::format("ledger/{}/what", i), what);
    ImGui::PopID();
  }

  // Of a permute.
  static std::vector<RankRoute> routes_of(const interp::Snapshot& shot, const Row& row) {
    std::vector<Rank> members;
    const Cell* one = nullptr;
    for (const Cell& c : row.cells) {
      members.push_back(c.rank());
      if (c.arrived()) one = &c;
    }
    if (one == nullptr || row.point_to_point) return {};
    return permute_routes(*shot.program, one->code(), members);
  }

  // `sends to r1, receives from r3` for a rank of a permute, a send or a recv.
  static std::string partners_text(const std::vector<RankRoute>& routes, Rank rank) {
    std::string text;
    for (const auto& [from, to] : routes) {
      if (from == rank) text += fmt::format("{}sends to r{}", text.empty() ? "" : ", ", to);
      if (to == rank) text += fmt::format("{}receives from r{}", text.empty() ? "" : ", ", from);
    }
    if (text.empty() && !routes.empty()) return "\nneither sends nor receives";
    return text.empty() ? text : "\n" + text;
  }

  // A glyph shows the cell's state; a click selects the rank and its instruction.
  static void draw_cell(Frame& frame, const Row& row, const Cell& cell, StateKind state,
                        const std::string& name) {
    const bool running = cell.state == Cell::State::kRunning;
    if (cell.state == Cell::State::kUnknown) {
      frame.ui.text_dim("?");
    } else if (running || cell.state == Cell::State::kQueued) {
      ImGui::PushStyleColor(ImGuiCol_Text, running ? frame.ui.pal().accent : frame.ui.pal().text);
      ImGui::TextUnformatted(running ? "\u25b6" : "\u25b7");
      ImGui::PopStyleColor();
    } else {
      frame.ui.state_word(state, "");
    }
    frame.ui.tag(name, cell_word(cell.state));
    if (frame.model.was_hovered.rank == cell.rank())
      ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg,
                             with_alpha(frame.ui.pal().state(state), 0.5f));
    if (!ImGui::IsItemHovered()) return;
    frame.model.hovered.rank = cell.rank();
    if (cell.arrived()) frame.model.hovered.code = cell.code();
    const interp::Snapshot& shot = *frame.model.snapshot();
    std::vector<RankRoute> routes = routes_of(shot, row);
    if (const auto pair = id_of(row).pair) routes = {*pair};
    Ui::tooltip("rank %d: %s\n%s %s%s\nclick: go there", cell.rank(), cell_word(cell.state),
                cell.call.c_str(), cell.address(*shot.run).c_str(),
                partners_text(routes, cell.rank()).c_str());
    if (!ImGui::IsItemClicked()) return;
    frame.actions.command(fmt::format("focus {}", cell.rank()));
    frame.model.selection.collective = id_of(row);
    frame.model.selection.code = cell.arrived() ? cell.code() : shot.rank(cell.rank()).code;
  }

  static constexpr size_t kFewestRows = 5;
  static constexpr int kMaxColumns = 48;
  static constexpr float kCardHeight = 190;  // minimum useful height
  static constexpr float kMostCard = 420;
  MismatchCard card_;
  const interp::ProgramView* program_ = nullptr;  // the program whose groups are named
  std::vector<std::vector<std::string>> groups_;  // by communicator and group
  std::vector<size_t> frontiers_;                 // the first unfinished row of every group
  bool unknown_ = false;                          // a row has members that are not known
  std::string filter_;
  bool only_open_ = false;
  std::vector<size_t> shown_;  // rows that pass the filter
  std::tuple<uint64_t, std::string, bool> chosen_by_{~uint64_t{0}, "", false};
  mutable std::vector<const Cell*> by_rank_;  // of the row being drawn
  size_t seen_rows_ = 0;
  uint64_t counted_ = ~uint64_t{0};  // generation for which `older_` was counted
  uint64_t older_ = 0;
  int scroll_frames_ = 0;  // in which to scroll to the frontier
};

}  // namespace

std::unique_ptr<Panel> make_ledger_panel() { return std::make_unique<LedgerPanel>(); }

}  // namespace hostir::gui
