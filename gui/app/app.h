// The workbench: draws one frame of the whole window, independent of the platform.
//
// `App` owns the model, actions, panels and panel tree. Platform code (gui/window/window.h) creates
// an ImGui context, feeds input and calls `frame()`; tests do the same without pixels.
// Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/draw/modal_dialog.h"
#include "gui/files/file_watch.h"
#include "gui/files/settings.h"
#include "gui/files/unsaved_texts.h"
#include "gui/state/selection_history.h"
#include "gui/tree/panel_tree.h"

namespace hostir::gui {

struct AppOptions {
  interp::OpenRequest open;   // empty path: start page
  std::string compare;        // a log to compare with; empty: none
  std::string settings_file;  // empty: settings are neither loaded nor saved
  float screen_scale = 1;     // scale factor of the monitor
  bool fixed_clock = false;   // for golden pictures: no wall-clock times, no blinking
};

/// A button of the banner: runs an action by name, or a command line.
struct BannerButton {
  std::string label;
  std::string action;
  std::string command;
};
/// The line under the toolbar: says what is wrong in one sentence and offers fixes.
struct Banner {
  StateKind state = StateKind::kOk;
  std::string text;
  std::vector<BannerButton> buttons;
  float progress = 0;  // of the current work, 0 to 1
};

class App {
 public:
  App(interp::SessionFactory& factory, AppOptions options, std::function<void()> wake);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Call between ImGui::NewFrame() and ImGui::Render().
  void frame(double now_s);
  /// If true, call `rebuild_style` before NewFrame: the theme or scale changed.
  bool needs_style() const { return style_dirty_; }
  void rebuild_style();
  /// True if the window may change without input: the worker is busy, or an answer has just
  /// arrived.
  bool wants_frame() const;
  /// Checks whether the open file was changed, deleted or restored since the last check. Used by a
  /// sleeping window.
  bool file_has_news();
  /// Writes settings and unsaved text to disk if they changed. `frame` does this twice a second; a
  /// window also calls it before it sleeps and before it exits without asking.
  void write_what_changed();
  bool wants_quit() const { return quit_; }
  /// Closes the window at once if nothing would be lost; otherwise asks first.
  void request_quit();
  std::string window_title() const;

  /// A part of the window to write as a PNG once it is drawn.
  struct ScreenshotRequest {
    std::string path;
    ImVec2 min;
    ImVec2 max;
  };
  /// Call after rendering; nullopt: no picture is wanted of this frame.
  std::optional<ScreenshotRequest> take_screenshot_request();
  void wrote(const std::string& path, const Expected<void>& result);

  void drop_file(const std::string& path);
  /// Runs an action by name, or any line of the command language. Returns false if it is neither.
  bool perform(const std::string& text);

  Model& model() { return model_; }
  Ui& ui() { return ui_; }
  Actions& actions() { return actions_; }
  /// The tree on screen: small and low windows have their own arrangements.
  PanelTree& tree() { return *shown_; }

 private:
  void add_actions();
  void add_session_actions();
  void add_view_actions();
  void add_look_actions();
  void add_mark_actions();
  void add_compare_actions();
  void add_document_actions();
  void add_copy_actions();
  void draw_menu_bar();
  void draw_toolbar();
  void draw_tools(float limit);
  void draw_focus(float limit);
  /// Shows which function of the file runs and on how many ranks; a click lets the user change
  /// both.
  void draw_program_choice();
  void draw_program_popup(const interp::RunChoices& choices);
  void draw_scope();
  float scope_width() const;
  void draw_position(float width);
  std::optional<uint64_t> draw_scrubber(float width, uint64_t at, uint64_t last);
  std::optional<Banner> stop_banner() const;
  std::optional<Banner> file_banner();
  std::optional<Banner> newer_file_banner() const;
  std::optional<Banner> unsaved_banner() const;
  /// The most urgent banner that has not been dismissed.
  std::optional<Banner> next_banner();
  void draw_banner();
  /// Selects the instruction of the last fault.
  void show_fault();
  bool select_fault();
  /// Selects the instruction, tensor and element of a stop at a write.
  void select_written(const interp::Snapshot& shot);
  void draw_status_bar(float height);
  std::optional<Banner> opening_banner();
  std::optional<Banner> travel_banner();
  void draw_opening_page();
  void draw_start_page();
  void draw_error_page();
  void draw_center();
  /// `symbols`: searches only tensors, instructions and ranks.
  void open_palette(const std::string& text, bool symbols = false);
  void draw_palette();
  void draw_help();
  void draw_keys();
  enum class FileDialog : uint8_t { kNone, kOpen, kCompare, kSaveAs, kExport };
  void begin_file_dialog(FileDialog what);
  void draw_file_dialog();
  /// Draws the dialog's file list; true if a file was double-clicked.
  bool draw_files();
  /// True if the dialog lists files with this extension.
  bool lists(const std::string& extension) const;
  void choose_file(const std::string& path);
  /// Asks before it replaces a file.
  void export_to(const std::string& path);
  void handle_keys();
  /// The menu of a right click on something that has no menu of its own.
  void draw_copy_menu();
  void copy(bool row);
  void export_tensor(const std::string& extension);
  void export_log();
  void export_picture();
  /// The panel that the pointer was last in, if it shows a table; else nullptr.
  const Panel* table_panel();
  void take_export_wish();
  void set_layout(std::string_view text);
  PanelTree& tree_for(ImVec2 screen);
  /// After each successful open: restores the file's settings, updates recent files, watches the
  /// file.
  void take_opened();
  /// Asks first if text would be lost.
  void open_file(const std::string& path);
  void open_now(const std::string& path);
  void compare_with(const std::string& path);
  /// Reopens the file from disk and returns to the same position with the same breakpoints.
  void reload();
  /// Like `reload`, but with another file that has the same or nearly the same program.
  void reopen(const std::string& path);
  /// Restores and saves the file's breakpoints, watches, bookmarks and notes in the settings.
  void restore_program();
  void keep_program();
  void keep_settings();

