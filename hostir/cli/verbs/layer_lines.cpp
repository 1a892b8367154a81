#include "hostir/cli/verbs/layer_lines.h"

#include <fmt/core.h>

#include <map>

#include "hostir/support/characters.h"

namespace hostir::cli {

namespace {

// The numbers of instructions (`#17`) and those in names of values (`%h_3`) as '#'.
std::string without_numbers(std::string_view text) {
  std::string out;
  bool in_name = false;
  for (const char c : text) {
    if (c == '%' || c == '#') in_name = true;
    if (c == ' ' || c == ',' || c == ';') in_name = false;
    if (!in_name || !is_digit(c))
      out += c;
    else if (!out.ends_with('#'))
      out += '#';
  }
  return out;
}

// The name with one of its numbers as '#', for each number; then with all of them.
std::vector<std::string> forms(const std::string& name) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > begin) out.push_back(name.substr(0, begin) + '#' + name.substr(end));
    begin = end + 1;
  }
  out.push_back(without_numbers(name));
  return out;
}

}  // namespace

std::vector<std::string> collapse_layer_lines(std::span<const NamedLine> lines) {
  std::map<std::string, size_t> count;
  std::vector<std::vector<std::string>> keys(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string text = ' ' + without_numbers(lines[i].text) + '\n' + lines[i].before;
    for (const std::string& form : forms(lines[i].name)) {
      keys[i].push_back(form + text);
      // A name with one number has two equal forms.
      if (keys[i].size() == 1 || keys[i].back() != keys[i].front()) ++count[keys[i].back()];
    }
  }
  // Groups names that differ in a single number. Their other numbers, as in `%w1_0`, stay as they
  // are.
  std::vector<std::string> order;
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < lines.size(); ++i) {
    size_t best = 0;
    for (size_t k = 1; k + 1 < keys[i].size(); ++k) {
      if (count.at(keys[i][k]) > count.at(keys[i][best])) best = k;
    }
    if (count.at(keys[i][best]) == 1) best = keys[i].size() - 1;
    std::vector<size_t>& group = groups[keys[i][best]];
    if (group.empty()) order.push_back(keys[i][best]);
    group.push_back(i);
  }
  std::vector<std::string> out;
  for (const std::string& key : order) {
    const std::vector<size_t>& group = groups.at(key);
    const NamedLine& first = lines[group.front()];
    std::string line = first.before;
    const auto add = [&](const std::string& word) {
      if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    };
    add(first.name);
    if (group.size() > 1) add(fmt::format(".. {} ({}x)", lines[group.back()].name, group.size()));
    add(first.text);
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace hostir::cli
