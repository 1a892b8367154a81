// Reads NCCL's RAS report as JSON: how many calls of each kind every rank of a communicator has
// made.
//
// Counters give neither sizes nor an order of kinds. The calls of a communicator are numbered by
// the sum of its counters; only the first call that some ranks lack is recorded, or the last one if
// all have made equally many. Its kind is recorded only if the counters leave one possibility.
#pragma once

#include <vector>

#include "hostir/io/plain_value.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

bool looks_like_ras(io::PlainView report);
/// One dump per rank in the report; ranks are those of the largest communicator. If ranks are one
/// call apart, the job counts as moving: NCCL reads the counters at slightly different times.
std::vector<ProcessDump> read_ras(io::PlainView report);
/// Of the dumps of several reports, those of the newest one. The job counts as stuck if an earlier
/// report, ten seconds or more before, has the same counts; else as moving.
std::vector<ProcessDump> newest_report(std::vector<ProcessDump> dumps);

}  // namespace hostir::traces::import
