// Factory functions of all panels, one file each.
#pragma once

#include <memory>

#include "gui/tree/panel.h"

namespace hostir::gui {

std::unique_ptr<Panel> make_host_ir_panel();
std::unique_ptr<Panel> make_phases_panel();
std::unique_ptr<Panel> make_editor_panel();
std::unique_ptr<Panel> make_layout_panel();
std::unique_ptr<Panel> make_values_panel();
std::unique_ptr<Panel> make_history_panel();
std::unique_ptr<Panel> make_inside_panel();
std::unique_ptr<Panel> make_ledger_panel();
std::unique_ptr<Panel> make_waits_panel();
std::unique_ptr<Panel> make_timeline_panel();
std::unique_ptr<Panel> make_statistics_panel();
std::unique_ptr<Panel> make_memory_panel();
std::unique_ptr<Panel> make_ranks_panel();
std::unique_ptr<Panel> make_schedule_panel();
std::unique_ptr<Panel> make_breaks_panel();
std::unique_ptr<Panel> make_events_panel();
std::unique_ptr<Panel> make_sql_panel();
std::unique_ptr<Panel> make_diff_panel();
std::unique_ptr<Panel> make_messages_panel();
std::unique_ptr<Panel> make_explain_panel();
std::unique_ptr<Panel> make_watches_panel();
std::unique_ptr<Panel> make_notes_panel();
std::unique_ptr<Panel> make_what_if_panel();

}  // namespace hostir::gui
