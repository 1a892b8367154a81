// SQL queries on the log: saved queries, a text field, and result rows that can be clicked.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "gui/files/export.h"
#include "gui/panels/log/log_fetch.h"
#include "gui/panels/log/sql_schema.h"
#include "hostir/io/files.h"
#include "hostir/support/markup.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

struct SqlKey {
  std::string text;
  uint64_t run = 0;
  friend bool operator==(const SqlKey&, const SqlKey&) = default;
};

struct SavedQuery {
  const char* title;
  const char* text;
};
constexpr SavedQuery kSaved[] = {
    {"Collectives", "select * from collectives"},
    {"Exposed communication", "select * from exposed_communication"},
    {"Slowest waits",
     "select w.event, w.rank, i.address, i.text, w.waited_ns, w.reason, w.waited_for_event\n"
     "from slowest_waits w join instruction i on i.id = w.instruction limit 50"},
    {"Peak memory", "select * from peak_memory"},
    {"Timeline", "select * from v_timeline limit 1000"},
    {"Time per instruction",
     "select i.address, i.text, t.track, sum(t.times) as times, sum(t.total_ns) / 1e3 as us,\n"
     "  min(t.least_ns) as least_ns, max(t.most_ns) as most_ns from instruction_times t\n"
     "join instruction i on i.id = t.instruction group by 1, 3 order by us desc"},
    {"Largest skew of a collective",
     "select event, communicator, sequence, kind, skew_ns, bytes from collectives\n"
     "order by skew_ns desc limit 50"},
    {"Tables", "select name, sql from sqlite_master order by name"},
};

constexpr int64_t kMaxRows = 100000;

class SqlPanel : public Panel {
 public:
  std::string_view id() const override { return "sql"; }
  std::string_view title() const override { return "SQL"; }
  std::string_view hint() const override {
    return "SQL queries on the log. Choose a saved one to begin; Ctrl+Enter runs. A row "
           "with a column `event` "
           "can be clicked.";
  }

  // The query, the line above the answer, and a few rows.
  HeightRequest wanted_height(const Frame& frame) const override {
    constexpr float kRows = 4;
    HeightRequest wanted;
    wanted.fewest = 2 * ImGui::GetFrameHeightWithSpacing() + field_height(frame) +
                    kRows * ImGui::GetTextLineHeightWithSpacing();
    return wanted;
  }
  bool has_table() const override { return drawn_ != nullptr; }
  ExportRequest table() const override {
    return ExportRequest{
        "result.csv",
        [text = csv_of(*drawn_)](const std::string& path) -> std::optional<Expected<void>> {
          return io::write_file(path, text);
        }};
  }

  void draw(Frame& frame) override {
    drawn_ = nullptr;
    const float width = ImGui::GetContentRegionAvail().x;
    const bool beside = width > frame.ui.px(520);
    const float schema = frame.ui.px(200);
    ImGui::BeginChild("query", ImVec2(beside ? width - schema - frame.ui.px(8) : 0, 0));
    draw_query(frame, beside);
    ImGui::EndChild();
    if (!beside) return;
    ImGui::SameLine(0, frame.ui.px(8));
    ImGui::BeginChild("schema", ImVec2(schema, 0));
    choose(schema_.draw(frame, text_));
    ImGui::EndChild();
  }

 private:
  void choose(const std::string& query) {
    if (query.empty()) return;
    text_ = query;
    run();
  }

  static float field_height(const Frame& frame) {
    return ImGui::GetTextLineHeight() * 3 + frame.ui.px(8);
  }

  void draw_query(Frame& frame, bool schema_beside) {
    ImGui::SetNextItemWidth(frame.ui.px(190));
    if (ImGui::BeginCombo("##saved", "saved queries")) {
      for (const SavedQuery& q : kSaved) {
        if (ImGui::Selectable(q.title)) choose(q.text);
        frame.ui.tag(fmt::format("sql/saved/{}", q.title));
      }
      ImGui::EndCombo();
    }
    frame.ui.tag("sql/saved");
    if (!schema_beside) {
      ImGui::SameLine();
      if (ImGui::Button("Tables")) ImGui::OpenPopup("tables");
      frame.ui.tag("sql/tables");
      if (ImGui::BeginPopup("tables")) {
        choose(schema_.draw(frame, text_));
        ImGui::EndPopup();
      }
    }
    ImGui::SameLine();
    if (ImGui::Button("Run")) run();
    frame.ui.tag("sql/run");
    if (ImGui::IsItemHovered()) Ui::tooltip("Ctrl+Enter in the field");
    // Enter inserts a newline and Ctrl+Enter returns true, which deactivates the field: refocus it.
    if (std::exchange(typing_goes_on_, false)) ImGui::SetKeyboardFocusHere();
    if (ImGui::InputTextMultiline("##sql", &text_, ImVec2(-1, field_height(frame)),
                                  ImGuiInputTextFlags_EnterReturnsTrue)) {
      run();
      typing_goes_on_ = true;
    }
    frame.ui.tag("sql/text", text_);
    draw_answer(frame);
  }

