// The contents of a log as plain records, used by `LogView`.
//
// A record is one row of the log's tables, with names resolved where that is cheap. Times are
// nanoseconds since the run's origin, sizes are bytes. What a log does not know (imported runs, cut
// runs, work in flight) is `kUnknownNs`, -1 or empty, never invented. No behaviour here.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/op_kind.h"
#include "hostir/ir/program.h"
#include "hostir/ir/sharding.h"
#include "interp/core/fault_record.h"
#include "interp/core/ids.h"
#include "interp/model/instruction.h"

namespace hostir::interp {

inline constexpr int64_t kUnknownNs = std::numeric_limits<int64_t>::min();

/// How a recorded run ended.
enum class LogEnding : uint8_t {
  kRunning,  // still being written, by a live process
  kClosed,   // closed by its writer
  kCut,      // the writer died; contains what it had committed
};

struct LogRun {
  std::string tool_version;
  int64_t schema_version = 0;
  std::string command_line;
  std::string backend;
  std::string entry;    // host function, without '@'
  std::string machine;  // name; its text is in `machine_text`
  std::string machine_text;
  std::string host;  // machine, CPU and kernel set
  uint64_t seed = 0;
  uint64_t schedule = 0;
  int64_t rank_count = 0;
  bool virtual_time = false;
  bool complete = true;  // false: instruction rows were dropped (never on sim)
  LogEnding ending = LogEnding::kClosed;
  std::string outcome;  // "ok", "deadlock", "collective_mismatch", ...; empty while running
  std::vector<std::pair<std::string, int64_t>> sizes;           // ?B -> 8
  std::vector<std::pair<std::string, std::string>> properties;  // everything else

  /// Empty if the log has no such property.
  std::string property(std::string_view key) const {
    for (const auto& [name, value] : properties) {
      if (name == key) return value;
    }
    return {};
  }
};

/// A line of the timeline: one stream of a rank, or its host thread.
using TrackId = uint32_t;
struct LogTrack {
  Rank rank = kNoRank;
  int32_t stream = -1;  // index of the stream; -1: the host thread
  std::string name;     // "compute", "host"
};

/// An instruction of the recorded program; the index is `CodeIndex` of the run.
struct LogInstruction : model::Instruction {
  std::string kernel;  // launch: symbol; else empty
  std::string from;    // `@mlp#1, @mlp#2`: the fusion instructions it came from
  OpClass op_class = OpClass::kHost;
  int64_t line = 0;     // 1-based in the host function's source text; 0: unknown
  int32_t stream = -1;  // the stream it enqueues to (also `wait ... on`); -1: it acts on the host
};

struct LogCommunicator {
  std::string name;
  std::string axes;  // "{tp}", or empty for literal groups
  std::vector<std::vector<Rank>> groups;
  uint64_t content_key = 0;
};

/// A tensor of the host function: a parameter, an allocation or a view, by name.
struct LogTensor {
  int64_t id = 0;
  std::string name;  // without '%'
  DType dtype = DType::kF32;
  std::vector<int64_t> extents;  // global
  std::string sharding;          // `<@m, [{dp}, {}]>`; empty: replicated
  std::vector<Box> boxes;        // by rank
};

/// One executed instruction on one rank.
struct LogEvent {
  int64_t id = -1;  // order of issue, 0-based, over all ranks
  uint64_t decision = 0;
  uint32_t branch = 0;
  Rank rank = kNoRank;
  int32_t stream = -1;  // -1: on the host
  CodeIndex instruction = 0;
  LoopPathId loop_path = 0;
  TaskId task = kNoTask;        // for asynchronous instructions
  TaskId waited_for = kNoTask;  // the task a wait waited for
  int64_t host_start_ns = kUnknownNs;
  int64_t host_end_ns = kUnknownNs;
  int64_t queued_ns = kUnknownNs;  // reached the head of its stream with all waits done
  int64_t start_ns = kUnknownNs;   // on the device
  int64_t finish_ns = kUnknownNs;  // unknown: in flight when the log ended
  int64_t waited_ns = 0;           // for waits on the host
  int64_t bytes = 0;
  int64_t live_bytes = -1;  // live bytes of the rank after an alloc or free; -1: other instructions

