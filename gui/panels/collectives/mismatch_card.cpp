#include "gui/panels/collectives/mismatch_card.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <vector>

#include "gui/draw/marked_word.h"
#include "gui/panels/waits/wait_graph.h"
#include "gui/panels/waits/what_if_button.h"

namespace hostir::gui {

namespace {

using diagnose::CardCall;
using diagnose::CardCondition;
using diagnose::CardRow;
using diagnose::CardSide;
using StoryCard = diagnose::MismatchCard;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void draw_ranks(Frame& frame, const CardSide& side) {
  size_t shown = 0;
  for (const interp::Rank rank : side.ranks) {
    if (++shown > 4) break;
    if (shown > 1) ImGui::SameLine(0, frame.ui.px(3));
    if (frame.ui.rank_chip(rank, rank == frame.model.snapshot()->focus,
                           fmt::format("ledger/card/{}", rank)))
      frame.actions.command(fmt::format("focus {}", rank));
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = rank;
  }
  if (side.ranks.size() <= 4) return;
  ImGui::SameLine();
  const std::string more = fmt::format("+{}", side.ranks.size() - 4);
  frame.ui.text_dim(more);
  if (!ImGui::IsItemHovered()) return;
  Ui::tooltip("%s", ranks_text(side.ranks).c_str());
}

// The program line, number and text; a click goes there.
void draw_place(Frame& frame, const CardSide& side) {
  const model::Instruction* instruction = frame.model.snapshot()->run->find(side.instruction);
  if (instruction == nullptr) return;
  const interp::ProgramView& program = *frame.model.snapshot()->program;
  const interp::CodeIndex code = side.instruction.index;
  const std::string place = model::place_text(*instruction);
  std::string where = place;
  const std::string text = interp::line_text(program, code);
  if (!text.empty()) where += fmt::format("  line {}: {}", program.shown(code).line, text);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  ImGui::PushID(static_cast<int>(side.ranks.front()));
  if (ImGui::InvisibleButton("place", ImVec2(width, ImGui::GetTextLineHeight())))
    frame.model.selection.code = code;
  ImGui::PopID();
  frame.ui.tag("ledger/card/at/" + place, side.text);
  if (ImGui::IsItemHovered()) {
    frame.model.hovered.code = code;
    Ui::tooltip("%s\nclick: select this line", where.c_str());
  }
  frame.ui.draw_elided(ImGui::GetWindowDrawList(), at, frame.ui.pal().link, where, width,
                       frame.ui.fonts.small);
}

void draw_side(Frame& frame, const CardSide& side, const CardSide& reference, bool expected) {
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
    if (ImGui::IsItemHovered()) Ui::tooltip("what most ranks called");
  }
  ImGui::TableNextColumn();
  if (side.text.empty()) {
    frame.ui.state_word(StateKind::kMissing, "not arrived");
    return;
  }
  const std::vector<std::string_view> words = words_of(side.text);
  const std::vector<std::string_view> others = words_of(reference.text);
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) ImGui::SameLine();
    const bool same = i < others.size() && words[i] == others[i];
    marked_word(frame.ui, words[i], &side != &reference && !same);
  }
  draw_place(frame, side);
}

void draw_sides(Frame& frame, const StoryCard& story) {
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_PadOuterX;
  if (!ImGui::BeginTable("sides", 3, kFlags)) return;
  ImGui::TableSetupColumn("ranks");
  ImGui::TableSetupColumn("expected");
  ImGui::TableSetupColumn("called", ImGuiTableColumnFlags_WidthStretch);
  constexpr size_t kMostSides = 16;
  for (const CardSide& side :
       std::span(story.sides).first(std::min(story.sides.size(), kMostSides))) {
    // Without a majority neither side is the expected one: mark the differences in both.
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

void draw_branches(Frame& frame, const StoryCard& story) {
  const interp::ProgramView& program = *frame.model.snapshot()->program;
  for (size_t i = 0; i < story.conditions.size(); ++i) {
    const CardCondition& branch = story.conditions[i];
    std::string text;
    for (size_t column = 0; column < branch.holds.size(); ++column) {
      const auto& holds = branch.holds[column];
      text += fmt::format("{}r{} {}", column > 0 ? ", " : "", story.columns[column],
                          !holds   ? "decided as it ran"
                          : *holds ? "true"
                                   : "false");
    }
    const std::string line =
        fmt::format("line {}: {}", program.shown(branch.instruction.index).line, branch.text);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().link);
    frame.ui.text_mono(line);
    ImGui::PopStyleColor();
    frame.ui.tag(fmt::format("ledger/branch/{}", i), text);
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.code = branch.instruction.index;
      Ui::tooltip("click: select this condition");
    }
    if (ImGui::IsItemClicked()) frame.model.selection.code = branch.instruction.index;
    Ui::flow(ImGui::CalcTextSize(text.c_str()).x);
    frame.ui.text(text);
  }
}

// One column per side, one row per position in the order; calls not yet made are dim.
void draw_order(Frame& frame, const StoryCard& story) {
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
  for (const CardRow& row : story.rows) {
    ImGui::TableNextRow();
    if (row.here)
      ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0,
                             with_alpha(p.state(StateKind::kMismatch), 0.22f));
    ImGui::TableNextColumn();
    frame.ui.text_mono(fmt::format("{}{}", row.here ? "! " : "  ", row.sequence));
    for (size_t i = 0; i < row.calls.size(); ++i) {
      const CardCall& call = row.calls[i];
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
      if (ImGui::IsItemHovered()) frame.model.hovered.code = call.instruction.index;
      if (ImGui::IsItemClicked()) frame.model.selection.code = call.instruction.index;
    }
  }
  ImGui::EndTable();
}

}  // namespace

void MismatchCard::draw(Frame& frame, const interp::LedgerRow& row) {
  if (shot_ != frame.model.snapshot() || row_ != &row) {
    shot_ = frame.model.snapshot();
    row_ = &row;
    const model::Meeting* meeting = interp::meeting_of(*shot_, row);
    card_ = meeting != nullptr ? interp::mismatch_card(*shot_, *meeting) : StoryCard();
  }
  const std::string title =
      fmt::format("{} sequence {}: the ranks called different things", row.comm_text, row.sequence);
  ImGui::PushTextWrapPos(0);
  ImGui::PushFont(frame.ui.fonts.bold);
  frame.ui.state_word(StateKind::kMismatch, title);
  ImGui::PopFont();
  frame.ui.tag("ledger/mismatch", title);
  if (!card_.cause.empty()) frame.ui.text("Likely cause: " + card_.cause);
  frame.ui.tag("ledger/cause", card_.cause);
  ImGui::PopTextWrapPos();
  draw_sides(frame, card_);
  draw_branches(frame, card_);
  what_if_button(frame, "ledger/whatif");
  draw_order(frame, card_);
}

}  // namespace hostir::gui
