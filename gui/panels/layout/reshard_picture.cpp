#include "gui/panels/layout/reshard_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "gui/panels/layout/written.h"
#include "gui/panels/values/tensor_pick.h"
#include "hostir/ir/box_text.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/session/answers/program_facts.h"

namespace hostir::gui {

std::optional<interp::CodeIndex> current_collective(const Model& model) {
  const interp::Snapshot& shot = *model.snapshot();
  const interp::ProgramView& program = *shot.program;
  if (model.selection.code && is_communication(program, *model.selection.code))
    return model.selection.code;
  const interp::RankSnapshot& rank = shot.rank(shot.focus);
  if (rank.status != interp::RankStatus::kDone && is_communication(program, rank.code))
    return rank.code;
  for (const interp::StreamSnapshot& stream : rank.streams) {
    for (const interp::TaskSnapshot& task : stream.tasks) {
      if (is_communication(program, task.code)) return task.code;
    }
  }
  return std::nullopt;
}

interp::Rank meeting_rank(const Model& model, interp::CodeIndex collective) {
  const interp::Snapshot& shot = *model.snapshot();
  const interp::LedgerRow* row = model.mismatch();
  if (!row) return shot.focus;
  const auto& cells = row->cells;
  const bool here = std::any_of(cells.begin(), cells.end(), [&](const interp::LedgerCell& c) {
    return c.arrived() && c.code() == collective;
  });
  if (!here) return shot.focus;
  for (const interp::Rank rank :
       {model.selection.rank.value_or(interp::kNoRank), shot.focus, shot.stop.rank}) {
    if (std::any_of(cells.begin(), cells.end(), [&](auto& c) { return c.rank() == rank; }))
      return rank;
  }
  return cells.front().rank();
}

namespace {

bool is_ended(const interp::Snapshot& shot) {
  return shot.stop.kind == interp::StopKind::kDeadlock ||
         shot.stop.kind == interp::StopKind::kFault;
}

// True if no member of the group has issued anything on the communicator.
bool has_no_row(const interp::Snapshot& shot, const Reshard& r) {
  const interp::CommIndex comm = shot.program->code->instructions[r.code].comm;
  return std::none_of(shot.ledger->begin(), shot.ledger->end(), [&](const interp::LedgerRow& row) {
    return row.comm == comm && row.group == r.group;
  });
}

// True if the row is of this instruction, and of this pair for a send or recv.
bool is_of(const interp::LedgerRow& row, const Reshard& r) {
  if (row.point_to_point != r.point_to_point || row.group != r.group) return false;
  bool here = false;
  bool of_pair = true;
  for (const interp::LedgerCell& c : row.cells) {
    here = here || (c.arrived() && c.code() == r.code);
    of_pair = of_pair && contains(r.members, c.rank());
  }
  return here && (of_pair || !r.point_to_point);
}

// The oldest unfinished row of the group at this instruction, or null.
const interp::LedgerRow* open_row(const interp::Snapshot& shot, const Reshard& r) {
  const interp::CommIndex comm = shot.program->code->instructions[r.code].comm;
  for (const interp::LedgerRow& row : *shot.ledger) {
    if (row.state != interp::LedgerRow::State::kDone && row.comm == comm && is_of(row, r))
      return &row;
  }
  return nullptr;
}

// How another member's call differs from this one's.
std::string call_difference(const interp::Snapshot& shot, const interp::LedgerRow& row,
                            interp::Rank theirs, interp::Rank ours) {
  const model::Meeting* meeting = interp::meeting_of(shot, row);
  const model::Member* a = meeting ? meeting->member(theirs) : nullptr;
  const model::Member* b = meeting ? meeting->member(ours) : nullptr;
  return a && b ? diagnose::difference_text(a->call, b->call) : "called something else";
}

// Before a send or recv is issued: the peer's call that waits for it.
std::optional<interp::CodeIndex> waiting_partner(const interp::Snapshot& shot, const Reshard& r) {
  const interp::CommIndex comm = shot.program->code->instructions[r.code].comm;
  const size_t self = r.before.name.empty() ? 1 : 0;  // the side whose buffer is known
  for (const interp::LedgerRow& row : *shot.ledger) {
    if (row.comm != comm || !row.point_to_point || row.cells.size() != 2 || r.members.size() != 2)
      continue;
    if (row.cells[0].rank() != r.members[0] || row.cells[1].rank() != r.members[1]) continue;
    if (!row.cells[self].arrived() && row.cells[1 - self].arrived())
      return row.cells[1 - self].code();
  }
  return std::nullopt;
}

}  // namespace

std::optional<interp::CodeIndex> partner_of(const interp::Snapshot& shot, const Reshard& r) {
  const interp::CommIndex comm = shot.program->code->instructions[r.code].comm;
  for (const interp::LedgerRow& row : *shot.ledger) {
    if (row.comm != comm || !is_of(row, r)) continue;
    for (const interp::LedgerCell& c : row.cells) {
      if (c.arrived() && c.code() != r.code) return c.code();
    }
  }
  return waiting_partner(shot, r);
}

std::map<interp::Rank, std::string> absent_members(const interp::Snapshot& shot,
                                                   const Reshard& reshard) {
  using State = interp::LedgerCell::State;
  std::map<interp::Rank, std::string> out;
  const interp::LedgerRow* row = open_row(shot, reshard);
  if (!row && is_ended(shot) && has_no_row(shot, reshard)) {
    for (const interp::Rank rank : reshard.members) out[rank] = "has not arrived";
  }
  if (!row) return out;
  const interp::LedgerCell* ours = nullptr;
  for (const interp::LedgerCell& c : row->cells) {
    if (!ours && c.arrived() && c.code() == reshard.code) ours = &c;
  }
  for (const interp::LedgerCell& c : row->cells) {
    if (c.state == State::kMissing)
      out[c.rank()] = "has not arrived";
    else if (c.state == State::kUnknown)
      out[c.rank()] = "is not known to have arrived";
    else if (!reshard.point_to_point && row->state == interp::LedgerRow::State::kMismatch &&
             c.call != ours->call)
      out[c.rank()] = call_difference(shot, *row, c.rank(), ours->rank());
    else if (c.state == State::kQueued)
      out[c.rank()] = "is held up by other work of its stream";
  }
  return out;
}

namespace {

using Absent = std::map<interp::Rank, std::string>;

// Where ribbons leave or enter a member, from top to bottom in order of the other side.
struct Node {
  interp::Rank rank = 0;
  int64_t bytes = 0;
  float y0 = 0;
  float y1 = 0;
  float used = 0;  // height already taken by ribbons, in pixels
};

struct Columns {
  std::map<interp::Rank, Node> left;
  std::map<interp::Rank, Node> right;
};

Columns columns_of(const Frame& frame, const Reshard& r, float top, float height) {
  Columns c;
  for (const interp::Rank rank : r.members) {
    c.left[rank].rank = rank;
    c.right[rank].rank = rank;
  }
  for (const Transfer& t : r.transfers) {
    c.left[t.from].bytes += t.bytes;
    c.right[t.to].bytes += t.bytes;
  }
  const auto n = static_cast<float>(r.members.size());
  const float gap = std::min(frame.ui.px(10), height / n * 0.25f);
  const float each = (height - gap * (n - 1)) / n;
  float y = top;
  for (const interp::Rank rank : r.members) {
    for (auto* side : {&c.left, &c.right}) {
      (*side)[rank].y0 = y;
      (*side)[rank].y1 = y + each;
    }
    y += each + gap;
  }
  return c;
}

void draw_nodes(Frame& frame, const std::map<interp::Rank, Node>& nodes, float x, float width,
                std::string_view verb, const Absent& absent) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame.ui.pal();
  for (const auto& [rank, node] : nodes) {
    const bool lit = frame.model.was_hovered.rank == rank;
    const auto missing = absent.find(rank);
    const bool moves = node.bytes > 0 && missing == absent.end();
    const ImU32 colour = moves ? p.rank(rank) : p.panel_title;
    list->AddRectFilled(ImVec2(x, node.y0), ImVec2(x + width, node.y1),
                        mixed(p.panel, colour, lit ? 1.0f : 0.85f), 2);
    frame.ui.draw_text(
        list, ImVec2(x + frame.ui.px(3), (node.y0 + node.y1 - frame.ui.fonts.small->FontSize) / 2),
        moves ? p.background : p.text_dim, fmt::format("r{}", rank), width, frame.ui.fonts.small);
    if (missing != absent.end())
      list->AddRect(ImVec2(x, node.y0), ImVec2(x + width, node.y1), p.state(StateKind::kMismatch));
    frame.ui.tag_rect(fmt::format("reshard/{}/{}", verb, rank), ImVec2(x, node.y0),
                      ImVec2(x + width, node.y1));
    if (ImGui::IsMouseHoveringRect(ImVec2(x, node.y0), ImVec2(x + width, node.y1))) {
      frame.model.hovered.rank = rank;
      if (missing != absent.end())
        Ui::tooltip("rank %d %s", rank, missing->second.c_str());
      else
        Ui::tooltip("rank %d %s %s in this picture", rank, std::string(verb).c_str(),
                    bytes_text(node.bytes).c_str());
    }
  }
}

// A ribbon between two vertical segments. Data that stays on its rank is faint; data held up by an
// absent member is grey and dashed.
void draw_ribbon(Frame& frame, const Transfer& t, ImVec2 a, float a_height, ImVec2 b,
                 float b_height, bool folded, bool held_up) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame.ui.pal();
  const interp::Rank lit = frame.model.was_hovered.rank.value_or(interp::kNoRank);
  const bool stays = t.from == t.to;
  float alpha = stays ? 0.20f : 0.50f;
  if (lit == t.from || lit == t.to) alpha += 0.3f;
  if (lit != interp::kNoRank && lit != t.from && lit != t.to) alpha *= 0.4f;
  const ImU32 colour =
      held_up ? with_alpha(p.text_dim, 0.6f * alpha) : with_alpha(p.rank(t.from), alpha);
  constexpr int kSteps = 18;
  const auto at = [&](float u, float y0, float y1) {
    const float s = u * u * (3 - 2 * u);
    return y0 + (y1 - y0) * s;
  };
  for (int i = 0; i < kSteps; i += held_up ? 2 : 1) {
    const float u = static_cast<float>(i) / kSteps;
    const float v = static_cast<float>(i + 1) / kSteps;
    const float x0 = a.x + (b.x - a.x) * u;
    const float x1 = a.x + (b.x - a.x) * v;
    list->AddQuadFilled(ImVec2(x0, at(u, a.y, b.y)), ImVec2(x1, at(v, a.y, b.y)),
                        ImVec2(x1, at(v, a.y + a_height, b.y + b_height)),
                        ImVec2(x0, at(u, a.y + a_height, b.y + b_height)), colour);
  }
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float u = (mouse.x - a.x) / std::max(1.0f, b.x - a.x);
  if (u < 0.05f || u > 0.95f || !ImGui::IsWindowHovered()) return;
  const float top = at(u, a.y, b.y);
  if (mouse.y < top || mouse.y > top + a_height + (b_height - a_height) * u) return;
  Ui::tooltip("%s %s: %s, %s%s",
              stays ? fmt::format("stays on r{}", t.from).c_str()
                    : fmt::format("r{} to r{}", t.from, t.to).c_str(),
              folded ? "(an addend)" : "", to_string(t.box).c_str(), bytes_text(t.bytes).c_str(),
              held_up ? ", does not move: a member is missing"
              : stays ? ", not moved"
                      : "");
}

