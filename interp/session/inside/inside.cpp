#include "interp/session/session.h"

namespace hostir::interp {

Expected<Inside> Session::inside(const InsideQuery&) {
  return fail(ErrorKind::kRuntime, "no_inside",
              "numbers inside an instruction need the buffers of a run, and this is only a log");
}

}  // namespace hostir::interp
