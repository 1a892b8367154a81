#include "traces/export/export_chrome.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hostir/support/json_text.h"
#include "interp/diagnose/calls/user_frame.h"
#include "traces/recorded/job_findings.h"

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogCollective;
using interp::LogEvent;

namespace {

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

/// Microseconds with three decimals.
std::string us(int64_t ns) {
  const int64_t whole = ns / 1000;
  const int64_t rest = ns % 1000;
  return fmt::format("{}{}.{:03}", ns < 0 && whole == 0 ? "-" : "", whole, rest < 0 ? -rest : rest);
}

class ChromeWriter {
 public:
  explicit ChromeWriter(std::ostream& out) : out_(out) {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  }
  void put(const std::string& object) {
    out_ << (first_ ? "" : ",\n") << object;
    first_ = false;
  }
  void close(const LogReader& log) {
    out_ << fmt::format("\n],\"otherData\":{{\"command\":{},\"backend\":{},\"program\":{}}}}}\n",
                        quoted(log.run().command_line), quoted(log.run().backend),
                        quoted("@" + log.run().entry));
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

int64_t thread_of(const LogEvent& event) { return event.stream + 1; }

void put_names(const LogReader& log, ChromeWriter& writer) {
  for (const interp::LogTrack& track : log.tracks()) {
    if (track.stream < 0) {
      writer.put(fmt::format(
          R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"args":{{"name":"rank {0}"}}}})",
          track.rank));
      writer.put(fmt::format(
          R"({{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
          track.rank));
    }
    writer.put(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", track.rank,
        track.stream + 1, quoted(track.stream < 0 ? "host" : "stream " + track.name)));
    writer.put(fmt::format(
        R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})",
        track.rank, track.stream + 1));
  }
}

/// By instruction: where the user's code calls it.
using Places = std::unordered_map<int64_t, std::string>;

Expected<Places> places_of(const LogReader& log, std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect(std::move(stop)));
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          connection->prepare("SELECT instruction, function, file, line FROM frame "
                                              "ORDER BY instruction, depth"));
  std::unordered_map<int64_t, model::Instruction> known;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) break;
    model::StackFrame frame;
    frame.function = s.text(1);
    frame.place.file = s.text(2);
    if (const int64_t line = s.integer_or(3, 0); line > 0)
      frame.place.line = static_cast<uint32_t>(line);
    known[s.integer(0)].frames.push_back(std::move(frame));
  }
  Places out;
  for (const auto& [instruction, facts] : known) {
    std::string text = diagnose::stack_text(facts);
    if (!text.empty()) out.emplace(instruction, std::move(text));
  }
  return out;
}

/// Without an end it is open: viewers show that it did not end.
void put_slice(const LogReader& log, const Places& places, ChromeWriter& writer, const LogEvent& e,
               int64_t thread, int64_t begin, std::optional<int64_t> end,
               const std::string& more = {}) {
  const interp::LogInstruction& instruction = log.instructions()[e.instruction];
  const std::string name =
      (instruction.kernel.empty() ? instruction.mnemonic : instruction.kernel) +
      (end ? "" : " (in flight)");
  std::string arguments =
      fmt::format(R"("event":{},"address":{})", e.id, quoted(instruction.address));
  if (e.bytes != 0) arguments += fmt::format(R"(,"bytes":{})", e.bytes);
  if (e.waited_ns != 0) arguments += fmt::format(R"(,"waited_ns":{})", e.waited_ns);
  if (!instruction.text.empty()) arguments += R"(,"text":)" + quoted(instruction.text);
  const auto place = places.find(e.instruction);
  if (place != places.end()) arguments += R"(,"place":)" + quoted(place->second);
  arguments += more;
  const std::string_view category = instruction.op_class == OpClass::kCommunication
                                        ? "communication"
                                    : !instruction.kernel.empty() ? "kernel"
                                                                  : "host";
  const std::string extent =
      end ? fmt::format(R"("ph":"X","ts":{},"dur":{})", us(begin), us(*end - begin))
          : fmt::format(R"("ph":"B","ts":{})", us(begin));
  writer.put(fmt::format(R"({{{},"name":{},"cat":"{}","pid":{},"tid":{},"args":{{{}}}}})", extent,
                         quoted(name), category, e.rank, thread, arguments));
}