void draw_ribbons(Frame& frame, const Reshard& r, Columns& c, float x0, float x1, bool held_up) {
  for (const Transfer& t : r.transfers) {
    Node& from = c.left[t.from];
    Node& to = c.right[t.to];
    const float h0 = (from.y1 - from.y0) * static_cast<float>(t.bytes) /
                     static_cast<float>(std::max<int64_t>(1, from.bytes));
    const float h1 = (to.y1 - to.y0) * static_cast<float>(t.bytes) /
                     static_cast<float>(std::max<int64_t>(1, to.bytes));
    draw_ribbon(frame, t, ImVec2(x0, from.y0 + from.used), h0, ImVec2(x1, to.y0 + to.used), h1,
                !r.reduces.empty(), held_up);
    from.used += h0;
    to.used += h1;
  }
}

void draw_side(Frame& frame, const Reshard& r, const ReshardSide& side, const std::string& name,
               std::string_view title, Area area) {
  const Palette& p = frame.ui.pal();
  const bool unknown = side.name.empty() && r.point_to_point;
  const std::string before = std::string(title) + "  ";
  const float left = area.width() - ImGui::CalcTextSize(before.c_str()).x;
  const std::string text = before + (unknown             ? "not known yet"
                                     : side.name.empty() ? "nothing"
                                                         : short_name("%" + side.name, left));
  frame.ui.draw_text(ImGui::GetWindowDrawList(), area.min, p.text, text, area.width());
  frame.ui.tag_rect(name + "/title", area.min,
                    ImVec2(area.max.x, area.min.y + ImGui::GetTextLineHeight()), text);
  const std::string layout = unknown         ? "the peer has not called yet"
                             : side.sharding ? side.sharding->to_pytorch()
                                             : "no layout written";
  frame.ui.draw_text(ImGui::GetWindowDrawList(),
                     ImVec2(area.min.x, area.min.y + ImGui::GetTextLineHeight()), p.text_dim,
                     layout, area.width(), frame.ui.fonts.small);
  const LayoutSource source = layout_of(side, r, *frame.model.snapshot()->program);
  const std::vector<Shard> shards = shards_of(source);
  if (shards.empty()) return;
  PictureStyle style;
  style.most_cell = 30;
  style.captions = false;
  draw_layout(frame, name, source, shards, best_plane(source.global, shards),
              Area{ImVec2(area.min.x, area.min.y + frame.ui.px(30)), area.max}, style);
}

