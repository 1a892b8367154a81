// The start page: what this is, examples, recent files.
#include <filesystem>

#include "gui/app/app.h"

namespace hostir::gui {

namespace {

struct Example {
  const char* file;
  const char* what;
};
constexpr Example kExamples[] = {
    {"tp_mlp.hir", "a tensor-parallel MLP with one all-reduce; start here"},
    {"mesh_3d.hir", "batch, sequence and features cut at once: a mesh of three axes"},
    {"sp_toy.hir", "sequence parallel on 3 ranks: shards of 11, 11 and 10"},
    {"matmul_rowcol.hir", "a matrix product of row and column shards"},
    {"deadlock.hir", "hangs: find the rank that never arrives"},
    {"mismatch.hir", "ranks that call different collectives"},
    {"pipeline_by_hand.hir",
     "host IR written by hand: chunks whose reductions overlap the products"},
};

}  // namespace

void App::draw_start_page() {
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float width = std::min(ui_.px(620), space.x - ui_.px(40));
  ImGui::SetCursorPos(ImVec2(std::max(ui_.px(20), (space.x - width) / 2), space.y * 0.12f));
  ImGui::BeginGroup();
  ImGui::PushFont(ui_.fonts.bold);
  ImGui::TextUnformatted("Host-IR Workbench");
  ImGui::PopFont();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ui_.text_dim(
      "Step through multi-GPU tensor programs, forwards and backwards, and see why each rank is "
      "where it is.");
  ImGui::PopTextWrapPos();
  ImGui::Dummy(ImVec2(0, ui_.px(14)));
  if (ImGui::Button("Open a program or a log...   Ctrl+O")) actions_.request("file.open");
  ui_.tag("start/open");
  ui_.text_dim("or drop a .hir file or a log on this window");
  const std::filesystem::path examples = "tests/programs";
  std::error_code error;
  if (std::filesystem::is_directory(examples, error)) {
    ImGui::Dummy(ImVec2(0, ui_.px(10)));
    ImGui::TextUnformatted("Examples");
    for (const Example& example : kExamples) {
      if (!std::filesystem::exists(examples / example.file, error)) continue;
      if (ImGui::Selectable(example.file, false, 0, ImVec2(width, 0)))
        open_file((examples / example.file).string());
      ui_.tag(std::string("start/") + example.file, example.what);
      ImGui::SameLine(ui_.px(180));
      ui_.text_dim(example.what);
    }
  }
  if (!settings_.recent.empty()) {
    ImGui::Dummy(ImVec2(0, ui_.px(10)));
    ImGui::TextUnformatted("Recent");
    const std::vector<std::string> recent = settings_.recent;
    for (size_t i = 0; i < recent.size(); ++i) {
      if (ImGui::Selectable(recent[i].c_str(), false, 0, ImVec2(width, 0))) open_file(recent[i]);
      ui_.tag("start/recent/" + std::to_string(i), recent[i]);
    }
  }
  ImGui::EndGroup();
}

}  // namespace hostir::gui