bool known(int64_t begin, int64_t end) {
  return begin != kUnknownNs && end != kUnknownNs && end >= begin;
}

/// Communication events that ended: the anchors of flow arrows.
struct Anchor {
  uint32_t branch = 0;
  int64_t thread = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
using Anchors = std::unordered_map<int64_t, Anchor>;
/// Sequence numbers of calls, by event.
using Sequences = std::unordered_map<int64_t, uint64_t>;

/// Since when each stream has been free: work in flight begins then, or when it was issued.
class StreamEnds {
 public:
  /// Begin and end of a stream's work, in order of issue. The first in flight has no end; what is
  /// behind it has not begun.
  std::optional<std::pair<int64_t, std::optional<int64_t>>> span_of(const LogEvent& e) {
    if (e.stream < 0) return std::nullopt;
    Free& free = by_stream_[{e.rank, e.stream}];
    if (known(e.begin_ns(), e.finish_ns)) {
      free.since_ns = std::max(free.since_ns, e.finish_ns);
      return std::pair(e.begin_ns(), std::optional(e.finish_ns));
    }
    if (e.finish_ns != kUnknownNs || e.host_end_ns == kUnknownNs || free.blocked)
      return std::nullopt;
    free.blocked = true;
    return std::pair(std::max(e.host_end_ns, free.since_ns), std::optional<int64_t>());
  }

 private:
  struct Free {
    int64_t since_ns = INT64_MIN;
    bool blocked = false;
  };
  std::map<std::pair<interp::Rank, int32_t>, Free> by_stream_;
};

Expected<void> put_events(const LogReader& log, ChromeWriter& writer, const Sequences& sequences,
                          Anchors& anchors, std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(const Places places, places_of(log, stop));
  StreamEnds streams;
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect(std::move(stop)));
  HOSTIR_ASSIGN_OR_RETURN(const interp::Lineage lineage, load_lineage(*connection));
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                          EventScanner::create(*connection, log.tables().limits(), {}));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
    if (event == nullptr) return {};
    const LogEvent& e = *event;
    if (!lineage.contains(e.branch, e.decision)) continue;
    if (known(e.host_start_ns, e.host_end_ns)) {
      put_slice(log, places, writer, e, 0, e.host_start_ns, e.host_end_ns);
    }
    if (const auto span = streams.span_of(e)) {
      const auto sequence = sequences.find(e.id);
      const std::string number =
          sequence == sequences.end() ? "" : fmt::format(R"(,"seq":{})", sequence->second);
      put_slice(log, places, writer, e, thread_of(e), span->first, span->second, number);
      if (span->second && log.instructions()[e.instruction].op_class == OpClass::kCommunication) {
        anchors[e.id] = {e.branch, thread_of(e), span->first, *span->second};
      }
    }
    const int64_t time = e.stream >= 0 ? e.finish_ns : e.host_end_ns;
    if (e.live_bytes >= 0 && time != kUnknownNs) {
      writer.put(fmt::format(
          R"({{"ph":"C","name":"live bytes","pid":{},"tid":0,"ts":{},"args":{{"bytes":{}}}}})",
          e.rank, us(time), e.live_bytes));
    }
  }
}

/// Identifies a meeting: communicator, group, sequence number and, for send and recv, the positions
/// of both sides.
using FlowKey = std::tuple<uint32_t, uint32_t, int32_t, uint64_t, int32_t, int32_t>;

FlowKey key_of(const LogReader& log, const LogCollective& c, uint32_t branch) {
  int32_t source = -1, destination = -1;
  if (c.peer >= 0) {
    int32_t own = -1;
    for (const auto& group : log.communicators()[c.comm].groups) {
      const auto at = std::find(group.begin(), group.end(), c.rank);
      if (at != group.end()) own = static_cast<int32_t>(at - group.begin());
    }
    const bool sends = c.kind == "send";
    source = sends ? own : c.peer;
    destination = sends ? c.peer : own;
  }
  return {branch, c.comm, c.group, c.sequence, source, destination};
}

