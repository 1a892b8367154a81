// Who waits for whom: one sentence, then the graph. Cycles are thick and red, the culprit is
// ringed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class WaitsPanel : public Panel {
 public:
  std::string_view id() const override { return "waits"; }
  std::string_view title() const override { return "Who waits for whom"; }
  std::string_view hint() const override {
    return "Which rank waits for which, and the one that all wait for. Nobody waits now; it fills "
           "while ranks are "
           "blocked.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const interp::WaitsSnapshot& waits = *shot.waits;
    if (waits.edges.empty()) return frame.ui.empty_hint(hint());
    const bool stuck = shot.stop.kind == interp::StopKind::kDeadlock;
    ImGui::PushTextWrapPos(0);
    frame.ui.state_word(stuck ? StateKind::kMismatch : StateKind::kWaiting, waits.sentence);
    frame.ui.tag("waits/sentence", waits.sentence);
    ImGui::PopTextWrapPos();
    for (const interp::Rank culprit : waits.culprits) {
      if (frame.ui.rank_chip(culprit, true, fmt::format("waits/go/{}", culprit))) {
        frame.actions.command(fmt::format("rank {}", culprit));
        frame.model.selection.code = shot.rank(culprit).code;
      }
      ImGui::SameLine();
    }
    if (!waits.culprits.empty()) frame.ui.text_dim("is not waiting: click to go there");
    draw_graph(frame, shot, waits);
  }

 private:
  static std::vector<interp::Rank> nodes_of(const interp::WaitsSnapshot& waits) {
    std::set<interp::Rank> nodes;
    for (const interp::RankWait& e : waits.edges) {
      nodes.insert(e.from);
      nodes.insert(e.to);
    }
    return {nodes.begin(), nodes.end()};
  }

  void draw_graph(Frame& frame, const interp::Snapshot& shot, const interp::WaitsSnapshot& waits) {
    const std::vector<interp::Rank> nodes = nodes_of(waits);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (nodes.size() > kMaxNodes || size.y < frame.ui.px(120)) return draw_list(frame, waits);
    const Palette& p = frame.ui.pal();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 centre(at.x + size.x / 2, at.y + size.y / 2);
    const float node = frame.ui.px(nodes.size() > 16 ? 11 : 15);
    const float radius = std::max(node * 2, std::min(size.x, size.y) / 2 - node - frame.ui.px(16));
    const auto place = [&](interp::Rank r) {
      const auto index = std::lower_bound(nodes.begin(), nodes.end(), r) - nodes.begin();
      const double angle =
          -1.5708 + 6.28319 * static_cast<double>(index) / static_cast<double>(nodes.size());
      return ImVec2(centre.x + radius * static_cast<float>(std::cos(angle)),
                    centre.y + radius * static_cast<float>(std::sin(angle)));
    };
    for (const interp::RankWait& e : waits.edges) {
      const bool in_cycle = is_cycle_edge(waits, e);
      edge_label(frame, shot, e, place(e.from), place(e.to));
      draw_edge(list, place(e.from), place(e.to), node,
                in_cycle ? p.state(StateKind::kMismatch) : p.text_dim,
                frame.ui.px(in_cycle ? 3.0f : 1.4f));
    }
    for (const interp::Rank r : nodes) {
      const ImVec2 c = place(r);
      const bool culprit =
          std::find(waits.culprits.begin(), waits.culprits.end(), r) != waits.culprits.end();
      list->AddCircleFilled(c, node, p.rank(r), 24);
      if (culprit)
        list->AddCircle(c, node + frame.ui.px(4), p.state(StateKind::kMismatch), 24,
                        frame.ui.px(2.5f));
      if (r == shot.focus)
        list->AddCircle(c, node + frame.ui.px(1), p.text_strong, 24, frame.ui.px(1.5f));
      const std::string label = fmt::format("r{}", r);
      const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
      list->AddText(ImVec2(c.x - extent.x / 2, c.y - extent.y / 2), p.background, label.c_str());
      ImGui::SetCursorScreenPos(ImVec2(c.x - node, c.y - node));
      ImGui::PushID(r);
      if (ImGui::InvisibleButton("node", ImVec2(node * 2, node * 2))) {
        frame.actions.command(fmt::format("rank {}", r));
        frame.model.selection.code = shot.rank(r).code;
      }
      frame.ui.tag(fmt::format("waits/node/{}", r), label);
      if (ImGui::IsItemHovered()) {
        frame.model.hovered.rank = r;
        tooltip(waits, r, culprit);
      }
      ImGui::PopID();
    }
  }

  // What the edge is about, at its middle; a click goes to the instruction that waits.
  static void edge_label(Frame& frame, const interp::Snapshot& shot, const interp::RankWait& e,
                         ImVec2 a, ImVec2 b) {
    if (shot.waits->edges.size() > kMaxLabels) return;
    ImFont* font = frame.ui.fonts.small;
    const std::string text = fmt::format("{}", e.on);
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
    const float left = ImGui::GetWindowPos().x;
    const float right = left + ImGui::GetWindowWidth();
    const float x = std::clamp((a.x + b.x) / 2 + frame.ui.px(12), left + 2,
                               std::max(left + 2, right - width - frame.ui.px(4)));
    // The two directions of a cycle have their labels above each other.
    const float y = (a.y + b.y) / 2 + (e.from < e.to ? -font->FontSize - 2 : 2);
    ImGui::SetCursorScreenPos(ImVec2(x, y));
    ImGui::PushID(e.from * 4096 + e.to);
    if (ImGui::InvisibleButton("edge", ImVec2(width, font->FontSize))) {
      frame.actions.command(fmt::format("rank {}", e.from));
      frame.model.selection.code = shot.rank(e.from).code;
    }
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered();
    frame.ui.tag(fmt::format("waits/edge/{}/{}", e.from, e.to), text);
    frame.ui.draw_text(ImGui::GetWindowDrawList(), ImVec2(x, y),
                       hovered ? frame.ui.pal().link : frame.ui.pal().text, text, width + 4, font);
    if (!hovered) return;
    frame.model.hovered.rank = e.from;
    ImGui::SetTooltip("%s\nwaits for %s\nclick: go there", e.from_text.c_str(), e.to_text.c_str());
  }

  static void tooltip(const interp::WaitsSnapshot& waits, interp::Rank r, bool culprit) {
    ImGui::BeginTooltip();
    for (const interp::RankWait& e : waits.edges) {
      if (e.from != r) continue;
      const std::string line = fmt::format("{}\n  waits for {}", e.from_text, e.to_text);
      ImGui::TextUnformatted(line.c_str());
    }
    if (culprit) ImGui::TextUnformatted("others wait for this rank, and it waits for nobody");
    ImGui::EndTooltip();
  }

  static bool is_cycle_edge(const interp::WaitsSnapshot& waits, const interp::RankWait& e) {
    for (size_t i = 0; i < waits.cycle.size(); ++i) {
      if (waits.cycle[i] == e.from && waits.cycle[(i + 1) % waits.cycle.size()] == e.to)
        return true;
    }
    return false;
  }

  // An arrow between two circles, bent a little so that both directions are seen.
  static void draw_edge(ImDrawList* list, ImVec2 a, ImVec2 b, float node, ImU32 colour,
                        float width) {
    const float dx = b.x - a.x;
    const float dy = b.y - a.y;
    const float length = std::sqrt(dx * dx + dy * dy);
    if (length < node * 2) return;
    const ImVec2 u(dx / length, dy / length);
    const ImVec2 normal(-u.y, u.x);
    const float bend = std::min(length * 0.12f, node);
    const ImVec2 from(a.x + u.x * node + normal.x * 3, a.y + u.y * node + normal.y * 3);
    const ImVec2 to(b.x - u.x * (node + 3) + normal.x * 3, b.y - u.y * (node + 3) + normal.y * 3);
    const ImVec2 middle((from.x + to.x) / 2 + normal.x * bend,
                        (from.y + to.y) / 2 + normal.y * bend);
    list->AddBezierQuadratic(from, middle, to, colour, width);
    const ImVec2 back(to.x - middle.x, to.y - middle.y);
    const float back_length = std::max(1.0f, std::sqrt(back.x * back.x + back.y * back.y));
    const ImVec2 d(back.x / back_length, back.y / back_length);
    const float head = 4 + width * 2;
    list->AddTriangleFilled(
        to, ImVec2(to.x - d.x * head - d.y * head * 0.5f, to.y - d.y * head + d.x * head * 0.5f),
        ImVec2(to.x - d.x * head + d.y * head * 0.5f, to.y - d.y * head - d.x * head * 0.5f),
        colour);
  }

  // Many ranks: lines, equal waits folded into ranges.
  static void draw_list(Frame& frame, const interp::WaitsSnapshot& waits) {
    std::vector<std::pair<std::string, std::vector<interp::Rank>>> groups;
    for (const interp::RankWait& e : waits.edges) {
      const std::string what = fmt::format("wait for r{} on {}", e.to, e.on);
      const auto same = std::find_if(groups.begin(), groups.end(),
                                     [&](const auto& g) { return g.first == what; });
      if (same != groups.end()) {
        same->second.push_back(e.from);
      } else {
        groups.emplace_back(what, std::vector{e.from});
      }
    }
    ImGui::BeginChild("list");
    for (const auto& [what, ranks] : groups) {
      const std::string who = ranks.size() == 1 ? fmt::format("r{}", ranks.front())
                                                : fmt::format("{} ranks (r{}..r{})", ranks.size(),
                                                              ranks.front(), ranks.back());
      frame.ui.text_mono(who + " " + what);
    }
    ImGui::EndChild();
  }

  static constexpr size_t kMaxNodes = 40;
  static constexpr size_t kMaxLabels = 12;
};

}  // namespace

std::unique_ptr<Panel> make_waits_panel() { return std::make_unique<WaitsPanel>(); }

}  // namespace hostir::gui