std::string headline(const Reshard& r) {
  if (r.point_to_point && !r.sentence.empty()) return r.kind + ":  " + r.sentence;
  std::string members;
  for (size_t i = 0; i < r.members.size() && i < 8; ++i)
    members += fmt::format("{}r{}", i ? " " : "", r.members[i]);
  if (r.members.size() > 8) members += fmt::format(" +{}", r.members.size() - 8);
  std::string text =
      fmt::format("{}{}{} among {}", r.kind, r.reduces.empty() ? "" : " ", r.reduces, members);
  if (r.groups > 1) text += fmt::format("  (group {} of {})", r.group + 1, r.groups);
  return text + ":  " + r.sentence;
}

// "r1 has not arrived, r2 called max: nothing moves."
std::string absence_text(const Absent& absent, bool ended) {
  std::map<std::string, std::vector<interp::Rank>> by_reason;
  for (const auto& [rank, why] : absent) by_reason[why].push_back(rank);
  std::string text;
  for (const auto& [why, ranks] : by_reason) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rank_list(ranks),
                        ranks.size() > 1 && why == "has not arrived" ? "have not arrived" : why);
  }
  return text + (ended ? ": nothing moves." : ": nothing moves yet.");
}

}  // namespace

void draw_reshard(Frame& frame, const Reshard& r, const Absent& absent) {
  constexpr float kLeastNode = 17;  // height of a member including the gap, in pixels
  const std::string head = headline(r);
  ImGui::PushTextWrapPos(0);
  frame.ui.text(head);
  frame.ui.tag("reshard/sentence", head);
  if (!r.problem.empty()) {
    frame.ui.text_dim(r.problem);
    frame.ui.tag("reshard/problem", r.problem);
  }
  if (!absent.empty()) {
    const std::string text = absence_text(absent, is_ended(*frame.model.snapshot()));
    frame.ui.state_word(StateKind::kWaiting, text);
    frame.ui.tag("reshard/absent", text);
  }
  ImGui::PopTextWrapPos();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < frame.ui.px(220)) return;
  // With many members or little room, the picture is higher than the panel and scrolls.
  const size_t drawn = r.members.size() > kMaxRibbonMembers ? 4 : r.members.size();
  const float least = frame.ui.px(46 + kLeastNode * static_cast<float>(drawn));
  size.y = std::max(size.y, std::max(least, frame.ui.px(90)));
  const float side = size.x * 0.33f;
  const float node = frame.ui.px(26);
  draw_side(frame, r, r.before, "reshard/before",
            "before:", Area{at, ImVec2(at.x + side, at.y + size.y)});
  draw_side(frame, r, r.after, "reshard/after", "after:",
            Area{ImVec2(at.x + size.x - side + frame.ui.px(8), at.y),
                 ImVec2(at.x + size.x, at.y + size.y)});
  const float x0 = at.x + side + frame.ui.px(6);
  const float x1 = at.x + size.x - side - node - frame.ui.px(6);
  if (r.members.size() > kMaxRibbonMembers) {
    ImGui::SetCursorScreenPos(ImVec2(x0, at.y));
    frame.ui.text_dim(fmt::format("{} members:\nribbons are not drawn", r.members.size()));
    return;
  }
  const float top = at.y + frame.ui.px(18);
  Columns c = columns_of(frame, r, top, size.y - frame.ui.px(42));
  draw_nodes(frame, c.left, x0, node, "gives", absent);
  draw_nodes(frame, c.right, x1, node, "gets", absent);
  draw_ribbons(frame, r, c, x0 + node, x1, !absent.empty());
  std::string moved = bytes_text(r.moved_bytes) + " between ranks";
  ImFont* small = frame.ui.fonts.small;
  if (small->CalcTextSizeA(small->FontSize, FLT_MAX, 0, moved.c_str()).x > x1 + node - x0)
    moved = bytes_text(r.moved_bytes);
  frame.ui.draw_text(ImGui::GetWindowDrawList(), ImVec2(x0, at.y), frame.ui.pal().text_dim, moved,
                     x1 + node - x0, frame.ui.fonts.small);
  frame.ui.tag_rect("reshard/bytes", ImVec2(x0, at.y), ImVec2(x1, at.y + 14), moved);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace hostir::gui
