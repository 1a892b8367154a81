// Decides whether an accusation explains the whole hang.
#pragma once

#include <string>
#include <vector>

#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// A rank that only stopped, or that has no record, would continue to the calls in which the others
/// wait, and all would complete. If not, either other ranks of `waited` stopped too, and are
/// accused as well, or there is another cause: then no rank is accused.
void check_explanation(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                       const std::vector<Waited>& waited, RecordedVerdict& verdict);

/// True if some ring buffer lost calls: such a job cannot be run again.
bool some_lost(const model::Run& run);

/// A rank without a file is accused, because a process that lives writes its file. One whose record
/// lacks the call, because it was overwritten or ends before, is only suspected.
void spare_ranks_with_a_record(const model::Run& run, RecordedVerdict& verdict);

/// `verdict` is on a repair of `run`. True if it assumes more than `run` records: that a rank
/// without a record did something, or that a blocked rank (`held_up`) did not continue.
bool goes_beyond_record(const model::Run& run, const std::vector<model::Rank>& held_up,
                        const RecordedVerdict& verdict);

/// `; rank 7, which left no record, would explain the hang as well`, if the accused ranks
/// have a record and all would complete if only the ranks without one went on; else empty.
std::string missing_also_explains(const model::Run& run, const RecordedVerdict& verdict);

}  // namespace hostir::diagnose
