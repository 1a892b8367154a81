// Who waits for whom: one sentence, then the graph. Cycles are thick and red, the culprit is
// ringed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/panels.h"
#include "gui/panels/wait_graph.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxNodes = 12;

// The first work of a rank that has not finished; null: there is none.
const interp::TaskSnapshot* pending_task(const interp::RankSnapshot& r) {
  for (const interp::StreamSnapshot& s : r.streams) {
    if (!s.tasks.empty()) return &s.tasks.front();
  }
  return nullptr;
}

// What a rank does while others wait for it, or how it waits itself.
std::pair<StateKind, std::string> state_of(const interp::RankSnapshot& r, bool waits) {
  if (r.frozen) return {StateKind::kFrozen, "frozen"};
  if (r.status == interp::RankStatus::kBlocked) return {StateKind::kWaiting, "blocked"};
  if (waits) return {StateKind::kWaiting, "its stream waits"};
  if (r.status == interp::RankStatus::kDone) return {StateKind::kOk, "returned"};
  if (r.status == interp::RankStatus::kNotStarted) return {StateKind::kMissing, "not started"};
  return {StateKind::kOk, "not waiting"};
}

// Where a rank stands, in a few words.
std::string place_of(const interp::RankSnapshot& r, bool waits) {
  const interp::TaskSnapshot* task = pending_task(r);
  if (waits && r.status != interp::RankStatus::kBlocked && task)
    return task->address + " " + task->text;
  if (r.status == interp::RankStatus::kDone) return "at the program's end";
  return r.address + " " + r.op;
}

class WaitsPanel : public Panel {
 public:
  std::string_view id() const override { return "waits"; }
  std::string_view title() const override { return "Who waits for whom"; }
  std::string_view hint() const override {
    return "Which rank waits for which: a graph, while ranks are blocked. Nobody waits now. One "
           "sentence says why they stand still, and the rank that all wait for is ringed.";
  }

  Room room(const Frame& frame) const override {
    return frame.model.snapshot()->waits->edges.empty() ? Room::idle() : Room();
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const interp::WaitsSnapshot& waits = *shot.waits;
    if (waits.edges.empty()) return frame.ui.empty_hint(hint());
    draw_sentence(frame, shot, waits);
    const WaitGraph graph = make_wait_graph(waits, kMaxNodes);
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (graph.nodes.size() > 3 * kMaxNodes || size.y < frame.ui.px(110) ||
        size.x < frame.ui.px(200)) {
      return draw_list(frame, graph);
    }
    draw_graph(frame, shot, graph);
  }

 private:
  static void draw_sentence(Frame& frame, const interp::Snapshot& shot,
                            const interp::WaitsSnapshot& waits) {
    const bool stuck = shot.stop.kind == interp::StopKind::kDeadlock;
    std::string sentence = waits.sentence;
    if (!sentence.empty() && sentence.back() != '.') sentence += '.';
    ImGui::PushTextWrapPos(0);
    ImGui::PushFont(frame.ui.fonts.bold);
    frame.ui.state_word(stuck ? StateKind::kMismatch : StateKind::kWaiting, sentence);
    ImGui::PopFont();
    frame.ui.tag("waits/sentence", waits.sentence);
    ImGui::PopTextWrapPos();
    size_t shown = 0;
    for (const interp::Rank culprit : waits.culprits) {
      if (++shown > 8) break;
      if (frame.ui.rank_chip(culprit, true, fmt::format("waits/go/{}", culprit)))
        go_to(frame, shot, culprit);
      ImGui::SameLine();
    }
    if (!waits.culprits.empty()) {
      frame.ui.text_dim(waits.culprits.size() == 1 ? "is waited for and waits for nobody: go there"
                                                   : "are waited for and wait for nobody");
    }
  }

  static void go_to(Frame& frame, const interp::Snapshot& shot, interp::Rank rank) {
    frame.actions.command(fmt::format("focus {}", rank));
    frame.model.selection.rank = rank;
    frame.model.selection.code = shot.rank(rank).code;
  }

