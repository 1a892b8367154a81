// Progress and cancellation of long preparations.
//
// The preparing code (reading, lowering, creating inputs) announces each part before it begins.
// When asked to stop it returns at the next part, without having changed anything. Cheap to copy; a
// default-constructed one does nothing.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::interp {

struct PrepareProgress {
  std::stop_token stop;
  std::function<void(std::string_view part)> part;  // "lowering @mlp"; may be empty

  /// Announces that a part begins. Errors: `cancelled`.
  Expected<void> begin(std::string_view what) const {
    if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "cancelled", "cancelled");
    if (part) part(what);
    return {};
  }
};

}  // namespace hostir::interp
