// The verdict on a recorded run, whose calls are known but whose hosts are not: which rank is at
// fault.
//
// diagnose() reports only what is certain: members that disagree, ranks that wait. This analysis
// also uses the whole record of calls. It distinguishes a rank that omitted a call, made an extra
// one, swapped two or addressed another peer from one that only stopped. It describes the repair as
// edits of the record, so that the verdict can be tested. No rank is blamed for being slow.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/diagnose/engine/queues.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

enum class Charge : uint8_t {
  kNone,
  kLeftOut,        // missing a call that the others make
  kExtraCall,      // a call that the others do not make
  kSwapped,        // two calls in the other order
  kDifferentCall,  // different kind, element type, size, root or reduction
  kBlocks,         // an exchange with mismatched blocks
  kWrongPeer,      // a send or recv that names the wrong rank
  kWrongGroup,     // a call on another group than the others
  kNeverCame,      // it stopped before a call in which others wait
  kDied,           // its process has ended
  kStopped,        // its process was stopped in a call by a signal or a debugger
  kNoRecord,       // others wait for a rank without a record
  kOrder,          // ranks wait for each other in a cycle
};
/// `left_out_call`, `extra_call`, ...; `none`.
std::string_view name(Charge charge);

/// An edit of one rank's calls; indices are into calls_by_rank().
struct CallEdit {
  enum class Kind : uint8_t { kAdd, kRemove, kMove, kChange };
  Kind kind = Kind::kAdd;
  model::Rank rank = model::kNoRank;
  size_t at = 0;                       // kAdd: before this index
  size_t to = 0;                       // kMove: before this index
  MemberRef pattern;                   // kAdd, kChange: copy of this call of another rank
  model::CommunicatorId communicator;  // kAdd: of the copy; not valid: as in the pattern

  static CallEdit add(model::Rank rank, size_t at, const MemberRef& pattern) {
    return {.kind = Kind::kAdd, .rank = rank, .at = at, .pattern = pattern};
  }
  static CallEdit remove(model::Rank rank, size_t at) {
    return {.kind = Kind::kRemove, .rank = rank, .at = at};
  }
  static CallEdit move(model::Rank rank, size_t at, size_t to) {
    return {.kind = Kind::kMove, .rank = rank, .at = at, .to = to};
  }
  static CallEdit change(model::Rank rank, size_t at, const MemberRef& pattern) {
    return {.kind = Kind::kChange, .rank = rank, .at = at, .pattern = pattern};
  }
};

struct RecordedVerdict {
  Charge charge = Charge::kNone;
  std::string sentence;
  std::vector<model::Rank> culprits;  // ascending; empty: none, or either of two sides
  std::vector<model::Rank> suspects;  // candidates, if the culprit cannot be determined
  std::vector<model::Rank> waiting;
  MemberRef at;       // the culprit's wrong call, or its last one; may be empty
  MemberRef missing;  // the call the others make and the culprit does not; may be empty
  model::CommunicatorId communicator;
  std::optional<uint64_t> sequence;  // of the first wrong call
  size_t count = 1;                  // calls left out, or made in excess
  std::vector<CallEdit> repair;      // edits to apply together; empty: none known
  std::string repair_text;           // `with all_reduce seq 5 added on rank 2`
  std::string also;                  // a second explanation of the hang; ends the sentence
  std::vector<model::Rank> alike;    // culprits that make the same mistake on other groups
  bool has_second = false;           // `also` tells another fault
  std::vector<std::string> notes;
  std::vector<std::string> not_known;
  /// If nobody is accused only because the calls are younger than their timeouts: the verdict if
  /// none of them moves any more. `sentence` repeats its sentence. Null: there is none.
  std::shared_ptr<const RecordedVerdict> if_stuck;
  /// The ranks without a record of a call have files, but these do not show what they did: nobody
  /// is accused, and `suspects` has the ranks.
  bool unknown = false;
  bool is_fault() const { return charge != Charge::kNone && !unknown; }
  /// The verdict that names a culprit: this one or `if_stuck`; this one if neither does.
  const RecordedVerdict& accusation() const { return if_stuck ? *if_stuck : *this; }
};

RecordedVerdict judge(const model::Run& run);
/// Moves `ranks` from the accused to the suspects, because their files do not show what they did.
/// `because` begins the sentence.
void spare(const std::vector<model::Rank>& ranks, const std::string& because,
           RecordedVerdict& verdict);
/// For a log: the kind is `deadlock`, or `collective_mismatch` if calls differ.
model::Verdict to_verdict(const RecordedVerdict& judged);

}  // namespace hostir::diagnose
