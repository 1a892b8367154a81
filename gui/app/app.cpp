#include "gui/app/app.h"

#include <imgui_internal.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "gui/state/restart.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

// The program beside one panel, for windows as small as 640 x 400.
constexpr std::string_view kSmallLayout =
    "h(0.46 [host_ir* phases editor breaks watches messages notes schedule] [layout* values "
    "history inside ranks ledger waits whatif timeline statistics events sql memory explain diff])";

// The default layout for windows such as 1280 x 720: fewer panels above each other.
constexpr std::string_view kLowLayout =
    "v(0.60 h(0.41 [host_ir* phases editor] h(0.52 [layout* memory explain diff] v(0.5 [values* "
    "history inside] [ledger* waits whatif]))) h(0.30 [ranks* breaks watches messages "
    "notes] [timeline* schedule statistics events sql]))";

// The layout's text without the `*` that marks the active tabs.
std::string without_tabs(const PanelTree& tree) {
  std::string text = tree.to_string();
  std::erase(text, '*');
  return text;
}

bool is_default(const PanelTree& tree) {
  static const std::string kDefault =
      without_tabs(*PanelTree::parse(builtin_layouts().front().text));
  return without_tabs(tree) == kDefault;
}

void add_kept_breakpoints(const Settings& settings, interp::OpenRequest& request) {
  const ProgramSettings* kept = settings.find_program(absolute_path(request.path));
  if (kept && request.breakpoints.empty()) request.breakpoints = kept->breaks;
}

// Parses "NUMBER text"; false if there is no number.
template <typename Number>
bool take_number(const std::string& line, Number& number, std::string& text) {
  const char* last = line.data() + line.size();
  const auto [end, error] = std::from_chars(line.data(), last, number);
  if (error != std::errc()) return false;
  text = end < last ? std::string(end + 1, last) : std::string();
  return true;
}

}  // namespace

App::App(interp::SessionFactory& factory, AppOptions options, std::function<void()> wake)
    : options_(std::move(options)),
      settings_(load_settings(options_.settings_file)),
      model_(factory, std::move(wake)),
      panels_(make_panels()),
      unsaved_(options_.settings_file.empty() ? "" : options_.settings_file + ".unsaved") {
  written_settings_ = options_.settings_file.empty()
                          ? std::string()
                          : io::read_file(options_.settings_file).value_or(std::string());
  set_layout(settings_.layout.empty() ? builtin_layouts().front().text
                                      : std::string_view(settings_.layout));
  for (const auto& panel : panels_) {
    const std::string state = settings_.panel(panel->id());
    if (!state.empty()) panel->restore(state);
  }
  small_tree_ = std::move(*PanelTree::parse(kSmallLayout));
  low_tree_ = std::move(*PanelTree::parse(kLowLayout));
  add_actions();
  find_unsaved();
  ui_.colours = &palette(settings_.theme);
  if (!options_.open.path.empty()) {
    interp::OpenRequest request = options_.open;
    add_kept_breakpoints(settings_, request);
    model_.open(std::move(request));
  }
  model_.comparison().set_recent(settings_.compared);
  if (!options_.compare.empty()) {
    actions_.request("layout.Compare");
    model_.comparison().open(options_.compare);
  }
}

App::~App() { write_what_changed(); }

void App::keep_program() {
  if (shown_program_.empty() || !model_.snapshot()) return;
  ProgramSettings kept;
  kept.path = shown_program_;
  for (const interp::BreakpointSnapshot& b : *model_.snapshot()->breakpoints) {
    if (!b.temporary) kept.breaks.push_back(b.text);
  }
  kept.watches = model_.watches;
  for (const Bookmark& b : model_.bookmarks)
    kept.bookmarks.push_back(std::to_string(b.decision) + " " + b.text);
  for (const TimelineNote& n : model_.timeline_notes)
    kept.notes.push_back(std::to_string(n.time_ns) + " " + n.text);
  settings_.keep_program(std::move(kept));
}

