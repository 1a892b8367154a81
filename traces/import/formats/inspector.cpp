#include "traces/import/formats/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "traces/import/formats/json_text.h"
#include "traces/import/formats/names.h"
#include "traces/import/formats/text_lines.h"

namespace hostir::traces::import {

namespace {

class InspectorReader {
 public:
  std::vector<ProcessDump> read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.empty()) continue;
      const auto tree = read_json(line);
      if (!tree || !add(io::PlainView(*tree))) ++strange_;
    }
    std::vector<ProcessDump> out;
    for (auto& [process, dump] : dumps_) {
      if (strange_ > 0) {
        dump.remarks.push_back(
            fmt::format("{} lines of its file are truncated or of another kind", strange_));
      }
      out.push_back(std::move(dump));
    }
    return out;
  }

 private:
  bool add(io::PlainView line) {
    const io::PlainView header = line["header"];
    const io::PlainView collective = line["coll_perf"];
    const auto rank = header["rank"].integer();
    const auto size = header["n_ranks"].integer();
    if (!rank || !size || *rank < 0 || *rank >= *size || *size > kMostRanks) return false;
    if (!collective.present()) return line["p2p_perf"].present();
    const auto number = collective["coll_sn"].integer();
    if (!number || *number < 0) return false;
    const io::PlainView metadata = line["metadata"];
    const std::string computer(metadata["hostname"].text());
    const auto process = metadata["pid"].integer();
    ProcessDump& dump = dumps_[{computer, process.value_or(0)}];
    dump.producer = "NCCL Inspector";
    dump.version = metadata["inspector_output_format_version"].text();
    // The largest communicator is assumed to be the world: its ranks are the global ones.
    if (!dump.rank || *size > dump.world_size) {
      dump.rank = static_cast<model::Rank>(*rank);
      dump.rank_found_by = kLargestCommunicator;
      dump.world_size = *size;
    }
    dump.computer = computer;
    dump.process = process;
    DumpCall& call = dump.calls.emplace_back();
    call.group = group(dump, header, collective["coll"].text(), *rank, *size);
    call.sequence = static_cast<uint64_t>(*number);
    call.call.kind = op_of(collective["coll"].text());
    call.call.name = collective["coll"].text();
    call.state = model::MemberState::kCompleted;
    if (const auto us = collective["coll_exec_time_us"].integer(); us && *us >= 0 && *us < kMostUs)
      call.execution_ns = *us * 1000;
    if (const auto written = metadata["dump_timestamp_us"].integer()) {
      call.times.finished_ns = *written * 1000;
      call.times.upper_bounds = true;
    }
    return true;
  }

  static constexpr int64_t kMostUs = int64_t{1} << 50;

  static size_t group(ProcessDump& dump, io::PlainView header, std::string_view kind, int64_t rank,
                      int64_t size) {
    const std::string name = fmt::format("{} of {}", kind, header["id"].text());
    for (size_t i = 0; i < dump.groups.size(); ++i) {
      if (dump.groups[i].name == name) return i;
    }
    DumpGroup& made = dump.groups.emplace_back();
    made.name = name;
    made.description = name;
    made.size = static_cast<uint32_t>(size);
    made.position = static_cast<int32_t>(rank);
    return dump.groups.size() - 1;
  }

  std::map<std::pair<std::string, int64_t>, ProcessDump> dumps_;  // by host name and process id
  size_t strange_ = 0;
};

/// The calls of a group, by number: the ranks' execution times.
using Times = std::map<uint64_t, std::map<model::Rank, int64_t>>;

/// How many calls a rank has finished on a group, if others have finished more.
std::vector<std::string> behind_sentences(
    const std::string& group, const std::map<model::Rank, std::set<uint64_t>>& finished) {
  uint64_t most = 0;
  for (const auto& [rank, calls] : finished) most = std::max(most, *calls.rbegin());
  std::vector<std::string> out;
  for (const auto& [rank, calls] : finished) {
    if (*calls.rbegin() >= most) continue;
    out.push_back(
        fmt::format("the file of rank {} ends with call {} on {}, and others with call {}", rank,
                    *calls.rbegin(), group, most));
  }
  return out;
}

/// A rank that executes most calls of a group in less than half of every other member's time.
std::optional<std::string> late_sentence(const std::string& group, const Times& times,
                                         size_t members) {
  constexpr size_t kLeastCalls = 3;
  struct Late {
    size_t calls = 0;
    std::vector<int64_t> own_ns, others_ns;
  };
  std::map<model::Rank, Late> late;
  size_t compared = 0;
  for (const auto& [sequence, by_rank] : times) {
    if (by_rank.size() != members || members < 2) continue;
    ++compared;
    const auto shorter = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto last = std::min_element(by_rank.begin(), by_rank.end(), shorter);
    int64_t next_ns = INT64_MAX;
    for (const auto& [rank, ns] : by_rank) {
      if (rank != last->first) next_ns = std::min(next_ns, ns);
    }
    if (next_ns / 2 <= last->second) continue;
    Late& one = late[last->first];
    ++one.calls;
    one.own_ns.push_back(last->second);
    one.others_ns.push_back(next_ns);
  }
  const auto median_us = [](std::vector<int64_t> ns) {
    std::sort(ns.begin(), ns.end());
    return static_cast<double>(ns[ns.size() / 2]) / 1000;
  };
  for (const auto& [rank, one] : late) {
    if (one.calls < kLeastCalls || 2 * one.calls <= compared) continue;
    return fmt::format(
        "rank {} arrives last in {} of {} calls on {}: it executes them in {:.0f} us, "
        "and the others, which wait for it, in {:.0f} us or more",
        rank, one.calls, compared, group, median_us(one.own_ns), median_us(one.others_ns));
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> inspector_sentences(const std::vector<ProcessDump>& dumps) {
  std::map<std::string, Times> times;
  std::map<std::string, std::map<model::Rank, std::set<uint64_t>>> finished;
  std::map<std::string, size_t> sizes;
  for (const ProcessDump& dump : dumps) {
    for (const DumpCall& call : dump.calls) {
      const DumpGroup& group = dump.groups[call.group];
      sizes[group.name] = group.size.value_or(0);
      if (!dump.rank) continue;
      finished[group.name][*dump.rank].insert(call.sequence);
      if (call.execution_ns) times[group.name][call.sequence][*dump.rank] = *call.execution_ns;
    }
  }
  std::vector<std::string> out;
  for (const auto& [group, ranks] : finished) {
    for (std::string& text : behind_sentences(group, ranks)) out.push_back(std::move(text));
    if (auto text = late_sentence(group, times[group], sizes[group]))
      out.push_back(*std::move(text));
  }
  return out;
}

bool looks_like_inspector(std::string_view head) {
  return head.starts_with("{") && head.find("\"header\"") != std::string_view::npos &&
         head.find("inspector_output_format_version") != std::string_view::npos;
}

std::vector<ProcessDump> read_inspector(std::string_view text) {
  return InspectorReader().read(text);
}

}  // namespace hostir::traces::import
