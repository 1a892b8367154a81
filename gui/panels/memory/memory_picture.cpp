#include "gui/panels/memory/memory_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/timeline/timeline_data.h"
#include "hostir/support/text.h"

namespace hostir::gui {

Expected<MemoryLines> fetch_lines(const interp::LogView& log, int ranks, int columns,
                                  const std::stop_token& stop) {
  MemoryLines out;
  out.extent = log.extent();
  const auto equal = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto& p, auto& q) {
      return p.time_ns == q.time_ns && p.live_bytes == q.live_bytes;
    });
  };
  for (int r = 0; r < ranks; ++r) {
    HOSTIR_ASSIGN_OR_RETURN(auto points,
                            log.memory(r, out.extent.begin_ns, out.extent.end_ns, columns, stop));
    const auto same = std::find_if(out.by_rank.begin(), out.by_rank.end(),
                                   [&](const auto& other) { return equal(other, points); });
    out.same_as.push_back(static_cast<int32_t>(same - out.by_rank.begin()));
    out.by_rank.push_back(std::move(points));
  }
  return out;
}

MemoryPicture::MemoryPicture(Frame& frame, const interp::LogExtent& extent, float width)
    : frame_(frame),
      begin_ns_(extent.begin_ns),
      span_(std::max(1.0, static_cast<double>(extent.end_ns - extent.begin_ns))),
      left_(ImGui::GetCursorScreenPos().x),
      width_(std::max(1.0f, width)) {}

float MemoryPicture::x(int64_t t_ns) const {
  return left_ + static_cast<float>(static_cast<double>(t_ns - begin_ns_) / span_) * width_;
}

ImU32 MemoryPicture::colour(HeldKind kind) const {
  const Palette& p = frame_.ui.pal();
  switch (kind) {
    case HeldKind::kParameter:
      return p.event(EventKind::kHost);
    case HeldKind::kIntermediate:
      return p.event(EventKind::kMemory);
    case HeldKind::kResult:
      return p.accent;
    case HeldKind::kLeak:
      break;
  }
  return p.state(StateKind::kMismatch);
}

void MemoryPicture::playhead(ImVec2 at, float height) const {
  const float now = x(frame_.model.snapshot()->now_ns);
  if (now < left_ || now > left_ + width_ + 1) return;
  const float here = std::min(now, left_ + width_ - 1);
  ImGui::GetWindowDrawList()->AddLine(ImVec2(here, at.y), ImVec2(here, at.y + height),
                                      frame_.ui.pal().playhead, 1.5f);
}

void MemoryPicture::lines(const MemoryLines& data, const std::vector<int64_t>& before,
                          float height) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("graph", ImVec2(width_, std::max(1.0f, height)));
  frame_.ui.tag("memory/graph");
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame_.ui.pal();
  list->AddRectFilled(at, ImVec2(at.x + width_, at.y + height), p.background);
  int64_t top = 1;
  for (const auto& points : data.by_rank) {
    for (const auto& point : points) top = std::max(top, point.live_bytes);
  }
  for (const int64_t bytes : before) top = std::max(top, bytes);
  const float room = height - frame_.ui.px(16);
  const auto focus = static_cast<size_t>(frame_.model.snapshot()->focus);
  // Draw the focus rank last. Offset coinciding lines slightly downwards so that all are visible.
  for (size_t n = 0; n <= data.by_rank.size(); ++n) {
    const size_t r = n == data.by_rank.size() ? focus : n;
    if (r >= data.by_rank.size() || (n == focus && n < data.by_rank.size())) continue;
    float lower = 0;
    for (size_t other = 0; other < data.by_rank.size() && r != focus; ++other) {
      const bool same = data.same_as[other] == data.same_as[r];
      if (same && (other == focus || other < r)) lower += 2;
    }
    lower = std::min(lower, 8.0f);
    const auto y_of = [&](int64_t bytes) {
      return at.y + height - 2 + lower * 0.9f -
             static_cast<float>(static_cast<double>(bytes) / static_cast<double>(top)) * room;
    };
    const ImU32 hue = p.rank(static_cast<int32_t>(r));
    const float thick = r == focus ? 2.0f : 1.0f;
    ImVec2 last(at.x, std::min(y_of(r < before.size() ? before[r] : 0), at.y + height));
    for (const interp::LogMemoryPoint& point : data.by_rank[r]) {
      const ImVec2 next(x(point.time_ns), std::min(y_of(point.live_bytes), at.y + height));
      list->AddLine(last, ImVec2(next.x, last.y), hue, thick);
      list->AddLine(ImVec2(next.x, last.y), next, hue, thick);
      last = next;
    }
    list->AddLine(last, ImVec2(at.x + width_, last.y), hue, thick);
  }
  frame_.ui.draw_text(list, ImVec2(at.x + 4, at.y + 1), p.text_dim,
                      "live bytes, peak " + bytes_text(top), width_, frame_.ui.fonts.small);
  playhead(at, height);
  hover_line(data, at);
}

