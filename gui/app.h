// The workbench: one frame of the whole window, without knowing what it is drawn on.
//
// `App` owns model, actions, panels and the panel tree; platform code (gui/platform) makes an ImGui
// context, feeds input and calls `frame()`. Tests do the same without pixels. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gui/file_watch.h"
#include "gui/panel_tree.h"
#include "gui/question.h"
#include "gui/selection_history.h"
#include "gui/settings.h"
#include "gui/unsaved_texts.h"

namespace hostir::gui {

struct AppOptions {
  interp::OpenRequest open;   // path empty: start page
  std::string compare;        // a log to compare it with; empty: none
  std::string settings_file;  // empty: nothing is loaded or saved
  float screen_scale = 1;     // of the monitor
  bool fixed_clock = false;   // for golden pictures: no times of day, no blinking
};

/// A button of the banner: an action by name, or a command line.
struct BannerButton {
  std::string label;
  std::string action;
  std::string command;
};
/// The line under the toolbar: what is wrong, in a sentence, and what can be done about it.
struct Banner {
  StateKind state = StateKind::kOk;
  std::string text;
  std::vector<BannerButton> buttons;
};

class App {
 public:
  App(interp::SessionFactory& factory, AppOptions options, std::function<void()> wake);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Call between ImGui::NewFrame() and ImGui::Render().
  void frame(double now_s);
  /// Call before NewFrame when the theme or scale changed: rebuilds fonts and style.
  bool needs_style() const { return style_dirty_; }
  void rebuild_style();
  /// Something may change without input: the worker is busy, or an answer has just come.
  bool wants_frame() const;
  /// Looks at the open file: whether it was changed, deleted or came back since it was last looked
  /// at. For a window that sleeps.
  bool file_has_news();
  /// Settings and unsaved text go to the disk where they changed. `frame` does it twice a second; a
  /// window calls it before it sleeps, and before it ends without being asked.
  void write_what_changed();
  bool wants_quit() const { return quit_; }
  /// Somebody wants to close the window: at once where nothing would be lost, else after a
  /// question.
  void request_quit();
  std::string window_title() const;

  void drop_file(const std::string& path);
  /// Runs an action by name, or any line of the command language. False: neither.
  bool perform(const std::string& text);

  Model& model() { return model_; }
  Ui& ui() { return ui_; }
  Actions& actions() { return actions_; }
  /// The one that is shown: a small window has an arrangement of its own.
  PanelTree& tree() { return small_ ? small_tree_ : tree_; }

 private:
  void add_actions();
  void add_session_actions();
  void add_view_actions();
  void add_look_actions();
  void add_mark_actions();
  void add_compare_actions();
  void add_document_actions();
  void draw_menu_bar();
  void draw_toolbar();
  void draw_tools(float limit);
  void draw_focus(float limit);
  /// What of the file runs, and on how many ranks; a click chooses others.
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
  /// The most pressing one that nobody has dismissed.
  std::optional<Banner> next_banner();
  void draw_banner();
  /// Selects the instruction of the last fault.
  void show_fault();
  bool select_fault();
  /// Selects what a stop at a write is about: instruction, tensor, element.
  void select_written(const interp::Snapshot& shot);
  void draw_status_bar(float height);
  std::optional<Banner> opening_banner();
  void draw_opening_page();
  void draw_start_page();
  void draw_error_page();
  void draw_center();
  /// `symbols`: to find tensors, instructions and ranks only.
  void open_palette(const std::string& text, bool symbols = false);
  void draw_palette();
  void draw_help();
  void draw_keys();
  enum class FileDialog : uint8_t { kNone, kOpen, kCompare, kSaveAs };
  void begin_file_dialog(FileDialog what);
  void draw_file_dialog();
  /// The list of the dialog; true if a file was chosen by a double click.
  bool draw_files();
  void choose_file(const std::string& path);
  void handle_keys();
  void set_layout(std::string_view text);
  /// After each successful opening: the file's settings, recent files, watching the file.
  void take_opened();
  /// Asks first where text would be lost.
  void open_file(const std::string& path);
  void open_now(const std::string& path);
  void compare_with(const std::string& path);
  /// The open file once more, from the disk, back at the same position with the same breakpoints.
  void reload();
  /// The same with another file, which holds what is open or nearly so.
  void reopen(const std::string& path);
  /// The file's breakpoints, watches, bookmarks and notes, from the settings and back.
  void restore_program();
  void keep_program();
  void keep_settings();

  // ---- the text that is edited (app_document.cpp)
  void follow_document();
  void show_editor();
  /// Writes it, or asks where the file is newer.
  void save_document();
  void saved_document();
  void save_as(const std::string& path);
  /// The text counts although the file is newer.
  void keep_document();
  /// Does it at once where no text would be lost, else when a person has said so. `to_do`: "quit".
  void leave_document(const std::string& to_do, std::function<void()> then);
  void keep_unsaved();
  void find_unsaved();
  /// What was kept of the file whose text is edited; null: nothing.
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
  bool small_ = false;          // the window is too small for `tree_`
  bool layout_chosen_ = false;  // a person asked for a layout: it is shown at any size
  FileWatch file_watch_;
  SelectionHistory looked_at_;
  uint64_t seen_opened_ = 0;
  interp::Position fault_seen_{~uint64_t{0}, 0};    // whose instruction was selected
  interp::Position written_seen_{~uint64_t{0}, 0};  // the same of a stop at a write
  int settling_ = 0;                                // frames to draw although nothing is under way
  uint64_t seen_stop_ = 0;     // generation of the model at the last stop that was looked at
  std::string shown_program_;  // whose watches, bookmarks and notes the model holds; absolute
  std::set<std::string> dismissed_banners_;  // by their text
  bool error_page_left_ = false;
  interp::RunChoices wanted_;             // in the popup of the program, until it is run
  std::optional<uint64_t> scrub_target_;  // a position that was dragged to and not yet asked for
  bool style_dirty_ = true;
  bool quit_ = false;
  bool palette_open_ = false;
  bool palette_symbols_ = false;
  bool help_open_ = false;
  std::string help_filter_;
  FileDialog file_dialog_ = FileDialog::kNone;
  QuestionBox questions_;
  UnsavedTexts unsaved_;
  std::optional<std::pair<std::string, std::string>> kept_text_;  // base and text, on the disk
  std::vector<UnsavedText> left_unsaved_;  // of earlier windows, newest first
  std::string written_settings_;           // what the settings file holds, as far as is known
  double written_s_ = 0;         // when it was last looked whether there is something to write
  bool unsaved_failed_ = false;  // the last writing did, and that was said
  bool settings_failed_ = false;
  bool focus_input_ = false;
  bool palette_caret_to_end_ = false;
  std::string palette_text_;
  int palette_row_ = 0;
  std::string path_text_;
  std::string folder_;
  bool entered_folder_ = false;  // by the click that may be the first of two
};

}  // namespace hostir::gui
