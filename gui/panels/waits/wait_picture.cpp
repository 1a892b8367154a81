// Draws cards, arrows and labels as placed by gui/panels/waits/wait_layout.h. Cycles are thick and
// red; the culprit has a double ring.
#include "gui/panels/waits/wait_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gui/panels/waits/wait_layout.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

// The first unfinished task of a rank, or null.
const interp::TaskSnapshot* pending_task(const interp::RankSnapshot& r) {
  for (const interp::StreamSnapshot& s : r.streams) {
    if (!s.tasks.empty()) return &s.tasks.front();
  }
  return nullptr;
}

// What a rank is doing while others wait for it, or what it waits for.
std::pair<StateKind, std::string> rank_state(const interp::RankSnapshot& r, bool waits) {
  if (r.frozen) return {StateKind::kFrozen, "frozen"};
  if (r.status == interp::RankStatus::kBlocked) return {StateKind::kWaiting, "blocked"};
  if (waits) return {StateKind::kWaiting, "stream waits"};
  if (r.status == interp::RankStatus::kDone) return {StateKind::kOk, "returned"};
  if (r.status == interp::RankStatus::kNotStarted) return {StateKind::kMissing, "not started"};
  if (r.status == interp::RankStatus::kRemote) return {StateKind::kMissing, "in another process"};
  if (r.status == interp::RankStatus::kDead) return {StateKind::kFailed, "dead"};
  if (r.status == interp::RankStatus::kUnknown) return {StateKind::kMissing, "not known"};
  return {StateKind::kOk, "not waiting"};
}

// The rank's place in the program, in a few words.
std::string place_of(const interp::RankSnapshot& r, bool waits) {
  const interp::TaskSnapshot* task = pending_task(r);
  if (waits && r.status != interp::RankStatus::kBlocked && task)
    return task->address + " " + task->text;
  if (r.status == interp::RankStatus::kDone) return "at the program's end";
  return r.address + " " + r.op;
}

using CardText = WaitCardText;

CardText text_of(const interp::Snapshot& shot, const WaitNode& node, bool two_lines) {
  const interp::RankSnapshot& rank = shot.rank(node.ranks.front());
  const bool waits = node.edges > 0;
  CardText text;
  text.who = ranks_text(node.ranks);
  std::tie(text.state, text.word) = rank_state(rank, waits);
  text.word = std::string(glyph(text.state)) + " " + text.word;
  if (two_lines)
    text.place = node.own.empty() ? place_of(rank, waits) : "wait for each other: " + node.own;
  return text;
}

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
}

ImVec2 size_of(const Frame& frame, const CardText& text) {
  const Fonts& fonts = frame.ui.fonts;
  const float first =
      width_of(fonts.bold, text.who) + frame.ui.px(8) + width_of(fonts.ui, text.word);
  const float second = text.place.empty() ? 0 : width_of(fonts.small, text.place);
  const float most = frame.ui.px(280);
  return {std::min(most, std::max(first, second)) + frame.ui.px(16),
          text.place.empty() ? frame.ui.px(24) : frame.ui.px(44)};
}

ImU32 colour_of(const Frame& frame, const WaitLink& link) {
  const Palette& p = frame.ui.pal();
  return link.in_cycle ? p.state(StateKind::kMismatch)
                       : mixed(p.state(StateKind::kWaiting), p.text_dim, 0.35f);
}

void draw_arrow(Frame& frame, const WaitLink& link, const std::vector<ImVec2>& points) {
  if (points.size() < 2) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 colour = colour_of(frame, link);
  const bool lit = frame.model.was_hovered.rank == link.rank;
  const float width = frame.ui.px(link.in_cycle || lit ? 3.0f : 1.6f);
  const ImVec2 tip = points.back();
  const ImVec2 before = points[points.size() - 2];
  const float dx = tip.x - before.x;
  const float dy = tip.y - before.y;
  const float length = std::max(0.001f, std::sqrt(dx * dx + dy * dy));
  const ImVec2 d(dx / length, dy / length);
  const float head = frame.ui.px(7) + width;
  const ImVec2 base(tip.x - d.x * head, tip.y - d.y * head);
  for (size_t i = 0; i + 1 < points.size(); ++i) list->PathLineTo(points[i]);
  list->PathLineTo(base);
  list->PathStroke(colour, 0, width);
  list->AddTriangleFilled(tip, ImVec2(base.x - d.y * head * 0.5f, base.y + d.x * head * 0.5f),
                          ImVec2(base.x + d.y * head * 0.5f, base.y - d.x * head * 0.5f), colour);
}