// Describes the point of the focus rank's line under the pointer; a click selects it.
void MemoryPicture::hover_line(const MemoryLines& data, ImVec2 at) const {
  const auto focus = static_cast<size_t>(frame_.model.snapshot()->focus);
  if (!ImGui::IsItemHovered() || focus >= data.by_rank.size()) return;
  const double t = static_cast<double>(begin_ns_) +
                   static_cast<double>((ImGui::GetIO().MousePos.x - at.x) / width_) * span_;
  const interp::LogMemoryPoint* found = nullptr;
  for (const interp::LogMemoryPoint& point : data.by_rank[focus]) {
    if (static_cast<double>(point.time_ns) <= t) found = &point;
  }
  if (!found) return;
  Ui::tooltip("r%d: %s live since %s\nclick: select the alloc or free", static_cast<int>(focus),
              bytes_text(found->live_bytes).c_str(),
              time_text(static_cast<double>(found->time_ns)).c_str());
  frame_.model.hovered.event = found->event;
  if (ImGui::IsMouseClicked(0)) frame_.model.selection.event = found->event;
}

void MemoryPicture::axis() const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = frame_.ui.px(15);
  ImGui::Dummy(ImVec2(width_, height));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame_.ui.pal();
  ImFont* font = frame_.ui.fonts.small;
  const double step = ruler_step_ns(span_, width_, frame_.ui.px(90));
  const auto begin = static_cast<double>(begin_ns_);
  int ticks = 0;
  for (double t = std::ceil(begin / step) * step + 0.0; t <= begin + span_; t += step, ++ticks) {
    const float at_x = x(static_cast<int64_t>(t));
    list->AddLine(ImVec2(at_x, at.y), ImVec2(at_x, at.y + 5), p.text_dim);
    const std::string text = format_time(t, step);
    if (at_x + 3 + font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str()).x < left_ + width_)
      frame_.ui.draw_text(list, ImVec2(at_x + 3, at.y + 1), p.text_dim, text, width_, font);
  }
  frame_.ui.tag("memory/axis", fmt::format("{} ticks", ticks));
}

void MemoryPicture::blocks(const RankBlocks& data, float height) const {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 end(at.x + width_, at.y + height);
  ImGui::InvisibleButton("blocks", ImVec2(width_, std::max(1.0f, height)));
  const bool hovered = ImGui::IsItemHovered();
  frame_.ui.tag("memory/blocks", counted(data.blocks.size(), "block"));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame_.ui.pal();
  ImFont* font = frame_.ui.fonts.small;
  list->AddRectFilled(at, end, p.background);
  list->PushClipRect(at, end, true);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const HeldBlock* under = nullptr;
  const float room = height - frame_.ui.px(16);
  const auto y_of = [&](int64_t bytes) {
    return end.y -
           static_cast<float>(static_cast<double>(bytes) / static_cast<double>(data.top)) * room;
  };
  int hatched = 0;
  const size_t shown = std::min(data.blocks.size(), kMaxBlocks);
  for (size_t i = 0; i < shown; ++i) {
    const HeldBlock& block = data.blocks[i];
    if (block.bytes <= 0) continue;
    const ImVec2 min(x(block.from_ns), y_of(block.address + block.bytes));
    const ImVec2 max(
        block.to_ns == interp::kUnknownNs ? end.x : std::max(x(block.to_ns), min.x + 1),
        std::max(y_of(block.address), min.y + 1));
    const ImU32 hue = colour(block.kind);
    const bool chosen = frame_.model.selection.value == block.name;
    // Leave a thin gap between blocks that are large enough to be told apart.
    const ImVec2 corner(max.x - (max.x - min.x > 4 ? 1.0f : 0.0f),
                        max.y - (max.y - min.y > 4 ? 1.0f : 0.0f));
    list->AddRectFilled(min, corner, mixed(p.panel, hue, chosen ? 0.85f : 0.6f));
    if (block.kind == HeldKind::kLeak && hatched++ < kMaxHatched)
      Ui::hatch(list, min, ImVec2(std::min(corner.x, end.x), corner.y), hue, frame_.ui.px(9));
    if (chosen) list->AddRect(min, corner, p.text_strong, 0, 0, 1.5f);
    if (max.y - min.y >= font->FontSize && max.x - min.x > frame_.ui.px(14)) {
      const std::string text =
          fmt::format("%{}  {}{}{}", block.name, bytes_text(block.bytes),
                      block.count > 1 ? fmt::format("  \u00d7{}", block.count) : "",
                      block.kind == HeldKind::kLeak ? "  ! leak" : "");
      frame_.ui.draw_elided(list, ImVec2(min.x + 3, (min.y + max.y - font->FontSize) / 2 - 1),
                            p.text_strong, text, max.x - min.x - 5, font);
    }
    if (i < kMaxNamed)
      frame_.ui.tag_rect("memory/block/" + block.name, min, max,
                         fmt::format("{} {} B", word_of(block.kind), block.bytes));
    if (hovered && mouse.x >= min.x && mouse.x < max.x && mouse.y >= min.y && mouse.y < max.y)
      under = &block;
  }
  const float peak = x(data.peak_ns);
  list->AddLine(ImVec2(peak, at.y), ImVec2(peak, end.y), with_alpha(p.text_strong, 0.6f));
  const std::string text = fmt::format("peak of r{} {}", data.rank, bytes_text(data.peak_bytes));
  const float width = font->CalcTextSizeA(font->FontSize, 1e6f, 0, text.c_str()).x;
  const float beside = peak + 4 + width < end.x ? peak + 4 : peak - 4 - width;
  frame_.ui.draw_text(list, ImVec2(beside, at.y + 1), p.text, text, width + 2, font);
  list->PopClipRect();
  playhead(at, height);
  if (data.blocks.size() > shown)
    frame_.ui.say_hidden(fmt::format("{} small blocks of memory", data.blocks.size() - shown));
  if (under) hover_block(data, *under);
}

