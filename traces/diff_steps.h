// Steps of diff(): each adds its findings to the report. Structure and environment here, values in
// diff_values.cpp.
#pragma once

#include "traces/diff.h"

namespace hostir::traces {

/// Backend, kernels, machine, mesh, schedule: may explain differences.
Expected<void> compare_surroundings(const LogReader& a, const LogReader& b, DiffReport& report);
void compare_inputs(const LogReader& a, const LogReader& b, DiffReport& report);
void compare_instructions(const LogReader& a, const LogReader& b, DiffReport& report);
/// Compares how often each rank executed each instruction. The programs must be the same.
Expected<void> compare_executed(const LogReader& a, const LogReader& b, DiffReport& report);
Expected<void> compare_collectives(const LogReader& a, const LogReader& b, DiffReport& report);
Expected<void> compare_faults(const LogReader& a, const LogReader& b, DiffReport& report);
Expected<void> compare_values(const LogReader& a, const LogReader& b, const DiffOptions& options,
                              DiffReport& report);

/// A finding that does not refer to one event on each side.
DiffFinding structure_finding(std::string what, std::string sentence);

// Cells of a query.
std::string cell_text(const interp::LogCell& cell);
int64_t cell_integer(const interp::LogCell& cell, int64_t fallback = -1);

}  // namespace hostir::traces
