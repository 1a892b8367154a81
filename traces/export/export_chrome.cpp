#include "traces/export/export_chrome.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>
#include <unordered_map>

#include "hostir/support/json_text.h"
#include "interp/diagnose/user_frame.h"

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

void put_slice(const LogReader& log, ChromeWriter& writer, const LogEvent& e, int64_t thread,
               int64_t begin, int64_t end) {
  const interp::LogInstruction& instruction = log.instructions()[e.instruction];
  const std::string name = instruction.kernel.empty() ? instruction.mnemonic : instruction.kernel;
  std::string arguments =
      fmt::format(R"("event":{},"address":{})", e.id, quoted(instruction.address));
  if (e.bytes != 0) arguments += fmt::format(R"(,"bytes":{})", e.bytes);
  if (e.waited_ns != 0) arguments += fmt::format(R"(,"waited_ns":{})", e.waited_ns);
  if (!instruction.text.empty()) arguments += R"(,"text":)" + quoted(instruction.text);
  const std::string_view category = instruction.op_class == OpClass::kCommunication
                                        ? "communication"
                                    : !instruction.kernel.empty() ? "kernel"
                                                                  : "host";
  writer.put(fmt::format(
      R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      quoted(name), category, e.rank, thread, us(begin), us(end - begin), arguments));
}

bool known(int64_t begin, int64_t end) {
  return begin != kUnknownNs && end != kUnknownNs && end >= begin;
}

/// Communication events that have a slice: the anchors of flow arrows.
struct Anchor {
  uint32_t branch = 0;
  int64_t thread = 0;
  int64_t issued_ns = kUnknownNs;
};
using Anchors = std::unordered_map<int64_t, Anchor>;

/// The first thread of the calls that belong to no stream: other tools' files know communicators.
constexpr int64_t kCommunicatorThreads = 1000;

Expected<void> put_events(const LogReader& log, ChromeWriter& writer, Anchors& anchors,
                          std::stop_token stop) {
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
      put_slice(log, writer, e, 0, e.host_start_ns, e.host_end_ns);
    }
    if (e.stream >= 0 && known(e.start_ns, e.finish_ns)) {
      put_slice(log, writer, e, thread_of(e), e.start_ns, e.finish_ns);
      if (log.instructions()[e.instruction].op_class == OpClass::kCommunication) {
        anchors[e.id] = {e.branch, thread_of(e)};
      }
    } else if (e.stream < 0 &&
               log.instructions()[e.instruction].op_class == OpClass::kCommunication) {
      anchors[e.id] = {e.branch, kCommunicatorThreads, e.host_start_ns};
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
  for (const auto& [instruction, facts] : known)
    out.emplace(instruction, diagnose::stack_text(facts));
  return out;
}

/// A call from another tool's file. It begins when it was issued and the previous one of its
/// communicator had ended; one in flight ends with the record. Returns its end.
int64_t put_call(const Places& places, ChromeWriter& writer, const LogCollective& c, int64_t thread,
                 int64_t begin_ns, int64_t record_end_ns) {
  const bool in_flight = c.finish_ns == kUnknownNs;
  const int64_t end = std::max(begin_ns, in_flight ? record_end_ns : c.finish_ns);
  std::string arguments = fmt::format(R"("seq":{},"bytes":{},"state":"{}")", c.sequence, c.bytes,
                                      in_flight ? "in flight" : "completed");
  const auto place = places.find(c.instruction);
  if (place != places.end() && !place->second.empty())
    arguments += R"(,"place":)" + quoted(place->second);
  writer.put(fmt::format(
      R"({{"ph":"X","name":{},"cat":"communication","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
      quoted(c.kind + (in_flight ? " (in flight)" : "")), c.rank, thread, us(begin_ns),
      us(end - begin_ns), arguments));
  return end;
}

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

Expected<void> put_flows(const LogReader& log, ChromeWriter& writer, const Anchors& anchors,
                         std::stop_token stop) {
  interp::EventFilter filter;
  filter.limit = std::numeric_limits<int64_t>::max();
  HOSTIR_ASSIGN_OR_RETURN(const Places places, places_of(log, stop));
  HOSTIR_ASSIGN_OR_RETURN(const auto members, log.collectives(filter, std::move(stop)));
  std::map<FlowKey, std::vector<FlowEnd>> meetings;
  std::map<std::pair<interp::Rank, int64_t>, int64_t> ended_ns;  // by rank and thread
  int64_t record_end_ns = kUnknownNs;
  const auto note = [&](int64_t ns) {
    if (ns != kUnknownNs && (record_end_ns == kUnknownNs || ns > record_end_ns)) record_end_ns = ns;
  };
  for (const LogCollective& member : members) note(member.finish_ns);
  for (const auto& [event, anchor] : anchors) note(anchor.issued_ns);
  for (const LogCollective& member : members) {
    const auto anchor = anchors.find(member.event);  // members of a group have none
    if (anchor == anchors.end() || member.comm >= log.communicators().size()) continue;
    const auto& [branch, thread, issued_ns] = anchor->second;
    if (thread < kCommunicatorThreads) {
      if (known(member.start_ns, member.finish_ns))
        meetings[key_of(log, member, branch)].push_back(
            {member, thread, member.start_ns, member.finish_ns});
      continue;
    }
    if (issued_ns == kUnknownNs) continue;
    const int64_t own = thread + member.comm;
    const auto [before, is_first] = ended_ns.try_emplace({member.rank, own}, issued_ns);
    if (is_first) {
      writer.put(
          fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                      member.rank, own, quoted(log.communicators()[member.comm].name)));
    }
    const int64_t begin_ns = std::max(issued_ns, before->second);
    before->second = put_call(places, writer, member, own, begin_ns, record_end_ns);
    meetings[key_of(log, member, branch)].push_back({member, own, begin_ns, before->second});
  }
  int64_t flow = 0;
  for (auto& [key, ends] : meetings) {
    // Calls from files have no transfer times: a transfer begins when the last member has arrived.
    int64_t all_came_ns = 0;
    for (const FlowEnd& end : ends) all_came_ns = std::max(all_came_ns, end.at_ns);
    for (FlowEnd& end : ends) {
      if (end.thread >= kCommunicatorThreads) end.at_ns = all_came_ns;
    }
    // Not if the clocks disagree, or if the call met other calls than its number says.
    std::erase_if(ends, [](const FlowEnd& end) { return end.at_ns > end.end_ns; });
    put_arrows(writer, ends, flow);
  }
  return {};
}

}  // namespace

Expected<void> export_chrome(const LogReader& log, std::ostream& out, std::stop_token stop) {
  ChromeWriter writer(out);
  put_names(log, writer);
  Anchors anchors;
  HOSTIR_TRY(put_events(log, writer, anchors, stop));
  HOSTIR_TRY(put_flows(log, writer, anchors, std::move(stop)));
  writer.close(log);
  if (!out.flush()) return fail(ErrorKind::kRuntime, "export_write", "cannot write the export");
  return {};
}

}  // namespace hostir::traces
