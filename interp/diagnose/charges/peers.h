// Sends and recvs without a counterpart: does one name the wrong rank, or did its peer omit a call?
//
// A send that nothing receives looks alike in three cases: the peer stopped, the peer omitted its
// recv, or the send names the wrong rank. What the same call sites did before tells them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

struct WrongPeer {
  MemberRef wrong;
  MemberRef other;  // the counterpart that it should have met
};
/// A send or recv that the peer did not answer before it continued.
struct PassedBy {
  MemberRef waits;    // the call without a counterpart
  model::Rank rank;   // the peer, which omitted the counterpart
  MemberRef earlier;  // the counterpart's previous call
  size_t times = 0;   // number of its previous calls
  MemberRef next;     // the call in which the rank waits now
};

class Peers {
 public:
  Peers(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls) {}

  /// Looks for another call without a counterpart that fits `mine`, so that one of the two names
  /// the wrong rank. The one whose peer matches is the correct one. `passed`: the peer of `mine` is
  /// known to have continued past it.
  std::optional<WrongPeer> wrong_peer(const MemberRef& mine, bool passed = false) const;
  /// A call without a counterpart whose peer has continued: it waits in a later collective.
  std::optional<WrongPeer> wrong_peer() const;
  /// The wrong calls of all ranks from the line of this one, by rank, each with the only call that
  /// it may have been meant to meet.
  std::vector<WrongPeer> alike(const WrongPeer& found) const;
  std::optional<PassedBy> passed_by() const;

 private:
  struct Unanswered {
    MemberRef mine;
    model::Rank peer;
    MemberRef next;  // the collective in which the peer waits for this rank
  };
  std::vector<WrongPeer> readings(const MemberRef& mine, bool passed, size_t most) const;
  std::vector<Unanswered> unanswered() const;
  const MemberRef* first_unfinished(model::Rank rank) const;
  bool plausible(const WrongPeer& found, bool passed) const;
  bool others_wait_for(model::Rank rank, const MemberRef& but) const;
  bool met(const MemberRef& side, model::Rank peer) const;
  bool exchanged(model::Rank a, model::Rank b) const;
  bool left_out_this_round(const Unanswered& call, const MemberRef& earlier) const;
  bool fewer_than_elsewhere(const Unanswered& call, const MemberRef& earlier) const;

  const model::Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
};

}  // namespace hostir::diagnose
