// Which rank waits for which, as shown by windows and `info waits`.
//
// An edge means that `from` cannot continue before `to` acts. The sentence names the culprit: the
// rank that is not waiting (finished, frozen, never started), or else the shortest cycle. Derived
// from the wait graph of hosts and queues in interp/diagnose.
#pragma once

#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct RankWait {
  Rank from = kNoRank;
  Rank to = kNoRank;
  std::string from_text;  // `rank 0 stream comm: all_reduce seq 0 at @f#4`
  std::string to_text;
  std::string on;  // `all_reduce seq 0`, `event of @f#7`
  // The waiting side of `from`: its host (kNoStream) or a stream, and the instruction there.
  StreamIndex from_stream = kNoStream;
  CodeIndex from_code = 0;
  // The meeting at which `to` has not arrived; kNoComm: `on` is not a communication.
  CommIndex comm = kNoComm;
  std::string comm_text;  // as LedgerRow::comm_text
  uint64_t sequence = 0;  // send, recv: the ordinal of the pair
};

struct WaitsSnapshot {
  std::vector<RankWait> edges;  // ordered by (from, to)
  // Ranks that others wait for and that do not wait; else those of a mismatch (accuse_differing()).
  std::vector<Rank> culprits;
  std::vector<Rank> cycle;  // shortest cycle, first rank not repeated; empty: none
  std::string sentence;     // "Nobody waits." if there is no edge
};

}  // namespace hostir::interp