void draw_card(Frame& frame, const WaitNode& node, const CardText& text, const WaitBox& box) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const interp::Rank first = node.ranks.front();
  const float round = frame.ui.px(5);
  const bool focus = contains(node.ranks, shot.focus);
  const auto& hovered = frame.model.was_hovered.rank;
  const bool lit = hovered && contains(node.ranks, *hovered);
  const ImU32 alarm = p.state(StateKind::kMismatch);
  list->AddRectFilled(box.min, box.max, mixed(p.panel, p.rank(first), lit ? 0.42f : 0.26f), round);
  list->AddRectFilled(box.min, ImVec2(box.min.x + frame.ui.px(5), box.max.y), p.rank(first), round,
                      ImDrawFlags_RoundCornersLeft);
  const bool alarmed = node.culprit || node.in_cycle;
  list->AddRect(box.min, box.max,
                alarmed ? alarm
                : focus ? p.text_strong
                        : p.rank(first),
                round, 0, frame.ui.px(alarmed || focus ? 2.0f : 1.0f));
  if (node.culprit) {
    const float out = frame.ui.px(4);
    list->AddRect(ImVec2(box.min.x - out, box.min.y - out),
                  ImVec2(box.max.x + out, box.max.y + out), alarm, round + out, 0, frame.ui.px(2));
  }
  const float left = box.min.x + frame.ui.px(11);
  const float space = box.max.x - left - frame.ui.px(4);
  const float y = box.min.y + frame.ui.px(4);
  const float who = width_of(frame.ui.fonts.bold, text.who) + frame.ui.px(8);
  frame.ui.draw_elided(list, ImVec2(left, y), p.text_strong, text.who, space, frame.ui.fonts.bold);
  frame.ui.draw_elided(list, ImVec2(left + who, y), p.state(text.state), text.word, space - who);
  frame.ui.draw_elided(list, ImVec2(left, y + frame.ui.px(20)), p.text, text.place, space,
                       frame.ui.fonts.small);
}

void tooltip(const WaitNode& node) {
  ImGui::BeginTooltip();
  for (const std::string& line : node.told) ImGui::TextUnformatted(line.c_str());
  if (node.edges > node.told.size())
    ImGui::Text("and %d more", static_cast<int>(node.edges - node.told.size()));
  if (node.culprit) {
    ImGui::TextUnformatted(
        "others wait for this rank; it waits for nobody, or its call does not match theirs");
  }
  ImGui::EndTooltip();
}

void card_button(Frame& frame, const WaitNode& node, const WaitBox& box) {
  const interp::Rank first = node.ranks.front();
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushID(first);
  if (ImGui::InvisibleButton("node", ImVec2(box.max.x - box.min.x, box.max.y - box.min.y)))
    go_to_rank(frame, first);
  frame.ui.tag(fmt::format("waits/node/{}", first), ranks_text(node.ranks));
  if (ImGui::IsItemHovered()) {
    frame.model.hovered.rank = first;
    tooltip(node);
  }
  ImGui::PopID();
}

// The reason of the arrows that start here; a click selects the waiting rank.
void draw_label(Frame& frame, const WaitGraph& graph, const WaitLabel& label) {
  const WaitLink& link = graph.links[label.links.front()];
  const float pad = frame.ui.px(6);
  const ImVec2 extent(label.box.max.x - label.box.min.x, label.box.max.y - label.box.min.y);
  ImGui::SetCursorScreenPos(label.box.min);
  ImGui::PushID(link.rank * 4096 + link.target);
  if (ImGui::InvisibleButton("edge", extent)) go_to_rank(frame, link.rank);
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered();
  for (const size_t i : label.links) {
    frame.ui.tag(fmt::format("waits/edge/{}/{}", graph.links[i].rank, graph.links[i].target),
                 graph.links[i].label);
  }
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(label.box.min, label.box.max, hovered ? p.hover : p.panel_title,
                      extent.y / 2);
  list->AddRect(label.box.min, label.box.max, colour_of(frame, link), extent.y / 2);
  frame.ui.draw_elided(list, ImVec2(label.box.min.x + pad, label.box.min.y + frame.ui.px(2)),
                       p.text_strong, link.label, extent.x - 2 * pad, frame.ui.fonts.small);
  if (!hovered) return;
  frame.model.hovered.rank = link.rank;
  Ui::tooltip("%s\nclick: go there", link.told.c_str());
}

