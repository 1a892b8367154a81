// Compares a run with one on another backend after every instruction.
//
// Both runs record every write (ValueRecorder), so every instruction finishes before the next one
// starts. Writes are aligned by rank and by their number among the rank's instructions: both runs
// execute the same Code. The first difference, in the reference's order of issue, names the rank,
// the instruction, the iteration and the element, so that nothing above it is the cause. The
// default tolerance is that of the coarsest dtype to which a value or its origins were rounded: an
// f32 value computed from a bf16 product may differ by a rounding to bf16.
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

/// Runs the program on both backends. `max_bytes`: recorded contents per run; later writes are
/// counted as skipped. Elements that the reference marks as never written are not compared.
/// Errors: those of run(); a fault of either run.
Expected<ReferenceReport> check_reference(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& actual, const RunOptions& reference,
                                          const Tolerance& tolerance,
                                          int64_t max_bytes = int64_t{4} << 30);

}  // namespace hostir::interp
