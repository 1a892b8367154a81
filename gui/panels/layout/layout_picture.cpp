#include "gui/panels/layout/layout_picture.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/layout/written.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxCards = 4;
constexpr size_t kMaxLevels = 3;

struct Painter {
  Frame& frame;
  ImDrawList* list;
  const LayoutSource& source;
  const Plane& plane;
  const Picture& picture;

  const Palette& pal() const { return frame.ui.pal(); }
  float px(float pixels) const { return frame.ui.px(pixels); }

  Area area_of(const Plane::Part& part) const {
    return {picture.corner(part.row_lo, part.column_lo),
            picture.corner(part.row_hi, part.column_hi)};
  }

  void dashed(ImVec2 a, ImVec2 b, ImU32 colour) const {
    const float length = std::max(std::abs(b.x - a.x), std::abs(b.y - a.y));
    const float step = px(7);
    if (length <= 0) return;
    for (float t = 0; t < length; t += step) {
      const float u = t / length;
      const float v = std::min(1.0f, (t + step * 0.55f) / length);
      list->AddLine(ImVec2(a.x + (b.x - a.x) * u, a.y + (b.y - a.y) * u),
                    ImVec2(a.x + (b.x - a.x) * v, a.y + (b.y - a.y) * v), colour, px(1.6f));
    }
  }

  void dashed_rect(const Area& a, ImU32 colour) const {
    dashed(a.min, ImVec2(a.max.x, a.min.y), colour);
    dashed(ImVec2(a.max.x, a.min.y), a.max, colour);
    dashed(ImVec2(a.min.x, a.max.y), a.max, colour);
    dashed(a.min, ImVec2(a.min.x, a.max.y), colour);
  }

  // The addends, or the copies that differ, behind the first one, each in its rank's colour.
  void cards(const std::vector<Shard>& shards, size_t layers, float shift) const {
    for (size_t card = std::min(layers, kMaxCards); card-- > 1;) {
      const float by = shift * static_cast<float>(card);
      for (const Shard& shard : shards) {
        const auto part = plane.part(shard.box);
        const std::vector<interp::Rank> ranks = shard.layers();
        if (!part || ranks.size() <= card) continue;
        Area a = area_of(*part);
        a.min.x += by, a.max.x += by, a.min.y -= by, a.max.y -= by;
        list->AddRectFilled(a.min, a.max, mixed(pal().panel, pal().rank(ranks[card]), 0.5f));
        list->AddRect(a.min, a.max, pal().background);
      }
    }
  }

  void shard(const Shard& s, const Plane::Part& part, const PictureStyle& style) const {
    const Area where = area_of(part);
    const interp::Rank focus = frame.model.snapshot()->focus;
    const bool has_focus = contains(s.holders, focus);
    bool lit = false;
    for (const interp::Rank r : s.holders) lit = lit || frame.model.was_hovered.rank == r;
    list->AddRectFilled(where.min, where.max,
                        mixed(pal().panel, pal().rank(s.holders.front()), lit ? 0.95f : 0.68f));
    const bool one_value = s.layers().size() < 2;
    if (s.holders.size() > 1 && one_value && !source.is_partial())
      Ui::hatch(list, where.min, where.max, with_alpha(pal().background, 0.32f), px(9));
    if (source.is_partial() || !one_value) {
      dashed_rect(where, pal().state(StateKind::kMismatch));
    } else {
      list->AddRect(where.min, where.max, pal().background, 0, 0, 1.0f);
    }
    if (has_focus) {
      const float in = px(1.5f);
      list->AddRect(ImVec2(where.min.x + in, where.min.y + in),
                    ImVec2(where.max.x - in, where.max.y - in), pal().text_strong, 0, 0, px(1.6f));
    }
    if (style.labels == LabelPlace::kCentre || style.labels == LabelPlace::kCorner)
      label(s, where, style);
  }

  void edge(const Shard& s, const Plane::Part& part) const {
    const Area where = area_of(part);
    const float in = px(1.2f);
    list->AddRect(ImVec2(where.min.x + in, where.min.y + in),
                  ImVec2(where.max.x - in, where.max.y - in), pal().rank(s.holders.front()), 0, 0,
                  px(2.4f));
  }

