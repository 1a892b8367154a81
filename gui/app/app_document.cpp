// The edited text and its file: saving, the questions before text is lost or a newer file is
// replaced, and what is written to disk right away.
#include <fmt/core.h>

#include <ctime>
#include <filesystem>

#include "gui/app/app.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

std::string when(int64_t time_s) {
  const std::time_t time = time_s;
  std::tm parts{};
  localtime_r(&time, &parts);
  char text[64];
  const size_t n = std::strftime(text, sizeof text, "%d %b %H:%M", &parts);
  return {text, n};
}

}  // namespace

void App::add_document_actions() {
  const auto program = [this] { return model_.document().is_program(); };
  const auto newer = [this] { return model_.document().disk() == Document::Disk::kNewer; };
  const auto offered = [this] { return unsaved_offered() != nullptr; };
  actions_.add({"file.save", "Save", "File", "Ctrl+S",
                "Write the text of the Edit panel to its file. If another program has changed the "
                "file, ask first.",
                [this] {
                  if (model_.document().unsaved()) save_document();
                },
                program});
  actions_.add({"file.save_as", "Save as...", "File", "Ctrl+Shift+S",
                "Write the text of the Edit panel to another file, and open that.",
                [this] { begin_file_dialog(FileDialog::kSaveAs); }, program});
  actions_.add({"file.keep_mine", "Keep my text", "", "",
                "Keep the edited text, not the newer file.", [this] { keep_document(); }, newer});
  actions_.add({"file.take_file", "Take the file's text", "", "",
                "Use the newer file; the edited text can be restored.",
                [this] {
                  model_.document().take_file();
                  if (model_.path() == model_.document().path()) reload();
                },
                newer});
  actions_.add({"file.compare", "Compare my text with the file", "", "",
                "The lines in which the newer file and the text that was edited differ.",
                [this] {
                  model_.document().compare_with({"the file", model_.document().newer()});
                  show_editor();
                },
                newer});
  actions_.add({"unsaved.take", "Take the text that was kept unsaved", "", "",
                "Load into the Edit panel the text that was unsaved when the window closed.",
                [this] { take_unsaved(); }, offered});
  actions_.add({"unsaved.compare", "Compare with the text that was kept unsaved", "", "",
                "The lines in which it differs from the text of the Edit panel.",
                [this] {
                  model_.document().compare_with({"what was kept", unsaved_offered()->text});
                  show_editor();
                },
                offered});
  actions_.add({"unsaved.discard", "Discard the text that was kept unsaved", "", "",
                "Discard the text that was unsaved when the window closed.",
                [this] {
                  UnsavedTexts::remove(*unsaved_offered());
                  model_.document().end_comparing();
                  find_unsaved();
                },
                offered});
  actions_.add({"unsaved.open", "Open the file with unsaved text", "", "",
                "Open the file whose text was unsaved when the window closed.",
                [this] { open_file(std::string(left_unsaved_.front().file)); },
                [this] { return !left_unsaved_.empty(); }});
}

void App::show_editor() {
  if (!model_.snapshot()) {  // the editor replaces the page that says why nothing is open
    error_page_left_ = true;
    tree().show("editor");
    tree().maximise("editor");
    return;
  }
  tree().show("editor");
}

void App::follow_document() {
  Document& document = model_.document();
  const std::string& path = model_.last_request().path;
  if (document.path() == path || document.rename(path)) {
    document.look(model_.now_s());
    return;
  }
  // A caller that opens another file asks the user first. Even if it has not, the text is
  // kept.
  keep_unsaved();
  unsaved_.leave();
  document.follow(path);
  find_unsaved();
}

