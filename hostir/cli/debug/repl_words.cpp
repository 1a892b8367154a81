#include "hostir/cli/debug/repl_words.h"

#include <fmt/core.h>

#include <charconv>

#include "hostir/support/text.h"

namespace hostir::cli {

namespace {

struct Row {
  ReplWord word;
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
};

constexpr Row kRows[] = {
    {ReplWord::kDisplay, "display", "[/FORMAT] [PRINTED]",
     "Print this at every stop: display %y[0, :], display max(%y) rank all. Without a value, print "
     "all displays now."},
    {ReplWord::kUndisplay, "undisplay", "[NUMBER..]", "Stop printing these displays, or all."},
    {ReplWord::kCommands, "commands", "[NUMBER..]",
     "Read commands up to a line `end`. They run at each stop at these breakpoints, or at the last "
     "one made."},
    {ReplWord::kSource, "source", "FILE", "Run the commands in a file, up to the first error."},
    {ReplWord::kUp, "up", "[COUNT]", "Select the enclosing loop or call; list shows it."},
    {ReplWord::kDown, "down", "[COUNT]", "Select the loop or call inside this one."},
    {ReplWord::kLocals, "info locals", "",
     "Show the integers and tensors that are alive on the focus rank."},
};

}  // namespace

std::optional<ReplLine> find_repl_word(std::string_view line) {
  line = trimmed(line);
  for (const Row& row : kRows) {
    if (!line.starts_with(row.name)) continue;
    const std::string_view rest = line.substr(row.name.size());
    const bool format = row.word == ReplWord::kDisplay && rest.starts_with('/');
    if (!rest.empty() && rest.front() != ' ' && !format) continue;
    return ReplLine{row.word, std::string(trimmed(rest))};
  }
  return std::nullopt;
}

std::string repl_help(std::string_view topic) {
  topic = trimmed(topic);
  std::string out;
  for (const Row& row : kRows) {
    const std::string usage =
        fmt::format("{}{}{}", row.name, row.arguments.empty() ? "" : " ", row.arguments);
    if (topic.empty()) out += fmt::format("  {:<44} {}\n", usage, row.help);
    if (topic == row.name) out = fmt::format("{}\n  {}\n", usage, row.help);
  }
  return out;
}

std::vector<std::string> complete_repl_word(std::string_view line) {
  std::vector<std::string> out;
  for (const Row& row : kRows) {
    // `info locals` competes with the session's `info` only once the blank has been typed.
    const bool has_topic = row.name.find(' ') != std::string_view::npos;
    if (has_topic && line.find(' ') == std::string_view::npos) continue;
    if (row.name.starts_with(line)) out.emplace_back(row.name);
  }
  return out;
}

std::optional<std::vector<uint32_t>> read_numbers(std::string_view text) {
  std::vector<uint32_t> out;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    uint32_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || number < 1) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    out.push_back(number);
  }
  return out;
}

}  // namespace hostir::cli
