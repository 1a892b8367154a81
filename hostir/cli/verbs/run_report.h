// The report that `run` prints about a finished run.
#pragma once

#include <string>

#include "hostir/cli/terminal.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::cli {

/// `%y : 2x4xf32` with the values if they are few, else with min, max, mean, NaN and Inf counts.
std::string describe_value(const std::string& name, const Tensor& tensor);

/// `%y : 2x4xf32, not computed`.
std::string describe_shape(const std::string& name, const Tensor& tensor);

/// Local shapes by rank, with equal neighbours merged: `11|11|10 x 10`.
std::string describe_shards(const interp::NamedOutput& output);

/// Collectives per rank and the reasons for them, peak memory, virtual time.
std::string describe_summary(const interp::RunResult& result, bool virtual_time,
                             const std::string& reasons);

/// Why values are gathered or exchanged between all ranks: a sentence for each of the first few.
std::string describe_reasons(const interp::Prepared& prepared);

/// What `--graphs` captured, and why the rest was not.
void note_graphs(Terminal& terminal, const interp::Interpreter& interpreter);

}  // namespace hostir::cli
