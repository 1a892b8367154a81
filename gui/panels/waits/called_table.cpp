#include "gui/panels/waits/called_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "gui/draw/marked_word.h"
#include "gui/panels/waits/wait_graph.h"
#include "gui/panels/waits/wait_picture.h"
#include "interp/session/answers/program_facts.h"

namespace hostir::gui {

namespace {

constexpr size_t kMostRows = 64;  // the status bar counts the others

void draw_ranks(Frame& frame, const CalledRow& row) {
  constexpr size_t kMostChips = 4;
  for (size_t i = 0; i < std::min(row.ranks.size(), kMostChips); ++i) {
    if (i > 0) ImGui::SameLine(0, frame.ui.px(3));
    const interp::Rank rank = row.ranks[i];
    if (frame.ui.rank_chip(rank, rank == frame.model.snapshot()->focus,
                           fmt::format("waits/go/{}", rank)))
      go_to_rank(frame, rank);
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = rank;
  }
  if (row.ranks.size() <= kMostChips) return;
  ImGui::SameLine();
  const std::string more = fmt::format("+{}", row.ranks.size() - kMostChips);
  frame.ui.text_dim(more);
  frame.ui.tag(fmt::format("waits/more/{}", row.ranks.front()), more);
  if (ImGui::IsItemHovered()) Ui::tooltip("%s", ranks_text(row.ranks).c_str());
}

// The program line, number and text; a click selects it.
void draw_place(Frame& frame, const CalledRow& row, const std::string& name) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  const model::Instruction* instruction = shot.run->find(row.first->member->instruction);
  if (instruction == nullptr) return frame.ui.text_dim("not known");
  const interp::CodeIndex code = row.first->code();
  const std::string text = interp::line_text(*shot.program, code);
  const std::string place = model::place_text(*instruction);
  const std::string where =
      text.empty() ? place : fmt::format("{}: {}", shot.program->shown(code).line, text);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(frame.ui.px(24), ImGui::GetContentRegionAvail().x);
  ImGui::PushID(name.c_str());
  if (ImGui::InvisibleButton("place", ImVec2(width, ImGui::GetTextLineHeight())))
    frame.model.selection.code = code;
  ImGui::PopID();
  frame.ui.tag(name, where);
  if (ImGui::IsItemHovered()) {
    frame.model.hovered.code = code;
    Ui::tooltip("%s  line %s\nclick: select this line", place.c_str(), where.c_str());
  }
  frame.ui.draw_elided(ImGui::GetWindowDrawList(), at, frame.ui.pal().link, where, width,
                       frame.ui.fonts.mono);
}

void draw_row(Frame& frame, const Called& called, const CalledRow& row) {
  const Palette& p = frame.ui.pal();
  const auto name = [&](std::string_view column) {
    return fmt::format("waits/called/{}/{}", row.ranks.front(), column);
  };
  ImGui::TableNextRow();
  if (row.expected)
    ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0, with_alpha(p.state(StateKind::kOk), 0.10f));
  ImGui::TableNextColumn();
  draw_ranks(frame, row);
  if (!row.first->arrived()) {
    ImGui::TableNextColumn();
    const bool unknown = row.first->state == interp::LedgerCell::State::kUnknown;
    const std::string word = unknown ? "not known" : "not arrived";
    frame.ui.state_word(StateKind::kMissing, word);
    frame.ui.tag(name("op"), word);
    return;
  }
  for (size_t i = 0; i < called.columns.size(); ++i) {
    ImGui::TableNextColumn();
    const std::string& field = row.fields[i];
    if (field.empty() && !row.differs[i]) continue;
    marked_word(frame.ui, field.empty() ? "none" : field, row.differs[i]);
    frame.ui.tag(name(called.columns[i]), field);
  }
  ImGui::TableNextColumn();
  draw_place(frame, row, name("line"));
}

}  // namespace

void CalledTable::read(const Frame& frame) {
  if (shot_ == frame.model.snapshot()) return;
  shot_ = frame.model.snapshot();
  called_ = called_of(*frame.model.mismatch());
}

float CalledTable::wanted_height(const Frame& frame) {
  read(frame);
  const auto rows = static_cast<float>(std::min(called_.rows.size(), kMostRows) + 1);
  return rows * (ImGui::GetTextLineHeight() + frame.ui.px(7)) + frame.ui.px(6);
}

void CalledTable::draw(Frame& frame) {
  read(frame);
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_PadOuterX;
  const auto columns = static_cast<int>(called_.columns.size()) + 2;
  if (!ImGui::BeginTable("called", columns, kFlags)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("ranks");
  for (const std::string& column : called_.columns) ImGui::TableSetupColumn(column.c_str());
  ImGui::TableSetupColumn("line", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableHeadersRow();
  const size_t shown = std::min(called_.rows.size(), kMostRows);
  for (const CalledRow& row : std::span(called_.rows).first(shown)) draw_row(frame, called_, row);
  ImGui::EndTable();
  if (shown < called_.rows.size())
    frame.ui.say_hidden(fmt::format("{} different calls", called_.rows.size() - shown));
}

}  // namespace hostir::gui