void App::save_document() {
  Document& document = model_.document();
  const auto saved = document.save();
  if (!saved) return model_.notify(Message::Kind::kError, saved.error().message());
  if (*saved == Document::Saved::kWritten) return saved_document();
  const std::string name = io::file_name(document.path());
  DialogRequest request{
      name + " is newer on the disk",
      name +
          " was changed by another program after it was loaded into the Edit panel. "
          "Saving now replaces what that program wrote.",
      {}};
  request.buttons.push_back(
      {"compare", "Compare first", [this] { actions_.request("file.compare"); }});
  request.buttons.push_back({"overwrite", "Replace the file", [this] {
                               const auto written = model_.document().overwrite();
                               if (written) return saved_document();
                               model_.notify(Message::Kind::kError, written.error().message());
                             }});
  request.buttons.push_back(
      {"save_as", "Save as...", [this] { begin_file_dialog(FileDialog::kSaveAs); }});
  request.buttons.push_back(
      {"take_file", "Take the file's text", [this] { actions_.request("file.take_file"); }});
  request.buttons.push_back({"cancel", "Cancel", {}});
  dialog_.open(std::move(request));
}

void App::saved_document() {
  const Document& document = model_.document();
  model_.notify(Message::Kind::kGood, "saved " + document.path());
  if (document.path() == model_.path()) file_watch_.start(document.path(), document.base());
  keep_unsaved();
}

void App::keep_document() {
  Document& document = model_.document();
  document.keep_mine();
  if (document.path() == model_.path()) file_watch_.start(document.path(), document.base());
}

void App::save_as(const std::string& path) {
  const std::string target = absolute_path(path);
  if (target == absolute_path(model_.document().path())) return save_document();
  const auto write = [this, path] {
    Document& document = model_.document();
    const auto written = io::write_file(path, document.text());
    if (!written) return model_.notify(Message::Kind::kError, written.error().message());
    model_.notify(Message::Kind::kGood, "saved " + path);
    document.give_up();  // the original file keeps its contents
    keep_unsaved();
    reopen(path);
  };
  if (!std::filesystem::exists(path)) return write();
  ask_to_replace(
      path, [this] { begin_file_dialog(FileDialog::kSaveAs); }, write);
}

void App::ask_to_replace(const std::string& path, std::function<void()> again,
                         std::function<void()> write) {
  dialog_.open({io::file_name(path) + " is there already",
                path + " is there already. Writing it replaces what it holds.",
                {{"again", "Another name", std::move(again)},
                 {"overwrite", "Replace the file", std::move(write)},
                 {"cancel", "Cancel", {}}}});
}

void App::leave_document(const std::string& to_do, std::function<void()> then) {
  Document& document = model_.document();
  document.look_now();
  if (!document.unsaved()) return then();
  const std::string name = io::file_name(document.path());
  const bool newer = document.disk() == Document::Disk::kNewer;
  const bool deleted = document.disk() == Document::Disk::kDeleted;
  DialogRequest request{name + " has unsaved text",
                        fmt::format("The text of {} in the Edit panel is not saved.{}", name,
                                    newer ? " The file was changed by another program meanwhile."
                                    : deleted ? " The file was deleted; the text is nowhere else."
                                              : ""),
                        {}};
  const auto go_on = [this, then] {
    keep_unsaved();
    then();
  };
  const auto save = [this, go_on] {
    const auto written = model_.document().overwrite();
    if (!written) return model_.notify(Message::Kind::kError, written.error().message());
    saved_document();
    go_on();
  };
  const auto keep = [this, go_on] {
    keep_unsaved();
    if (unsaved_failed_) return;  // `keep_unsaved` has reported the error
    unsaved_.leave();
    model_.document().give_up();
    go_on();
  };
  // Enter takes the first answer, which must never replace a newer file.
  if (!newer) request.buttons.push_back({"save", "Save and " + to_do, save});
  if (unsaved_.keeps()) request.buttons.push_back({"keep", "Keep for later and " + to_do, keep});
  if (newer) {
    request.buttons.push_back(
        {"compare", "Compare first", [this] { actions_.request("file.compare"); }});
    request.buttons.push_back({"save", "Replace the newer file and " + to_do, save});
  }
  request.buttons.push_back({"discard", "Discard and " + to_do, [this, go_on] {
                               model_.document().give_up();
                               go_on();
                             }});
  request.buttons.push_back({"cancel", "Cancel", {}});
  dialog_.open(std::move(request));
}

