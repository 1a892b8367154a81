#include "gui/panels/waits/called.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace hostir::gui {

namespace {

using interp::LedgerCell;
using interp::LedgerRow;
using model::Call;

struct CallField {
  const char* name;
  std::string (*text)(const Call&);
};

template <class T>
std::string optional_name(const std::optional<T>& value) {
  return value ? std::string(name(*value)) : std::string();
}
template <class T>
std::string optional_number(const std::optional<T>& value) {
  return value ? std::to_string(*value) : std::string();
}
std::string counts_text(const std::vector<int64_t>& numbers) {
  return numbers.empty() ? std::string() : fmt::format("[{}]", fmt::join(numbers, ", "));
}

// The fields that all members must agree on, and those that a person compares.
constexpr std::array<CallField, 9> kCallFields = {{
    {"op", [](const Call& c) { return model::kind_text(c); }},
    {"reduction", [](const Call& c) { return optional_name(c.reduction); }},
    {"dtype", [](const Call& c) { return optional_name(c.dtype); }},
    {"shape",
     [](const Call& c) { return c.shape ? fmt::format("[{}]", fmt::join(*c.shape, ",")) : ""; }},
    {"elements", [](const Call& c) { return optional_number(c.total_elems); }},
    {"per row", [](const Call& c) { return optional_number(c.row_elems); }},
    {"root", [](const Call& c) { return optional_number(c.root); }},
    {"sends", [](const Call& c) { return counts_text(c.sends); }},
    {"expects", [](const Call& c) { return counts_text(c.receives); }},
}};

bool is_told_if_equal(std::string_view field) {
  return field != "elements" && field != "per row" && field != "sends" && field != "expects";
}

// One row for each call and line, the most frequent ones first.
std::vector<CalledRow> called_rows(const LedgerRow& row) {
  std::vector<CalledRow> out;
  std::map<std::tuple<std::string, uint32_t>, size_t> known;
  for (const LedgerCell& cell : row.cells) {
    const uint32_t line = cell.arrived() ? cell.member->instruction.index : 0;
    const auto [at, added] = known.try_emplace({cell.call, line}, out.size());
    if (added) out.push_back({&cell, {}, false, {}, {}});
    out[at->second].ranks.push_back(cell.rank());
  }
  for (CalledRow& each : out) {
    std::ranges::sort(each.ranks);
    each.expected = each.first->arrived() && each.first->state != LedgerCell::State::kDiffers;
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [](const CalledRow& each) {
    return std::tuple(each.first->arrived(), each.expected, each.ranks.size());
  });
  return out;
}

}  // namespace

Called called_of(const LedgerRow& row) {
  Called out;
  out.rows = called_rows(row);
  const bool has_expected = !out.rows.empty() && out.rows.front().expected;
  for (const CallField& field : kCallFields) {
    std::vector<std::string> texts;
    for (const CalledRow& each : out.rows)
      texts.push_back(each.first->arrived() ? field.text(each.first->member->call) : std::string());
    std::vector<std::string> arrived;
    for (size_t i = 0; i < out.rows.size(); ++i) {
      if (out.rows[i].first->arrived()) arrived.push_back(texts[i]);
    }
    if (arrived.empty() || std::ranges::all_of(arrived, &std::string::empty)) continue;
    const bool equal = std::ranges::all_of(
        arrived, [&](const std::string& text) { return text == arrived.front(); });
    if (equal && !is_told_if_equal(field.name)) continue;
    // A send meets a recv.
    const bool compared = !row.point_to_point || std::string_view(field.name) != "op";
    out.columns.emplace_back(field.name);
    for (size_t i = 0; i < out.rows.size(); ++i) {
      const bool differs = has_expected ? texts[i] != texts.front() : !equal;
      out.rows[i].differs.push_back(compared && differs && out.rows[i].first->arrived());
      out.rows[i].fields.push_back(texts[i]);
    }
  }
  return out;
}

}  // namespace hostir::gui
