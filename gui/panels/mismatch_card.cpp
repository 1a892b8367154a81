#include "gui/panels/mismatch_card.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "gui/panels/wait_graph.h"
#include "gui/panels/what_if_button.h"

namespace hostir::gui {

namespace {

using Cell = interp::LedgerCell;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void draw_ranks(Frame& frame, const CallSide& side) {
  size_t shown = 0;
  for (const Cell* c : side.cells) {
    if (++shown > 4) break;
    if (shown > 1) ImGui::SameLine(0, frame.ui.px(3));
    if (frame.ui.rank_chip(c->rank, c->rank == frame.model.snapshot()->focus,
                           fmt::format("ledger/card/{}", c->rank)))
      frame.actions.command(fmt::format("focus {}", c->rank));
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = c->rank;
  }
  if (side.cells.size() <= 4) return;
  ImGui::SameLine();
  const std::string more = fmt::format("+{}", side.cells.size() - 4);
  frame.ui.text_dim(more);
  if (!ImGui::IsItemHovered()) return;
  std::vector<interp::Rank> all;
  for (const Cell* c : side.cells) all.push_back(c->rank);
  ImGui::SetTooltip("%s", ranks_text(all).c_str());
}

// A field of the call; one that is unlike the reference's is a red pill with the sign of
// inequality.
void draw_word(Frame& frame, const std::string& word, bool differs) {
  if (word.empty()) return;
  ImGui::PushFont(frame.ui.fonts.mono);
  if (differs) {
    const ImU32 alarm = frame.ui.pal().state(StateKind::kMismatch);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string text = "\u2260 " + word;
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float pad = frame.ui.px(4);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 max(at.x + size.x + 2 * pad, at.y + size.y + 2);
    list->AddRectFilled(at, max, with_alpha(alarm, 0.30f), pad);
    list->AddRect(at, max, alarm, pad);
    list->AddText(ImVec2(at.x + pad, at.y + 1), frame.ui.pal().text_strong, text.c_str());
    ImGui::Dummy(ImVec2(size.x + 2 * pad, size.y + 2));
  } else {
    ImGui::TextUnformatted(word.c_str());
  }
  ImGui::PopFont();
}

// The line of the program: number and text; a click goes there.
void draw_place(Frame& frame, const Cell& cell) {
  const interp::ProgramView& program = *frame.model.snapshot()->program;
  std::string where = cell.address;
  const std::string text = line_text(program, cell.code);
  if (!text.empty()) where += fmt::format("  line {}: {}", program.lines[cell.code], text);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  ImGui::PushID(static_cast<int>(cell.rank));
  if (ImGui::InvisibleButton("place", ImVec2(width, ImGui::GetTextLineHeight())))
    frame.model.selection.code = cell.code;
  ImGui::PopID();
  frame.ui.tag("ledger/card/at/" + cell.address, cell.fingerprint);
  if (ImGui::IsItemHovered()) {
    frame.model.hovered.code = cell.code;
    ImGui::SetTooltip("%s\nclick: select this line", where.c_str());
  }
  frame.ui.draw_elided(ImGui::GetWindowDrawList(), at, frame.ui.pal().link, where, width,
                       frame.ui.fonts.small);
}

void draw_side(Frame& frame, const CallSide& side, const CallSide& reference, bool expected) {
  const Palette& p = frame.ui.pal();
  ImGui::TableNextRow();
  ImGui::TableSetBgColor(
      ImGuiTableBgTarget_RowBg0,
      with_alpha(expected ? p.state(StateKind::kOk) : p.state(StateKind::kMismatch), 0.10f));
  ImGui::TableNextColumn();
  draw_ranks(frame, side);
  ImGui::TableNextColumn();
  if (expected) {
    frame.ui.state_word(StateKind::kOk, "expected");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("what most ranks called");
  }
  ImGui::TableNextColumn();
  if (side.fingerprint.empty()) {
    frame.ui.state_word(StateKind::kMissing, "not arrived");
    return;
  }
  const std::vector<std::string_view> words = words_of(side.fingerprint);
  const std::vector<std::string_view> others = words_of(reference.fingerprint);
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) ImGui::SameLine();
    const bool same = i < others.size() && words[i] == others[i];
    draw_word(frame, std::string(words[i]), &side != &reference && !same);
  }
  draw_place(frame, *side.cells.front());
}

void draw_sides(Frame& frame, const MismatchStory& story) {
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_PadOuterX;
  if (!ImGui::BeginTable("sides", 3, kFlags)) return;
  ImGui::TableSetupColumn("ranks");
  ImGui::TableSetupColumn("expected");
  ImGui::TableSetupColumn("called", ImGuiTableColumnFlags_WidthStretch);
  constexpr size_t kMostSides = 16;
  for (const CallSide& side :
       std::span(story.sides).first(std::min(story.sides.size(), kMostSides))) {
    // Without a majority neither side is the expected one: both show what is unlike the other.
    const bool first = &side == &story.sides.front();
    const bool other = first && !story.majority && story.sides.size() > 1;
    draw_side(frame, side, other ? story.sides[1] : story.sides[0], first && story.majority);
  }
  ImGui::EndTable();
  if (story.sides.size() <= kMostSides) return;
  const std::string more = fmt::format("{} more different calls", story.sides.size() - kMostSides);
  frame.ui.text_dim(more);
  frame.ui.tag("ledger/card/more", more);
  frame.ui.say_hidden(more);
}

