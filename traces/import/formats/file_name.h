// Derives the rank from a file's name: Flight Recorder dumps do not contain it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interp/model/ids.h"

namespace hostir::traces::import {

/// `rank` and digits anywhere (`nccl_trace_rank_3`, `rank3-dump.json`); else trailing digits before
/// the extensions that tools add (`trace_3`, `trace_h0_3.json.gz`); else those of the parent folder
/// (`rank_3/trace`).
std::optional<model::Rank> rank_in_name(const std::string& path);
/// The ranks of the files of one job. If `fits(file, rank)` holds for each rank_in_name(), and no
/// two are equal, these. Otherwise the numbers at one place in all names (the second one in
/// `h17_0_1767000000`, `h17_1_1767000000`) that are all different and fit, and do not number a
/// computer (`node1`); if there is no such place, again those of rank_in_name().
std::vector<std::optional<model::Rank>> ranks_in_names(
    const std::vector<std::string>& paths, const std::function<bool(size_t, model::Rank)>& fits);
/// The file's name with `#` for each number: files of one kind have equal patterns.
std::string pattern_of_name(const std::string& path);

}  // namespace hostir::traces::import
