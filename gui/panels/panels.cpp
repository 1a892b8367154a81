#include "gui/panels/panels.h"

namespace hostir::gui {

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
  for (auto make :
       {make_host_ir_panel,  make_phases_panel,   make_editor_panel,    make_layout_panel,
        make_values_panel,   make_history_panel,  make_inside_panel,    make_ledger_panel,
        make_waits_panel,    make_timeline_panel, make_memory_panel,    make_ranks_panel,
        make_schedule_panel, make_breaks_panel,   make_watches_panel,   make_notes_panel,
        make_events_panel,   make_sql_panel,      make_diff_panel,      make_messages_panel,
        make_explain_panel,  make_what_if_panel,  make_statistics_panel}) {
    panels.push_back(make());
  }
  return panels;
}

}  // namespace hostir::gui
