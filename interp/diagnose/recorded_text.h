// The sentences of a verdict on a recorded run.
#pragma once

#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// `all_reduce f32[64,64] seq 5 on default_pg`, `send f32[4] to rank 1 on default_pg`.
std::string call_name(const model::Run& run, const MemberRef& ref);
/// `all_reduce seq 5 on default_pg`, `recv from rank 0`.
std::string short_call_name(const model::Run& run, const MemberRef& ref);
/// The call as `rank` makes it: of another's send, the recv. `ref` itself if the rank has no part
/// in a send or recv.
MemberRef as_made_by(model::Rank rank, const MemberRef& ref);
/// ` at fr.py:7 in ar, from fr.py:33 in <module>`; empty if no frame is recorded.
std::string at_stack(const model::Run& run, const MemberRef& ref);

/// One sentence without a full stop: the rank at fault, what it did, where, and what the others
/// wait for.
std::string sentence_of(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                        const RecordedVerdict& verdict);
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
/// The sentence if no rank is at fault.
std::string innocent_sentence(const model::Run& run, bool moving);
/// The sentences if `stuck` holds only if nothing moves any more.
std::string not_yet_sentence(const model::Run& run, const RecordedVerdict& stuck);

}  // namespace hostir::diagnose
