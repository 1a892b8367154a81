#include "interp/core/engine.h"

namespace hostir::interp {

void Engine::report_deadlock() {
  Fault fault;
  fault.kind = ErrorKind::kStuck;
  fault.record.kind = "deadlock";
  fault.record.sentence = "nothing can move";
  record_fault(std::move(fault));
}

}  // namespace hostir::interp