void App::request_quit() {
  leave_document("quit", [this] { quit_ = true; });
}

// ---- what is written to disk

void App::keep_unsaved() {
  const Document& document = model_.document();
  if (!document.unsaved()) {
    unsaved_.forget();
    kept_text_.reset();
    return;
  }
  if (kept_text_ && kept_text_->first == document.base() && kept_text_->second == document.text())
    return;
  const auto kept = unsaved_.keep(absolute_path(document.path()), document.base(), document.text());
  if (!kept && !unsaved_failed_)
    model_.notify(Message::Kind::kWarning,
                  "the unsaved text cannot be kept for the next start: " + kept.error().message());
  unsaved_failed_ = !kept;
  kept_text_ = {document.base(), document.text()};
}

void App::keep_settings() {
  if (options_.settings_file.empty()) return;
  keep_program();
  settings_.layout = tree_.to_string();
  settings_.compared = model_.comparison().recent();
  for (const auto& panel : panels_) settings_.keep_panel(panel->id(), panel->save());
  std::string text = settings_.to_string();
  if (text == written_settings_) return;
  // Another window may have written the file since: keep its settings of other programs.
  const auto there = io::read_file(options_.settings_file);
  if (there && *there != written_settings_) {
    settings_.take_programs(Settings::parse(*there), shown_program_);
    text = settings_.to_string();
  }
  const bool written = save_settings(options_.settings_file, settings_);
  if (!written && !settings_failed_)
    model_.notify(Message::Kind::kWarning,
                  "the settings cannot be written: " + options_.settings_file);
  settings_failed_ = !written;
  written_settings_ = std::move(text);
}

void App::write_what_changed() {
  written_s_ = model_.now_s();
  keep_unsaved();
  keep_settings();
}

// ---- texts left by an earlier window

void App::find_unsaved() { left_unsaved_ = unsaved_.left(); }

const UnsavedText* App::unsaved_offered() const {
  const std::string path = absolute_path(model_.document().path());
  for (const UnsavedText& text : left_unsaved_) {
    if (text.file == path) return &text;
  }
  return nullptr;
}

void App::take_unsaved() {
  const UnsavedText kept = *unsaved_offered();
  if (!model_.document().put({model_.document().path(), kept.base, kept.text, 0})) return;
  keep_unsaved();  // write first, so that one of the two copies always exists
  if (unsaved_failed_) return;
  UnsavedTexts::remove(kept);
  find_unsaved();
  show_editor();
}

std::optional<Banner> App::unsaved_banner() const {
  if (const UnsavedText* kept = unsaved_offered()) {
    return Banner{StateKind::kWaiting,
                  fmt::format("Unsaved text of {} was kept ({}).", io::file_name(kept->file),
                              when(kept->time_s)),
                  {{"Take it into the editor", "unsaved.take", ""},
                   {"Compare", "unsaved.compare", ""},
                   {"Discard", "unsaved.discard", ""}}};
  }
  if (left_unsaved_.empty()) return std::nullopt;
  return Banner{StateKind::kWaiting,
                fmt::format("Unsaved text of {} was kept ({}).", left_unsaved_.front().file,
                            when(left_unsaved_.front().time_s)),
                {{"Open that file", "unsaved.open", ""}}};
}

std::optional<Banner> App::newer_file_banner() const {
  const Document& document = model_.document();
  if (document.disk() != Document::Disk::kNewer) return std::nullopt;
  return Banner{
      StateKind::kWaiting,
      io::file_name(document.path()) +
          " was changed by another program, and the Edit panel holds unsaved changes to it.",
      {{"Keep mine", "file.keep_mine", ""},
       {"Take the file's", "file.take_file", ""},
       {"Compare", "file.compare", ""}}};
}

}  // namespace hostir::gui
