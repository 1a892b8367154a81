// One rank at one position: its host thread, and the pending work of its streams.
//
// Plain values. Times are in ns, virtual (`sim`) or since the run's origin. The program counter is
// the instruction that the rank executes next, or the one it is blocked in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"
#include "interp/core/ids.h"
#include "interp/core/views.h"

namespace hostir::interp {

/// `runnable`, `blocked`, `done`, `not started`.
std::string_view name(RankStatus status);

/// A loop or call that contains the program counter, outermost first.
struct FrameSnapshot {
  enum class Kind : uint8_t { kLoop, kCall } kind = Kind::kLoop;
  std::string address;    // of the `for` or `call`
  std::string variable;   // loop variable without '%', or the callee
  int64_t iteration = 0;  // value of the loop variable
};

/// An asynchronous instruction that has not finished.
struct TaskSnapshot {
  enum class State : uint8_t { kQueued, kRunning } state = State::kQueued;
  TaskId id = kNoTask;
  CodeIndex code = 0;
  std::string address;  // `@f#9`
  std::string text;     // `all_reduce %y seq 0`, short
  int64_t issued_ns = 0;
  std::vector<TaskId> waits_for;
};

struct StreamSnapshot {
  StreamIndex index = 0;
  std::string name;
  std::vector<TaskSnapshot> tasks;  // unfinished tasks, in order of issue
};

/// A named event of the host function that currently holds a task.
struct EventSnapshot {
  std::string name;  // without '%'
  TaskId task = kNoTask;
  bool done = true;
};

/// What a blocked rank waits for.
struct WaitSnapshot {
  std::string sentence;  // "rank 0 waits on host for %e: all_reduce seq 2 of %c, rank 1 missing"
  TaskId task = kNoTask;
  std::vector<Rank> ranks;  // ranks that must act before it can continue
};

struct RankSnapshot {
  Rank rank = 0;
  RankStatus status = RankStatus::kRunnable;
  bool frozen = false;
  CodeIndex code = 0;    // program counter
  std::string function;  // without '@'
  std::string address;   // `@mlp.host#9`
  std::string op;        // mnemonic there
  SourceSpan span;       // in ProgramView::sources
  std::vector<FrameSnapshot> frames;
  uint64_t steps = 0;          // host instructions executed by this rank
  uint64_t last_decision = 0;  // number of the last decision that moved this rank
  int64_t host_clock_ns = 0;
  std::optional<WaitSnapshot> waits;
  std::vector<StreamSnapshot> streams;
  std::vector<EventSnapshot> events;

  size_t outstanding() const {
    size_t n = 0;
    for (const StreamSnapshot& s : streams) n += s.tasks.size();
    return n;
  }
};

}  // namespace hostir::interp