  // ---- the text being edited (app_document.cpp)
  void follow_document();
  void show_editor();
  /// Writes the text, or asks first if the file on disk is newer.
  void save_document();
  void saved_document();
  void save_as(const std::string& path);
  /// Asks whether `write` may replace a file that exists; `again` asks for another name.
  void ask_to_replace(const std::string& path, std::function<void()> again,
                      std::function<void()> write);
  /// Keeps the edited text although the file on disk is newer.
  void keep_document();
  /// Calls `then` at once if no text would be lost, otherwise after the user confirms. `to_do`
  /// names the action in the question: "quit".
  void leave_document(const std::string& to_do, std::function<void()> then);
  void keep_unsaved();
  void find_unsaved();
  /// The unsaved text kept for the file being edited; null if there is none.
  const UnsavedText* unsaved_offered() const;
  void take_unsaved();

  AppOptions options_;
  Settings settings_;
  Model model_;
  Ui ui_;
  Actions actions_;
  std::vector<std::unique_ptr<Panel>> panels_;
  PanelTree tree_;
  PanelTree small_tree_;
  PanelTree low_tree_;
  PanelTree* shown_ = &tree_;
  bool layout_chosen_ = false;  // the user asked for a layout: show it at any window size
  FileWatch file_watch_;
  SelectionHistory looked_at_;
  uint64_t seen_opened_ = 0;
  interp::Position fault_seen_{~uint64_t{0}, 0};    // the fault whose instruction was selected
  interp::Position written_seen_{~uint64_t{0}, 0};  // the same for a stop at a write
  double frame_ms_ = 0;                             // CPU time of the slowest of the last frames
  int settling_ = 0;           // frames still to draw although nothing is running
  uint64_t seen_stop_ = 0;     // model generation at the last stop that was handled
  std::string shown_program_;  // program of the model's watches, bookmarks, notes; absolute path
  std::set<std::string> dismissed_banners_;  // by their text
  std::string banner_text_;                  // of the banner that is drawn; empty: none
  bool error_page_left_ = false;
  interp::RunChoices wanted_;             // choices in the program popup, not run yet
  std::optional<uint64_t> scrub_target_;  // position dragged to, not requested yet
  bool style_dirty_ = true;
  bool quit_ = false;
  bool palette_open_ = false;
  bool palette_symbols_ = false;
  bool help_open_ = false;
  std::string help_filter_;
  FileDialog file_dialog_ = FileDialog::kNone;
  std::optional<ExportRequest> export_;  // to write once the user has named the file
  std::optional<ScreenshotRequest> picture_;
  int picture_frames_ = 0;  // frames until nothing lies over the picture
  UnderMouse copied_;       // what the open menu copies
  ModalDialog dialog_;
  UnsavedTexts unsaved_;
  std::optional<std::pair<std::string, std::string>> kept_text_;  // base and text, as on disk
  std::vector<UnsavedText> left_unsaved_;  // from earlier windows, newest first
  std::string written_settings_;           // last known contents of the settings file
  double written_s_ = 0;                   // when `write_what_changed` last checked
  bool unsaved_failed_ = false;            // the last write failed and the user was told
  bool settings_failed_ = false;
  bool focus_input_ = false;
  bool palette_caret_to_end_ = false;
  std::string palette_text_;
  int palette_row_ = 0;
  std::string path_text_;
  std::string folder_;
  bool entered_folder_ = false;  // by a click that may be the first of a double click
};

}  // namespace hostir::gui