  void label(const Shard& s, const Area& where, const PictureStyle& style) const {
    ImFont* font = frame.ui.fonts.small;
    if (where.width() < px(16) || where.height() < px(12)) return;
    constexpr size_t kMost = 4;  // ranks by name, or fewer if they do not fit
    std::string text;
    ImVec2 extent;
    for (size_t most = kMost; most > 0; --most) {
      text = holders_text(s, most);
      extent = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str());
      if (extent.x <= where.width() - 6) break;
    }
    const bool corner = style.labels == LabelPlace::kCorner;
    const float x = corner ? where.min.x + px(3)
                           : std::max(where.min.x + 3, (where.min.x + where.max.x - extent.x) / 2);
    const float y = corner ? where.min.y + px(2) : (where.min.y + where.max.y - extent.y) / 2;
    const float right = std::min(x + extent.x + 3, where.max.x - 1);
    list->AddRectFilled(ImVec2(x - 3, y - 1), ImVec2(right, y + extent.y + 1),
                        with_alpha(pal().background, 0.68f), 3);
    frame.ui.draw_text(list, ImVec2(x, y), pal().text_strong, text, where.max.x - x - 2, font);
  }

  void grid() const {
    const ImU32 colour = with_alpha(pal().background, 0.5f);
    if (picture.fit.cell_x >= px(7)) {
      for (int64_t c = 1; c < picture.columns; ++c)
        list->AddLine(picture.corner(0, c), picture.corner(picture.rows, c), colour);
    }
    if (picture.fit.cell_y >= px(7)) {
      for (int64_t r = 1; r < picture.rows; ++r)
        list->AddLine(picture.corner(r, 0), picture.corner(r, picture.columns), colour);
    }
  }

  static std::string band_text(const Band& band, bool finest) {
    const std::string size = finest ? std::to_string(band.hi - band.lo) : "";
    if (band.coordinate.empty()) return size;
    return size.empty() ? band.coordinate : band.coordinate + "  " + size;
  }

  // The finest level is next to the picture.
  void row_bands(const std::vector<std::vector<Band>>& levels) const {
    ImFont* font = frame.ui.fonts.small;
    float x = picture.origin.x - px(7);
    for (size_t level = levels.size(); level-- > 0 && levels.size() - level <= kMaxLevels;) {
      float widest = 0;
      for (const Band& b : levels[level]) {
        const std::string text = band_text(b, level + 1 == levels.size());
        widest = std::max(widest, font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x);
      }
      for (const Band& b : levels[level]) {
        const float y0 = picture.corner(b.lo, 0).y + 1;
        const float y1 = picture.corner(b.hi, 0).y - 1;
        list->AddLine(ImVec2(x, y0), ImVec2(x, y1), pal().text_dim, px(1.6f));
        if (y1 - y0 < px(9)) continue;
        frame.ui.draw_text(list, ImVec2(x - widest - px(5), (y0 + y1) / 2 - font->FontSize / 2),
                           pal().text_dim, band_text(b, level + 1 == levels.size()), widest + 4,
                           font);
      }
      x -= widest + px(12);
    }
  }

  void column_bands(const std::vector<std::vector<Band>>& levels, float lift) const {
    ImFont* font = frame.ui.fonts.small;
    float y = picture.origin.y - px(5) - lift;
    for (size_t level = levels.size(); level-- > 0 && levels.size() - level <= kMaxLevels;) {
      for (const Band& b : levels[level]) {
        const float x0 = picture.corner(0, b.lo).x + 1;
        const float x1 = picture.corner(0, b.hi).x - 1;
        list->AddLine(ImVec2(x0, y), ImVec2(x1, y), pal().text_dim, px(1.6f));
        std::string text = band_text(b, level + 1 == levels.size());
        float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
        if (width > x1 - x0 && level + 1 == levels.size()) {
          text = std::to_string(b.hi - b.lo);
          width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
        }
        if (width > x1 - x0 + px(4)) continue;
        frame.ui.draw_text(list, ImVec2((x0 + x1 - width) / 2, y - font->FontSize - px(2)),
                           pal().text_dim, text, width + 4, font);
      }
      y -= font->FontSize + px(7);
    }
  }

  // Empty shards have no area; a small box for each makes them visible, up to `right`.
  void empties(const std::string& name, const std::vector<Shard>& shards, ImVec2 at,
               float right) const {
    ImFont* font = frame.ui.fonts.small;
    std::string all;
    size_t hidden = 0;
    for (const Shard& s : shards) {
      if (!s.box.empty()) continue;
      for (const interp::Rank r : s.holders) {
        const std::string text = fmt::format("\u2205 r{}", r);
        all += (all.empty() ? "" : " ") + text;
        const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
        if (hidden > 0 || at.x + width + px(40) > right) {  // leaves room for `+12`
          ++hidden;
          continue;
        }
        list->AddRect(at, ImVec2(at.x + width + px(10), at.y + px(17)), pal().rank(r), 3);
        frame.ui.draw_text(list, ImVec2(at.x + px(5), at.y + px(2)), pal().text, text, width + 4,
                           font);
        at.x += width + px(15);
      }
    }
    if (hidden > 0) {
      frame.ui.draw_text(list, ImVec2(at.x, at.y + px(2)), pal().text_dim,
                         fmt::format("+{}", hidden), px(30), font);
      at.x += px(30);
    }
    if (all.empty()) return;
    for (const char* words : {"hold nothing: empty shards", "hold nothing", "empty"}) {
      if (at.x + font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, words).x > right) continue;
      frame.ui.draw_text(list, ImVec2(at.x + px(2), at.y + px(2)), pal().text_dim, words, px(240),
                         font);
      break;
    }
    frame.ui.tag_rect(name + "/empty", ImVec2(at.x - 60, at.y), ImVec2(at.x, at.y + px(17)), all);
  }
};

