// What can go wrong while a host program runs.
//
// A fault is a value: it never throws and never ends the process. `record` is what is shown and
// logged: the id, one sentence naming ranks and instructions, and notes with source lines. A fatal
// fault ends the run: no rank may step any more. Other faults are reported once and the run may
// continue.
#pragma once

#include <cstdint>

#include "hostir/support/expected.h"
#include "interp/core/trace_sink.h"

namespace hostir::interp {

/// Ids: collective_mismatch, deadlock, race_raw, race_war, race_waw, use_before_wait (the host),
/// use_after_free, double_free, free_in_flight, leak, write_to_readonly, collective_overlap,
/// launch_overlap, collective_layout, collective_strided, alias, uninitialised_read, out_of_bounds,
/// unmatched_send, not_a_member, assert, index_error, max_steps, max_memory. After a run:
/// replicas_differ. If a device or another process does not answer: timeout. A backend that refuses
/// a task uses its own id (kernel_size, kernel_box).
struct Fault {
  FaultRecord record;
  ErrorKind kind = ErrorKind::kRuntime;  // decides the exit status
  Severity severity = Severity::kError;  // a warning does not fail the run
  bool fatal = true;
  std::vector<SourceSpan> spans;  // parallel to `record.notes`
  size_t culprit = 0;             // index into `spans` of the one the sentence is about
  uint64_t position = 0;          // number of decisions taken before the one that found it
};

/// The fault as an error with its notes, for commands and tests.
Error to_error(const Fault& fault);

}  // namespace hostir::interp
