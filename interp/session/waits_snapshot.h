// Who waits for whom, rank by rank, as windows and `info waits` show it.
//
// An edge says that `from` can not go on before `to` acts. The sentence names the culprit: the rank
// that is not waiting (finished, frozen, never started), or else the shortest cycle. Derived from
// the graph of hosts and queues of interp/diagnose.
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
  // Of what `from` waits with: its host (kNoStream) or a stream, and the instruction there.
  StreamIndex from_stream = kNoStream;
  CodeIndex from_code = 0;
  // The meeting that `to` has not come to; kNoComm: `on` is no communication.
  CommIndex comm = kNoComm;
  std::string comm_name;  // without '%'
  uint64_t sequence = 0;  // of send and recv: the ordinal of the pair
};

struct WaitsSnapshot {
  std::vector<RankWait> edges;  // ordered by (from, to)
  std::vector<Rank> culprits;   // ranks that others wait for and that wait for nobody
  std::vector<Rank> cycle;      // shortest cycle, first rank not repeated; empty: none
  std::string sentence;         // "Nobody waits." where there is no edge
};

}  // namespace hostir::interp
