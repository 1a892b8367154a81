// Copying what is under the mouse, and writing tensors, tables and pictures to files.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "gui/app/app.h"
#include "gui/files/export.h"
#include "gui/tree/panel_height.h"

namespace hostir::gui {

namespace {

// `%y[0, 3]`, or `%y` if no element is selected.
std::string selected_text(const Selection& s) {
  if (s.value.empty()) return {};
  std::string index;
  for (const int64_t i : s.element) index += (index.empty() ? "[" : ", ") + std::to_string(i);
  return "%" + s.value + (index.empty() ? "" : index + "]");
}

// The first line, short enough for a menu.
std::string short_text(const std::string& text) {
  constexpr size_t kMost = 40;
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= kMost) return line;
  size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0U) == 0x80) --cut;  // UTF-8
  return line.substr(0, cut) + "\u2026";
}

}  // namespace

void App::add_copy_actions() {
  const auto tensor = [this] { return model_.snapshot() && !model_.selection.value.empty(); };
  actions_.add({"copy",
                "Copy",
                "View",
                "Ctrl+C",
                "Copies the value, line, event or sentence under the mouse, else the name of what "
                "is selected.",
                [this] {
                  copied_ = ui_.under_mouse();
                  copy(false);
                },
                {}});
  actions_.add({"copy.row",
                "Copy the row",
                "View",
                "Ctrl+Shift+C",
                "Copies the row of the table under the mouse, its cells separated by tabs.",
                [this] {
                  copied_ = ui_.under_mouse();
                  copy(true);
                },
                {}});
  actions_.add({"export.npy", "Export the selected tensor as npy...", "File", "",
                "Writes the whole tensor, assembled from its shards, to a NumPy file.",
                [this] { export_tensor(".npy"); }, tensor});
  actions_.add({"export.csv", "Export the selected tensor as CSV...", "File", "",
                "Writes the whole tensor as text, a line per row of its last dimension.",
                [this] { export_tensor(".csv"); }, tensor});
  actions_.add({"export.log", "Save a copy of the log...", "File", "",
                "Writes what the run has logged so far to a file that opens anywhere.",
                [this] { export_log(); }, [this] { return model_.worker().has_log(); }});
  actions_.add({"export.table", "Export the panel's table as CSV...", "File", "",
                "Writes the result of the query in the SQL panel. Point at that panel first.",
                [this] { model_.export_wish = table_panel()->table(); },
                [this] { return table_panel() != nullptr; }});
  actions_.add({"export.png",
                "Export a picture of the panel...",
                "File",
                "",
                "Writes the panel that the pointer was last in as a PNG.",
                [this] { export_picture(); },
                {}});
}

void App::copy(bool row) {
  std::string text = row && !copied_.row.empty() ? copied_.row : copied_.text;
  if (text.empty()) text = selected_text(model_.selection);
  if (!text.empty()) ImGui::SetClipboardText(text.c_str());
}

void App::draw_copy_menu() {
  constexpr ImGuiPopupFlags kAny = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
  constexpr float kStill = 5;  // pixels; a longer drag pans a picture
  const bool still =
      ImGui::GetMouseDragDelta(1, kStill).x == 0 && ImGui::GetMouseDragDelta(1, kStill).y == 0;
  const bool nothing =
      ui_.under_mouse().text.empty() && ui_.under_mouse().row.empty() && tree().focused().empty();
  if (ImGui::IsMouseReleased(1) && still && !nothing && !ImGui::IsPopupOpen("", kAny)) {
    copied_ = ui_.under_mouse();
    ImGui::OpenPopup("copy");
  }
  if (!ImGui::BeginPopup("copy")) return;
  const auto item = [&](const std::string& label, const char* action) {
    const Action* known = actions_.find(action);
    const bool enabled = !known->enabled || known->enabled();
    const bool chosen = ImGui::MenuItem(label.c_str(), known->key.c_str(), false, enabled);
    ui_.tag(std::string("menu/") + action, label);
    return chosen;
  };
  const std::string& what = copied_.text;
  if (!what.empty() && item("Copy \"" + short_text(what) + "\"", "copy")) copy(false);
  if (!copied_.row.empty() && item("Copy the row", "copy.row")) copy(true);
  if (!what.empty() || !copied_.row.empty()) ImGui::Separator();
  for (const char* action : {"export.npy", "export.csv"}) {
    if (model_.selection.value.empty()) continue;
    if (item(fmt::format("Export %{} as {}...", model_.selection.value, action + 7), action))
      actions_.request(action);
  }
  if (table_panel() && item("Export the table as CSV...", "export.table"))
    actions_.request("export.table");
  if (item("Save a copy of the log...", "export.log")) actions_.request("export.log");
  if (item("Export a picture of the panel...", "export.png")) actions_.request("export.png");
  ImGui::EndPopup();
}

