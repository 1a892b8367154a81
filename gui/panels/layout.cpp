// How a tensor lies on the mesh: its boxes to scale, who holds them, copies, partial sums, empty
// shards.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/panels/panels.h"
#include "gui/panels/tensor_pick.h"

namespace hostir::gui {

namespace {

struct Area {
  ImVec2 min;
  ImVec2 max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
};

// Boxes that cover the same part, with everyone who holds it.
struct Shard {
  Box box;
  std::vector<interp::Rank> holders;
};

class LayoutPanel : public Panel {
 public:
  std::string_view id() const override { return "layout"; }
  std::string_view title() const override { return "Layout"; }
  std::string_view hint() const override {
    return "How a tensor is cut over the ranks: shards to scale, copies hatched, partial sums as "
           "stacks. Choose a "
           "tensor, or click a %name in the program.";
  }

  void draw(Frame& frame) override {
    const TensorView tensor = pick_tensor(frame, "layout/tensor");
    ImGui::SameLine();
    if (!tensor.valid()) {
      ImGui::NewLine();
      return frame.ui.empty_hint(tensor.name.empty()
                                     ? std::string(hint())
                                     : "%" + tensor.name + " is not allocated on any rank now. " +
                                           std::string(hint()));
    }
    const interp::AllocationSnapshot& a = *tensor.first;
    const std::string type = describe_type(a);
    frame.ui.text_mono(type);
    frame.ui.tag("layout/type", type);
    state_line(frame, tensor);
    choose_dims(frame, a.placement.global);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (size.x < frame.ui.px(80) || size.y < frame.ui.px(60)) return;
    const float mesh_width = std::min(size.x * 0.42f, frame.ui.px(330));
    const Area picture{at, ImVec2(at.x + size.x - mesh_width, at.y + size.y)};
    const Area mesh{ImVec2(at.x + size.x - mesh_width + frame.ui.px(10), at.y),
                    ImVec2(at.x + size.x, at.y + size.y)};
    const std::vector<Shard> shards = shards_of(tensor);
    draw_tensor(frame, tensor, shards, picture);
    draw_mesh(frame, tensor, mesh);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
  }

 private:
  static std::vector<Shard> shards_of(const TensorView& tensor) {
    std::vector<Shard> shards;
    std::map<std::pair<std::vector<int64_t>, std::vector<int64_t>>, size_t> known;
    for (size_t r = 0; r < tensor.by_rank.size(); ++r) {
      if (!tensor.by_rank[r]) continue;
      const Box& box = tensor.by_rank[r]->placement.box;
      const auto [place, added] = known.try_emplace({box.lo, box.hi}, shards.size());
      if (added) shards.push_back({box, {}});
      shards[place->second].holders.push_back(static_cast<interp::Rank>(r));
    }
    return shards;
  }

  static const Sharding* partial_of(const TensorView& tensor) {
    const Sharding* s = sharding_of(tensor.first->type);
    return s && s->is_partial() ? s : nullptr;
  }

  static void state_line(Frame& frame, const TensorView& tensor) {
    const interp::AllocationSnapshot& a = *tensor.first;
    std::string text = fmt::format("version {}", a.version);
    if (!a.written_by.empty()) text += ", written by " + a.written_by;
    if (a.parameter && a.written_by.empty()) text += ", parameter";
    if (!a.written && !a.parameter) text += ", never written: contents mean nothing";
    if (!a.live) text += ", freed";
    frame.ui.text_dim(text);
    const Sharding* partial = partial_of(tensor);
    if (partial) {
      std::string axes;
      for (const AxisRef& x : partial->unreduced)
        axes += (axes.empty() ? "" : ", ") + x.to_string();
      const std::string sentence = fmt::format(
          "\u03a3 partial: still to be reduced ({}) over {{{}}}; no rank holds the value yet",
          name(partial->unreduced_kind), axes);
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().state(StateKind::kMismatch));
      ImGui::TextUnformatted(sentence.c_str());
      ImGui::PopStyleColor();
      frame.ui.tag("layout/partial", sentence);
    }
  }