  void draw_answer(Frame& frame) {
    if (asked_.run == 0) return frame.ui.empty_hint(hint());
    const SqlKey key = asked_;
    const interp::LogTable* table =
        fetch_.get(frame.model, key, [key](const interp::LogView& log, std::stop_token stop) {
          return log.query(key.text, kMaxRows, stop);
        });
    if (!fetch_.error().empty()) {
      ImGui::PushTextWrapPos(0);
      std::string error = fetch_.error();
      schema_.read(frame);
      if (const std::string meant = schema_.suggestion(error); !meant.empty())
        error += "\n" + meant;
      frame.ui.state_word(StateKind::kMismatch, error);
      ImGui::PopTextWrapPos();
      frame.ui.tag("sql/error", error);
      return;
    }
    if (fetch_.pending() && !cancelled_) {
      const std::string state = asking_text(frame);
      frame.ui.text_dim(state);
      frame.ui.tag("sql/asking", state);
      ImGui::SameLine();
      if (ImGui::SmallButton("Cancel")) cancel(frame);
      frame.ui.tag("sql/cancel");
    } else if (cancelled_) {
      frame.ui.text_dim("cancelled; Run asks again");
      frame.ui.tag("sql/cancelled");
    }
    if (table) draw_result(frame, *table);
  }

  // A query with the same name replaces the running one and thereby cancels it.
  void cancel(Frame& frame) {
    cancelled_ = true;
    frame.model.worker().query_log(
        "sql", [](const interp::LogView&, std::stop_token) { return std::function<void()>(); });
  }

  std::string asking_text(const Frame& frame) {
    if (std::exchange(timed_run_, asked_.run) != asked_.run) asked_at_s_ = frame.model.now_s();
    const double seconds = frame.model.now_s() - asked_at_s_;
    std::string text = seconds < 1 ? "asking ..." : fmt::format("asking ... {:.0f} s", seconds);
    const interp::LogProgress progress = frame.model.worker().query_progress();
    if (progress.total > 0)
      text +=
          fmt::format(", {:.1f} of {:.1f} million events", static_cast<double>(progress.read) / 1e6,
                      static_cast<double>(progress.total) / 1e6);
    return text;
  }

  void run() {
    cancelled_ = false;
    asked_.text = text_;
    ++asked_.run;
  }

