// Who waits for whom: a sentence, then the graph. After a mismatch, which no rank waits in: what
// each rank called.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gui/panels/waits/called_table.h"
#include "gui/panels/waits/wait_picture.h"
#include "gui/panels/waits/what_if_button.h"
#include "interp/session/answers/fault_names.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxNodes = 12;

class WaitsPanel : public Panel {
 public:
  std::string_view id() const override { return "waits"; }
  std::string_view title() const override { return "Who waits for whom"; }
  std::string_view hint() const override {
    return "Which rank waits for which: a graph, while ranks are blocked. No rank waits now. A "
           "sentence gives the cause, and the rank that the others wait for has a double ring.";
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (frame.model.mismatch())
      return HeightRequest::some(called_.wanted_height(frame) + ImGui::GetFrameHeightWithSpacing());
    if (shot.waits->edges.empty()) return HeightRequest::idle();
    HeightRequest wanted;
    if (shot.stop.kind == interp::StopKind::kDeadlock)
      wanted.least = frame.ui.px(96 + 50 * static_cast<float>(waiting(*shot.waits, 4)));
    return wanted;
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const interp::WaitsSnapshot& waits = *shot.waits;
    if (frame.model.mismatch()) return draw_mismatch(frame, shot);
    if (waits.edges.empty()) return frame.ui.empty_hint(hint());
    draw_sentence(frame, shot, waits);
    if (seen_ != frame.model.generation()) {
      seen_ = frame.model.generation();
      graph_ = make_wait_graph(waits, kMaxNodes);
    }
    if (graph_.nodes.size() > 3 * kMaxNodes) return draw_list(frame, graph_);
    const float legend = frame.ui.fonts.small->FontSize + frame.ui.px(4);
    const bool room_for_legend = ImGui::GetContentRegionAvail().y > frame.ui.px(150) &&
                                 ImGui::GetContentRegionAvail().x > frame.ui.px(380);
    picture_.draw(frame, graph_, room_for_legend ? legend : 0);
    if (!room_for_legend) return;
    ImGui::PushFont(frame.ui.fonts.small);
    frame.ui.text_dim(
        "\u2192 waits for     double ring: all wait for it     thick: a cycle     click: go there");
    ImGui::PopFont();
  }

 private:
  // Number of waiting ranks, counted up to `most`.
  static size_t waiting(const interp::WaitsSnapshot& waits, size_t most) {
    size_t count = 0;
    interp::Rank last = interp::kNoRank;
    for (const interp::RankWait& e : waits.edges) {
      if (std::exchange(last, e.from) == e.from) continue;
      if (++count == most) break;
    }
    return count;
  }

  static void bold_words(Frame& frame, StateKind state, const std::string& text) {
    ImGui::PushTextWrapPos(0);
    ImGui::PushFont(frame.ui.fonts.bold);
    frame.ui.state_word(state, text);
    ImGui::PopFont();
    frame.ui.tag("waits/sentence", text);
    ImGui::PopTextWrapPos();
  }

  // One line of chips; further ranks are only counted.
  static void draw_chips(Frame& frame, const std::vector<interp::Rank>& ranks,
                         std::string_view what) {
    constexpr size_t kMostChips = 8;
    const size_t shown = std::min(ranks.size(), kMostChips);
    for (size_t i = 0; i < shown; ++i) {
      if (frame.ui.rank_chip(ranks[i], true, fmt::format("waits/go/{}", ranks[i])))
        go_to_rank(frame, ranks[i]);
      ImGui::SameLine();
    }
    if (shown == ranks.size()) return;
    const size_t rest = ranks.size() - shown;
    frame.ui.text_dim(fmt::format("+{}", rest));
    frame.ui.tag("waits/more", std::to_string(rest));
    ImGui::SameLine();
    frame.ui.say_hidden(fmt::format("{} {}", rest, what));
  }