void App::restore_program() {
  const std::string path = absolute_path(model_.path());
  if (path == shown_program_) return;  // the same program again, possibly edited
  shown_program_ = path;
  model_.watches.clear();
  model_.bookmarks.clear();
  model_.timeline_notes.clear();
  const ProgramSettings* kept = settings_.find_program(path);
  if (!kept) return;
  model_.watches = kept->watches;
  for (const std::string& line : kept->bookmarks) {
    Bookmark bookmark;
    if (take_number(line, bookmark.decision, bookmark.text))
      model_.bookmarks.push_back(std::move(bookmark));
  }
  for (const std::string& line : kept->notes) {
    TimelineNote note;
    if (take_number(line, note.time_ns, note.text))
      model_.timeline_notes.push_back(std::move(note));
  }
}

void App::set_layout(std::string_view text) {
  auto parsed = PanelTree::parse(text);
  if (!parsed) {
    model_.notify(Message::Kind::kWarning,
                  "the saved layout could not be read; the default one is used");
    parsed = PanelTree::parse(builtin_layouts().front().text);
  }
  tree_ = std::move(*parsed);
}

void App::rebuild_style() {
  ui_.scale = settings_.scale * options_.screen_scale;
  ui_.colours = &palette(settings_.theme);
  ui_.fonts = load_fonts(ui_.scale);
  apply_theme(*ui_.colours, ui_.scale);
  style_dirty_ = false;
}

bool App::wants_frame() const {
  Model& model = const_cast<App*>(this)->model_;
  return settling_ > 0 || picture_.has_value() || model.worker().busy() ||
         model.comparison().busy() || scrub_target_.has_value();
}

std::string App::window_title() const {
  if (model_.path().empty()) return "Host-IR Workbench";
  return io::file_name(model_.path()) + " - Host-IR Workbench";
}

void App::open_file(const std::string& path) {
  // Reopening the same file keeps unsaved edits.
  if (absolute_path(path) == absolute_path(model_.document().path())) return open_now(path);
  leave_document("open the other", [this, path] { open_now(path); });
}

void App::open_now(const std::string& path) {
  keep_program();
  interp::OpenRequest request;
  request.path = path;
  add_kept_breakpoints(settings_, request);
  error_page_left_ = false;
  model_.open(std::move(request));
}

void App::reload() {
  const Document& document = model_.document();
  if (document.changed() && document.path() == model_.last_request().path)
    model_.notify(Message::Kind::kInfo,
                  "the file was loaded again; your edits are still in the Edit panel, unsaved");
  reopen(model_.last_request().path);
}

void App::reopen(const std::string& path) {
  interp::OpenRequest request = model_.last_request();
  const bool same_ranks = model_.path() == request.path;
  request.path = path;
  request.text.clear();
  std::vector<std::string> then;
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (shot && same_ranks) {
    request.breakpoints.clear();
    for (const interp::BreakpointSnapshot& b : *shot->breakpoints)
      request.breakpoints.push_back(b.text);
    then = commands_back_to(*shot);
  }
  model_.open(std::move(request), std::move(then));
}

void App::drop_file(const std::string& path) { open_file(path); }

bool App::perform(const std::string& text) {
  if (actions_.find(text)) return actions_.request(text);
  if (!interp::parse_command(text)) return false;
  actions_.command(text);
  return true;
}

void App::handle_keys() {
  // the dialogs handle their own keys
  if (file_dialog_ != FileDialog::kNone || dialog_.is_open()) return;
  constexpr ImGuiPopupFlags kAny = ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel;
  if (key_pressed("Esc") && ImGui::IsPopupOpen("", kAny)) return ImGui::ClosePopupToLevel(0, false);
  if (const Action* action = actions_.pressed()) actions_.request(action->name);
}

