// What backends answer that evaluate nothing themselves.
#include "interp/core/backend.h"

namespace hostir::interp {

namespace {

tl::unexpected<Error> unknown(const Backend& backend) {
  return fail(ErrorKind::kRuntime, "no_element",
              "the backend `" + backend.capabilities().name +
                  "` does not tell what an element is made of; `sim` does");
}

}  // namespace

Expected<LaunchElement> Backend::launch_element(const LaunchQuestion&) { return unknown(*this); }

Expected<ExchangeElement> Backend::exchange_element(const ExchangeQuestion&) {
  return unknown(*this);
}

}  // namespace hostir::interp
