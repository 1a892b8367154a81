#include "gui/files/unsaved_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "gui/files/file_watch.h"
#include "hostir/io/files.h"
#include "hostir/support/number_from.h"
#include "hostir/support/process_id.h"

namespace hostir::gui {

namespace {

constexpr std::string_view kTitle = "Unsaved text of the Host-IR Workbench\n";
constexpr std::string_view kExtension = ".unsaved";

// Takes a line that begins with `key` off the front of `text` and returns the rest of the line.
std::optional<std::string> take_field(std::string_view& text, std::string_view key) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(key)) return std::nullopt;
  std::string value(text.substr(key.size(), end - key.size()));
  text.remove_prefix(end + 1);
  return value;
}

struct KeptText {
  UnsavedText text;
  std::string writer;
};

std::optional<KeptText> parse_kept(std::string_view bytes) {
  if (!bytes.starts_with(kTitle)) return std::nullopt;
  bytes.remove_prefix(kTitle.size());
  auto file = take_field(bytes, "file = ");
  auto writer = take_field(bytes, "writer = ");
  const auto base_bytes = take_field(bytes, "base_bytes = ");
  if (!file || !writer || !base_bytes) return std::nullopt;
  const auto base = number_from<size_t>(*base_bytes);
  if (!base || *base > bytes.size()) return std::nullopt;
  KeptText kept;
  kept.text.file = std::move(*file);
  kept.text.base = bytes.substr(0, *base);
  kept.text.text = bytes.substr(*base);
  kept.writer = std::move(*writer);
  return kept;
}

}  // namespace

UnsavedTexts::UnsavedTexts(std::string folder)
    : folder_(std::move(folder)), writer_(current_process().to_string()) {
  // Another window of this process may have left files with these names.
  while (!folder_.empty() && stamp_of(own_file()).there) ++number_;
}

std::string UnsavedTexts::own_file() const {
  return fmt::format("{}/{}-{}{}", folder_, current_process().pid, number_, kExtension);
}

Expected<void> UnsavedTexts::keep(const std::string& file, const std::string& base,
                                  const std::string& text) {
  if (folder_.empty()) return {};
  std::error_code ignored;  // the write below reports errors
  std::filesystem::create_directories(folder_, ignored);
  HOSTIR_TRY(
      io::write_file(own_file(), fmt::format("{}file = {}\nwriter = {}\nbase_bytes = {}\n{}{}",
                                             kTitle, file, writer_, base.size(), base, text)));
  kept_ = true;
  return {};
}

void UnsavedTexts::forget() {
  if (!std::exchange(kept_, false)) return;
  std::error_code ignored;
  std::filesystem::remove(own_file(), ignored);
}

void UnsavedTexts::leave() {
  if (std::exchange(kept_, false)) ++number_;
}

std::vector<UnsavedText> UnsavedTexts::left() const {
  std::vector<UnsavedText> out;
  if (folder_.empty()) return out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(kExtension) || (kept_ && path == own_file())) continue;
    const auto bytes = io::read_file(path);
    auto kept = bytes ? parse_kept(*bytes) : std::nullopt;
    if (!kept || (kept->writer != writer_ && is_running(kept->writer))) continue;
    kept->text.kept_in = path;
    kept->text.time_s = stamp_of(path).modified_ns / 1'000'000'000;
    out.push_back(std::move(kept->text));
  }
  std::sort(out.begin(), out.end(), [](const UnsavedText& a, const UnsavedText& b) {
    return std::pair(b.time_s, a.kept_in) < std::pair(a.time_s, b.kept_in);
  });
  return out;
}

void UnsavedTexts::remove(const UnsavedText& text) {
  std::error_code ignored;
  std::filesystem::remove(text.kept_in, ignored);
}

}  // namespace hostir::gui