void App::take_opened() {
  if (seen_opened_ == model_.last_opened()) return;
  seen_opened_ = model_.last_opened();
  const Document& document = model_.document();
  if (document.is_program() && document.path() == model_.path()) {
    const auto opened = model_.runs_edited_text() ? std::nullopt : model_.opened_text();
    file_watch_.start(model_.path(), opened.value_or(document.base()));
  } else if (!model_.worker().follows_log()) {
    file_watch_.start(model_.path());
  } else {
    file_watch_.start("");  // a log that is being written changes all the time, and is followed
  }
  looked_at_.clear();
  settings_.add_recent(absolute_path(model_.path()));
  restore_program();
  if (std::exchange(error_page_left_, false)) tree().maximise(std::nullopt);
}

void App::draw_center() {
  const bool failed = !model_.snapshot() && !model_.opening() && !model_.open_error().empty();
  if (failed && !error_page_left_) return draw_error_page();
  if (!model_.snapshot() && model_.opening()) return draw_opening_page();
  if (!model_.snapshot() && !failed) return draw_start_page();
  Frame frame{ui_, model_, actions_};
  tree().draw(frame, panels_);
}

PanelTree& App::tree_for(ImVec2 screen) {
  if (layout_chosen_) return tree_;
  if (screen.x < ui_.px(860) || screen.y < ui_.px(580)) return small_tree_;
  return screen.y < ui_.px(860) && is_default(tree_) ? low_tree_ : tree_;
}

void App::frame(double now_s) {
  const auto begin = std::chrono::steady_clock::now();
  ui_.begin_frame();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  shown_ = &tree_for(screen);
  // An answer may make panels request more in the next frame, and the frame after that shows the
  // result.
  constexpr int kSettlingFrames = 3;
  settling_ = model_.update(now_s) ? kSettlingFrames : std::max(0, settling_ - 1);
  follow_document();
  take_opened();
  if (seen_stop_ != model_.generation()) {
    // After a fault or deadlock, select its instruction so that the line is in view without a
    // click, and bring the panel that explains it to the front.
    seen_stop_ = model_.generation();
    const interp::SnapshotPtr& shot = model_.snapshot();
    const bool wrong = shot && (shot->stop.kind == interp::StopKind::kDeadlock ||
                                shot->stop.kind == interp::StopKind::kFault);
    if (wrong && !(shot->position == fault_seen_)) {
      select_fault();
      const bool mismatch = model_.mismatch() != nullptr;
      if (mismatch || shot->stop.kind == interp::StopKind::kDeadlock)
        tree().bring_forward(mismatch ? "ledger" : "waits");
    }
    const bool written = !wrong && shot && !shot->stop.value.empty();
    if (written && !(shot->position == written_seen_)) select_written(*shot);
    written_seen_ = written ? shot->position : interp::Position{~uint64_t{0}, 0};
    fault_seen_ = wrong ? shot->position : interp::Position{~uint64_t{0}, 0};
  }
  handle_keys();
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_.pal().background);
  ImGui::Begin("workbench", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_MenuBar);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  draw_menu_bar();
  draw_toolbar();
  draw_banner();
  const float status_height = ui_.px(24);
  const float height = std::max(1.0f, ImGui::GetContentRegionAvail().y - status_height);
  ImGui::BeginChild("panels", ImVec2(0, height), false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  draw_center();
  ImGui::EndChild();
  draw_status_bar(status_height);
  ImGui::End();
  draw_copy_menu();
  take_export_wish();
  draw_palette();
  draw_help();
  draw_file_dialog();
  dialog_.draw(ui_);
  looked_at_.record(model_.selection);
  actions_.flush([this](const std::string& command) { model_.run_command(command); });
  constexpr double kWriteSeconds = 0.5;
  if (now_s - written_s_ >= kWriteSeconds) write_what_changed();
  // The slowest frame counts, and is forgotten slowly, so that the number can be read.
  constexpr double kForget = 0.97;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  frame_ms_ = std::max(took.count(), frame_ms_ * kForget);
}

bool App::file_has_news() {
  const bool document = model_.document().look_now();
  return file_watch_.has_news() || document || model_.log_grew();
}

}  // namespace hostir::gui