  static void draw_graph(Frame& frame, const interp::Snapshot& shot, const WaitGraph& graph) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImVec2 size = ImGui::GetContentRegionAvail();
    size.y -= frame.ui.fonts.small->FontSize + frame.ui.px(4);  // the legend
    const bool many = graph.nodes.size() > 5;
    const float wide =
        std::clamp(size.x * (many ? 0.24f : 0.38f), frame.ui.px(56), frame.ui.px(many ? 120 : 190));
    const ImVec2 card(wide, frame.ui.px(many ? 24 : 44));
    const std::vector<ImVec2> places = place_cards(graph.nodes.size(), at, size, card);
    std::vector<LinkCurve> curves;
    for (const WaitLink& link : graph.links) {
      const bool apart = link.paired || graph.nodes.size() == 2;
      curves.push_back(link_curve(places[link.from], places[link.to], card, apart));
      draw_curve(frame, link, curves.back());
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      draw_card(frame, shot, graph.nodes[i], places[i], card);
    for (size_t i = 0; i < graph.links.size(); ++i) {
      const bool named = graph.links.size() <= 6 || graph.links[i].in_cycle;
      if (named) draw_label(frame, shot, graph.links[i], curves[i], at, size);
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + size.y + frame.ui.px(2)));
    ImGui::PushFont(frame.ui.fonts.small);
    frame.ui.text_dim(
        "\u2192 waits for     double ring: all wait for it     thick: a cycle     click: go there");
    ImGui::PopFont();
  }

  static ImU32 colour_of(const Frame& frame, const WaitLink& link) {
    const Palette& p = frame.ui.pal();
    return link.in_cycle ? p.state(StateKind::kMismatch)
                         : mixed(p.state(StateKind::kWaiting), p.text_dim, 0.35f);
  }

  static void draw_curve(Frame& frame, const WaitLink& link, const LinkCurve& curve) {
    if (curve.points.empty()) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 colour = colour_of(frame, link);
    const bool lit = frame.model.was_hovered.rank == link.rank;
    const float width = frame.ui.px(link.in_cycle || lit ? 3.0f : 1.6f);
    const ImVec2 tip = curve.points.back();
    const ImVec2 before = curve.points[curve.points.size() - 2];
    const float dx = tip.x - before.x;
    const float dy = tip.y - before.y;
    const float length = std::max(0.001f, std::sqrt(dx * dx + dy * dy));
    const ImVec2 d(dx / length, dy / length);
    const float head = frame.ui.px(7) + width;
    const ImVec2 base(tip.x - d.x * head, tip.y - d.y * head);
    for (const ImVec2& p : curve.points) {
      const float ahead = (base.x - p.x) * d.x + (base.y - p.y) * d.y;
      const float near = std::abs(tip.x - p.x) + std::abs(tip.y - p.y);
      if (ahead >= 0 || near > 2 * head) list->PathLineTo(p);
    }
    list->PathLineTo(base);
    list->PathStroke(colour, 0, width);
    list->AddTriangleFilled(tip, ImVec2(base.x - d.y * head * 0.5f, base.y + d.x * head * 0.5f),
                            ImVec2(base.x + d.y * head * 0.5f, base.y - d.x * head * 0.5f), colour);
  }

  static void draw_card(Frame& frame, const interp::Snapshot& shot, const WaitNode& node,
                        ImVec2 centre, ImVec2 card) {
    const Palette& p = frame.ui.pal();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const interp::Rank first = node.ranks.front();
    const interp::RankSnapshot& rank = shot.rank(first);
    const ImVec2 min(centre.x - card.x / 2, centre.y - card.y / 2);
    const ImVec2 max(centre.x + card.x / 2, centre.y + card.y / 2);
    const float round = frame.ui.px(5);
    const bool focus =
        std::find(node.ranks.begin(), node.ranks.end(), shot.focus) != node.ranks.end();
    const bool lit = frame.model.was_hovered.rank &&
                     std::find(node.ranks.begin(), node.ranks.end(),
                               *frame.model.was_hovered.rank) != node.ranks.end();
    const ImU32 alarm = p.state(StateKind::kMismatch);
    list->AddRectFilled(min, max, mixed(p.panel, p.rank(first), lit ? 0.42f : 0.26f), round);
    list->AddRectFilled(min, ImVec2(min.x + frame.ui.px(5), max.y), p.rank(first), round,
                        ImDrawFlags_RoundCornersLeft);
    const bool alarmed = node.culprit || node.in_cycle;
    list->AddRect(min, max,
                  alarmed ? alarm
                  : focus ? p.text_strong
                          : p.rank(first),
                  round, 0, frame.ui.px(alarmed || focus ? 2.0f : 1.0f));
    if (node.culprit) {
      const float out = frame.ui.px(4);
      list->AddRect(ImVec2(min.x - out, min.y - out), ImVec2(max.x + out, max.y + out), alarm,
                    round + out, 0, frame.ui.px(2));
    }
    card_text(frame, node, rank, min, card);
    ImGui::SetCursorScreenPos(min);
    ImGui::PushID(first);
    if (ImGui::InvisibleButton("node", card)) go_to(frame, shot, first);
    frame.ui.tag(fmt::format("waits/node/{}", first), ranks_text(node.ranks));
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.rank = first;
      tooltip(*shot.waits, node);
    }
    ImGui::PopID();
  }

  // The rank and its state; below, where it stands.
  static void card_text(Frame& frame, const WaitNode& node, const interp::RankSnapshot& rank,
                        ImVec2 min, ImVec2 card) {
    const auto& edges = frame.model.snapshot()->waits->edges;
    const bool waits = std::any_of(edges.begin(), edges.end(),
                                   [&](const interp::RankWait& e) { return e.from == rank.rank; });
    const Palette& p = frame.ui.pal();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto [state, word] = state_of(rank, waits);
    const float left = min.x + frame.ui.px(11);
    const float space = min.x + card.x - left - frame.ui.px(4);
    ImFont* bold = frame.ui.fonts.bold;
    const std::string who = ranks_text(node.ranks);
    const float who_width = bold->CalcTextSizeA(bold->FontSize, FLT_MAX, 0, who.c_str()).x;
    const float y = min.y + frame.ui.px(4);
    frame.ui.draw_elided(list, ImVec2(left, y), p.text_strong, who, space, bold);
    const std::string state_text = std::string(glyph(state)) + " " + word;
    frame.ui.draw_elided(list, ImVec2(left + who_width + frame.ui.px(8), y), p.state(state),
                         state_text, space - who_width - frame.ui.px(8));
    if (card.y < frame.ui.px(40)) return;
    const std::string where =
        node.own.empty() ? place_of(rank, waits) : "wait for each other: " + node.own;
    frame.ui.draw_elided(list, ImVec2(left, y + frame.ui.px(20)), p.text, where, space,
                         frame.ui.fonts.small);
  }

  // What the link is about, on the outer side of its own curve; a click goes to who waits.
  static void draw_label(Frame& frame, const interp::Snapshot& shot, const WaitLink& link,
                         const LinkCurve& curve, ImVec2 at, ImVec2 size) {
    if (curve.points.empty()) return;
    ImFont* font = frame.ui.fonts.small;
    const float pad = frame.ui.px(5);
    const std::string label = label_of(*shot.waits, link);
    const float text = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, label.c_str()).x;
    const ImVec2 extent(std::min(text + 2 * pad, size.x), font->FontSize + frame.ui.px(6));
    const float reach =
        (std::abs(curve.outwards.x) * extent.x + std::abs(curve.outwards.y) * extent.y) / 2 +
        frame.ui.px(4);
    const float x = curve.middle.x + curve.outwards.x * reach - extent.x / 2;
    const float y = curve.middle.y + curve.outwards.y * reach - extent.y / 2;
    const ImVec2 min(std::clamp(x, at.x, std::max(at.x, at.x + size.x - extent.x)),
                     std::clamp(y, at.y, std::max(at.y, at.y + size.y - extent.y)));
    const ImVec2 max(min.x + extent.x, min.y + extent.y);
    ImGui::SetCursorScreenPos(min);
    ImGui::PushID(link.rank * 4096 + link.target);
    if (ImGui::InvisibleButton("edge", extent)) go_to(frame, shot, link.rank);
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    frame.ui.tag(fmt::format("waits/edge/{}/{}", link.rank, link.target), link.on);
    const Palette& p = frame.ui.pal();
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(min, max, hovered ? p.hover : p.panel_title, extent.y / 2);
    list->AddRect(min, max, colour_of(frame, link), extent.y / 2);
    frame.ui.draw_elided(list, ImVec2(min.x + pad, min.y + frame.ui.px(3)), p.text_strong, label,
                         extent.x - 2 * pad, font);
    if (!hovered) return;
    frame.model.hovered.rank = link.rank;
    for (const interp::RankWait& e : shot.waits->edges) {
      if (e.from == link.rank && e.to == link.target) {
        ImGui::SetTooltip("%s\nwaits for %s\nclick: go there", e.from_text.c_str(),
                          e.to_text.c_str());
      }
    }
  }

  // With the instruction, since two communicators may be at the same number.
  static std::string label_of(const interp::WaitsSnapshot& waits, const WaitLink& link) {
    for (const interp::RankWait& e : waits.edges) {
      if (e.from != link.rank || e.to != link.target) continue;
      const size_t place = e.from_text.rfind('@');
      if (place == std::string::npos) break;
      const std::string address =
          e.from_text.substr(place, e.from_text.find_first_of(" ,)", place) - place);
      return link.on + " " + address;
    }
    return link.on;
  }

  static void tooltip(const interp::WaitsSnapshot& waits, const WaitNode& node) {
    ImGui::BeginTooltip();
    int lines = 0;
    for (const interp::RankWait& e : waits.edges) {
      if (e.from != node.ranks.front() || ++lines > 12) continue;
      const std::string line = fmt::format("{}\n  waits for {}", e.from_text, e.to_text);
      ImGui::TextUnformatted(line.c_str());
    }
    if (node.culprit) ImGui::TextUnformatted("others wait for this rank, and it waits for nobody");
    ImGui::EndTooltip();
  }

  // No room for a picture: lines.
  static void draw_list(Frame& frame, const WaitGraph& graph) {
    ImGui::BeginChild("list");
    for (const WaitLink& link : graph.links) {
      frame.ui.text_mono(fmt::format("{} \u2192 {}  {}", ranks_text(graph.nodes[link.from].ranks),
                                     ranks_text(graph.nodes[link.to].ranks), link.on));
      frame.ui.tag(fmt::format("waits/edge/{}/{}", link.rank, link.target), link.on);
      if (ImGui::IsItemHovered()) frame.model.hovered.rank = link.rank;
    }
    ImGui::EndChild();
  }
};

}  // namespace

std::unique_ptr<Panel> make_waits_panel() { return std::make_unique<WaitsPanel>(); }

}  // namespace hostir::gui
