#include "interp/session/session.h"

namespace hostir::interp {

Expected<Inside> Session::inside(const InsideQuery&) {
  return fail(ErrorKind::kRuntime, "no_inside",
              "numbers inside an instruction are computed from the buffers of a run: this is a log "
              "alone");
}

}  // namespace hostir::interp
