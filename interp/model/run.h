// What is known about a run, from any source: a live engine, our log, another tool's dump.
//
// Plain values, filled once (builder.h) and then only read; every verdict (interp/diagnose) is a
// function of it. "Unknown" is an explicit value: an empty optional, an id that is not valid(), an
// empty text, or a state called kUnknown; never a zero. What the source lost or contradicts is
// listed in `gaps`. Absent: contents of tensors, the program itself, and any behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interp/model/clock.h"
#include "interp/model/ids.h"
#include "interp/model/instruction.h"
#include "interp/model/meeting.h"

namespace hostir::model {

/// The tool that recorded the run.
struct Producer {
  std::string name;  // `hostir sim`, `PyTorch Flight Recorder`
  std::string version;
  std::vector<std::string> files;
};

enum class RankState : uint8_t {
  kUnknown,
  kNotStarted,
  kRunning,  // its host can continue
  kBlocked,  // its host waits for `waits_for`, or for something unknown
  kFrozen,   // held by the user of a debugger
  kDone,     // returned
  kDead,     // its process ended before it returned
  kRemote,   // in another process that has not reported
};

/// How much of a rank's record the source has.
enum class RecordState : uint8_t {
  kUnknown,
  kMissing,  // the rank exists but has no record: a file not given or not written
  kCut,      // up to some point; later calls may have been made
  kWhole,    // everything up to the moment shown
};

struct RankFacts {
  RankState state = RankState::kUnknown;
  RecordState record = RecordState::kUnknown;
  InstructionId at;                     // the host's next instruction; if kDone, its return
  std::string loops;                    // `%i=3`: iterations of the enclosing loops
  TaskId waits_for = kNoTask;           // kBlocked; kNoTask: unknown
  std::optional<uint64_t> steps;        // host instructions executed
  std::optional<int64_t> last_sign_ns;  // time of the last recorded activity
  ClockId last_sign_clock;
  std::string computer;
  std::optional<int64_t> process;
  std::string found_by;  // what gave the rank: a field, a file name, the user; empty: certain
};

/// One group of ranks that communicate. A declaration with several groups (`comm over {tp}` on a
/// mesh with two axes) yields several communicators of the same name.
struct Communicator {
  std::string name;                          // without '%'
  std::string description;                   // `comm over {tp}`, `default_pg`
  std::optional<uint32_t> group;             // index of the group in its declaration
  std::optional<std::vector<Rank>> members;  // in order
  std::optional<uint32_t> size;              // if the members are unknown
  std::optional<uint64_t> content_key;       // equal in all logs of a run
};

/// A queue of asynchronous work. Streams of our programs exist on every rank under the same name.
struct Stream {
  std::string name;
  std::optional<Rank> rank;  // set: it exists only on that rank
};

enum class TaskState : uint8_t { kUnknown, kQueued, kRunning, kFinished };

/// An asynchronous instruction that a rank issued. A Run holds at least the unfinished ones.
struct Task {
  TaskId id = kNoTask;
  StreamId stream;
  InstructionId instruction;
  std::string loops;
  TaskState state = TaskState::kUnknown;
  bool communication = false;
  std::vector<TaskId> waits_for;  // unfinished tasks of the same rank whose events it awaits
  Times times;
  Rank rank() const { return task_rank(id); }
};

struct Memory {
  Rank rank = kNoRank;
  std::optional<int64_t> live_bytes;
  std::optional<int64_t> peak_bytes;
};

/// The recorded range of one rank's calls on one communicator.
struct CallRange {
  Rank rank = kNoRank;
  CommunicatorId communicator;
  std::optional<uint64_t> first;  // earlier ones were lost (a ring buffer); unset: none were
  std::optional<uint64_t> last;   // the last call; unset: none is recorded
};

/// A call that a rank has not made yet and will make next, as derived from the program.
struct UpcomingCall {
  Rank rank = kNoRank;
  CommunicatorId communicator;
  uint64_t sequence = 0;
  Call call;
  InstructionId instruction;
};

/// A condition of the program that guards some calls.
struct Condition {
  InstructionId instruction;
  std::string text;                 // `coord(x) == 0`
  std::vector<InstructionId> when;  // the calls it guards
  /// By rank; unset: known only at run time.
  std::vector<std::pair<Rank, std::optional<bool>>> holds;
};

/// Something that is unknown, or that two sources contradict.
struct Gap {
  enum class Kind : uint8_t {
    kRankMissing,    // "rank 3: no file"
    kBeginsLate,     // the record of a rank starts after the first call
    kEndsEarly,      // the record of a rank is truncated
    kRowsDropped,    // the writer dropped rows
    kContradiction,  // two sources, or two rows of one, contradict each other
    kNotTranslated,  // an entry of unknown kind or format
  };
  Kind kind = Kind::kContradiction;
  std::optional<Rank> rank;
  CommunicatorId communicator;
  std::optional<uint64_t> sequence;
  std::string text;  // one sentence without a full stop
};

/// Whether the run can still progress.
enum class Motion : uint8_t {
  kUnknown,  // a snapshot of some moment: slow and stuck look the same
  kMoving,
  kStuck,  // nothing can move, according to the engine or a watchdog
  kOver,   // all ranks returned
};

struct Run {
  Producer producer;
  std::string entry;  // the function that all ranks run, with '@'; empty: unknown
  Motion motion = Motion::kUnknown;
  std::string motion_source;  // source of this: `the engine`, `a timeout of 600 s`; empty: unknown
  /// The age of the oldest call in flight when the record was written; unset: unknown.
  std::optional<int64_t> oldest_call_ns;
  /// For kStuck: the source gave up after this time without a completion; unset: a completion is
  /// impossible.
  std::optional<int64_t> gave_up_after_ns;
  std::vector<Clock> clocks;
  std::vector<RankFacts> ranks;  // by rank
  std::vector<Communicator> communicators;
  std::vector<Stream> streams;
  std::vector<Instruction> instructions;
  std::vector<Task> tasks;        // by id
  std::vector<Meeting> meetings;  // by (communicator, sequence)
  std::vector<SendRecv> pairs;    // by (communicator, source, target, ordinal)
  std::vector<Memory> memory;     // by rank; ranks without data are omitted
  std::vector<CallRange> ranges;  // by (rank, communicator)
  std::vector<Gap> gaps;
  // Only if read from a program.
  std::vector<UpcomingCall> upcoming;  // of each rank in order
  std::vector<Condition> conditions;

  const Communicator* find(CommunicatorId id) const {
    return id.index < communicators.size() ? &communicators[id.index] : nullptr;
  }
  const Instruction* find(InstructionId id) const {
    return id.index < instructions.size() ? &instructions[id.index] : nullptr;
  }
  const Stream* find(StreamId id) const {
    return id.index < streams.size() ? &streams[id.index] : nullptr;
  }
  const RankFacts* find(Rank rank) const {
    return rank >= 0 && static_cast<size_t>(rank) < ranks.size() ? &ranks[static_cast<size_t>(rank)]
                                                                 : nullptr;
  }
  const Task* task(TaskId id) const;
  const CallRange* range(Rank rank, CommunicatorId communicator) const;
  const Meeting* meeting(CommunicatorId communicator, uint64_t sequence) const;
};

std::string_view name(RankState state);
std::string_view name(RecordState state);
std::string_view name(MemberState state);
std::string_view name(Motion motion);

/// `rank 1`, `ranks 1, 3`, `ranks 0..511`: ranks in a sentence.
std::string list_of(const std::vector<Rank>& ranks);

}  // namespace hostir::model
