// SQL on the log: saved questions, a field, rows that can be clicked.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"

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
    {"Collectives", "select * from v_collectives"},
    {"Exposed communication", "select * from v_exposed_communication"},
    {"Slowest waits", "select * from v_slowest_waits limit 50"},
    {"Peak memory", "select * from v_peak_memory"},
    {"Timeline", "select * from v_timeline limit 1000"},
    {"Time per instruction",
     "select i.address, i.text, count(*) as times, sum(e.finish_ns - e.start_ns) / 1e3 as us "
     "from event e join instruction i on i.id = e.instruction group by 1 order by us desc"},
    {"Largest skew of a collective",
     "select communicator, sequence, kind, skew_ns, bytes from v_collectives order by skew_ns desc "
     "limit 50"},
    {"Tables", "select name, sql from sqlite_master order by name"},
};

constexpr int64_t kMaxRows = 100000;

class SqlPanel : public Panel {
 public:
  std::string_view id() const override { return "sql"; }
  std::string_view title() const override { return "SQL"; }
  std::string_view hint() const override {
    return "Any question to the log, in SQL. Choose a saved one to begin; Ctrl+Enter runs. A row "
           "with a column `event` "
           "can be clicked.";
  }

  void draw(Frame& frame) override {
    ImGui::SetNextItemWidth(frame.ui.px(190));
    if (ImGui::BeginCombo("##saved", "saved questions")) {
      for (const SavedQuery& q : kSaved) {
        if (ImGui::Selectable(q.title)) {
          text_ = q.text;
          run();
        }
        frame.ui.tag(fmt::format("sql/saved/{}", q.title));
      }
      ImGui::EndCombo();
    }
    frame.ui.tag("sql/saved");
    ImGui::SameLine();
    if (ImGui::Button("Run")) run();
    frame.ui.tag("sql/run");
    const float height = ImGui::GetTextLineHeight() * 3 + frame.ui.px(8);
    if (ImGui::InputTextMultiline("##sql", &text_, ImVec2(-1, height),
                                  ImGuiInputTextFlags_CtrlEnterForNewLine)) {
    }
    frame.ui.tag("sql/text", text_);
    if (ImGui::IsItemFocused() && key_pressed("Ctrl+Enter")) run();
    if (asked_.run == 0) return frame.ui.empty_hint(hint());
    const SqlKey key = asked_;
    const interp::LogTable* table =
        fetch_.get(frame.model, key, [key](const interp::LogView& log, std::stop_token stop) {
          return log.query(key.text, kMaxRows, stop);
        });
    if (!fetch_.error().empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, fetch_.error());
      ImGui::PopTextWrapPos();
      frame.ui.tag("sql/error", fetch_.error());
      return;
    }
    if (fetch_.pending() && !cancelled_) {
      frame.ui.text_dim("asking ...");
      ImGui::SameLine();
      if (ImGui::SmallButton("Cancel")) cancel(frame);
      frame.ui.tag("sql/cancel");
    } else if (cancelled_) {
      frame.ui.text_dim("cancelled; Run asks again");
      frame.ui.tag("sql/cancelled");
    }
    if (table) draw_result(frame, *table);
  }

 private:
  // A question of the same name takes the place of the running one, which ends.
  void cancel(Frame& frame) {
    cancelled_ = true;
    frame.model.worker().ask_log(
        "sql", [](const interp::LogView&, std::stop_token) { return std::function<void()>(); });
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

  static void draw_result(Frame& frame, const interp::LogTable& table) {
    std::string count = fmt::format("{} rows", table.rows.size());
    if (static_cast<int64_t>(table.rows.size()) >= kMaxRows) count += ", the first ones";
    frame.ui.text_dim(count);
    frame.ui.tag("sql/count", count);
    constexpr int kMaxColumns = 60;
    const int columns = std::min(static_cast<int>(table.columns.size()), kMaxColumns);
    if (columns == 0) return;
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerV;
    if (!ImGui::BeginTable("result", columns, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    int event_column = -1;
    for (int c = 0; c < columns; ++c) {
      ImGui::TableSetupColumn(table.columns[static_cast<size_t>(c)].c_str());
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
          if (c == 0 && event_column >= 0) {
            if (ImGui::Selectable(text.c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) {
              if (const auto* event = std::get_if<int64_t>(&row[static_cast<size_t>(event_column)]))
                frame.model.selection.event = *event;
            }
          } else {
            ImGui::TextUnformatted(text.c_str());
          }
          if (i < 3) frame.ui.tag(fmt::format("sql/{}/{}", i, c), text);
        }
        ImGui::PopID();
      }
    }
    ImGui::EndTable();
  }

  std::string text_;
  bool cancelled_ = false;
  SqlKey asked_;
  LogFetch<SqlKey, interp::LogTable> fetch_{"sql"};
};

}  // namespace

std::unique_ptr<Panel> make_sql_panel() { return std::make_unique<SqlPanel>(); }

}  // namespace hostir::gui
