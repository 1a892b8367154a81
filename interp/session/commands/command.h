// Commands: everything that a user can do to a session, as values with a text form.
//
// The vocabulary is gdb's. One table (command_table.h) generates help, completion, menus and keys.
// One parser handles typed commands, scripts and the GUI. `to_string` writes a command so that it
// parses back to the same value. Commands say what is wanted, not how a session does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/ids.h"
#include "interp/session/expressions/expression.h"

namespace hostir::interp {

enum class CommandKind : uint8_t {
  kBreak,
  kTbreak,
  kWatch,
  kDprintf,
  kDelete,
  kEnable,
  kDisable,
  kCondition,
  kIgnore,
  kStep,
  kNext,
  kFinish,
  kUntil,
  kContinue,
  kReverseStep,
  kReverseNext,
  kReverseFinish,
  kReverseUntil,
  kReverseContinue,
  kGoto,
  kRun,
  kRank,
  kFocus,
  kFreeze,
  kThaw,
  kSet,
  kWhatIf,
  kInfo,
  kPrint,
  kExamine,
  kInside,
  kBacktrace,
  kList,
  kHelp,
  kQuit,
};

/// Which ranks: `3`, `0,2`, `4..7`, `all`, `group tp` (the focus rank's group over these axes;
/// `group` alone: the innermost axis), `tp=0` (all ranks at this coordinate). `kFocus` if omitted.
struct RankSelector {
  enum class Kind : uint8_t { kFocus, kAll, kList, kGroup, kCoordinate } kind = Kind::kFocus;
  std::vector<Rank> ranks;        // kList, sorted
  std::vector<std::string> axes;  // kGroup: may be empty; kCoordinate: one
  int64_t coordinate = 0;
  friend bool operator==(const RankSelector&, const RankSelector&) = default;
};

/// A place in the program or a kind of event, as the user names it.
struct Place {
  enum class Kind : uint8_t {
    kAddress,     // `@f#9`, `#9` (in the focus rank's function)
    kFunction,    // `@f`: its first instruction
    kValue,       // `%h`: the instructions that define or write it
    kOp,          // `all_reduce`, `all_reduce#1` (the n-th in text order, 1-based)
    kLabel,       // `"name"`
    kLine,        // `12`, `line 12`, `mlp.hir:12`
    kCollective,  // `collective`: any collective
    kRendezvous,  // `rendezvous`, `rendezvous %c`: all members of a communicator have arrived
    kNan,         // `nan`, `nan %y`: a written value holds NaN or Inf
    kWrite,       // `write %y`: a write of it has completed
    kFault,       // `fault`
    kEnd,         // `end`: the end of the run
  };
  Kind kind = Kind::kAddress;
  std::string name;    // function, value, mnemonic, label, file
  int64_t number = 0;  // #n, line
  friend bool operator==(const Place&, const Place&) = default;
};

enum class InfoTopic : uint8_t {
  kRanks,
  kColls,
  kWaits,
  kStreams,
  kEvents,
  kMemory,
  kBreak,
  kProgram,
  kLayout,
  kFaults,
  kHistory,
};

struct Command {
  enum class From : uint8_t { kFocus, kRanks, kGlobal };  // where a printed value is read
  CommandKind kind = CommandKind::kStep;
  std::optional<Place> place;           // break, tbreak, watch, dprintf, until, list, inside .. at
  std::optional<Expression> condition;  // break .. if C, condition N C
  RankSelector ranks;                   // break .. on R, rank R, freeze R, print .. rank R
  std::vector<int64_t> numbers;         // step N, goto N, list N, delete N.., ignore N COUNT
  std::optional<InfoTopic> topic;       // info
  std::string value;                    // print, x, set, inside, info layout: name without '%'
  From from = From::kFocus;             // print
  char format = 0;                      // print/x: bits; 0: as the dtype reads
  std::vector<SliceRange> slice;        // print %y[0:2, :], set %y[1, 2]
  std::string text;                     // set: the new value; dprintf: its LogText; help: the topic
  friend bool operator==(const Command&, const Command&) = default;
};

/// Errors are kUsage; the message contains the line, a caret and what was expected.
Expected<Command> parse_command(std::string_view text);
std::string to_string(const Command& command);
std::string to_string(const Place& place);
std::string to_string(const RankSelector& ranks);
std::string_view name(InfoTopic topic);

}  // namespace hostir::interp