  // Two dimensions are drawn as rows and columns; the others are fixed by sliders.
  void choose_dims(Frame& frame, const Extents& global) {
    const auto rank = static_cast<int>(global.size());
    if (row_dim_ >= rank || column_dim_ >= rank || shown_rank_ != rank) {
      row_dim_ = std::max(0, rank - 2);
      column_dim_ = std::max(0, rank - 1);
      fixed_.assign(global.size(), 0);
      shown_rank_ = rank;
    }
    if (rank <= 2) return;
    const auto combo = [&](const char* label, int& dim, int other) {
      ImGui::SetNextItemWidth(frame.ui.px(58));
      if (ImGui::BeginCombo(label, std::to_string(dim).c_str())) {
        for (int d = 0; d < rank; ++d) {
          if (d != other && ImGui::Selectable(std::to_string(d).c_str(), d == dim)) dim = d;
        }
        ImGui::EndCombo();
      }
      ImGui::SameLine();
    };
    combo("rows", row_dim_, column_dim_);
    combo("columns", column_dim_, row_dim_);
    for (int d = 0; d < rank; ++d) {
      if (d == row_dim_ || d == column_dim_) continue;
      auto& at = fixed_[static_cast<size_t>(d)];
      const auto last = static_cast<int>(std::max<int64_t>(0, global[static_cast<size_t>(d)] - 1));
      at = std::clamp(at, 0, last);
      ImGui::SetNextItemWidth(frame.ui.px(90));
      ImGui::SliderInt(fmt::format("dim {}", d).c_str(), &at, 0, last);
      frame.ui.tag(fmt::format("layout/dim/{}", d), std::to_string(at));
      ImGui::SameLine();
    }
    ImGui::NewLine();
  }

  int64_t extent(const Extents& global, int dim) const {
    return global.empty() ? 1 : global[static_cast<size_t>(dim)];
  }
  bool is_matrix() const { return shown_rank_ >= 2; }

  // The part of a box in the shown plane; false where the box does not reach it.
  bool plane_range(const Box& box, int64_t& r0, int64_t& r1, int64_t& c0, int64_t& c1) const {
    r0 = 0;
    r1 = c1 = 1;
    c0 = 0;
    for (int d = 0; d < shown_rank_; ++d) {
      const int64_t lo = box.lo[static_cast<size_t>(d)];
      const int64_t hi = box.hi[static_cast<size_t>(d)];
      if (is_matrix() && d == row_dim_) {
        r0 = lo;
        r1 = hi;
      } else if (d == column_dim_) {
        c0 = lo;
        c1 = hi;
      } else if (fixed_[static_cast<size_t>(d)] < lo || fixed_[static_cast<size_t>(d)] >= hi) {
        return false;
      }
    }
    return true;
  }

