// Live bytes of every rank over time, with the peak; below, what is allocated on the focus rank.
#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"
#include "gui/panels/timeline_data.h"

namespace hostir::gui {

namespace {

struct MemoryKey {
  int columns = 0;
  int ranks = 0;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const MemoryKey&, const MemoryKey&) = default;
};
struct MemoryData {
  interp::LogExtent extent;
  std::vector<std::vector<interp::LogMemoryPoint>> by_rank;
};

// Ranks that are drawn; more lines cannot be told apart.
constexpr int kMaxLines = 16;

class MemoryPanel : public Panel {
 public:
  std::string_view id() const override { return "memory"; }
  std::string_view title() const override { return "Memory"; }
  std::string_view hint() const override {
    return "Live bytes of each rank over time; the triangle is its peak, a click on the line or on "
           "a rank's peak selects the alloc. Below, who holds what on the focus rank now.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const interp::MemorySnapshot& m = *shot.memory[static_cast<size_t>(shot.focus)];
    const bool nothing = std::all_of(shot.memory.begin(), shot.memory.end(), [](const auto& of) {
      return of->peak_bytes == 0 && of->allocations.empty();
    });
    if (nothing) return frame.ui.empty_hint(hint());
    const std::string text = fmt::format("r{}: live {}, peak {}", shot.focus,
                                         bytes_text(m.live_bytes), bytes_text(m.peak_bytes));
    frame.ui.text_mono(text);
    frame.ui.tag("memory/summary", text);
    draw_graph(frame, shot);
    draw_table(frame, m);
  }

 private:
  // While a large log is being read, the lines are asked for again now and then.
  static uint64_t reading_tick(Frame& frame) {
    const bool reading = frame.model.worker().log_progress().reading;
    return reading ? 1 + static_cast<uint64_t>(frame.model.now_s() * 2) : 0;
  }