// Two lines per card and labels beside the cards if that fits, else a smaller form. What still does
// not fit scrolls, preferably vertically.
WaitLayout layout_of(const Frame& frame, const WaitGraph& graph, ImVec2 space,
                     std::vector<CardText>& texts) {
  WaitSizes sizes;
  sizes.gap = frame.ui.px(12);
  sizes.width = space.x;
  ImFont* font = frame.ui.fonts.small;
  for (const WaitLink& l : graph.links) {
    sizes.labels.emplace_back(width_of(font, l.label) + frame.ui.px(13),
                              font->FontSize + frame.ui.px(5));
  }
  struct Way {
    bool two_lines, below;
  };
  WaitLayout layout;
  for (const Way way : {Way{true, false}, Way{false, false}, Way{false, true}}) {
    sizes.labels_below = way.below;
    sizes.arrow = frame.ui.px(way.below ? 20 : 36);
    texts.clear();
    sizes.cards.clear();
    for (const WaitNode& node : graph.nodes) {
      texts.push_back(text_of(*frame.model.snapshot(), node, way.two_lines));
      sizes.cards.push_back(size_of(frame, texts.back()));
    }
    layout = place_waits(graph, sizes);
    const bool fits = layout.size.x <= space.x;
    if (fits && (!way.two_lines || layout.size.y <= space.y)) break;
  }
  return layout;
}

void shift(WaitLayout& layout, ImVec2 by) {
  for (WaitBox& b : layout.cards) b.move(by);
  for (WaitLabel& l : layout.labels) l.box.move(by);
  for (auto& points : layout.arrows) {
    for (ImVec2& p : points) p = ImVec2(p.x + by.x, p.y + by.y);
  }
}

}  // namespace

void go_to_rank(Frame& frame, interp::Rank rank) {
  const interp::RankSnapshot& r = frame.model.snapshot()->rank(rank);
  const interp::TaskSnapshot* task = pending_task(r);
  const bool by_stream = task && r.status == interp::RankStatus::kDone;
  frame.actions.command(fmt::format("focus {}", rank));
  frame.model.selection.rank = rank;
  frame.model.selection.code = by_stream ? task->code : r.code;
}

void WaitPicture::lay_out(const Frame& frame, const WaitGraph& graph, ImVec2 space) {
  const Key key{frame.model.generation(), space.x, space.y, frame.ui.scale,
                frame.ui.fonts.small->FontSize};
  if (key == key_) return;
  key_ = key;
  layout_ = layout_of(frame, graph, space, texts_);
  at_ = ImVec2(0, 0);
  ++laid_out_;
}

void WaitPicture::draw(Frame& frame, const WaitGraph& graph, float below) {
  ImGui::BeginChild("picture", ImVec2(0, -below), false, ImGuiWindowFlags_HorizontalScrollbar);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float margin = frame.ui.px(6);
  const ImVec2 all = ImGui::GetContentRegionAvail();
  const ImVec2 space(all.x - 2 * margin, all.y - 2 * margin);
  lay_out(frame, graph, space);
  const ImVec2 whole = layout_.size;
  // Centred if there is room to spare, but not far below the sentence above.
  const ImVec2 to(
      at.x + margin + std::max(0.0f, (space.x - whole.x) / 2),
      at.y + margin + std::min(frame.ui.px(24), std::max(0.0f, (space.y - whole.y) / 2)));
  if (to.x != at_.x || to.y != at_.y) shift(layout_, ImVec2(to.x - at_.x, to.y - at_.y));
  at_ = to;
  for (size_t i = 0; i < graph.links.size(); ++i)
    draw_arrow(frame, graph.links[i], layout_.arrows[i]);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    draw_card(frame, graph.nodes[i], texts_[i], layout_.cards[i]);
    card_button(frame, graph.nodes[i], layout_.cards[i]);
  }
  for (const WaitLabel& label : layout_.labels) draw_label(frame, graph, label);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(whole.x + 2 * margin, whole.y + 2 * margin));
  frame.ui.tag("waits/picture", std::to_string(laid_out_));
  ImGui::EndChild();
}

}  // namespace hostir::gui
