#include "gui/panels/mismatch_card.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "gui/panels/code_text.h"
#include "gui/panels/wait_graph.h"

namespace hostir::gui {

namespace {

using interp::LedgerRow;
using Cell = interp::LedgerCell;

// All members that called the same thing.
struct Side {
  std::string fingerprint;  // empty: not arrived
  std::vector<std::string_view> words;
  std::vector<const Cell*> cells;
};

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Most ranks first; on a tie by rank; who has not arrived comes last.
std::vector<Side> sides_of(const LedgerRow& row) {
  std::vector<Side> sides;
  for (const Cell& c : row.cells) {
    auto same = std::find_if(sides.begin(), sides.end(),
                             [&](const Side& s) { return s.fingerprint == c.fingerprint; });
    if (same == sides.end()) {
      sides.push_back({c.fingerprint, {}, {}});
      same = sides.end() - 1;
    }
    same->cells.push_back(&c);
  }
  std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    if (a.fingerprint.empty() != b.fingerprint.empty()) return b.fingerprint.empty();
    return a.cells.size() > b.cells.size();
  });
  for (Side& side : sides) side.words = words_of(side.fingerprint);
  return sides;
}

void draw_ranks(Frame& frame, const Side& side) {
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
  if (cell.code < program.lines.size() && program.lines[cell.code] > 0) {
    std::string_view text = program.text();
    for (uint32_t line = 1; line < program.lines[cell.code]; ++line)
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    text = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    where += fmt::format("  line {}: {}", program.lines[cell.code], text);
  }
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

void draw_side(Frame& frame, const Side& side, const Side& reference, bool expected) {
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
  for (size_t i = 0; i < side.words.size(); ++i) {
    if (i > 0) ImGui::SameLine();
    const bool same = i < reference.words.size() && side.words[i] == reference.words[i];
    draw_word(frame, std::string(side.words[i]), &side != &reference && !same);
  }
  draw_place(frame, *side.cells.front());
}

}  // namespace

void draw_mismatch_card(Frame& frame, const LedgerRow& row) {
  const std::vector<Side> sides = sides_of(row);
  const std::string title = fmt::format("%{} sequence {}: the ranks called different things",
                                        row.comm_name, row.sequence);
  ImGui::PushTextWrapPos(0);
  ImGui::PushFont(frame.ui.fonts.bold);
  frame.ui.state_word(StateKind::kMismatch, title);
  ImGui::PopFont();
  frame.ui.tag("ledger/mismatch", title);
  ImGui::PopTextWrapPos();
  const bool majority =
      sides.size() > 1 && sides[0].cells.size() > sides[1].cells.size() && !sides[0].words.empty();
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_PadOuterX;
  if (ImGui::BeginTable("sides", 3, kFlags)) {
    ImGui::TableSetupColumn("ranks");
    ImGui::TableSetupColumn("expected");
    ImGui::TableSetupColumn("called", ImGuiTableColumnFlags_WidthStretch);
    for (const Side& side : sides) {
      // On a tie neither side is the expected one: both show what is unlike the other.
      const bool first = &side == &sides.front();
      const bool other = first && !majority && sides.size() > 1;
      draw_side(frame, side, other ? sides[1] : sides[0], first && majority);
    }
    ImGui::EndTable();
  }
  const std::string cause = likely_cause(row);
  ImGui::PushTextWrapPos(0);
  if (!cause.empty()) ImGui::TextUnformatted(("Likely cause: " + cause).c_str());
  frame.ui.tag("ledger/cause", cause);
  ImGui::PopTextWrapPos();
}

std::string likely_cause(const interp::LedgerRow& row) {
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

}  // namespace hostir::gui
