// The wording for the contents of a run: places, calls, states, lists of ranks.

#include <fmt/format.h>

#include <string_view>

#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "interp/model/run.h"

namespace hostir::model {

namespace {

std::string text_of(const SourcePlace& place) {
  return place.line ? fmt::format("{}:{}", place.file, *place.line) : place.file;
}

}  // namespace

std::string place_text(const Instruction& instruction) {
  if (!instruction.address.empty()) return instruction.address;
  if (instruction.place && !instruction.place->file.empty()) return text_of(*instruction.place);
  for (const StackFrame& frame : instruction.frames) {
    if (!frame.place.file.empty()) return text_of(frame.place);
  }
  return {};
}

std::string name_of(const Instruction& instruction) {
  std::string out = place_text(instruction);
  if (!instruction.mnemonic.empty()) out += (out.empty() ? "" : " ") + instruction.mnemonic;
  return out;
}

std::string kind_text(const Call& call) {
  if (call.kind) return std::string(record(*call.kind).mnemonic);
  return call.name.empty() ? "unknown operation" : call.name;
}

std::string call_text(const Call& call) {
  if (call.name == "barrier") return call.name;  // recorded as the all_reduce that it is made of
  std::string out = kind_text(call);
  if (call.reduction) out += " " + std::string(name(*call.reduction));
  if (call.dtype || call.shape) {
    out += " " + (call.dtype ? std::string(name(*call.dtype)) : std::string("?"));
    out += "[" + (call.shape ? fmt::format("{}", fmt::join(*call.shape, ",")) : "?") + "]";
  }
  if (call.root) out += fmt::format(" root {}", *call.root);
  return out;
}

std::string call_details(const Call& call) {
  std::string out;
  if (call.total_elems) out += fmt::format(" of {} elements in all", *call.total_elems);
  if (call.row_elems) out += fmt::format(" in rows of {}", *call.row_elems);
  return out;
}

std::string_view name(RankState state) {
  switch (state) {
    case RankState::kUnknown:
      return "unknown";
    case RankState::kNotStarted:
      return "not started";
    case RankState::kRunning:
      return "running";
    case RankState::kBlocked:
      return "blocked";
    case RankState::kFrozen:
      return "frozen";
    case RankState::kDone:
      return "done";
    case RankState::kDead:
      return "dead";
    case RankState::kRemote:
      return "remote";
  }
  return "";
}

std::string_view name(RecordState state) {
  switch (state) {
    case RecordState::kUnknown:
      return "unknown";
    case RecordState::kMissing:
      return "missing";
    case RecordState::kCut:
      return "cut";
    case RecordState::kWhole:
      return "whole";
  }
  return "";
}

std::string_view name(MemberState state) {
  switch (state) {
    case MemberState::kUnknown:
      return "unknown";
    case MemberState::kNotArrived:
      return "not arrived";
    case MemberState::kScheduled:
      return "scheduled";
    case MemberState::kStarted:
      return "started";
    case MemberState::kCompleted:
      return "completed";
  }
  return "";
}

std::string_view name(Motion motion) {
  switch (motion) {
    case Motion::kUnknown:
      return "unknown";
    case Motion::kMoving:
      return "moving";
    case Motion::kStuck:
      return "stuck";
    case Motion::kOver:
      return "over";
  }
  return "";
}

std::string list_of(const std::vector<Rank>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_text(ranks);
}

}  // namespace hostir::model
