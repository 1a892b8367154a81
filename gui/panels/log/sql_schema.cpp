#include "gui/panels/log/sql_schema.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/text/suggest.h"

namespace hostir::gui {

namespace {

// Computed tables come first: they answer fastest.
constexpr const char* kTables =
    "select name, 'view' from computed_tables where name != 'computed_tables' union all "
    "select * from (select name, type from sqlite_master where type in ('table', 'view') "
    "and name not like 'sqlite%' order by type = 'table', name)";

Expected<std::vector<SqlTable>> read_schema(const interp::LogView& log,
                                            const std::stop_token& stop) {
  constexpr int64_t kMost = 5000;
  HOSTIR_ASSIGN_OR_RETURN(const interp::LogTable rows, log.query(kTables, kMost, stop));
  std::vector<SqlTable> out;
  for (const auto& row : rows.rows) {
    const auto* name = std::get_if<std::string>(&row[0]);
    const auto* type = std::get_if<std::string>(&row[1]);
    if (!name || !type) continue;
    SqlTable table{*name, *type == "view", {}};
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::LogTable columns,
        log.query(fmt::format("pragma table_info(\"{}\")", *name), kMost, stop));
    for (const auto& column : columns.rows) {
      const auto* text = column.size() > 1 ? std::get_if<std::string>(&column[1]) : nullptr;
      if (text) table.columns.push_back(*text);
    }
    out.push_back(std::move(table));
  }
  return out;
}

}  // namespace

bool SqlSchema::read(Frame& frame) {
  const std::vector<SqlTable>* tables = fetch_.get(
      frame.model, frame.model.last_opened(),
      [](const interp::LogView& log, std::stop_token stop) { return read_schema(log, stop); });
  // kept for suggestions; the schema does not change
  if (tables && tables_.size() != tables->size()) tables_ = *tables;
  return tables != nullptr;
}

std::string SqlSchema::draw(Frame& frame, std::string& text) {
  if (!read(frame)) {
    frame.ui.text_dim(fetch_.error());
    return {};
  }
  std::string chosen;
  frame.ui.text_dim("views, then tables");
  for (const SqlTable& table : tables_) {
    const bool open = ImGui::TreeNodeEx(
        table.name.c_str(), ImGuiTreeNodeFlags_OpenOnArrow | ImGuiTreeNodeFlags_SpanAvailWidth);
    frame.ui.tag("sql/table/" + table.name);
    if (ImGui::IsItemHovered())
      Ui::tooltip("%s of %zu columns\nclick: show its first rows; arrow: its columns",
                  table.view ? "view" : "table", table.columns.size());
    if (ImGui::IsItemClicked() && !ImGui::IsItemToggledOpen())
      chosen = fmt::format("select * from {} limit 1000", table.name);
    if (!open) continue;
    for (const std::string& column : table.columns) {
      if (ImGui::Selectable(column.c_str())) text += (text.empty() ? "" : " ") + column;
      frame.ui.tag("sql/column/" + table.name + "/" + column);
    }
    ImGui::TreePop();
  }
  return chosen;
}

std::string SqlSchema::suggestion(std::string_view error) const {
  constexpr std::string_view kMarks[] = {"no such table: ", "no such column: "};
  for (const std::string_view mark : kMarks) {
    const size_t at = error.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = error.substr(at + mark.size());
    const std::string_view wrong = rest.substr(0, rest.find_first_of(" \n\""));
    std::vector<std::string> names;
    for (const SqlTable& table : tables_) {
      if (mark == kMarks[0]) names.push_back(table.name);
      if (mark == kMarks[1]) names.insert(names.end(), table.columns.begin(), table.columns.end());
    }
    if (const auto best = text::nearest(wrong, names))
      return fmt::format("did you mean \"{}\"?", *best);
  }
  return {};
}

}  // namespace hostir::gui