struct FlowEnd {
  LogCollective member;
  int64_t thread = 0;
  int64_t at_ns = 0;
  int64_t end_ns = 0;
};

/// Arrows from the last member to arrive to every other one, at the start of the transfer.
void put_arrows(ChromeWriter& writer, const std::vector<FlowEnd>& ends, int64_t& flow) {
  const auto arrival_ns = [](const FlowEnd& end) {
    return end.member.arrival_ns == kUnknownNs ? end.at_ns : end.member.arrival_ns;
  };
  const auto last = std::max_element(ends.begin(), ends.end(), [&](const auto& a, const auto& b) {
    return arrival_ns(a) < arrival_ns(b);
  });
  const auto put = [&](std::string_view phase, const FlowEnd& end, std::string_view binding) {
    writer.put(fmt::format(
        R"({{"ph":"{}","name":{},"cat":"collective","id":{},"pid":{},"tid":{},"ts":{}{}}})", phase,
        quoted(end.member.kind), flow, end.member.rank, end.thread, us(end.at_ns), binding));
  };
  for (auto end = ends.begin(); end != ends.end(); ++end) {
    if (end == last) continue;
    ++flow;
    put("s", *last, "");
    put("f", *end, R"(,"bp":"e")");
  }
}

void put_flows(const LogReader& log, ChromeWriter& writer, const Anchors& anchors,
               const std::vector<LogCollective>& members) {
  std::map<FlowKey, std::vector<FlowEnd>> meetings;
  for (const LogCollective& member : members) {
    const auto anchor = anchors.find(member.event);  // members of a group have none
    if (anchor == anchors.end() || member.comm >= log.communicators().size()) continue;
    const auto& [branch, thread, begin_ns, end_ns] = anchor->second;
    meetings[key_of(log, member, branch)].push_back({member, thread, begin_ns, end_ns});
  }
  int64_t flow = 0;
  for (auto& [key, ends] : meetings) {
    // A transfer begins when the last member has arrived, also where no start is on record.
    int64_t all_came_ns = INT64_MIN;
    for (const FlowEnd& end : ends) all_came_ns = std::max(all_came_ns, end.at_ns);
    for (FlowEnd& end : ends) {
      if (end.member.start_ns == kUnknownNs) end.at_ns = all_came_ns;
    }
    // No arrow if the clocks disagree, or if the call met calls other than its number says.
    std::erase_if(ends, [](const FlowEnd& end) { return end.at_ns > end.end_ns; });
    put_arrows(writer, ends, flow);
  }
}

// Viewers show open slices until the last event.
void put_end(const LogReader& log, ChromeWriter& writer) {
  const int64_t end_ns = record_end_ns(log);
  if (log.extent().event_count == 0 || end_ns <= log.extent().end_ns) return;
  writer.put(
      fmt::format(R"({{"ph":"i","s":"g","name":"the dumps were written","pid":0,"tid":0,"ts":{}}})",
                  us(end_ns)));
}

}  // namespace

Expected<void> export_chrome(const LogReader& log, std::ostream& out, std::stop_token stop) {
  ChromeWriter writer(out);
  put_names(log, writer);
  interp::EventFilter filter;
  filter.limit = std::numeric_limits<int64_t>::max();
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogCollective> members, log.collectives(filter, stop));
  Sequences sequences;
  for (const LogCollective& member : members) sequences.emplace(member.event, member.sequence);
  Anchors anchors;
  HOSTIR_TRY(put_events(log, writer, sequences, anchors, std::move(stop)));
  put_flows(log, writer, anchors, members);
  put_end(log, writer);
  writer.close(log);
  if (!out.flush()) return fail(ErrorKind::kRuntime, "export_write", "cannot write the export");
  return {};
}

}  // namespace hostir::traces
