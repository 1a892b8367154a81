// The times of two runs of one program, per kernel and collective: predicted against measured.
//
// Instructions are matched by address. The time of an instruction is the median, over ranks and
// iterations, of its time on the device. For a collective, the shortest member counts, because the
// other members also wait for the last one to arrive.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/log/log_view.h"

namespace hostir::interp {

struct TimesRow {
  std::string address;  // `@mlp.host#9`
  std::string what;     // the kernel's name, or the mnemonic
  double a_ns = 0;
  double b_ns = 0;
};

/// In the order of A's program; instructions that only one side timed are left out.
/// Errors: those of LogView::query().
Expected<std::vector<TimesRow>> compare_times(const LogView& a, const LogView& b,
                                              const std::stop_token& stop);

/// exp(mean |log(a / b)|) - 1; 0 without rows.
double mean_time_error(const std::vector<TimesRow>& rows);

}  // namespace hostir::interp
