// One row per rank: its place, waits, queues and memory. A click sets the focus, a check box
// freezes the rank.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "gui/panels/layout/written.h"
#include "gui/panels/waits/rank_text.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

class RanksPanel : public Panel {
 public:
  std::string_view id() const override { return "ranks"; }
  std::string_view title() const override { return "Ranks"; }
  std::string_view hint() const override {
    return "Where every rank is and what it waits for. Click a rank to focus it; the box freezes "
           "it.";
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const float row = ImGui::GetTextLineHeight() + frame.ui.px(5);
    constexpr size_t kFewest = 3;
    const size_t rows = groups(frame).size();
    const auto height = [&](size_t n) { return row * static_cast<float>(n + 1) + frame.ui.px(20); };
    HeightRequest wanted = HeightRequest::some(height(rows));
    wanted.fewest = height(std::min(rows, kFewest));
    return wanted;
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                                       ImGuiTableFlags_BordersInnerV;
    forget_widths(frame);
    choose_facts(frame, shot);
    const float state = state_width();
    if (!ImGui::BeginTable("ranks", kPlaces + static_cast<int>(shown_.size()), kFlags)) return;
    ImGui::TableSetupScrollFreeze(1, 1);
    constexpr std::array<const char*, kPlaces> kNames = {"rank", "\u2744", "state", "at",
                                                         "waits for"};
    for (size_t i = 0; i < kNames.size(); ++i)
      ImGui::TableSetupColumn(kNames[i], ImGuiTableColumnFlags_WidthFixed,
                              i == kState ? state : widths_[i]);
    for (const size_t fact : shown_)
      ImGui::TableSetupColumn(kFacts[fact], ImGuiTableColumnFlags_WidthFixed, fact_widths_[fact]);
    ImGui::TableHeadersRow();
    // Low check boxes, so that many ranks fit.
    const ImVec2 padding = ImGui::GetStyle().FramePadding;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(padding.x, 0));
    const std::vector<Group>& rows = groups(frame);
    mismatch_ = frame.model.mismatch();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, shot, rows[static_cast<size_t>(i)]);
    }
    ImGui::PopStyleVar();
    measure_places();
    ImGui::EndTable();
  }

 private:
  static constexpr int kPlaces = 5;  // columns that are always there
  static constexpr size_t kState = 2;
  static constexpr size_t kAt = 3;
  static constexpr std::array<const char*, 4> kFacts = {"steps", "in flight", "clock",
                                                        "memory / peak"};
  using Facts = std::array<std::string, kFacts.size()>;

  static Facts facts_of(const interp::Snapshot& shot, interp::Rank rank) {
    const interp::RankSnapshot& r = shot.rank(rank);
    const interp::MemorySnapshot& m = *shot.memory[static_cast<size_t>(rank)];
    return {std::to_string(r.steps), std::to_string(r.outstanding()),
            time_text(static_cast<double>(r.host_clock_ns)),
            fmt::format("{} / {}", bytes_text(m.live_bytes), bytes_text(m.peak_bytes))};
  }

  // Columns keep the width of their widest contents since the file was opened, so that none moves,
  // comes or goes while the user steps back and forth.
  void forget_widths(const Frame& frame) {
    const std::pair key(frame.model.last_opened(), ImGui::GetFontSize());
    if (std::exchange(widths_of_, key) == key) return;
    widths_.fill(0);
    fact_widths_.fill(0);
    constexpr size_t kMost = 4000;
    const auto& all = frame.model.snapshot()->program->instructions;
    ImGui::PushFont(frame.ui.fonts.mono);
    for (const auto& i : std::span(all).first(std::min(kMost, all.size())))
      widths_[kAt] =
          std::max(widths_[kAt], ImGui::CalcTextSize(at_text(i.address, i.mnemonic).c_str()).x);
    ImGui::PopFont();
  }

  // Most lines are in the same function, so show only the number and the op.
  static std::string at_text(const std::string& address, std::string_view op) {
    const size_t number = address.rfind('#');
    return address.substr(number == std::string::npos ? 0 : number) + " " + std::string(op);
  }

  // A long state ends with an ellipsis rather than push the place and the waits out of the panel.
  float state_width() const {
    const float padding = 2 * ImGui::GetStyle().CellPadding.x + 1;
    float left = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
    for (size_t i = 0; i < widths_.size(); ++i) left -= padding + (i == kState ? 0 : widths_[i]);
    for (const size_t fact : shown_) left -= fact_widths_[fact] + padding;
    const float least = std::min(widths_[kState], ImGui::GetFontSize() * 6);
    return std::clamp(left, least, std::max(least, widths_[kState]));
  }

  void measure_places() {
    ImGuiTable* table = ImGui::GetCurrentTable();
    if (table->IsInsideRow) ImGui::TableEndRow(table);
    for (size_t i = 0; i < widths_.size(); ++i) {
      const ImGuiTableColumn& column = table->Columns[static_cast<int>(i)];
      const float right = std::max(
          {column.ContentMaxXFrozen, column.ContentMaxXUnfrozen, column.ContentMaxXHeadersIdeal});
      widths_[i] = std::max(widths_[i], right - column.WorkMinX);
    }
  }

  // The facts whose columns fit beside the places, in order. A narrow panel drops memory first,
  // which has its own panel, and the clock last; a rank's tooltip shows all of them.
  void choose_facts(const Frame& frame, const interp::Snapshot& shot) {
    constexpr std::array<size_t, kFacts.size()> kDropped = {3, 1, 0, 2};
    shown_.clear();
    if (!shot.no_stepping.empty() || shot.from_log) return;  // they are unknown
    std::array<float, kFacts.size()>& widths = fact_widths_;
    for (size_t f = 0; f < widths.size(); ++f)
      widths[f] = std::max(widths[f], ImGui::CalcTextSize(kFacts[f]).x);
    ImGui::PushFont(frame.ui.fonts.mono);
    const std::vector<Group>& rows = groups(frame);
    for (const Group& group : std::span(rows).first(std::min<size_t>(rows.size(), 64))) {
      const Facts facts = facts_of(shot, group.first);
      for (size_t f = 0; f < widths.size(); ++f)
        widths[f] = std::max(widths[f], ImGui::CalcTextSize(facts[f].c_str()).x);
    }
    ImGui::PopFont();
    const float padding = 2 * ImGui::GetStyle().CellPadding.x + 1;
    float left = ImGui::GetContentRegionAvail().x - padding;
    for (const float width : widths_) left -= width + padding;
    for (const float width : widths) left -= width + padding;
    shown_ = {0, 1, 2, 3};
    std::string dropped;
    for (const size_t fact : kDropped) {
      if (left >= 0) break;
      left += widths[fact] + padding;
      std::erase(shown_, fact);
      dropped += (dropped.empty() ? "" : ", ") + std::string(kFacts[fact]);
    }
    if (!dropped.empty()) frame.ui.say_hidden("columns of Ranks (" + dropped + ")");
  }

  // Consecutive ranks in the same state at the same place. With few ranks, each is its own group.
  struct Group {
    interp::Rank first = 0;
    interp::Rank last = 0;
  };
  static constexpr int kMostSingle = 32;

  static bool alike(const interp::RankSnapshot& a, const interp::RankSnapshot& b) {
    return a.status == b.status && a.frozen == b.frozen && a.code == b.code &&
           a.waits.has_value() == b.waits.has_value() && a.outstanding() == b.outstanding();
  }

  // Groups are rebuilt once per snapshot, not every frame.
  const std::vector<Group>& groups(const Frame& frame) const {
    if (std::exchange(generation_, frame.model.generation()) != frame.model.generation()) {
      groups_ = groups_of(*frame.model.snapshot());
      waits_.clear();
    }
    return groups_;
  }

  static std::vector<Group> groups_of(const interp::Snapshot& shot) {
    std::vector<Group> groups;
    const bool joins = shot.rank_count() > kMostSingle;
    for (interp::Rank r = 0; r < shot.rank_count(); ++r) {
      // Keep the focus rank in a group of its own, so that it is visible.
      const bool apart = r == shot.focus || r == shot.focus + 1;
      if (joins && !apart && r > 0 && alike(shot.rank(r - 1), shot.rank(r)))
        groups.back().last = r;
      else
        groups.push_back({r, r});
    }
    return groups;
  }

  void draw_state(Frame& frame, const interp::Snapshot& shot, const interp::RankSnapshot& r) const {
    const RankText word = rank_text(shot, r.rank, mismatch_);
    const std::string text = std::string(glyph(word.state)) + " " + word.text;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size(ImGui::CalcTextSize(text.c_str()).x, ImGui::GetTextLineHeight());
    ImGui::Dummy(size);
    frame.ui.tag(fmt::format("ranks/{}/state", r.rank), word.text);
    frame.ui.draw_elided(ImGui::GetWindowDrawList(), at, frame.ui.pal().state(word.state), text,
                         ImGui::GetContentRegionAvail().x);
    if (r.waits && ImGui::IsItemHovered()) Ui::tooltip("%s", r.waits->sentence.c_str());
    if (word.state != StateKind::kFailed) return;
    if (ImGui::IsItemHovered()) Ui::tooltip("%s", shot.stop.sentence.c_str());
    if (mismatch_ && ImGui::IsItemClicked()) frame.actions.request("panel.ledger");
  }

  // The ranks that the host thread or a stream waits for, and on what, for the tooltip.
  struct Waits {
    std::string text;
    std::string on;
  };
  static constexpr size_t kMostTold = 12;

  static Waits waits_text(const interp::Snapshot& shot, interp::Rank rank) {
    Waits out;
    std::vector<interp::Rank> others;
    const auto waits = waits_of(*shot.waits, rank);
    for (size_t i = 0; i < waits.size(); ++i) {
      const interp::RankWait& edge = waits[i];
      if (i < kMostTold) out.on += edge.from_text + "\n";
      if (edge.to == rank) continue;
      if (others.empty() || others.back() != edge.to) others.push_back(edge.to);
    }
    if (waits.size() > kMostTold)
      out.on += fmt::format("and {} more waits\n", waits.size() - kMostTold);
    out.text = others.empty() && !waits.empty() ? "own stream" : rank_list(others);
    if (waits.empty() && shot.rank(rank).status == interp::RankStatus::kUnknown &&
        is_in_call_of_all(shot, rank))
      out.text = "all are in it";
    return out;
  }
  // A recorded rank is in a call that does not complete although all members have reached it.
  static bool is_in_call_of_all(const interp::Snapshot& shot, interp::Rank rank) {
    return std::ranges::any_of(*shot.ledger, [&](const interp::LedgerRow& row) {
      return row.state != interp::LedgerRow::State::kDone &&
             std::ranges::all_of(row.cells, &interp::LedgerCell::arrived) &&
             std::ranges::any_of(row.cells, [&](const interp::LedgerCell& cell) {
               return cell.rank() == rank && cell.member->unfinished();
             });
    });
  }

  void draw_waits(Frame& frame, const interp::Snapshot& shot, interp::Rank rank) const {
    auto known = waits_.find(rank);
    if (known == waits_.end()) known = waits_.emplace(rank, waits_text(shot, rank)).first;
    const auto& [text, on] = known->second;
    frame.ui.text_mono(text);
    frame.ui.tag(fmt::format("ranks/{}/waits", rank), text);
    if (text.empty()) return;
    if (ImGui::IsItemHovered()) Ui::tooltip("%sclick: who waits for whom", on.c_str());
    if (ImGui::IsItemClicked()) frame.actions.request("panel.waits");
  }

  static void draw_freeze(Frame& frame, const interp::RankSnapshot& r) {
    bool frozen = r.frozen;
    if (ImGui::Checkbox("##frozen", &frozen))
      frame.actions.command(fmt::format("{} {}", frozen ? "freeze" : "thaw", r.rank));
    frame.ui.tag(fmt::format("ranks/{}/freeze", r.rank), r.frozen ? "frozen" : "");
    if (ImGui::IsItemHovered())
      Ui::tooltip("%s", r.frozen ? "thaw this rank" : "freeze: this rank does not move");
  }

  void draw_row(Frame& frame, const interp::Snapshot& shot, const Group& group) const {
    const interp::RankSnapshot& r = shot.rank(group.first);
    const bool one = group.first == group.last;
    const bool stepped = shot.no_stepping.empty();
    ImGui::PushID(group.first);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (frame.ui.rank_chip(r.rank, r.rank == shot.focus, fmt::format("ranks/{}", r.rank)))
      frame.actions.command(fmt::format("focus {}", r.rank));
    const bool known = stepped && !shot.from_log;
    const Facts facts = known ? facts_of(shot, r.rank) : Facts();
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.rank = r.rank;
      if (known)
        Ui::tooltip("rank %d: steps %s, in flight %s, clock %s, memory and peak %s", r.rank,
                    facts[0].c_str(), facts[1].c_str(), facts[2].c_str(), facts[3].c_str());
    }
    if (!one) {
      ImGui::SameLine();
      const std::string more =
          fmt::format("..r{}  {} alike", group.last, group.last - group.first + 1);
      frame.ui.text_dim(more);
      frame.ui.tag(fmt::format("ranks/{}/group", r.rank), more);
    }
    ImGui::TableNextColumn();
    if (one && stepped) draw_freeze(frame, r);
    ImGui::TableNextColumn();
    draw_state(frame, shot, r);
    ImGui::TableNextColumn();
    const std::string at = r.address + " " + r.op;
    frame.ui.text_mono(at_text(r.address, r.op));
    frame.ui.tag(fmt::format("ranks/{}/at", r.rank), at);
    if (ImGui::IsItemHovered()) Ui::tooltip("%s\nclick: select it", at.c_str());
    if (ImGui::IsItemClicked()) frame.model.selection.code = r.code;
    ImGui::TableNextColumn();
    draw_waits(frame, shot, r.rank);
    if (!one || !known)
      return ImGui::PopID();  // these columns differ between ranks, or are unknown
    for (const size_t fact : shown_) {
      ImGui::TableNextColumn();
      frame.ui.text_mono(facts[fact]);
      frame.ui.tag(fmt::format("ranks/{}/{}", r.rank, kFacts[fact]), facts[fact]);
    }
    ImGui::PopID();
  }

  const interp::LedgerRow* mismatch_ = nullptr;  // from this frame's snapshot
  std::vector<size_t> shown_;                    // of kFacts
  std::array<float, kPlaces> widths_{};          // of the first columns
  std::array<float, kFacts.size()> fact_widths_{};
  std::pair<uint64_t, float> widths_of_{};      // the opened file and the font size of the widths
  mutable uint64_t generation_ = ~uint64_t{0};  // generation of the members below
  mutable std::vector<Group> groups_;
  mutable std::map<interp::Rank, Waits> waits_;  // of rows that have been in view
};

}  // namespace

std::unique_ptr<Panel> make_ranks_panel() { return std::make_unique<RanksPanel>(); }

}  // namespace hostir::gui
