// Live bytes of every rank over time; below, the focus rank's buffers as blocks, and lists.
#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/log/log_fetch.h"
#include "gui/panels/memory/memory_picture.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

struct LinesKey {
  int columns = 0;
  int ranks = 0;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const LinesKey&, const LinesKey&) = default;
};

constexpr ImGuiTableFlags kHeldTable =
    ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;

class MemoryPanel : public Panel {
 public:
  std::string_view id() const override { return "memory"; }
  std::string_view title() const override { return "Memory"; }
  std::string_view hint() const override {
    return "Live bytes of each rank over time, and every buffer of the focus rank from its alloc "
           "to "
           "its free. A click on a block selects the tensor and its alloc. Lists say what lives "
           "now, who held how much at the peak, and what was never freed.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const interp::MemorySnapshot& m = *shot.memory[static_cast<size_t>(shot.focus)];
    const bool nothing = std::all_of(shot.memory.begin(), shot.memory.end(), [](const auto& of) {
      return of->peak_bytes == 0 && of->allocations.empty();
    });
    if (nothing) return frame.ui.empty_hint(hint());
    ask(frame, shot);
    const std::string text = fmt::format("r{}: live {}, peak {}", shot.focus,
                                         bytes_text(m.live_bytes), bytes_text(m.peak_bytes));
    frame.ui.text_mono(text);
    frame.ui.tag("memory/summary", text);
    draw_pictures(frame, shot);
    if (lines_) draw_peaks(frame, *lines_);
    draw_lists(frame, m);
  }

 private:
  void ask(Frame& frame, const interp::Snapshot& shot) {
    // While a large log is being read, repeat the queries periodically.
    const bool reading = frame.model.worker().log_progress().reading;
    const uint64_t tick = reading ? 1 + static_cast<uint64_t>(frame.model.now_s() * 2) : 0;
    const int ranks = std::min(shot.rank_count(), kMaxLines);
    const LinesKey key{std::min(static_cast<int>(ImGui::GetContentRegionAvail().x),
                                kMaxPoints / std::max(ranks, 1)),
                       ranks, (frame.model.generation() << 32) + tick};
    if (shot.rank_count() > kMaxLines)
      frame.ui.say_hidden(fmt::format("memory lines of {} ranks", shot.rank_count() - kMaxLines));
    lines_ =
        lines_fetch_.get(frame.model, key, [key](const interp::LogView& log, std::stop_token stop) {
          return fetch_lines(log, key.ranks, key.columns, stop);
        });
    // For a long log, refetch only when the log grows, not when the position changes.
    constexpr int64_t kLong = 100000;
    const bool is_long = lines_ && lines_->extent.event_count > kLong;
    BlocksKey blocks;
    blocks.rank = shot.focus;
    blocks.generation = (frame.model.last_opened() << 48) + (tick << 40) +
                        (is_long ? shot.last_decision : frame.model.generation());
    for (const interp::AllocationSnapshot& a :
         shot.memory[static_cast<size_t>(shot.focus)]->allocations) {
      if (a.parameter) blocks.parameters.emplace_back(a.name, a.bytes);
    }
    const RankBlocks* answer = blocks_fetch_.get(
        frame.model, blocks, [blocks](const interp::LogView& log, std::stop_token stop) {
          return fetch_blocks(log, blocks, stop);
        });
    blocks_ = answer && answer->rank == shot.focus ? answer : nullptr;
    if (blocks_ && !blocks_->complete)
      frame.ui.say_hidden(
          fmt::format("blocks of memory after event {} (the log is long)", kMaxMemoryEvents));
  }

