// How a tensor is laid out on the mesh: its boxes to scale, their holders, copies, partial sums,
// empty shards. Below that, what the current collective moves between ranks.
#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/layout/layout_cells.h"
#include "gui/panels/layout/layout_facts.h"
#include "gui/panels/layout/layout_heat.h"
#include "gui/panels/layout/layout_mesh.h"
#include "gui/panels/layout/reshard_picture.h"
#include "gui/panels/layout/written.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

class LayoutPanel : public Panel {
 public:
  std::string_view id() const override { return "layout"; }
  std::string_view title() const override { return "Layout"; }
  std::string_view hint() const override {
    return "How a tensor is cut over the ranks: shards to scale, copies hatched, partial sums as "
           "stacks. Choose a tensor, or click a %name in the program. At a collective, who sends "
           "which block to whom.";
  }

  void draw(Frame& frame) override {
    const TensorView& tensor = pick_tensor(frame, "layout/tensor");
    const auto absent = [&] { return absent_text(*frame.model.snapshot(), tensor.name); };
    if (tensor.name.empty()) {
      const std::string why = absent();
      return frame.ui.empty_hint(why.empty() ? std::string(hint()) : why);
    }
    const LayoutView& view = views_.of(frame, tensor);
    if (view.type.empty()) return frame.ui.empty_hint(absent());
    header(frame, view);
    if (!view.held) absent_line(frame, tensor.name);
    choose_plane(frame, tensor.name, view);
    const std::optional<interp::CodeIndex> collective = current_collective(frame.model);
    const float space = ImGui::GetContentRegionAvail().y;
    const float heats = each_rank_ && view.held ? std::min(space * 0.3f, frame.ui.px(150)) : 0;
    const float rest = space - heats;
    has_room_for_moves_ = rest > frame.ui.px(kLeastShards + kLeastMoves);
    const bool split = collective && show_reshard_ && has_room_for_moves_;
    const float moves = split ? std::max(rest * 0.44f, frame.ui.px(kLeastMoves)) : 0;
    ImGui::BeginChild("shards", ImVec2(0, rest - moves));
    draw_shards(frame, tensor, view);
    ImGui::EndChild();
    if (heats > 0) {
      ImGui::BeginChild("heats", ImVec2(0, heats));
      draw_rank_heats(frame, tensor, plane_);
      ImGui::EndChild();
    }
    if (!split) return;
    ImGui::Separator();
    ImGui::BeginChild("reshard", ImVec2(0, 0));
    const MoveView& move =
        views_.move_of(frame, *collective, meeting_rank(frame.model, *collective));
    if (move.reshard) draw_reshard(frame, *move.reshard, move.absent);
    ImGui::EndChild();
  }

