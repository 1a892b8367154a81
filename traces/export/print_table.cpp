#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hostir/support/json_text.h"
#include "hostir/support/markup.h"
#include "hostir/support/text.h"
#include "traces/export/queries.h"

namespace hostir::traces {

using interp::LogBlob;
using interp::LogCell;
using interp::LogTable;

namespace {

std::string hexadecimal(const LogBlob& blob) {
  std::string out;
  for (const char c : blob.bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

struct CellText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const LogBlob& value) const { return hexadecimal(value); }
};

struct CellJson {
  nlohmann::json operator()(std::monostate) const { return nullptr; }
  nlohmann::json operator()(int64_t value) const { return value; }
  nlohmann::json operator()(double value) const {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
  }
  nlohmann::json operator()(const std::string& value) const { return value; }
  nlohmann::json operator()(const LogBlob& value) const { return hexadecimal(value); }
};

std::string print_csv(const LogTable& table) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    out += (i > 0 ? "," : "") + csv_field(table.columns[i]);
  }
  out += '\n';
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += (i > 0 ? "," : "") + csv_field(std::visit(CellText{}, row[i]));
    }
    out += '\n';
  }
  return out;
}

std::string print_json(const LogTable& table) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i]] = std::visit(CellJson{}, row[i]);
    }
    list.push_back(std::move(object));
  }
  return json_text(list, 1) + "\n";
}

std::string one_line(std::string text) {
  constexpr size_t kMaxWidth = 100;
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kMaxWidth) {
    size_t end = kMaxWidth - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}

std::string print_aligned(const LogTable& table) {
  std::vector<std::vector<std::string>> lines = {table.columns};
  std::vector<bool> right(table.columns.size(), !table.rows.empty());
  for (const auto& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) right[i] = false;
      line.push_back(one_line(std::visit(CellText{}, row[i])));
    }
  }
  return aligned(lines, right);
}

}  // namespace

Expected<TableFormat> parse_table_format(std::string_view text) {
  if (text == "table") return TableFormat::kTable;
  if (text == "csv") return TableFormat::kCsv;
  if (text == "json") return TableFormat::kJson;
  return fail(ErrorKind::kUsage, "trace_format",
              fmt::format("unknown format \"{}\", expected table, csv or json", text));
}

std::string print_table(const LogTable& table, TableFormat format) {
  switch (format) {
    case TableFormat::kTable:
      return print_aligned(table);
    case TableFormat::kCsv:
      return print_csv(table);
    case TableFormat::kJson:
      return print_json(table);
  }
  return {};
}

}  // namespace hostir::traces
