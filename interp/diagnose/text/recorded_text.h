// The sentences of a verdict on a recorded run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

/// `all_reduce f32[64,64] seq 5 on default_pg`, `send f32[4] to rank 1 on default_pg`.
std::string call_name(const model::Run& run, const MemberRef& ref);
/// `all_reduce seq 5 on default_pg`, `recv from rank 0`.
std::string short_call_name(const model::Run& run, const MemberRef& ref);
/// `all_reduce on default_pg`, `recv from rank 0`: for a call of an earlier round, whose number
/// could be mistaken for that of the missing call.
std::string unnumbered_name(const model::Run& run, const MemberRef& ref);
/// Where some of `ranks` are not members of the call's group, the same call on groups of theirs:
/// `all_reduce f32[64] on their tp groups`. Empty if all are members.
std::string name_on_own_groups(const model::Run& run, const MemberRef& ref,
                               const std::vector<model::Rank>& ranks, bool with_type);
/// The same call on `rank`: the recv that belongs to another rank's send, and the send that belongs
/// to a recv. `ref` itself if the rank takes no part in the send or recv.
MemberRef as_made_by(model::Rank rank, const MemberRef& ref);
/// ` at fr.py:7 in ar, from fr.py:33 in <module>`; empty if no frame is recorded.
std::string at_stack(const model::Run& run, const MemberRef& ref);

/// Ranks that arrived at the call, except `but`; ascending.
std::vector<model::Rank> others_at(const MemberRef& ref, const std::vector<model::Rank>& but);
/// `one` if the subject is one rank, else `many`.
std::string_view verb(const std::vector<model::Rank>& ranks, std::string_view one,
                      std::string_view many);

/// `rank 2 never came to all_reduce f32[4] seq 7 on default_pg, in which ranks 0, 1 wait at
/// fr.py:7`.
std::string absence_text(const model::Run& run, const MemberRef& call,
                         const std::vector<model::Rank>& absent,
                         const std::vector<model::Rank>& waiting);
/// `; it finished`: why the ranks no longer come; empty if it is not known, or not the same for
/// all.
std::string state_text(const model::Run& run, const std::vector<model::Rank>& ranks);

/// Rank `from` waits in `call` for rank `to`.
struct CircleStep {
  model::Rank from = model::kNoRank;
  model::Rank to = model::kNoRank;
  MemberRef call;
};
/// `ranks wait for each other in a circle: rank 0 waits for rank 1 in ..`; only the beginning of a
/// long one.
std::string circle_text(const model::Run& run, const std::vector<CircleStep>& steps);

/// One sentence without a full stop: the rank at fault, what it did, where, and what the others
/// wait for.
std::string sentence_of(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                        const RecordedVerdict& verdict);

/// The sentence if no rank is at fault.
std::string innocent_sentence(const model::Run& run, bool moving);
/// The sentences if `stuck` holds only if nothing moves any more.
std::string not_yet_sentence(const model::Run& run, const RecordedVerdict& stuck);

}  // namespace hostir::diagnose