  /// Start for display: on its stream, or on the host thread. Where a source has no start, work
  /// that finished counts from when it was next on its stream.
  int64_t begin_ns() const {
    if (stream < 0) return host_start_ns;
    return start_ns == kUnknownNs && finish_ns != kUnknownNs ? queued_ns : start_ns;
  }
  int64_t end_ns() const { return stream < 0 ? host_end_ns : finish_ns; }
};

/// One member's ledger row of a collective.
struct LogCollective {
  int64_t event = -1;
  CodeIndex instruction = 0;
  Rank rank = kNoRank;
  CommIndex comm = 0;
  uint64_t sequence = 0;
  int32_t group = 0;      // of the communicator
  int32_t peer = -1;      // send, recv: position of the peer
  std::string kind;       // mnemonic
  std::string reduction;  // empty if there is none
  DType dtype = DType::kF32;
  int64_t bytes = 0;  // as nccl-tests counts
  int64_t member_count = 0;
  int64_t arrival_ns = kUnknownNs;  // reached the head of its stream
  int64_t start_ns = kUnknownNs;    // when the last member had arrived
  int64_t finish_ns = kUnknownNs;
  double algbw_bytes_per_s = 0;  // 0: unknown
  double busbw_bytes_per_s = 0;
};

struct LogMemoryPoint {
  int64_t time_ns = 0;
  int64_t live_bytes = 0;
  int64_t event = -1;  // the alloc or free
};

/// A written tensor: what is known about its contents right after the write.
struct LogValue {
  int64_t event = -1;
  int64_t row = 0;  // in the log's table of values (LogWrite)
  Rank rank = kNoRank;
  int64_t tensor = -1;
  CodeIndex instruction = 0;
  LoopPathId loop_path = 0;
  uint64_t decision = 0;  // the decision that issued the writing instruction
  int64_t time_ns = kUnknownNs;
  uint64_t digest = 0;
  bool has_stats = false;
  double min = 0, max = 0, mean = 0;
  int64_t nan_count = 0, inf_count = 0;
  bool has_data = false;  // the whole local contents are in the log
  std::string element;    // element queries: the value as text; empty: not recorded
  uint32_t branch = 0;    // history branch; undone writes are on other branches
};

/// The location of a write in the log: enough to read it, small enough for lists of millions.
struct LogWrite {
  int64_t event = -1;
  int64_t row = 0;  // in the log's table of values
  Rank rank = kNoRank;
};
/// A page of the writes, ordered by event and rank.
struct LogWrites {
  std::vector<LogWrite> places;
  // start of the next page; the maximum: there is none
  int64_t next_event = std::numeric_limits<int64_t>::max();
  int64_t left_out = 0;  // undone writes left out of this page, with WriteFilter::shown_only
};

struct LogExplain {
  std::string subject;  // `%h`, `@mlp#4`
  std::string rule;
  std::string text;
  Origin value = {};  // of the fusion; invalid in logs of version 6 and before
};

struct LogInput {
  std::string name;
  std::string kind;        // "data", "generator", "file", "none"
  std::string expression;  // generator or path
  uint64_t digest = 0;
};

/// The result of a query, as a table. Cells: NULL, integer, real, text, blob (raw bytes).
struct LogBlob {
  std::string bytes;
  friend bool operator==(const LogBlob&, const LogBlob&) = default;
};
using LogCell = std::variant<std::monostate, int64_t, double, std::string, LogBlob>;
struct LogTable {
  std::vector<std::string> columns;
  std::vector<std::vector<LogCell>> rows;
};

}  // namespace hostir::interp
