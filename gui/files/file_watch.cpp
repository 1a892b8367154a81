#include "gui/files/file_watch.h"

#include <sys/stat.h>

#include <filesystem>

#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

int64_t in_ns(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_nsec};
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat found {};
  if (path.empty() || stat(path.c_str(), &found) != 0) return {};
  return {true, in_ns(found.st_mtim), in_ns(found.st_ctim), found.st_size, found.st_ino};
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

void FileWatch::start(const std::string& path, std::string_view content) {
  path_ = path;
  content_ = content;
  seen_ = {};
  state_ = State::kSame;
  look_now();
}

void FileWatch::start(const std::string& path) {
  path_ = path;
  content_.reset();
  first_ = seen_ = stamp_of(path);
  state_ = State::kSame;
  if (!first_.there) path_.clear();  // it never existed; opening has reported that
}

FileWatch::State FileWatch::look(double now_s) {
  constexpr double kSeconds = 1;
  if (path_.empty() || now_s - looked_s_ < kSeconds) return state_;
  looked_s_ = now_s;
  look_now();
  return state_;
}

bool FileWatch::has_news() {
  if (path_.empty()) return false;
  const State before = state_;
  look_now();
  return state_ != before;
}

void FileWatch::look_now() {
  const FileStamp now = stamp_of(path_);
  if (now == seen_) return;
  seen_ = now;
  if (!now.there) {
    state_ = State::kDeleted;
    return;
  }
  if (!content_) {
    state_ = now.modified_ns == first_.modified_ns ? State::kSame : State::kChanged;
    return;
  }
  const bool same = now.bytes == static_cast<int64_t>(content_->size()) &&
                    io::read_file(path_).value_or(std::string()) == *content_;
  state_ = same ? State::kSame : State::kChanged;
}

}  // namespace hostir::gui
