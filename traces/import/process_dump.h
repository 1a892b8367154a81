// The contents of another tool's file about one process: its groups, and its calls in order.
//
// File readers only fill this in. No file knows the other ranks, so assemble.h derives members,
// meetings and clocks of a run from all files together. What a file does not contain stays unset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/model/run.h"

namespace hostir::traces::import {

/// Larger ranks indicate damage and would cost memory, because facts are stored for every rank.
inline constexpr int64_t kMostRanks = 1 << 17;

/// `ProcessDump::rank_found_by` where no communicator is known to be the world's.
inline constexpr std::string_view kLargestCommunicator = "its rank in its largest communicator";

struct DumpGroup {
  std::string name;
  std::string description;
  std::optional<std::vector<model::Rank>> members;  // global ranks, in the group's order
  std::optional<uint32_t> size;
  std::optional<uint64_t> content_key;
  std::optional<int32_t> position;       // of the process in the group
  std::optional<int64_t> last_enqueued;  // sequence number; -1: none
};

struct DumpCall {
  size_t group = 0;  // in ProcessDump::groups
  enum class Shape : uint8_t { kCollective, kSend, kRecv } shape = Shape::kCollective;
  uint64_t sequence = 0;            // for collectives: in the group
  std::optional<int64_t> peer;      // send, recv: position in the group
  std::optional<int64_t> together;  // calls of a group with the same number were issued together
  bool coalesced = false;           // a whole launch of collectives: its end is on record
  model::Call call;
  model::MemberState state = model::MemberState::kUnknown;
  model::Times times;
  std::optional<int64_t> execution_ns;  // on the device, where no start is recorded
  std::optional<bool> timed_out;
  std::optional<int64_t> timeout_ms;
  size_t stack = 0;  // in ProcessDump::stacks
};

struct ProcessDump {
  std::string producer;
  std::string version;
  std::string file;
  std::optional<model::Rank> rank;
  std::string rank_found_by;  // `file name`, a field
  std::optional<int64_t> world_size;
  std::string computer;
  std::optional<int64_t> process;
  bool dead = false;                  // the file says that the process has ended
  bool stopped = false;               // by a signal or a debugger
  bool ended = false;                 // it has closed its communicators in order
  bool only_unfinished = false;       // completed calls were omitted on purpose
  bool cut = false;                   // it ends early: later calls may have been made
  std::string cut_where;              // `in the middle of a line` if empty
  bool no_completions = false;        // it records calls, but not that they completed
  bool start_lost = false;            // a ring buffer overwrote the first calls
  bool sequences_lost = false;        // the first calls are lost and the others counted
  std::optional<int64_t> written_ns;  // upper bound: the file's time
  model::Motion motion = model::Motion::kUnknown;  // of the job, if the files say so themselves
  std::string motion_source;
  std::vector<DumpGroup> groups;
  std::vector<DumpCall> calls;                                // as the process made them
  std::vector<std::vector<model::StackFrame>> stacks = {{}};  // innermost first; [0]: unknown
  std::vector<std::string> remarks;  // what was not understood, one sentence each
};

/// A file ends early if two calls behind its end completed on other members, which they cannot have
/// done alone: it was written before the others.
void find_older_files(std::vector<ProcessDump>& dumps);

}  // namespace hostir::traces::import
