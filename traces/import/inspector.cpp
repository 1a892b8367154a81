#include "traces/import/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "traces/import/json_text.h"
#include "traces/import/names.h"
#include "traces/import/text_lines.h"

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
    for (auto& [rank, dump] : dumps_) {
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
    ProcessDump& dump = dumps_[static_cast<model::Rank>(*rank)];
    const io::PlainView metadata = line["metadata"];
    dump.producer = "NCCL Inspector";
    dump.version = metadata["inspector_output_format_version"].text();
    dump.rank = static_cast<model::Rank>(*rank);
    dump.rank_found_by = "the rank its lines give within their communicator";
    dump.computer = metadata["hostname"].text();
    dump.process = metadata["pid"].integer();
    dump.only_unfinished = false;
    DumpCall& call = dump.calls.emplace_back();
    call.group = group(dump, header, collective["coll"].text(), *size);
    call.sequence = static_cast<uint64_t>(*number);
    call.call.kind = op_of(collective["coll"].text());
    call.call.name = collective["coll"].text();
    call.state = model::MemberState::kCompleted;
    if (const auto written = metadata["dump_timestamp_us"].integer()) {
      call.times.finished_ns = *written * 1000;
      call.times.upper_bounds = true;
    }
    return true;
  }

  size_t group(ProcessDump& dump, io::PlainView header, std::string_view kind, int64_t size) {
    const std::string name = fmt::format("{} of {}", kind, header["id"].text());
    for (size_t i = 0; i < dump.groups.size(); ++i) {
      if (dump.groups[i].name == name) return i;
    }
    DumpGroup& made = dump.groups.emplace_back();
    made.name = name;
    made.description = name;
    made.members.emplace();
    for (model::Rank r = 0; r < size; ++r) made.members->push_back(r);
    return dump.groups.size() - 1;
  }

  std::map<model::Rank, ProcessDump> dumps_;
  size_t strange_ = 0;
};

}  // namespace

bool looks_like_inspector(std::string_view head) {
  return head.starts_with("{") && head.find("\"header\"") != std::string_view::npos &&
         head.find("inspector_output_format_version") != std::string_view::npos;
}

std::vector<ProcessDump> read_inspector(std::string_view text) {
  return InspectorReader().read(text);
}

}  // namespace hostir::traces::import