  void draw_tensor(Frame& frame, const TensorView& tensor, const std::vector<Shard>& shards,
                   Area area) {
    const Extents& global = tensor.first->placement.global;
    const auto rows =
        static_cast<float>(std::max<int64_t>(1, is_matrix() ? extent(global, row_dim_) : 1));
    const auto columns = static_cast<float>(
        std::max<int64_t>(1, shown_rank_ == 0 ? 1 : extent(global, column_dim_)));
    const float margin_left = frame.ui.px(52);
    const float margin_top = frame.ui.px(22);
    const float empties = frame.ui.px(30);
    const float width = area.width() - margin_left - frame.ui.px(16);
    const float height = area.height() - margin_top - empties;
    // To scale while both sides stay readable; a long thin tensor is stretched, and that is said.
    float cell = std::min({width / columns, height / rows, frame.ui.px(34)});
    float cell_x = cell;
    float cell_y = cell;
    const float least = frame.ui.px(70);
    const bool stretched = columns * cell < least || rows * cell < least;
    if (stretched) {
      cell_x = std::max(cell, std::min(width, least) / columns);
      cell_y = std::max(cell, std::min(height, least) / rows);
    }
    if (std::min(width / columns, height / rows) >= cell * 1.0f &&
        columns * cell_x < width * 0.6f && rows * cell_y < height * 0.6f && !stretched) {
      cell_x = cell_y = std::min(width / columns, height / rows);
      cell_x = cell_y = std::min(cell_x, frame.ui.px(34));
    }
    const ImVec2 origin(area.min.x + margin_left, area.min.y + margin_top);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& p = frame.ui.pal();
    const Sharding* partial = partial_of(tensor);
    const size_t addends = partial ? holders_per_box(shards) : 1;
    for (size_t stack = std::min<size_t>(addends, 4); stack-- > 1;) {
      const float shift = static_cast<float>(stack) * frame.ui.px(4);
      list->AddRectFilled(
          ImVec2(origin.x + shift, origin.y - shift),
          ImVec2(origin.x + shift + columns * cell_x, origin.y - shift + rows * cell_y),
          mixed(p.panel, p.text_dim, 0.25f));
      list->AddRect(ImVec2(origin.x + shift, origin.y - shift),
                    ImVec2(origin.x + shift + columns * cell_x, origin.y - shift + rows * cell_y),
                    p.border);
    }
    if (partial) {
      frame.ui.draw_text(
          list, ImVec2(origin.x + columns * cell_x + frame.ui.px(8), origin.y - frame.ui.px(16)),
          p.state(StateKind::kMismatch), fmt::format("\u03a3 {} addends", addends),
          frame.ui.px(120));
    }
    for (const Shard& shard : shards) {
      int64_t r0 = 0, r1 = 0, c0 = 0, c1 = 0;
      if (shard.box.empty() || !plane_range(shard.box, r0, r1, c0, c1)) continue;
      const Area where{ImVec2(origin.x + static_cast<float>(c0) * cell_x,
                              origin.y + static_cast<float>(r0) * cell_y),
                       ImVec2(origin.x + static_cast<float>(c1) * cell_x,
                              origin.y + static_cast<float>(r1) * cell_y)};
      draw_shard(frame, list, shard, where, partial != nullptr);
    }
    draw_grid(frame, list, origin, rows, columns, cell_x, cell_y);
    draw_axes(frame, list, shards, origin, rows, columns, cell_x, cell_y);
    draw_empties(frame, list, shards, ImVec2(area.min.x, area.max.y - empties + frame.ui.px(6)));
    pick_element(frame, tensor, origin, rows, columns, cell_x, cell_y);
    if (stretched) {
      frame.ui.draw_text(list, ImVec2(origin.x, area.max.y - frame.ui.px(16)), p.text_dim,
                         "not to scale: one side is stretched", area.width(), frame.ui.fonts.small);
    }
  }

  static size_t holders_per_box(const std::vector<Shard>& shards) {
    size_t most = 1;
    for (const Shard& s : shards) most = std::max(most, s.holders.size());
    return most;
  }

  static void draw_shard(Frame& frame, ImDrawList* list, const Shard& shard, Area where,
                         bool partial) {
    const Palette& p = frame.ui.pal();
    const bool has_focus = std::find(shard.holders.begin(), shard.holders.end(),
                                     frame.model.snapshot()->focus) != shard.holders.end();
    bool hovered = false;
    for (const interp::Rank r : shard.holders)
      hovered = hovered || frame.model.was_hovered.rank == r;
    const ImU32 colour = p.rank(shard.holders.front());
    list->AddRectFilled(where.min, where.max, mixed(p.panel, colour, hovered ? 0.95f : 0.72f));
    if (shard.holders.size() > 1 && !partial)
      Ui::hatch(list, where.min, where.max, with_alpha(p.background, 0.35f), frame.ui.px(9));
    list->AddRect(where.min, where.max, has_focus ? p.text_strong : p.background, 0, 0,
                  has_focus ? 2.0f : 1.0f);
    std::string label;
    for (size_t i = 0; i < shard.holders.size() && i < 4; ++i)
      label += fmt::format("{}r{}", i ? " " : "", shard.holders[i]);
    if (shard.holders.size() > 4) label += fmt::format(" +{}", shard.holders.size() - 4);
    if (where.width() < frame.ui.px(20) || where.height() < ImGui::GetTextLineHeight()) return;
    const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
    const float x = std::max(where.min.x + 3, (where.min.x + where.max.x - extent.x) / 2);
    const float y = (where.min.y + where.max.y - extent.y) / 2;
    list->AddRectFilled(ImVec2(x - 3, y - 1),
                        ImVec2(std::min(x + extent.x + 3, where.max.x), y + extent.y + 1),
                        with_alpha(p.background, 0.55f), 3);
    frame.ui.draw_text(list, ImVec2(x, y), p.text_strong, label, where.max.x - x - 2);
  }