  // The banner has the sentence, and its card in Collectives the likely cause.
  void draw_mismatch(Frame& frame, const interp::Snapshot& shot) {
    const interp::FaultSnapshot& fault = shot.faults->back();
    const interp::LedgerRow& row = *frame.model.mismatch();
    const std::string title = fmt::format("{} in {} sequence {}:", interp::fault_name(fault.kind),
                                          row.comm_text, row.sequence);
    ImGui::AlignTextToFramePadding();
    frame.ui.state_word(StateKind::kMismatch, title);
    frame.ui.tag("waits/sentence", fmt::format("{} {}.", title, fault.sentence));
    if (ImGui::IsItemHovered()) Ui::tooltip("%s", fault.sentence.c_str());
    constexpr const char* kCause = "Likely cause";
    Ui::flow(ImGui::CalcTextSize(kCause).x + 2 * ImGui::GetStyle().FramePadding.x);
    if (ImGui::Button(kCause)) frame.actions.request("panel.ledger");
    frame.ui.tag("waits/mismatch", fault.sentence);
    if (ImGui::IsItemHovered())
      Ui::tooltip("The calls before and after on each rank, and why they differ");
    Ui::flow(what_if_button_width(frame));
    what_if_button(frame, "waits/whatif");
    called_.draw(frame);
  }

  static void draw_sentence(Frame& frame, const interp::Snapshot& shot,
                            const interp::WaitsSnapshot& waits) {
    const float button = what_if_button_width(frame);  // on the line of the chips
    const bool stuck = shot.stop.kind == interp::StopKind::kDeadlock;
    std::string sentence = waits.sentence;
    if (!sentence.empty() && sentence.back() != '.') sentence += '.';
    const StateKind state = stuck ? StateKind::kMismatch : StateKind::kWaiting;
    // The banner has the sentence of a run that is stuck.
    if (stuck) {
      const bool circle = waits.culprits.empty() && !waits.cycle.empty();
      if (button > 0) ImGui::AlignTextToFramePadding();
      frame.ui.state_word(state, circle ? "deadlock: a circle" : "deadlock:");
      frame.ui.tag("waits/sentence", sentence);
      if (ImGui::IsItemHovered()) Ui::tooltip("%s", sentence.c_str());
      if (!circle) ImGui::SameLine();
    } else {
      bold_words(frame, state, sentence);
      if (button > 0) ImGui::AlignTextToFramePadding();
    }
    draw_chips(frame, waits.culprits, "other ranks that are waited for");
    if (!waits.culprits.empty()) {
      const bool one = waits.culprits.size() == 1;
      frame.ui.text_dim(one ? "is waited for" : "are waited for");
      if (ImGui::IsItemHovered())
        Ui::tooltip("Others wait for %s, and %s for no rank: click to go there",
                    one ? "this rank" : "these ranks", one ? "it waits" : "they wait");
    }
    if (button <= 0) return;
    if (!waits.culprits.empty()) Ui::flow(button);
    what_if_button(frame, "waits/whatif");
  }

  // For ranks that wait for too many different things: a list instead of a graph.
  static void draw_list(Frame& frame, const WaitGraph& graph) {
    ImGui::BeginChild("list");
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(graph.links.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const WaitLink& link = graph.links[static_cast<size_t>(i)];
        frame.ui.text_mono(fmt::format("{} \u2192 {}  {}", ranks_text(graph.nodes[link.from].ranks),
                                       ranks_text(graph.nodes[link.to].ranks), link.label));
        frame.ui.tag(fmt::format("waits/edge/{}/{}", link.rank, link.target), link.label);
        if (ImGui::IsItemHovered()) frame.model.hovered.rank = link.rank;
      }
    }
    ImGui::EndChild();
  }

  WaitGraph graph_;
  WaitPicture picture_;
  mutable CalledTable called_;  // reads the mismatch once per snapshot
  uint64_t seen_ = ~uint64_t{0};
};

}  // namespace

std::unique_ptr<Panel> make_waits_panel() { return std::make_unique<WaitsPanel>(); }

}  // namespace hostir::gui