  struct CellText {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{:.6g}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const interp::LogBlob& v) const {
      return fmt::format("{} bytes", v.bytes.size());
    }
  };

  struct CsvText {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return csv_field(v); }
    std::string operator()(const interp::LogBlob& v) const {
      return fmt::format("{} bytes", v.bytes.size());
    }
  };

  // RFC 4180.
  static std::string csv_of(const interp::LogTable& table) {
    std::string out;
    for (size_t c = 0; c < table.columns.size(); ++c)
      out += (c ? "," : "") + csv_field(table.columns[c]);
    out += "\n";
    for (const auto& row : table.rows) {
      for (size_t c = 0; c < row.size(); ++c) out += (c ? "," : "") + std::visit(CsvText{}, row[c]);
      out += "\n";
    }
    return out;
  }

  static double number_of(const interp::LogCell& cell) {
    if (const auto* i = std::get_if<int64_t>(&cell)) return static_cast<double>(*i);
    if (const auto* d = std::get_if<double>(&cell)) return *d;
    return 0;
  }

  // The largest value of each purely numeric column, for background bars.
  void measure(const interp::LogTable& table) {
    if (measured_ == &table && measured_run_ == asked_.run) return;
    measured_ = &table;
    measured_run_ = asked_.run;
    largest_.assign(table.columns.size(), 0);
    for (const auto& row : table.rows) {
      for (size_t c = 0; c < row.size() && c < largest_.size(); ++c) {
        const double v = number_of(row[c]);
        const bool text = std::holds_alternative<std::string>(row[c]);
        if (text || v < 0 || largest_[c] < 0) {
          largest_[c] = -1;
        } else {
          largest_[c] = std::max(largest_[c], v);
        }
      }
    }
  }

  void draw_result(Frame& frame, const interp::LogTable& table) {
    if (bars_) measure(table);
    std::string count = counted(table.rows.size(), "row");
    if (static_cast<int64_t>(table.rows.size()) >= kMaxRows) count += ", the first ones";
    frame.ui.text_dim(count);
    frame.ui.tag("sql/count", count);
    ImGui::SameLine();
    drawn_ = &table;
    if (ImGui::SmallButton("Export CSV...")) frame.model.export_wish = this->table();
    frame.ui.tag("sql/export");
    ImGui::SameLine();
    ImGui::Checkbox("bars", &bars_);
    frame.ui.tag("sql/bars", bars_ ? "on" : "off");
    if (ImGui::IsItemHovered())
      Ui::tooltip("A bar behind each number, as long as its share of the column's largest");
    constexpr int kMaxColumns = 60;
    const int columns = std::min(static_cast<int>(table.columns.size()), kMaxColumns);
    if (columns == 0) return;
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerV;
    const float space = ImGui::GetContentRegionAvail().x;
    if (space != fitted_space_ || asked_.run != fitted_run_ || &table != fitted_)
      fit_columns(table, static_cast<size_t>(columns), space);
    // ImGui keeps a table's first widths, so new widths need a new id.
    if (!ImGui::BeginTable(fmt::format("result{}", fitted_id_).c_str(), columns, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    int event_column = -1;
    for (int c = 0; c < columns; ++c) {
      ImGui::TableSetupColumn(table.columns[static_cast<size_t>(c)].c_str(),
                              ImGuiTableColumnFlags_WidthFixed, widths_[static_cast<size_t>(c)]);
      if (table.columns[static_cast<size_t>(c)] == "event") event_column = c;
    }
    ImGui::TableHeadersRow();
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(table.rows.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto& row = table.rows[static_cast<size_t>(i)];
        ImGui::PushID(i);
        ImGui::TableNextRow();
        for (int c = 0; c < columns; ++c) {
          ImGui::TableNextColumn();
          const std::string text = std::visit(CellText{}, row[static_cast<size_t>(c)]);
          if (bars_) draw_bar(frame, static_cast<size_t>(c), row[static_cast<size_t>(c)]);
          if (c == 0 && event_column >= 0) {
            if (ImGui::Selectable(text.c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) {
              if (const auto* event = std::get_if<int64_t>(&row[static_cast<size_t>(event_column)]))
                frame.model.selection.event = *event;
            }
            frame.ui.copyable(text);
          } else {
            frame.ui.text(text);
          }
          if (i < 3) frame.ui.tag(fmt::format("sql/{}/{}", i, c), text);
        }
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
  }

  // Every column gets the width of its first rows. If that is too wide for the panel, the widest
  // text columns shrink, so that the numbers stay visible.
  void fit_columns(const interp::LogTable& table, size_t columns, float space) {
    constexpr size_t kRows = 200;
    constexpr size_t kLetters = 300;
    fitted_ = &table;
    fitted_run_ = asked_.run;
    fitted_space_ = space;
    ++fitted_id_;
    const float between = 2 * ImGui::GetStyle().CellPadding.x + 1;
    widths_.assign(columns, 0);
    std::vector<bool> texts(columns, false);
    float sum = ImGui::GetStyle().ScrollbarSize;
    for (size_t c = 0; c < columns; ++c) {
      widths_[c] = ImGui::CalcTextSize(table.columns[c].c_str()).x;
      for (size_t i = 0; i < std::min(kRows, table.rows.size()); ++i) {
        const std::string text = std::visit(CellText{}, table.rows[i][c]).substr(0, kLetters);
        widths_[c] = std::max(widths_[c], ImGui::CalcTextSize(text.c_str()).x);
        texts[c] = texts[c] || std::holds_alternative<std::string>(table.rows[i][c]);
      }
      sum += widths_[c] + between;
    }
    const float least = ImGui::CalcTextSize("0").x * 14;
    while (sum > space) {
      size_t widest = columns;
      float next =
          least;  // the next narrower width: the widest columns shrink to this width together
      for (size_t c = 0; c < columns; ++c) {
        if (!texts[c] || widths_[c] <= least) continue;
        if (widest == columns || widths_[c] > widths_[widest]) {
          if (widest < columns) next = std::max(next, widths_[widest]);
          widest = c;
        } else if (widths_[c] < widths_[widest]) {
          next = std::max(next, widths_[c]);
        }
      }
      if (widest == columns) break;
      const float step = std::min(sum - space, std::max(1.0f, widths_[widest] - next));
      widths_[widest] -= step;
      sum -= step;
    }
  }

  void draw_bar(const Frame& frame, size_t column, const interp::LogCell& cell) const {
    if (column >= largest_.size() || largest_[column] <= 0) return;
    const auto share = static_cast<float>(number_of(cell) / largest_[column]);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x * share;
    ImGui::GetWindowDrawList()->AddRectFilled(
        at, ImVec2(at.x + width, at.y + ImGui::GetTextLineHeight()),
        with_alpha(frame.ui.pal().accent, 0.28f));
  }

  SqlSchema schema_;
  bool bars_ = false;
  std::vector<float> widths_;  // of the columns, see `fit_columns`
  const interp::LogTable* fitted_ = nullptr;
  uint64_t fitted_run_ = 0;
  float fitted_space_ = 0;
  int fitted_id_ = 0;
  std::vector<double> largest_;  // by column; -1: not all values are numbers
  const interp::LogTable* measured_ = nullptr;
  uint64_t measured_run_ = 0;
  const interp::LogTable* drawn_ = nullptr;  // in the last frame
  std::string text_;
  bool typing_goes_on_ = false;
  bool cancelled_ = false;
  SqlKey asked_;
  uint64_t timed_run_ = 0;  // `asked_at_s_` is when this run was first drawn
  double asked_at_s_ = 0;
  LogFetch<SqlKey, interp::LogTable> fetch_{"sql"};
};

}  // namespace

std::unique_ptr<Panel> make_sql_panel() { return std::make_unique<SqlPanel>(); }

}  // namespace hostir::gui