// The only shard with elements in the plane; null if there are several.
const Shard* sole_shard(const std::vector<Shard>& shards, const Plane& plane) {
  const Shard* out = nullptr;
  for (const Shard& s : shards) {
    if (!plane.part(s.box)) continue;
    if (out) return nullptr;
    out = &s;
  }
  return out;
}

float label_width(const Frame& frame, const std::vector<std::vector<Band>>& levels) {
  ImFont* font = frame.ui.fonts.small;
  float sum = frame.ui.px(12);
  for (size_t level = levels.size(); level-- > 0 && levels.size() - level <= kMaxLevels;) {
    float widest = 0;
    for (const Band& b : levels[level]) {
      const std::string text = Painter::band_text(b, level + 1 == levels.size());
      widest = std::max(widest, font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x);
    }
    sum += widest + frame.ui.px(12);
  }
  return sum;
}

}  // namespace

std::string holders_text(const Shard& shard, size_t most) {
  if (shard.versions.size() > 1) {
    std::string text;
    for (size_t i = 0; i < std::min(most, shard.versions.size()); ++i)
      text += (i ? " \u2260 " : "") + rank_list(shard.versions[i]);
    return text + (shard.versions.size() > most ? " \u2260 \u2026" : "");
  }
  const bool partial = !shard.addends.empty();
  const std::vector<interp::Rank>& named = partial ? shard.addends : shard.holders;
  std::string text = partial ? "\u03a3 " : "";
  for (size_t i = 0; i < named.size() && i < most; ++i)
    text += fmt::format("{}r{}", i == 0 ? "" : partial ? " + " : " ", named[i]);
  if (named.size() > most) text += fmt::format(" +{}", named.size() - most);
  const size_t copies = shard.holders.size() / (partial ? shard.addends.size() : 1);
  if (copies > 1) text += fmt::format("  \u00d7{}", copies);
  return text;
}

void draw_shard_labels(Frame& frame, const LayoutSource& source, const std::vector<Shard>& shards,
                       const Plane& plane, const Picture& picture) {
  const Painter painter{frame, ImGui::GetWindowDrawList(), source, plane, picture};
  PictureStyle style;
  style.labels = LabelPlace::kCorner;
  for (const Shard& s : shards) {
    const auto part = plane.part(s.box);
    if (!part) continue;
    painter.edge(s, *part);
    painter.label(s, painter.area_of(*part), style);
  }
}

// Gives up the aspect ratio to make numbers readable.
void stretch_for_numbers(const Frame& frame, Picture& picture, ImVec2 space) {
  if (picture.rows * picture.columns > kMaxNumbers) return;
  const float x = space.x / static_cast<float>(picture.columns);
  const float y = space.y / static_cast<float>(picture.rows);
  if (x < frame.ui.px(kNumberWidth) || y < frame.ui.px(kNumberHeight)) return;
  Fit fit = picture.fit;
  fit.cell_x = std::max(fit.cell_x, std::min(x, frame.ui.px(kNumberWidth + 8)));
  fit.cell_y = std::max(fit.cell_y, std::min(y, frame.ui.px(kNumberHeight + 3)));
  fit.stretched = fit.stretched || fit.cell_x > picture.fit.cell_x * 1.3f ||
                  fit.cell_y > picture.fit.cell_y * 1.3f;
  picture.fit = fit;
}