 private:
  void header(Frame& frame, const LayoutView& view) {
    const LayoutSource& source = view.source;
    ImGui::SameLine();
    ImGui::Checkbox("values", &show_values_);
    frame.ui.tag("layout/values", show_values_ ? "on" : "off");
    Ui::flow(frame.ui.px(60));
    ImGui::Checkbox("heat", &heat_);
    frame.ui.tag("layout/heat", heat_ ? "on" : "off");
    if (ImGui::IsItemHovered()) Ui::tooltip("colour the cells by their values");
    Ui::flow(frame.ui.px(84));
    ImGui::Checkbox("by rank", &each_rank_);
    frame.ui.tag("layout/each", each_rank_ ? "on" : "off");
    if (ImGui::IsItemHovered())
      Ui::tooltip("every rank's own values as a small picture, one colour range for all");
    if (current_collective(frame.model)) {
      Ui::flow(frame.ui.px(70));
      ImGui::BeginDisabled(!has_room_for_moves_);
      ImGui::Checkbox("moves", &show_reshard_);
      ImGui::EndDisabled();
      frame.ui.tag("layout/moves", !has_room_for_moves_ ? "no room" : show_reshard_ ? "on" : "off");
      if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        Ui::tooltip("%s", has_room_for_moves_
                              ? "who sends which block to whom"
                              : "who sends which block to whom; the panel is too low for it");
    }
    ImGui::PushTextWrapPos(0);
    frame.ui.text_mono(view.type);
    frame.ui.tag("layout/type", view.type);
    in_flight_line(frame, view);
    differing_line(frame, view);
    ImGui::PopTextWrapPos();
    if (!source.is_partial()) return;
    std::string axes;
    for (const AxisRef& x : source.sharding->unreduced)
      axes += (axes.empty() ? "" : ", ") + x.to_string();
    const std::string sentence = fmt::format(
        "\u03a3 partial: still to be reduced ({}) over {{{}}}; no rank holds the value yet",
        name(source.sharding->unreduced_kind), axes);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().state(StateKind::kMismatch));
    ImGui::PushTextWrapPos(0);
    frame.ui.text(sentence);
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
    frame.ui.tag("layout/partial", sentence);
  }

  static void absent_line(Frame& frame, const std::string& name) {
    const std::string text = absent_text(*frame.model.snapshot(), name);
    ImGui::PushTextWrapPos(0);
    frame.ui.text_dim(text);
    ImGui::PopTextWrapPos();
    frame.ui.tag("layout/absent", text);
  }

  static void differing_line(Frame& frame, const LayoutView& view) {
    const auto differs = std::find_if(view.shards.begin(), view.shards.end(),
                                      [](const Shard& shard) { return shard.versions.size() > 1; });
    if (differs == view.shards.end()) return;
    const std::string text =
        fmt::format("copies differ: {}; by the layout they should be equal. Shown: r{}",
                    holders_text(*differs, 4), differs->holders.front());
    frame.ui.state_word(StateKind::kMismatch, text);
    frame.ui.tag("layout/differ", text);
  }

  static void in_flight_line(Frame& frame, const LayoutView& view) {
    if (!view.in_flight) return;
    const interp::ProgramView& program = *frame.model.snapshot()->program;
    const std::string text =
        fmt::format("{} {} has not finished on {}{}", program.address(*view.in_flight),
                    program.mnemonic(*view.in_flight), rank_list(view.in_flight_on),
                    view.reshard ? ": until then each rank holds its addend" : "");
    frame.ui.state_word(StateKind::kWaiting, text);
    frame.ui.tag("layout/in_flight", text);
    if (ImGui::IsItemClicked()) frame.model.selection.code = *view.in_flight;
  }

  // Two dimensions are drawn as rows and columns; sliders fix the others.
  void choose_plane(Frame& frame, const std::string& name, const LayoutView& view) {
    const Extents& global = view.source.global;
    if (shown_ != name || plane_.rank() != global.size()) {
      plane_ = best_plane(global, view.shards);
      shown_ = name;
    }
    const std::vector<int64_t>& element = frame.model.selection.element;
    const auto rank = static_cast<int>(global.size());
    if (rank <= 2) return;
    if (element != followed_element_ && element.size() == global.size()) {
      for (size_t d = 0; d < element.size(); ++d) plane_.at[d] = static_cast<int>(element[d]);
    }
    followed_element_ = element;
    dim_combo(frame, "rows", plane_.row_dim, plane_.column_dim, rank);
    Ui::flow(frame.ui.px(120));
    dim_combo(frame, "columns", plane_.column_dim, plane_.row_dim, rank);
    for (int d = 0; d < rank; ++d) {
      int& at = plane_.at[static_cast<size_t>(d)];
      const auto last = static_cast<int>(std::max<int64_t>(0, global[static_cast<size_t>(d)] - 1));
      at = std::clamp(at, 0, last);
      if (d == plane_.row_dim || d == plane_.column_dim || last == 0) continue;
      frame.ui.index_slider(fmt::format("##dim{}", d), static_cast<size_t>(d), at, 0, last);
      frame.ui.tag(fmt::format("layout/dim/{}", d), std::to_string(at));
    }
  }

  static void dim_combo(Frame& frame, const char* label, int& dim, int other, int rank) {
    ImGui::SetNextItemWidth(frame.ui.px(120));
    if (ImGui::BeginCombo(fmt::format("##{}", label).c_str(),
                          fmt::format("{}: dim {}", label, dim).c_str())) {
      for (int d = 0; d < rank; ++d) {
        if (d != other && ImGui::Selectable(fmt::format("dim {}", d).c_str(), d == dim)) dim = d;
        frame.ui.tag(fmt::format("layout/{}/{}", label, d));
      }
      ImGui::EndCombo();
    }
    frame.ui.tag(fmt::format("layout/{}", label), std::to_string(dim));
  }

  void draw_shards(Frame& frame, const TensorView& tensor, const LayoutView& view) {
    const LayoutSource& source = view.source;
    const std::vector<Shard>& shards = view.shards;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    if (size.x < frame.ui.px(80) || size.y < frame.ui.px(50)) return;
    // Mesh and facts go beside the picture, or below it in a tall panel.
    const bool below = size.y > size.x * 0.75f && size.y > frame.ui.px(330);
    const bool beside = !below && size.x > frame.ui.px(420);
    float right = beside ? std::min(size.x * 0.40f, frame.ui.px(290)) : 0;
    if (beside && show_values_ && !source.global.empty()) {
      // Narrow the facts if that makes room for numbers in the cells.
      const auto columns = static_cast<float>(plane_.columns(source.global));
      const float least = frame.ui.px(108);
      const float wanted = frame.ui.px(kNumberWidth + 1) * columns + frame.ui.px(52);
      if (size.x - wanted >= least) right = std::min(right, size.x - wanted);
    }
    const float bottom = below ? std::clamp(size.y * 0.35f, frame.ui.px(150), frame.ui.px(260)) : 0;
    PictureStyle style;
    style.fanned = hovering_;
    style.numbers = show_values_;
    style.labels = heat_         ? LabelPlace::kLater
                   : values_fit_ ? LabelPlace::kCorner
                                 : LabelPlace::kCentre;
    const Picture picture =
        draw_layout(frame, "layout", source, shards, plane_,
                    Area{at, ImVec2(at.x + size.x - right, at.y + size.y - bottom)}, style);
    if (!beside && picture.rows * picture.columns == 0) return;
    values_fit_ = view.held && draw_values(frame, tensor, view, picture);
    if (heat_) draw_shard_labels(frame, source, shards, plane_, picture);
    if (view.held) pick_element(frame, tensor, picture);
    if (!beside && !below) return;
    const Mesh* mesh = source.mesh ? source.mesh : frame.model.snapshot()->program->mesh();
    const ImVec2 end(at.x + size.x, at.y + size.y);
    const float picture_end =
        std::min(picture.bottom + frame.ui.px(heat_ ? 18 : 4), end.y - bottom);
    const ImVec2 corner =
        below ? ImVec2(at.x, picture_end) : ImVec2(end.x - right + frame.ui.px(10), at.y);
    ImVec2 facts = corner;
    if (mesh) {
      const Area area{corner, below ? ImVec2(at.x + size.x * 0.5f, end.y)
                                    : ImVec2(end.x, at.y + size.y * 0.6f)};
      const float y = draw_mesh(frame, "layout", *mesh, view, area);
      facts =
          below ? ImVec2(at.x + size.x * 0.5f + frame.ui.px(12), corner.y) : ImVec2(corner.x, y);
    }
    ImGui::SetCursorScreenPos(facts);
    ImGui::BeginChild("facts", ImVec2(0, std::max(1.0f, end.y - facts.y)));
    draw_layout_facts(frame, tensor, view);
    ImGui::EndChild();
  }

  // Draws numbers in the cells if the cells are large and few enough; returns false if they are
  // not.
  bool draw_values(Frame& frame, const TensorView& tensor, const LayoutView& view,
                   const Picture& picture) {
    const LayoutSource& source = view.source;
    const bool numbers = show_values_ && picture.fit.cell_x >= frame.ui.px(kNumberWidth) &&
                         picture.fit.cell_y >= frame.ui.px(kNumberHeight) &&
                         picture.rows * picture.columns <= kMaxNumbers;
    const bool heat = heat_ && picture.rows * picture.columns <= kMaxHeatElements;
    if (heat_ && !heat) frame.ui.say_hidden("colours of a tensor of more than a million elements");
    if ((!numbers && !heat) || source.global.empty()) return false;
    const std::optional<Box> slice = plane_.slice(Box::whole(source.global));
    if (!slice) return false;
    const CellsOf cells{tensor, view, plane_, picture};
    if (numbers) draw_cell_addends(frame, cells);
    interp::ValueQuery query;
    query.value = tensor.name;
    query.from = interp::ValueQuery::From::kGlobal;
    const Box& box = *slice;
    query.box = box;
    const ReadingSlot& slot = frame.model.reading(query);
    if (!slot.reading || slot.reading->undefined || box.empty()) return slot.pending;
    const bool coarse = picture.rows * picture.columns > kMaxHeatCells;
    if (heat && slot.reading->box == box && coarse) {
      draw_coarse(frame, slot, picture);
    } else if (heat && slot.reading->box == box) {
      HeatRange range;
      range.add(slot.reading->tensor);
      draw_heat(frame, slot.reading->tensor, box, plane_, picture.origin,
                ImVec2(picture.fit.cell_x, picture.fit.cell_y), Box::whole(source.global), range);
    }
    if (numbers) draw_cell_values(frame, cells, slot.reading->tensor, box);
    return numbers;
  }

  // Draws one cell of a few pixels per block of elements; computed once per state.
  void draw_coarse(Frame& frame, const ReadingSlot& slot, const Picture& picture) {
    const interp::ValueReading& reading = *slot.reading;
    const float cell = frame.ui.px(5);
    const auto rows = static_cast<int>(std::clamp<float>(
        picture.height() / cell, 1, std::min<float>(80, static_cast<float>(picture.rows))));
    const auto columns = static_cast<int>(std::clamp<float>(
        picture.width() / cell, 1, std::min<float>(80, static_cast<float>(picture.columns))));
    const bool known = grid_of_ == slot.serial && grid_plane_ == plane_ && grid_.rows == rows &&
                       grid_.columns == columns;
    if (!known) {
      grid_ = coarse_grid(reading.tensor, reading.box, plane_, rows, columns);
      grid_of_ = slot.serial;
      grid_plane_ = plane_;
    }
    const int64_t row =
        plane_.is_matrix() ? reading.box.lo[static_cast<size_t>(plane_.row_dim)] : 0;
    const int64_t column = reading.box.lo[static_cast<size_t>(plane_.column_dim)];
    const int64_t row_end =
        plane_.is_matrix() ? reading.box.hi[static_cast<size_t>(plane_.row_dim)] : 1;
    draw_grid(frame, grid_, picture.corner(row, column),
              picture.corner(row_end, reading.box.hi[static_cast<size_t>(plane_.column_dim)]));
    const std::string text =
        fmt::format("each cell the mean of about {} elements; {:.4g} .. {:.4g}",
                    reading.tensor.element_count() / std::max(1, rows * columns), grid_.range.min,
                    grid_.range.max);
    frame.ui.draw_text(
        ImGui::GetWindowDrawList(), ImVec2(picture.origin.x, picture.bottom - frame.ui.px(6)),
        frame.ui.pal().text_dim, text, picture.width() + frame.ui.px(120), frame.ui.fonts.small);
    frame.ui.tag_rect("layout/coarse", picture.origin, picture.origin, text);
  }

  // Hovers the element under the mouse in all panels; a click selects it.
  void pick_element(Frame& frame, const TensorView& tensor, const Picture& picture) {
    ImGui::SetCursorScreenPos(picture.origin);
    ImGui::InvisibleButton(
        "tensor", ImVec2(std::max(1.0f, picture.width()), std::max(1.0f, picture.height())));
    frame.ui.tag("layout/picture");
    hovering_ = ImGui::IsItemHovered();
    if (hovering_) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      const auto r =
          std::clamp(static_cast<int64_t>((mouse.y - picture.origin.y) / picture.fit.cell_y),
                     int64_t{0}, picture.rows - 1);
      const auto c =
          std::clamp(static_cast<int64_t>((mouse.x - picture.origin.x) / picture.fit.cell_x),
                     int64_t{0}, picture.columns - 1);
      const std::vector<int64_t> element = plane_.element(r, c);
      if (ImGui::IsItemClicked()) frame.model.selection.element = element;
      frame.model.hovered.element = element;
      tooltip(tensor, element);
    }
    outline(frame, picture, frame.model.selection.element, frame.ui.pal().playhead);
    outline(frame, picture, frame.model.was_hovered.element,
            with_alpha(frame.ui.pal().text_strong, 0.6f));
  }

  static void tooltip(const TensorView& tensor, const std::vector<int64_t>& element) {
    std::string holders;
    size_t count = 0;
    for (size_t k = 0; k < tensor.by_rank.size(); ++k) {
      if (!tensor.by_rank[k] || !tensor.by_rank[k]->placement.box.holds(element)) continue;
      if (count++ < 12) holders += fmt::format(" r{}", k);
    }
    if (count > 12) holders += fmt::format(" and {} more", count - 12);
    Ui::tooltip("%%%s%s\nheld by%s\nclick: select it", tensor.name.c_str(),
                index_text(element).c_str(), holders.empty() ? " nobody" : holders.c_str());
  }

  void outline(Frame& frame, const Picture& picture, const std::vector<int64_t>& element,
               ImU32 colour) const {
    if (element.size() != plane_.rank() || element.empty()) return;
    for (size_t d = 0; d < element.size(); ++d) {
      const bool drawn = (plane_.is_matrix() && static_cast<int>(d) == plane_.row_dim) ||
                         static_cast<int>(d) == plane_.column_dim;
      if (!drawn && element[d] != plane_.at[d]) return;
    }
    const int64_t row = plane_.is_matrix() ? element[static_cast<size_t>(plane_.row_dim)] : 0;
    const ImVec2 min = picture.corner(row, element[static_cast<size_t>(plane_.column_dim)]);
    ImGui::GetWindowDrawList()->AddRect(min,
                                        ImVec2(min.x + std::max(picture.fit.cell_x, 4.0f),
                                               min.y + std::max(picture.fit.cell_y, 4.0f)),
                                        colour, 0, 0, frame.ui.px(2.2f));
  }

  static constexpr float kLeastShards = 100;
  static constexpr float kLeastMoves = 190;  // three lines of text and a picture of four members

  LayoutViews views_;
  HeatGrid grid_;
  uint64_t grid_of_ = 0;  // serial of the reading used for the grid
  Plane grid_plane_;
  Plane plane_;
  std::string shown_;
  std::vector<int64_t> followed_element_;
  bool show_values_ = true;
  bool heat_ = false;
  bool each_rank_ = false;
  bool has_room_for_moves_ = true;  // in the last frame
  bool show_reshard_ = true;
  bool values_fit_ = false;
  bool hovering_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_layout_panel() { return std::make_unique<LayoutPanel>(); }

}  // namespace hostir::gui
