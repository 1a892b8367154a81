// Compares a run with one on another backend after every instruction.
//
// The run goes first, and all its writes are recorded (ValueRecorder), so every instruction
// finishes before the next one starts. Then the reference runs, and takes over the run's contents
// after each write: every instruction computes from the run's own operands. So roundings do not
// add up, a nonlinear op does not make earlier ones larger, and each difference comes from its own
// instruction. The first one in order of issue names the rank, the instruction, the iteration and
// the element. Writes are aligned by rank and by their number among the rank's instructions: both
// runs execute the same Code. The default tolerance is that of the coarsest dtype to which a value
// or its origins were rounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interp/session/checks/compare.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

struct ReferenceDifference {
  std::string value;        // of the host function, without '%'
  std::string instruction;  // `@mlp.host#9`
  Rank rank = kNoRank;
  std::string sentence;  // the complete message
};

struct ReferenceReport {
  int64_t compared = 0;   // writes on single ranks
  int64_t skipped = 0;    // contents that did not fit into the memory limit
  int64_t unmatched = 0;  // writes of the reference that the run does not have
  std::optional<ReferenceDifference> difference;
};

/// Runs the program on both backends. `max_bytes`: recorded contents of the run; later writes are
/// counted as skipped, and the reference continues with its own. Elements that the reference marks
/// as never written are not compared.
/// Errors: those of run(); a fault of either run.
Expected<ReferenceReport> check_reference(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& actual, const RunOptions& reference,
                                          const Tolerance& tolerance,
                                          int64_t max_bytes = int64_t{4} << 30);

}  // namespace hostir::interp
