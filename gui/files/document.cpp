#include "gui/files/document.h"

#include <algorithm>
#include <utility>

#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

// nullopt if the file is missing, unreadable or not text. For a log, reads only the beginning.
std::optional<std::string> read_text(const std::string& path) {
  constexpr size_t kHead = 4096;
  const auto head = path == "-" ? Expected<std::string>("") : io::read_file_head(path, kHead);
  if (path == "-" || !head || head->find('\0') != std::string::npos) return std::nullopt;
  auto text = io::read_file(path);
  if (!text || text->find('\0') != std::string::npos) return std::nullopt;
  return std::move(*text);
}

}  // namespace

void Document::follow(const std::string& path) {
  const uint64_t revision = revision_ + 1;
  *this = Document();
  revision_ = revision;
  path_ = path;
  stamp_ = stamp_of(path);
  if (auto text = stamp_.there ? read_text(path) : std::nullopt) {
    is_program_ = true;
    text_ = base_ = std::move(*text);
  }
}

bool Document::rename(const std::string& path) {
  if (path_.empty() || path.empty() || absolute_path(path) != absolute_path(path_)) return false;
  path_ = path;
  return true;
}

bool Document::look(double now_s) {
  constexpr double kSeconds = 1;
  if (now_s - looked_s_ < kSeconds) return false;
  looked_s_ = now_s;
  return look_now();
}

bool Document::look_now() {
  // If the edits were undone, there is no conflict left.
  if (disk_ == Disk::kNewer && !changed()) stamp_ = {};
  const FileStamp now = stamp_of(path_);
  if (path_.empty() || now == stamp_) return false;
  stamp_ = now;
  const Disk disk = disk_;
  const uint64_t revision = revision_;
  const std::string newer = newer_;
  take_disk(now.there ? read_text(path_) : std::nullopt);
  return disk != disk_ || revision != revision_ || newer != newer_;
}

void Document::take_disk(std::optional<std::string> content) {
  newer_.clear();
  if (!content) {
    disk_ = Disk::kDeleted;  // or it is no longer a text file
    return;
  }
  disk_ = Disk::kSame;
  if (is_program_ && *content == base_) return;
  if (is_program_ && *content == text_) {
    base_ = std::move(*content);
  } else if (!is_program_ || !changed()) {
    is_program_ = true;
    base_ = *content;
    replace_text(std::move(*content));
  } else {
    disk_ = Disk::kNewer;
    newer_ = std::move(*content);
  }
}

void Document::replace_text(std::string text) {
  if (text == text_) return;
  text_ = std::move(text);
  ++revision_;
}

void Document::keep_mine() {
  if (disk_ != Disk::kNewer) return;
  base_ = std::exchange(newer_, {});
  disk_ = Disk::kSame;
  end_comparing();
}

void Document::take_file() {
  if (disk_ != Disk::kNewer) return;
  mine_ = text_;
  keep_mine();
  replace_text(base_);
}

void Document::revert() {
  look_now();
  if (disk_ == Disk::kNewer) return take_file();
  replace_text(base_);
  end_comparing();
}

void Document::give_up() {
  newer_.clear();
  disk_ = Disk::kSame;
  replace_text(base_);
  end_comparing();
}

void Document::take_mine() {
  if (mine_.empty()) return;
  replace_text(std::exchange(mine_, {}));
}

Expected<Document::Saved> Document::save() {
  stamp_ = {};  // compare contents, not times
  look_now();
  if (disk_ == Disk::kNewer) return Saved::kNewer;
  HOSTIR_TRY(overwrite());
  return Saved::kWritten;
}

Expected<void> Document::overwrite() {
  HOSTIR_TRY(io::write_file(path_, text_));
  base_ = text_;
  newer_.clear();
  disk_ = Disk::kSame;
  stamp_ = stamp_of(path_);
  end_comparing();
  return {};
}

bool Document::put(const TextForDocument& text) {
  if (text.path.empty() || absolute_path(text.path) != absolute_path(path_)) return false;
  look_now();
  if (is_program_ && changed() && text_ != run_text_ && text_ != text.text) mine_ = text_;
  if (!is_program_) {  // the file was deleted, but its unsaved text was kept
    is_program_ = true;
    disk_ = Disk::kDeleted;
    base_ = text.base;
  }
  const std::string& made_from =
      !run_text_.empty() && text.base == run_text_ ? run_base_ : text.base;
  replace_text(text.text);
  const std::string& holds = disk_ == Disk::kNewer ? newer_ : base_;
  if (disk_ != Disk::kDeleted && made_from != holds && text_ != holds) {
    newer_ = std::string(holds);
    base_ = made_from;
    disk_ = Disk::kNewer;
  }
  wanted_line_ = text.line > 0 ? text.line - 1 : 0;
  end_comparing();
  return true;
}

void Document::note_run() {
  run_text_ = text_;
  run_base_ = base_;
}

std::optional<size_t> Document::take_wanted_line() {
  return std::exchange(wanted_line_, std::nullopt);
}

}  // namespace hostir::gui
