// Sentences that compare a rank's calls with those of other ranks or of its own earlier rounds.
#pragma once

#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

struct PassedBy;
std::string passed_by_sentence(const model::Run& run, const PassedBy& found);
/// For culprits that make `at` before `missing`; `swapped`: they are known to make `missing`
/// next.
std::string order_sentence(const model::Run& run, const RecordedVerdict& verdict, bool swapped);
/// `ranks` make one call of a line on the group of `wrong`, the others on that of `right`.
std::string wrong_group_sentence(const model::Run& run, const std::vector<model::Rank>& ranks,
                                 const MemberRef& wrong, const MemberRef& right);
/// `with barrier seq 2 on default_pg in its place on rank 2`.
std::string wrong_group_repair(const model::Run& run, const std::vector<model::Rank>& ranks,
                               const MemberRef& right);
/// The culprit does not repeat its earlier rounds; `before` is its call in them, and `awaiting` the
/// call of a rank that waits for it to be made again (may be empty).
std::string own_rounds_sentence(const model::Run& run, const RecordedVerdict& verdict,
                                const MemberRef& before, const MemberRef& awaiting);
/// The culprit left out a send or recv. `like` is the same call of a rank with the same program,
/// and `missing` the call of the peer that waits for it.
std::string as_others_sentence(const model::Run& run, const RecordedVerdict& verdict,
                               const MemberRef& like);
/// Of two ranks only one makes `call`, and both go on alike; `may_come`: perhaps the other makes it
/// later.
std::string call_of_one_sentence(const model::Run& run, const MemberRef& call, model::Rank other,
                                 bool may_come);
/// For a single culprit that never came to `missing`, if the rank that waits in it may have made it
/// once too often.
std::string either_sentence(const model::Run& run, const RecordedVerdict& verdict);

}  // namespace hostir::diagnose
