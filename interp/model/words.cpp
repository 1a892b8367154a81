// The wording for the contents of a run: places, calls, states, lists of ranks.

#include <fmt/core.h>

#include <string_view>

#include "hostir/ops/record.h"
#include "interp/model/run.h"

namespace hostir::model {

namespace {

std::string text_of(const SourcePlace& place) {
  return place.line ? fmt::format("{}:{}", place.file, *place.line) : place.file;
}

std::string joined(const std::vector<int64_t>& values) {
  std::string out;
  for (const int64_t v : values) out += (out.empty() ? "" : ",") + std::to_string(v);
  return out;
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
  std::string out = kind_text(call);
  if (call.reduction) out += " " + std::string(name(*call.reduction));
  if (call.dtype || call.shape) {
    out += " " + (call.dtype ? std::string(name(*call.dtype)) : std::string("?"));
    out += "[" + (call.shape ? joined(*call.shape) : std::string("?")) + "]";
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
  constexpr size_t kRow = 4;  // at least this many consecutive ranks are printed as a range
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < kRow) end = i + 1;
    out += (i ? ", " : "") + std::to_string(ranks[i]);
    if (end > i + 1) out += ".." + std::to_string(ranks[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace hostir::model
