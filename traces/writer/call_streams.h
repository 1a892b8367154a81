// Streams for calls whose source names none.
#pragma once

#include "interp/model/run.h"

namespace hostir::traces {

/// Puts the timed calls of a run without tasks on streams, as libraries run them: those of a rank
/// on one communicator run in order, and so do its sends and receives with one peer. A call is
/// ready when it was issued and the call before it on its stream has ended. Calls without a time of
/// issue, and completed ones without a time of completion, stay without a stream.
void add_call_streams(model::Run& run);

}  // namespace hostir::traces
