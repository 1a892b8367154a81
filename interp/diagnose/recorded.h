// The verdict on a recorded run, whose calls are known and whose hosts are not: who is at fault.
//
// diagnose() says what holds for certain: members that disagree, who waits for whom. Here the whole
// record of calls is looked at as well: a rank that left a call out, made one too many, swapped two
// or addressed another peer is told from one that only stopped. What would repair the run is said
// as edits of the record, so that the verdict can be tried. Nobody is accused of being slow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/diagnose/queues.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

enum class Charge : uint8_t {
  kNone,
  kLeftOut,        // a call that the others make
  kExtraCall,      // one that the others do not make
  kSwapped,        // two calls in the other order
  kDifferentCall,  // another kind, element type, size, root or reduction
  kBlocks,         // an exchange whose blocks do not fit
  kWrongPeer,      // a send or recv that names another rank than the one that waits
  kNeverCame,      // it stopped before a call in which others wait
  kDied,           // its process is gone
  kNoRecord,       // others wait for a rank of which nothing is recorded
  kOrder,          // ranks wait for each other in a circle
};
/// `left_out_call`, `extra_call`, ...; `none`.
std::string_view name(Charge charge);

/// An edit of one rank's calls; places are those of calls_by_rank().
struct CallEdit {
  enum class Kind : uint8_t { kAdd, kRemove, kMove, kChange };
  Kind kind = Kind::kAdd;
  model::Rank rank = model::kNoRank;
  size_t at = 0;      // kAdd: before this one
  size_t to = 0;      // kMove: before this one
  MemberRef pattern;  // kAdd, kChange: as this call of another rank
};

struct RecordedVerdict {
  Charge charge = Charge::kNone;
  std::string sentence;
  std::vector<model::Rank> culprits;  // ascending; empty: nobody, or neither of two sides
  std::vector<model::Rank> suspects;  // where nothing tells which of them it is
  std::vector<model::Rank> waiting;
  MemberRef at;       // the culprit's call that is wrong, or its last one; may be empty
  MemberRef missing;  // what others call where the culprit does not; may be empty
  model::CommunicatorId communicator;
  std::optional<uint64_t> sequence;  // where it goes wrong
  std::vector<CallEdit> repair;      // all of them; empty: none is known
  std::string repair_text;           // `with all_reduce seq 5 added on rank 2`
  std::vector<std::string> notes;
  std::vector<std::string> not_known;
  bool is_fault() const { return charge != Charge::kNone; }
};

RecordedVerdict judge(const model::Run& run);

}  // namespace hostir::diagnose