  void draw_graph(Frame& frame, const interp::Snapshot& shot) {
    const float height = std::min(frame.ui.px(130), ImGui::GetContentRegionAvail().y * 0.45f);
    const float width = ImGui::GetContentRegionAvail().x;
    const MemoryKey key{static_cast<int>(width), std::min(shot.rank_count(), kMaxLines),
                        (frame.model.generation() << 32) + reading_tick(frame)};
    if (shot.rank_count() > kMaxLines)
      frame.ui.say_hidden(fmt::format("memory lines of {} ranks", shot.rank_count() - kMaxLines));
    const MemoryData* data = fetch_.get(
        frame.model, key,
        [key](const interp::LogView& log, std::stop_token stop) -> Expected<MemoryData> {
          MemoryData out;
          out.extent = log.extent();
          for (int r = 0; r < key.ranks; ++r) {
            HOSTIR_ASSIGN_OR_RETURN(auto points, log.memory(r, out.extent.begin_ns,
                                                            out.extent.end_ns, key.columns, stop));
            out.by_rank.push_back(std::move(points));
          }
          return out;
        });
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton("graph", ImVec2(std::max(1.0f, width), std::max(1.0f, height)));
    frame.ui.tag("memory/graph");
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), frame.ui.pal().background);
    if (!data || data->by_rank.empty()) return;
    int64_t top = 1;
    for (const auto& points : data->by_rank) {
      for (const auto& p : points) top = std::max(top, p.live_bytes);
    }
    const double span =
        std::max<double>(1, static_cast<double>(data->extent.end_ns - data->extent.begin_ns));
    for (size_t r = 0; r < data->by_rank.size(); ++r) {
      draw_line(list, data->by_rank[r], parameter_bytes(*shot.memory[r]), data->extent.begin_ns,
                span, top, at, ImVec2(width, height), frame.ui.pal().rank(static_cast<int32_t>(r)),
                static_cast<int32_t>(r) == shot.focus ? 2.2f : 1.0f);
    }
    frame.ui.draw_text(list, ImVec2(at.x + 4, at.y + 2), frame.ui.pal().text_dim,
                       "peak " + bytes_text(top), width, frame.ui.fonts.small);
    const float now =
        static_cast<float>(static_cast<double>(shot.now_ns - data->extent.begin_ns) / span);
    if (now >= 0 && now <= 1)
      list->AddLine(ImVec2(at.x + now * width, at.y), ImVec2(at.x + now * width, at.y + height),
                    frame.ui.pal().playhead);
    hover(frame, *data, span, at, width);
    draw_peaks(frame, *data);
  }

  // The point of the focus rank's line under the pointer: what it is, and a click selects it.
  static void hover(Frame& frame, const MemoryData& data, double span, ImVec2 at, float width) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto focus = static_cast<size_t>(frame.model.snapshot()->focus);
    if (!ImGui::IsItemHovered() || focus >= data.by_rank.size()) return;
    const double t = static_cast<double>(data.extent.begin_ns) +
                     static_cast<double>((mouse.x - at.x) / width) * span;
    const interp::LogMemoryPoint* found = nullptr;
    for (const interp::LogMemoryPoint& p : data.by_rank[focus]) {
      if (static_cast<double>(p.time_ns) <= t) found = &p;
    }
    if (!found) return;
    ImGui::SetTooltip("r%d: %s live since %s\nclick: select the alloc or free",
                      static_cast<int>(focus), bytes_text(found->live_bytes).c_str(),
                      short_time(static_cast<double>(found->time_ns)).c_str());
    frame.model.hovered.event = found->event;
    if (ImGui::IsMouseClicked(0)) frame.model.selection.event = found->event;
  }

  static void draw_peaks(Frame& frame, const MemoryData& data) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    for (size_t r = 0; r < data.by_rank.size(); ++r) {
      const auto& points = data.by_rank[r];
      const auto peak = std::max_element(points.begin(), points.end(), [](auto& a, auto& b) {
        return a.live_bytes < b.live_bytes;
      });
      if (peak == points.end()) continue;
      const std::string text = fmt::format("r{} {}", r, bytes_text(peak->live_bytes));
      if (r > 0 && ImGui::GetItemRectMax().x + ImGui::CalcTextSize(text.c_str()).x + 30 < right)
        ImGui::SameLine();
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(static_cast<int32_t>(r)));
      if (ImGui::SmallButton((text + "##" + std::to_string(r)).c_str())) {
        frame.model.selection.event = peak->event;
        frame.actions.command(fmt::format("focus {}", r));
      }
      ImGui::PopStyleColor();
      frame.ui.tag(fmt::format("memory/peak/{}", r), text);
      if (ImGui::IsItemHovered())
        ImGui::SetTooltip("peak of rank %d at %s: select the alloc", static_cast<int>(r),
                          short_time(static_cast<double>(peak->time_ns)).c_str());
    }
  }

  // What is there before anything was allocated.
  static int64_t parameter_bytes(const interp::MemorySnapshot& m) {
    int64_t bytes = 0;
    for (const interp::AllocationSnapshot& a : m.allocations) bytes += a.parameter ? a.bytes : 0;
    return bytes;
  }

  static void draw_line(ImDrawList* list, const std::vector<interp::LogMemoryPoint>& points,
                        int64_t before, int64_t begin, double span, int64_t top, ImVec2 at,
                        ImVec2 size, ImU32 colour, float thickness) {
    const auto y_of = [&](int64_t bytes) {
      return at.y + size.y -
             static_cast<float>(static_cast<double>(bytes) / static_cast<double>(top)) *
                 (size.y - 14);
    };
    ImVec2 previous(at.x, y_of(std::min(before, top)));
    for (const interp::LogMemoryPoint& p : points) {
      const float x =
          at.x + static_cast<float>(static_cast<double>(p.time_ns - begin) / span) * size.x;
      const float y = y_of(p.live_bytes);
      list->AddLine(previous, ImVec2(x, previous.y), colour, thickness);
      list->AddLine(ImVec2(x, previous.y), ImVec2(x, y), colour, thickness);
      previous = ImVec2(x, y);
    }
    list->AddLine(previous, ImVec2(at.x + size.x, previous.y), colour, thickness);
  }

  static void draw_table(Frame& frame, const interp::MemorySnapshot& m) {
    constexpr ImGuiTableFlags kFlags =
        ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable("allocations", 5, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"value", "bytes", "version", "written by", ""})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    for (size_t i = 0; i < m.allocations.size(); ++i) {
      const interp::AllocationSnapshot& a = m.allocations[i];
      ImGui::PushID(static_cast<int>(i));
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      if (ImGui::Selectable(("%" + a.name).c_str(), frame.model.selection.value == a.name,
                            ImGuiSelectableFlags_SpanAllColumns)) {
        frame.model.selection.value = a.name;
        frame.model.selection.element.clear();
      }
      frame.ui.tag("memory/" + a.name);
      ImGui::TableNextColumn();
      frame.ui.text_mono(bytes_text(a.bytes));
      ImGui::TableNextColumn();
      frame.ui.text_mono(std::to_string(a.version));
      ImGui::TableNextColumn();
      frame.ui.text_mono(a.written_by);
      ImGui::TableNextColumn();
      frame.ui.text_dim(a.parameter ? "parameter" : a.live ? "" : "freed");
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

  LogFetch<MemoryKey, MemoryData> fetch_{"memory"};
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace hostir::gui
