// Derives the rank from a file's name: Flight Recorder dumps do not contain it.
#pragma once

#include <optional>
#include <string>

#include "interp/model/ids.h"

namespace hostir::traces::import {

/// `rank` and digits anywhere (`nccl_trace_rank_3`, `rank3-dump.json`); else trailing digits before
/// the extensions that tools add (`trace_3`, `trace_h0_3.json.gz`); else those of the parent folder
/// (`rank_3/trace`).
std::optional<model::Rank> rank_in_name(const std::string& path);

}  // namespace hostir::traces::import