void App::export_tensor(const std::string& extension) {
  const std::string name = model_.selection.value;
  export_ = ExportRequest{name + extension, {}};
  export_->write = [this, name](const std::string& path) -> std::optional<Expected<void>> {
    model_.worker().query_session("export", [this, name, path](interp::Session& session) {
      interp::ValueQuery query;
      query.value = name;
      query.from = interp::ValueQuery::From::kGlobal;
      auto reading = session.read(query);
      auto result = std::make_shared<Expected<void>>();
      if (!reading)
        *result = tl::unexpected(std::move(reading.error()));
      else
        *result = write_tensor(path, reading->tensor);
      return std::function<void()>([this, path, result] { wrote(path, *result); });
    });
    return std::nullopt;
  };
  begin_file_dialog(FileDialog::kExport);
}

void App::export_log() {
  export_ = ExportRequest{"run.db", {}, /*replaces=*/false};
  export_->write = [this](const std::string& path) -> std::optional<Expected<void>> {
    model_.worker().query_log("export", [this, path](const interp::LogView& log, std::stop_token) {
      auto result = std::make_shared<Expected<void>>(log.save(path));
      return std::function<void()>([this, path, result] { wrote(path, *result); });
    });
    return std::nullopt;
  };
  begin_file_dialog(FileDialog::kExport);
}

const Panel* App::table_panel() {
  const Panel* panel = find_panel(panels_, tree().focused());
  return panel && panel->has_table() ? panel : nullptr;
}

void App::export_picture() {
  const WidgetRect* leaf = ui_.find("leaf/" + tree().focused());
  if (!leaf) return;
  export_ = ExportRequest{tree().focused() + ".png", {}};
  export_->write = [this, min = leaf->min,
                    max = leaf->max](const std::string& path) -> std::optional<Expected<void>> {
    picture_ = ScreenshotRequest{path, min, max};
    picture_frames_ = 2;  // the dialog is gone by then
    return std::nullopt;
  };
  begin_file_dialog(FileDialog::kExport);
}

std::optional<App::ScreenshotRequest> App::take_screenshot_request() {
  if (!picture_ || --picture_frames_ > 0) return std::nullopt;
  return std::exchange(picture_, std::nullopt);
}

void App::export_to(const std::string& path) {
  if (!export_) return;
  const ExportRequest wish = *std::exchange(export_, std::nullopt);
  const auto write = [this, wish, path] {
    const auto result = wish.write(path);
    if (result) wrote(path, *result);
  };
  if (!wish.replaces || !std::filesystem::exists(path)) return write();
  const auto again = [this, wish] {
    export_ = wish;
    begin_file_dialog(FileDialog::kExport);
  };
  ask_to_replace(path, again, write);
}

void App::take_export_wish() {
  if (!model_.export_wish) return;
  export_ = std::exchange(model_.export_wish, std::nullopt);
  begin_file_dialog(FileDialog::kExport);
}

void App::wrote(const std::string& path, const Expected<void>& result) {
  if (result) return model_.notify(Message::Kind::kGood, "wrote " + path);
  const std::string why = result.error().message();
  const bool named = why.find(path) != std::string::npos;
  model_.notify(Message::Kind::kError, "could not write " + (named ? why : path + ": " + why));
}

}  // namespace hostir::gui
