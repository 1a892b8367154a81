// How whoever waits for something long watches it and calls it off.
//
// What prepares (reading, lowering, making inputs) names each part before it begins; asked to stop,
// it ends there, having changed nothing. Copied freely; a default one watches nothing.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::interp {

struct Preparing {
  std::stop_token stop;
  std::function<void(std::string_view part)> part;  // "lowering @mlp"; may be empty

  /// Tells that a part begins. Errors: `cancelled`.
  Expected<void> begin(std::string_view what) const {
    if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "cancelled", "cancelled");
    if (part) part(what);
    return {};
  }
};

}  // namespace hostir::interp