void draw_branches(Frame& frame, const MismatchStory& story) {
  const interp::ProgramView& program = *frame.model.snapshot()->program;
  for (size_t i = 0; i < story.branches.size(); ++i) {
    const BranchTaken& branch = story.branches[i];
    std::string text;
    for (size_t column = 0; column < branch.holds.size(); ++column) {
      const auto& holds = branch.holds[column];
      text += fmt::format("{}r{} {}", column > 0 ? ", " : "", story.columns[column],
                          !holds   ? "decided as it ran"
                          : *holds ? "true"
                                   : "false");
    }
    const std::string line = fmt::format("line {}: {}", program.lines[branch.where], branch.text);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().link);
    frame.ui.text_mono(line);
    ImGui::PopStyleColor();
    frame.ui.tag(fmt::format("ledger/branch/{}", i), text);
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.code = branch.where;
      ImGui::SetTooltip("click: select this condition");
    }
    if (ImGui::IsItemClicked()) frame.model.selection.code = branch.where;
    Ui::flow(ImGui::CalcTextSize(text.c_str()).x);
    ImGui::TextUnformatted(text.c_str());
  }
}

// One column per side, one row per place in the order; what would come next is dim.
void draw_order(Frame& frame, const MismatchStory& story) {
  if (story.rows.empty()) return;
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingFixedFit |
                                     ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_PadOuterX |
                                     ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg;
  const Palette& p = frame.ui.pal();
  const float line = ImGui::GetTextLineHeight() + frame.ui.px(5);
  const float height = line * static_cast<float>(story.rows.size() + 1) + frame.ui.px(16);
  const auto columns = static_cast<int>(story.columns.size()) + 1;
  ImGui::Dummy(ImVec2(0, frame.ui.px(2)));
  frame.ui.text_dim("The calls on this communicator, side by side; \u25b7 would come next:");
  if (!ImGui::BeginTable("order", columns, kFlags, ImVec2(0, height))) return;
  ImGui::TableSetupColumn("seq");
  for (const interp::Rank r : story.columns) ImGui::TableSetupColumn(fmt::format("r{}", r).c_str());
  ImGui::TableHeadersRow();
  for (const AlignedRow& row : story.rows) {
    ImGui::TableNextRow();
    if (row.here)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0,
                             with_alpha(p.state(StateKind::kMismatch), 0.22f));
    ImGui::TableNextColumn();
    frame.ui.text_mono(fmt::format("{}{}", row.here ? "! " : "  ", row.sequence));
    for (size_t i = 0; i < row.calls.size(); ++i) {
      const AlignedCall& call = row.calls[i];
      ImGui::TableNextColumn();
      if (call.text.empty()) {
        frame.ui.text_dim("\u2013");
        continue;
      }
      const std::string text =
          (call.issued ? "" : "\u25b7 ") + std::string(call.differs ? "\u2260 " : "") + call.text;
      ImGui::PushStyleColor(ImGuiCol_Text, call.issued ? p.text : p.text_dim);
      frame.ui.text_mono(text);
      ImGui::PopStyleColor();
      frame.ui.tag(fmt::format("ledger/order/{}/{}", row.sequence, story.columns[i]), text);
      if (ImGui::IsItemHovered()) frame.model.hovered.code = call.code;
      if (ImGui::IsItemClicked()) frame.model.selection.code = call.code;
    }
  }
  ImGui::EndTable();
}

}  // namespace

void MismatchCard::draw(Frame& frame, const interp::LedgerRow& row) {
  if (shot_ != frame.model.snapshot() || row_ != &row) {
    shot_ = frame.model.snapshot();
    row_ = &row;
    story_ = mismatch_story(*shot_, row);
  }
  const std::string title = fmt::format("%{} sequence {}: the ranks called different things",
                                        row.comm_name, row.sequence);
  ImGui::PushTextWrapPos(0);
  ImGui::PushFont(frame.ui.fonts.bold);
  frame.ui.state_word(StateKind::kMismatch, title);
  ImGui::PopFont();
  frame.ui.tag("ledger/mismatch", title);
  if (!story_.cause.empty()) ImGui::TextUnformatted(("Likely cause: " + story_.cause).c_str());
  frame.ui.tag("ledger/cause", story_.cause);
  ImGui::PopTextWrapPos();
  what_if_button(frame, "ledger/whatif");
  draw_sides(frame, story_);
  draw_branches(frame, story_);
  draw_order(frame, story_);
}

}  // namespace hostir::gui