  static void draw_grid(Frame& frame, ImDrawList* list, ImVec2 origin, float rows, float columns,
                        float cell_x, float cell_y) {
    const ImU32 colour = with_alpha(frame.ui.pal().background, 0.5f);
    if (cell_x >= frame.ui.px(7)) {
      for (float c = 1; c < columns; ++c) {
        list->AddLine(ImVec2(origin.x + c * cell_x, origin.y),
                      ImVec2(origin.x + c * cell_x, origin.y + rows * cell_y), colour);
      }
    }
    if (cell_y >= frame.ui.px(7)) {
      for (float r = 1; r < rows; ++r) {
        list->AddLine(ImVec2(origin.x, origin.y + r * cell_y),
                      ImVec2(origin.x + columns * cell_x, origin.y + r * cell_y), colour);
      }
    }
  }

  // Sizes of the parts along both shown dimensions, and the dimensions' names.
  void draw_axes(Frame& frame, ImDrawList* list, const std::vector<Shard>& shards, ImVec2 origin,
                 float rows, float columns, float cell_x, float cell_y) const {
    const Palette& p = frame.ui.pal();
    std::map<int64_t, int64_t> row_parts;
    std::map<int64_t, int64_t> column_parts;
    for (const Shard& s : shards) {
      int64_t r0 = 0, r1 = 0, c0 = 0, c1 = 0;
      if (s.box.empty() || !plane_range(s.box, r0, r1, c0, c1)) continue;
      row_parts[r0] = r1;
      column_parts[c0] = c1;
    }
    ImFont* font = frame.ui.fonts.small;
    for (const auto& [lo, hi] : column_parts) {
      const float x0 = origin.x + static_cast<float>(lo) * cell_x;
      const float x1 = origin.x + static_cast<float>(hi) * cell_x;
      list->AddLine(ImVec2(x0 + 1, origin.y - 4), ImVec2(x1 - 1, origin.y - 4), p.text_dim);
      frame.ui.draw_text(list, ImVec2((x0 + x1) / 2 - 6, origin.y - frame.ui.px(18)), p.text_dim,
                         std::to_string(hi - lo), x1 - x0, font);
    }
    if (is_matrix()) {
      for (const auto& [lo, hi] : row_parts) {
        const float y0 = origin.y + static_cast<float>(lo) * cell_y;
        const float y1 = origin.y + static_cast<float>(hi) * cell_y;
        list->AddLine(ImVec2(origin.x - 5, y0 + 1), ImVec2(origin.x - 5, y1 - 1), p.text_dim);
        if (y1 - y0 >= frame.ui.px(11)) {
          frame.ui.draw_text(list,
                             ImVec2(origin.x - frame.ui.px(46), (y0 + y1) / 2 - frame.ui.px(6)),
                             p.text_dim, fmt::format("{:>6}", hi - lo), frame.ui.px(40), font);
        }
      }
    }
    const std::string dims =
        is_matrix() ? fmt::format("rows: dim {}   columns: dim {}", row_dim_, column_dim_)
                    : std::string();
    frame.ui.draw_text(list, ImVec2(origin.x, origin.y + rows * cell_y + frame.ui.px(5)),
                       p.text_dim, dims, columns * cell_x + 200, font);
  }

