// Two runs side by side: structure first, then values; the first divergence of each tensor.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include <map>
#include <set>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

// A write in a run, by what it is rather than when: instruction, rank, loop path.
struct WriteKey {
  std::string address;
  interp::Rank rank = 0;
  std::string path;
  friend auto operator<=>(const WriteKey&, const WriteKey&) = default;
};
struct RunWrites {
  std::map<WriteKey, std::pair<uint64_t, int64_t>> digests;  // digest, event
  std::vector<std::string> names;
};

struct DiffRow {
  std::string what;
  interp::Rank rank = 0;
  std::string path;
  enum class Kind : uint8_t { kMissing, kExtra, kDiffers } kind = Kind::kDiffers;
  int64_t event = -1;
};

Expected<RunWrites> fetch(const interp::LogView& log, const std::stop_token& stop) {
  RunWrites out;
  std::set<std::string> names;  // the same buffer in several layouts is several tensors of one name
  for (const interp::LogTensor& tensor : log.tensors()) names.insert(tensor.name);
  for (const std::string& name : names) {
    HOSTIR_ASSIGN_OR_RETURN(const auto writes, log.writes({.value = name}, stop));
    for (const interp::LogValue& w : writes) {
      const auto& all = log.instructions();
      const std::string address = w.instruction < all.size() ? all[w.instruction].address : "?";
      out.digests[{"%" + name + " at " + address, w.rank, log.loop_path(w.loop_path)}] = {w.digest,
                                                                                          w.event};
    }
  }
  return out;
}

class DiffPanel : public Panel {
 public:
  std::string_view id() const override { return "diff"; }
  std::string_view title() const override { return "Diff"; }
  std::string_view hint() const override {
    return "Compares the writes of two runs. Press \"keep this run\" now, run something else "
           "(another file, an edited "
           "text, another branch), and see here what differs first.";
  }

  void draw(Frame& frame) override {
    const uint64_t key = frame.model.generation();
    const RunWrites* now = fetch_.get(
        frame.model, key,
        [](const interp::LogView& log, std::stop_token stop) { return fetch(log, stop); });
    ImGui::BeginDisabled(!now);
    if (ImGui::Button(kept_ ? "Keep this run instead" : "Keep this run")) {
      kept_ = std::make_unique<RunWrites>(*now);
      kept_name_ =
          fmt::format("{} at {}", frame.model.path(), frame.model.snapshot()->position.decision);
    }
    ImGui::EndDisabled();
    frame.ui.tag("diff/keep");
    if (!kept_ || !now) return frame.ui.empty_hint(hint());
    ImGui::SameLine();
    frame.ui.text_dim("kept: " + kept_name_);
    const std::vector<DiffRow> rows = compare(*kept_, *now);
    if (rows.empty()) {
      frame.ui.state_word(StateKind::kOk,
                          fmt::format("all {} writes have equal bits", now->digests.size()));
      frame.ui.tag("diff/result", "equal");
      return;
    }
    const std::string text = fmt::format("{} writes differ", rows.size());
    frame.ui.state_word(StateKind::kMismatch, text);
    frame.ui.tag("diff/result", text);
    draw_rows(frame, rows);
  }

 private:
  static std::vector<DiffRow> compare(const RunWrites& a, const RunWrites& b) {
    std::vector<DiffRow> rows;
    for (const auto& [key, value] : a.digests) {
      const auto other = b.digests.find(key);
      if (other == b.digests.end()) {
        rows.push_back({key.address, key.rank, key.path, DiffRow::Kind::kMissing, -1});
      } else if (other->second.first != value.first) {
        rows.push_back(
            {key.address, key.rank, key.path, DiffRow::Kind::kDiffers, other->second.second});
      }
    }
    for (const auto& [key, value] : b.digests) {
      if (!a.digests.contains(key))
        rows.push_back({key.address, key.rank, key.path, DiffRow::Kind::kExtra, value.second});
    }
    std::stable_sort(rows.begin(), rows.end(), [](const DiffRow& x, const DiffRow& y) {
      const bool sx = x.kind != DiffRow::Kind::kDiffers;
      const bool sy = y.kind != DiffRow::Kind::kDiffers;
      return sx != sy ? sx : x.event < y.event;
    });
    return rows;
  }

  static void draw_rows(Frame& frame, const std::vector<DiffRow>& rows) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_BordersInnerV;
    if (!ImGui::BeginTable("rows", 4, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"rank", "what was written", "loop", ""})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, rows[static_cast<size_t>(i)], i);
    }
    ImGui::EndTable();
  }

  static void draw_row(Frame& frame, const DiffRow& row, int i) {
    const char* kind = row.kind == DiffRow::Kind::kDiffers   ? "differs"
                       : row.kind == DiffRow::Kind::kMissing ? "only in the kept run"
                                                             : "only in this run";
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(row.rank));
    if (ImGui::Selectable(fmt::format("r{}", row.rank).c_str(),
                          row.event >= 0 && frame.model.selection.event == row.event,
                          ImGuiSelectableFlags_SpanAllColumns))
      frame.model.selection.event = row.event;
    ImGui::PopStyleColor();
    frame.ui.tag(fmt::format("diff/{}", i), fmt::format("r{} {} {}", row.rank, row.what, kind));
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = row.rank;
    ImGui::TableNextColumn();
    frame.ui.text_mono(row.what);
    ImGui::TableNextColumn();
    frame.ui.text_mono(row.path);
    ImGui::TableNextColumn();
    const std::string text =
        i == 0 && row.kind == DiffRow::Kind::kDiffers ? "differs first" : std::string(kind);
    frame.ui.state_word(
        row.kind == DiffRow::Kind::kDiffers ? StateKind::kMismatch : StateKind::kWaiting, text);
    ImGui::PopID();
  }

  std::unique_ptr<RunWrites> kept_;
  std::string kept_name_;
  LogFetch<uint64_t, RunWrites> fetch_{"diff"};
};

}  // namespace

std::unique_ptr<Panel> make_diff_panel() { return std::make_unique<DiffPanel>(); }

}  // namespace hostir::gui