  void draw_pictures(Frame& frame, const interp::Snapshot& shot) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (!lines_ || lines_->by_rank.empty()) {
      ImGui::Dummy(ImVec2(room.x, frame.ui.px(60)));
      return;
    }
    MemoryPicture picture(frame, lines_->extent, room.x);
    std::vector<int64_t> before;
    for (size_t r = 0; r < std::min(lines_->by_rank.size(), shot.memory.size()); ++r)
      before.push_back(parameter_bytes(*shot.memory[r]));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(4, 1));
    picture.lines(*lines_, before, std::clamp(room.y * 0.22f, frame.ui.px(48), frame.ui.px(150)));
    picture.axis();
    if (blocks_) {
      picture.blocks(*blocks_, std::clamp(room.y * 0.34f, frame.ui.px(70), frame.ui.px(320)));
      picture.legend();
    }
    ImGui::PopStyleVar();
  }

  // One chip per rank; ranks whose lines coincide are marked.
  static void draw_peaks(Frame& frame, const MemoryLines& data) {
    frame.ui.text_dim("peak of");
    for (size_t r = 0; r < data.by_rank.size(); ++r) {
      const auto& points = data.by_rank[r];
      const auto peak = std::max_element(points.begin(), points.end(), [](auto& a, auto& b) {
        return a.live_bytes < b.live_bytes;
      });
      if (peak == points.end()) continue;
      std::string text = fmt::format("r{} {}", r, bytes_text(peak->live_bytes));
      if (data.same_as[r] != static_cast<int32_t>(r))
        text += fmt::format(" = r{}", data.same_as[r]);
      Ui::flow(ImGui::CalcTextSize(text.c_str()).x + frame.ui.px(16));
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(static_cast<int32_t>(r)));
      if (ImGui::SmallButton((text + "##" + std::to_string(r)).c_str())) {
        frame.model.selection.event = peak->event;
        frame.actions.command(fmt::format("focus {}", r));
      }
      ImGui::PopStyleColor();
      frame.ui.tag(fmt::format("memory/peak/{}", r), text);
      if (ImGui::IsItemHovered())
        Ui::tooltip("peak of rank %d at %s: select the alloc%s", static_cast<int>(r),
                    time_text(static_cast<double>(peak->time_ns)).c_str(),
                    data.same_as[r] == static_cast<int32_t>(r)
                        ? ""
                        : "\nits live bytes equal the named rank's at all times");
    }
  }

  // Bytes present before the first allocation.
  static int64_t parameter_bytes(const interp::MemorySnapshot& m) {
    int64_t bytes = 0;
    for (const interp::AllocationSnapshot& a : m.allocations) bytes += a.parameter ? a.bytes : 0;
    return bytes;
  }

  void draw_lists(Frame& frame, const interp::MemorySnapshot& m) {
    const size_t leaks = blocks_ ? blocks_->leaking.size() : 0;
    const auto choice = [&](List list, const std::string& label, const char* name) {
      const bool chosen = list_ == list;
      if (chosen) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_Header));
      if (ImGui::SmallButton(label.c_str())) list_ = list;
      if (chosen) ImGui::PopStyleColor();
      frame.ui.tag(std::string("memory/list/") + name, label);
    };
    choice(List::kNow, "now", "now");
    ImGui::SameLine();
    choice(List::kPeak, "at the peak", "peak");
    ImGui::SameLine();
    choice(List::kLeaks, leaks == 0 ? "leaks" : fmt::format("! leaks {}", leaks), "leaks");
    if (list_ == List::kNow) return draw_now(frame, m);
    if (!blocks_) return frame.ui.text_dim("reading the log ...");
    draw_held(frame, *blocks_);
  }

  // A short panel scrolls as a whole, so that its list always has a usable height.
  static ImVec2 list_size(const Frame& frame) {
    return ImVec2(0, std::max(ImGui::GetContentRegionAvail().y, frame.ui.px(110)));
  }

  static void draw_now(Frame& frame, const interp::MemorySnapshot& m) {
    if (!ImGui::BeginTable("allocations", 5, kHeldTable, list_size(frame))) return;
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

  // The focus rank's blocks at the peak, or its leaks; largest first.
  void draw_held(Frame& frame, const RankBlocks& data) const {
    const bool leaks = list_ == List::kLeaks;
    const std::vector<HeldBlock>& rows = leaks ? data.leaking : data.at_peak;
    const std::string text =
        !leaks          ? fmt::format("r{}: {} held by {} buffers at {}", data.rank,
                                      bytes_text(data.peak_bytes), rows.size(),
                                      time_text(static_cast<double>(data.peak_ns)))
        : !rows.empty() ? fmt::format("r{} never frees {} of its buffers", data.rank, rows.size())
        : data.returned
            ? fmt::format("nothing leaks: r{} freed or returned all it allocated", data.rank)
            : "Leaks are known when the run has ended: what was allocated and neither "
              "freed nor returned.";
    ImGui::PushTextWrapPos(0);
    frame.ui.text_dim(text);
    ImGui::PopTextWrapPos();
    frame.ui.tag("memory/held", text);
    if (rows.empty() || !ImGui::BeginTable("held", 5, kHeldTable, list_size(frame))) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"value", "bytes", "share", "kind", "allocated by"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, data, rows[static_cast<size_t>(i)], i);
    }
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const RankBlocks& data, const HeldBlock& block, int index) {
    ImGui::PushID(index);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    Selection& s = frame.model.selection;
    if (ImGui::Selectable(("%" + block.name).c_str(), s.value == block.name,
                          ImGuiSelectableFlags_SpanAllColumns)) {
      s.value = block.name;
      s.element.clear();
      if (block.alloc_event >= 0) {
        s.event = block.alloc_event;
        s.code = block.instruction;
      }
    }
    frame.ui.tag(fmt::format("memory/held/{}", index), block.name);
    ImGui::TableNextColumn();
    frame.ui.text_mono(bytes_text(block.bytes));
    ImGui::TableNextColumn();
    frame.ui.text_mono(
        fmt::format("{:.1f} %", 100.0 * static_cast<double>(block.bytes) /
                                    static_cast<double>(std::max<int64_t>(1, data.peak_bytes))));
    ImGui::TableNextColumn();
    frame.ui.text_dim(word_of(block.kind));
    ImGui::TableNextColumn();
    frame.ui.text_mono(block.allocated_by);
    ImGui::PopID();
  }

  enum class List : uint8_t { kNow, kPeak, kLeaks };

  LogFetch<LinesKey, MemoryLines> lines_fetch_{"memory"};
  LogFetch<BlocksKey, RankBlocks> blocks_fetch_{"memory/blocks"};
  // This frame's answers; the slots above own them.
  const MemoryLines* lines_ = nullptr;
  const RankBlocks* blocks_ = nullptr;
  List list_ = List::kNow;
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() { return std::make_unique<MemoryPanel>(); }

}  // namespace hostir::gui