  static void draw_empties(Frame& frame, ImDrawList* list, const std::vector<Shard>& shards,
                           ImVec2 at) {
    std::string who;
    for (const Shard& s : shards) {
      if (!s.box.empty()) continue;
      for (const interp::Rank r : s.holders) who += fmt::format("{}r{}", who.empty() ? "" : " ", r);
    }
    if (who.empty()) return;
    const std::string text = "\u2205 empty shard: " + who;
    list->AddText(at, frame.ui.pal().state(StateKind::kWaiting), text.c_str());
    frame.ui.tag_rect("layout/empty", at, ImVec2(at.x + 100, at.y + 14), text);
  }

  // The element under the mouse: hovered everywhere, selected by a click.
  void pick_element(Frame& frame, const TensorView& tensor, ImVec2 origin, float rows,
                    float columns, float cell_x, float cell_y) {
    ImGui::SetCursorScreenPos(origin);
    ImGui::InvisibleButton("tensor",
                           ImVec2(std::max(1.0f, columns * cell_x), std::max(1.0f, rows * cell_y)));
    frame.ui.tag("layout/picture");
    std::vector<int64_t>& selected = frame.model.selection.element;
    if (ImGui::IsItemHovered()) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      const auto r =
          static_cast<int64_t>(std::clamp((mouse.y - origin.y) / cell_y, 0.0f, rows - 1));
      const auto c =
          static_cast<int64_t>(std::clamp((mouse.x - origin.x) / cell_x, 0.0f, columns - 1));
      std::vector<int64_t> element(fixed_.begin(), fixed_.end());
      if (is_matrix()) element[static_cast<size_t>(row_dim_)] = r;
      if (shown_rank_ > 0) element[static_cast<size_t>(column_dim_)] = c;
      std::string holders;
      for (size_t k = 0; k < tensor.by_rank.size(); ++k) {
        if (tensor.by_rank[k] && holds(tensor.by_rank[k]->placement.box, element))
          holders += fmt::format(" r{}", k);
      }
      std::string index;
      for (const int64_t e : element) index += (index.empty() ? "" : ", ") + std::to_string(e);
      ImGui::SetTooltip("%%%s[%s]\nheld by%s\nclick: select it", tensor.name.c_str(), index.c_str(),
                        holders.c_str());
      if (ImGui::IsItemClicked()) selected = element;
      frame.model.hovered.element = element;
    }
    if (static_cast<int>(selected.size()) != shown_rank_ || shown_rank_ == 0) return;
    const auto row = static_cast<float>(is_matrix() ? selected[static_cast<size_t>(row_dim_)] : 0);
    const auto column = static_cast<float>(selected[static_cast<size_t>(column_dim_)]);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 min(origin.x + column * cell_x, origin.y + row * cell_y);
    list->AddRect(min, ImVec2(min.x + std::max(cell_x, 4.0f), min.y + std::max(cell_y, 4.0f)),
                  frame.ui.pal().playhead, 0, 0, 2.5f);
  }

  static bool holds(const Box& box, const std::vector<int64_t>& element) {
    for (size_t d = 0; d < element.size(); ++d) {
      if (element[d] < box.lo[d] || element[d] >= box.hi[d]) return false;
    }
    return true;
  }