Picture draw_layout(Frame& frame, const std::string& name, const LayoutSource& source,
                    const std::vector<Shard>& shards, const Plane& plane, Area area,
                    PictureStyle style) {
  const bool matrix = plane.is_matrix();
  const auto row_levels = matrix ? bands_of(source, static_cast<size_t>(plane.row_dim))
                                 : std::vector<std::vector<Band>>{};
  const auto column_levels = source.global.empty()
                                 ? std::vector<std::vector<Band>>{}
                                 : bands_of(source, static_cast<size_t>(plane.column_dim));
  const size_t layers = most_layers(shards);
  const float shift = frame.ui.px(style.fanned ? 13.0f : 5.0f);
  const float spread = shift * static_cast<float>(std::min(layers, kMaxCards) - 1);
  const float left = matrix ? label_width(frame, row_levels) : frame.ui.px(10);
  const float line = frame.ui.fonts.small->FontSize + frame.ui.px(7);
  const float top = line * static_cast<float>(std::min(column_levels.size(), kMaxLevels)) + spread +
                    frame.ui.px(4);
  // If one shard fills the picture, put its name in the caption, off the first number.
  const Shard* sole = sole_shard(shards, plane);
  if (sole && style.captions && style.labels == LabelPlace::kCorner)
    style.labels = LabelPlace::kCaption;
  std::string holders;
  if (style.labels == LabelPlace::kCaption) {
    holders = holders_text(*sole, 12);
    if (style.numbers && source.is_partial()) holders += "; numbers: their reduction";
  }
  const float more = holders.empty() ? 0 : 16;
  Picture picture;
  picture.named_below = !holders.empty();
  picture.rows = std::max<int64_t>(1, plane.rows(source.global));
  picture.columns = std::max<int64_t>(1, plane.columns(source.global));
  picture.origin = ImVec2(area.min.x + left, area.min.y + top);
  const auto fit_above = [&](float below) {
    return fit(static_cast<float>(picture.rows), static_cast<float>(picture.columns),
               std::max(8.0f, area.width() - left - spread - frame.ui.px(10)),
               std::max(8.0f, area.height() - top - frame.ui.px(below)),
               frame.ui.px(style.most_cell), frame.ui.px(style.captions ? 100 : 60));
  };
  const auto fit_picture = [&](float below) {
    picture.fit = fit_above(below);
    if (!style.numbers) return;
    stretch_for_numbers(frame, picture,
                        ImVec2(area.width() - left - spread - frame.ui.px(10),
                               area.height() - top - frame.ui.px(54 + more)));
  };
  fit_picture((style.captions ? 40 : 22) + more);
  // the note about stretching takes one more line
  if (picture.fit.stretched && style.captions) fit_picture(54 + more);
  const Painter painter{frame, ImGui::GetWindowDrawList(), source, plane, picture};
  painter.cards(shards, layers, shift);
  for (const Shard& s : shards) {
    if (const auto part = plane.part(s.box)) painter.shard(s, *part, style);
  }
  painter.grid();
  if (matrix) painter.row_bands(row_levels);
  if (!source.global.empty()) painter.column_bands(column_levels, spread);
  float y = picture.origin.y + picture.height() + frame.ui.px(4);
  const std::string dims =
      matrix ? fmt::format("rows: dim {}   columns: dim {}", plane.row_dim, plane.column_dim)
             : std::string();
  const std::string stretched = picture.fit.stretched ? "one side is stretched" : "";
  for (const std::string& caption : {holders, dims, stretched}) {
    if (caption.empty() || !style.captions) continue;
    frame.ui.draw_text(painter.list, ImVec2(picture.origin.x, y), painter.pal().text_dim, caption,
                       area.max.x - picture.origin.x, frame.ui.fonts.small);
    y += frame.ui.px(16);
  }
  painter.empties(name, shards, ImVec2(picture.origin.x, y), area.max.x);
  picture.bottom = y + frame.ui.px(18);
  return picture;
}

}  // namespace hostir::gui
