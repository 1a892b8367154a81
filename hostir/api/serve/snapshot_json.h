// What `info` shows of a snapshot, as JSON.
//
// One shape per topic, listed in hostir/api/README.md. Only the JSON files here include it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "interp/session/commands/command.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::api {

/// Members keep the order in which they are written.
using Json = nlohmann::ordered_json;

/// `value`: of `info layout`, without '%'; empty: all values of the focus rank.
Json topic_json(interp::InfoTopic topic, const std::string& value,
                const interp::Snapshot& snapshot);
/// The position of a run in its history.
Json position_json(const interp::Snapshot& snapshot);
/// `[[lo, hi], ...]`.
Json box_json(const Box& box);

}  // namespace hostir::api