  // The mesh: one tile per rank; the last axis goes right, the one before down, the rest as cards.
  static void draw_mesh(Frame& frame, const TensorView& tensor, Area area) {
    const interp::Snapshot& shot = *frame.model.snapshot();
    const Mesh* mesh = shot.program->code->world;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& p = frame.ui.pal();
    if (!mesh) return;
    std::string title = "mesh @" + mesh->name;
    for (const MeshAxis& axis : mesh->axes) title += fmt::format("  {}={}", axis.name, axis.size);
    frame.ui.draw_text(list, area.min, p.text_dim, title, area.width());
    const size_t n = mesh->axes.size();
    const int64_t across = n > 0 ? mesh->axes[n - 1].size : 1;
    const int64_t down = n > 1 ? mesh->axes[n - 2].size : 1;
    const int64_t cards = std::max<int64_t>(1, mesh->size() / std::max<int64_t>(1, across * down));
    const auto per_row = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(cards))));
    const float card_width = area.width() / static_cast<float>(per_row);
    const float tile_w =
        std::min((card_width - frame.ui.px(10)) / static_cast<float>(across), frame.ui.px(44));
    const float tile_h = std::min(tile_w, frame.ui.px(34));
    if (tile_w < 3) return;
    const float top = area.min.y + frame.ui.px(22);
    for (int64_t position = 0; position < mesh->size(); ++position) {
      const int64_t card = position / (across * down);
      const int64_t row = position / across % down;
      const int64_t column = position % across;
      const float x = area.min.x + static_cast<float>(card % per_row) * card_width +
                      static_cast<float>(column) * tile_w;
      const float y = top +
                      static_cast<float>(card / per_row) *
                          (static_cast<float>(down) * tile_h + frame.ui.px(14)) +
                      static_cast<float>(row) * tile_h;
      if (y > area.max.y) break;
      draw_tile(frame, list, tensor, static_cast<interp::Rank>(mesh->rank_at(position)),
                Area{ImVec2(x, y), ImVec2(x + tile_w - 3, y + tile_h - 3)});
    }
  }

  static void draw_tile(Frame& frame, ImDrawList* list, const TensorView& tensor, interp::Rank rank,
                        Area tile) {
    const Palette& p = frame.ui.pal();
    const auto index = static_cast<size_t>(rank);
    const interp::AllocationSnapshot* held =
        index < tensor.by_rank.size() ? tensor.by_rank[index] : nullptr;
    const bool empty = held && held->placement.box.empty();
    const bool copy = held && !empty && is_copy(tensor, index);
    list->AddRectFilled(tile.min, tile.max,
                        held && !empty ? mixed(p.panel, p.rank(rank), 0.75f) : p.panel_title, 3);
    if (copy) Ui::hatch(list, tile.min, tile.max, with_alpha(p.background, 0.35f), frame.ui.px(7));
    if (rank == frame.model.snapshot()->focus)
      list->AddRect(tile.min, tile.max, p.text_strong, 3, 0, 2);
    frame.ui.draw_text(
        list, ImVec2(tile.min.x + 4, tile.min.y + 2), held && !empty ? p.text_strong : p.text_dim,
        fmt::format("r{}{}", rank, empty ? " \u2205" : ""), tile.width() - 4, frame.ui.fonts.small);
    ImGui::SetCursorScreenPos(tile.min);
    ImGui::PushID(rank);
    if (ImGui::InvisibleButton(
            "tile", ImVec2(std::max(1.0f, tile.width()), std::max(1.0f, tile.height())))) {
      frame.actions.command(fmt::format("rank {}", rank));
    }
    frame.ui.tag(fmt::format("layout/mesh/{}", rank));
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.rank = rank;
      std::string text = fmt::format("rank {}: does not hold %{}", rank, tensor.name);
      if (held) {
        text = fmt::format("rank {}", rank);
        for (size_t d = 0; d < held->placement.box.lo.size(); ++d) {
          text += fmt::format("{}{}:{}", d ? ", " : "  [", held->placement.box.lo[d],
                              held->placement.box.hi[d]);
        }
        text += fmt::format("]  {} bytes{}", held->bytes,
                            copy ? "\na copy of what a lower rank holds" : "");
      }
      ImGui::SetTooltip("%s\nclick: focus", text.c_str());
    }
    ImGui::PopID();
  }

  static bool is_copy(const TensorView& tensor, size_t index) {
    if (partial_of(tensor)) return false;
    for (size_t r = 0; r < index; ++r) {
      if (tensor.by_rank[r] &&
          tensor.by_rank[r]->placement.box == tensor.by_rank[index]->placement.box)
        return true;
    }
    return false;
  }

  int row_dim_ = 0;
  int column_dim_ = 0;
  int shown_rank_ = -1;
  std::vector<int> fixed_;
};

}  // namespace

std::unique_ptr<Panel> make_layout_panel() { return std::make_unique<LayoutPanel>(); }

}  // namespace hostir::gui