void MemoryPicture::hover_block(const RankBlocks& data, const HeldBlock& block) const {
  Model& model = frame_.model;
  const bool open = block.to_ns == interp::kUnknownNs;
  const std::string until = !block.goes_on_as.empty()
                                ? fmt::format("its memory goes on as %{} at {}", block.goes_on_as,
                                              time_text(static_cast<double>(block.to_ns)))
                            : !open ? "freed at " + time_text(static_cast<double>(block.to_ns))
                            : block.kind == HeldKind::kIntermediate ? std::string("not freed yet")
                            : block.kind == HeldKind::kLeak         ? std::string("never freed")
                                                            : std::string("lives at the end");
  const std::string times =
      block.count > 1 ? fmt::format(", {} one after the other: the first\n", block.count) : "\n";
  const std::string text = fmt::format(
      "%{}  {}, {} of r{}{}{}\n{}\nplaced at the lowest gap: the log has no addresses\n"
      "click: select the tensor{}",
      block.name, bytes_text(block.bytes), word_of(block.kind), data.rank, times,
      block.allocated_by.empty()
          ? std::string("live from the start")
          : fmt::format("allocated at {} by {}{}", time_text(static_cast<double>(block.from_ns)),
                        block.allocated_by,
                        block.over.empty() ? "" : ", over the memory of %" + block.over),
      until, block.allocated_by.empty() ? "" : " and its alloc");
  Ui::tooltip("%s", text.c_str());
  frame_.ui.tag("memory/tooltip", text);
  model.hovered.value = block.name;
  if (block.alloc_event >= 0) model.hovered.code = block.instruction;
  if (!ImGui::IsMouseClicked(0)) return;
  model.selection.value = block.name;
  model.selection.element.clear();
  if (block.alloc_event < 0) return;
  model.selection.event = block.alloc_event;
  model.selection.code = block.instruction;
}

void MemoryPicture::legend() const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = frame_.ui.pal();
  ImFont* font = frame_.ui.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float box = font->FontSize * 0.75f;
  float place = at.x;
  for (const HeldKind kind :
       {HeldKind::kParameter, HeldKind::kIntermediate, HeldKind::kResult, HeldKind::kLeak}) {
    const std::string word = (kind == HeldKind::kLeak ? "! " : "") + std::string(word_of(kind));
    const float width = font->CalcTextSizeA(font->FontSize, 1e6f, 0, word.c_str()).x;
    if (place + box + width + 6 > at.x + width_) break;
    list->AddRectFilled(ImVec2(place, at.y + 2), ImVec2(place + box, at.y + 2 + box),
                        mixed(p.panel, colour(kind), 0.6f));
    frame_.ui.draw_text(list, ImVec2(place + box + 4, at.y), p.text_dim, word, width + 2, font);
    place += box + width + 16;
  }
  ImGui::Dummy(ImVec2(width_, font->FontSize + 2));
}

}  // namespace hostir::gui
