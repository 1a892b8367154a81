#include "traces/import/formats/nccl_debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "hostir/io/plain_value.h"
#include "hostir/support/number_from.h"
#include "hostir/support/text.h"
#include "traces/import/assemble/met_calls.h"
#include "traces/import/formats/call_sizes.h"
#include "traces/import/formats/names.h"
#include "traces/import/formats/text_lines.h"

namespace hostir::traces::import {

namespace {

constexpr std::string_view kMarker = " NCCL INFO ";

std::optional<uint64_t> hex_after(std::string_view line, std::string_view word) {
  const auto text = word_after(line, word);
  return text ? parse_hex(*text) : std::nullopt;
}

class DebugReader {
 public:
  std::vector<ProcessDump> read(std::string_view text) {
    const bool ends_in_a_line = text.ends_with('\n');
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      const bool is_cut = text.empty() && !ends_in_a_line;
      const size_t marker = line.find(kMarker);
      if (marker == std::string_view::npos) continue;
      process_ = &process_of(line.substr(0, marker));
      const std::string_view said = line.substr(marker + kMarker.size());
      const bool is_call = said.find(": opCount ") != std::string_view::npos;
      if (said.find(" Init COMPLETE") != std::string_view::npos) {
        init(said);
      } else if (is_call && call(said)) {
        continue;
      } else if (is_cut) {
        process_->dump.cut = true;
      } else if (is_call) {
        ++strange_;
      }
    }
    std::vector<ProcessDump> out;
    for (auto& [key, process] : processes_) {
      if (process.dump.groups.empty()) continue;
      complete_followed_calls(process.dump);
      if (strange_ > 0) {
        process.dump.remarks.push_back(
            fmt::format("{} calls of its lines were cut or named no known communicator", strange_));
      }
      out.push_back(std::move(process.dump));
    }
    return out;
  }

 private:
  struct Process {
    ProcessDump dump;
    std::map<uint64_t, size_t> group_of;  // by pointer
    std::map<size_t, uint64_t> next;
    std::map<std::string, int64_t> splits;  // by the parent's name
  };

  /// `[2026-01-02 03:04:05] h0:11:12 [0]`: the host name and the process id.
  Process& process_of(std::string_view prefix) {
    if (prefix.starts_with("[") && prefix.find("] ") != std::string_view::npos) {
      prefix.remove_prefix(prefix.find("] ") + 2);
    }
    prefix = prefix.substr(0, std::min(prefix.find(' '), prefix.size()));
    const auto parts = split(prefix, ':');
    const std::string key =
        parts.size() < 2 ? std::string(prefix) : fmt::format("{}:{}", parts[0], parts[1]);
    Process& process = processes_[key];
    process.dump.producer = "NCCL_DEBUG lines";
    process.dump.computer = parts[0];
    if (parts.size() > 1) process.dump.process = number_from<int64_t>(parts[1]);
    return process;
  }

  void init(std::string_view said) {
    const auto pointer = hex_after(said, "comm ");
    const auto rank = number_after(said, "rank ");
    const auto size = number_after(said, "nranks ");
    if (!pointer || !rank || !size || *rank < 0 || *rank >= *size || *size > kMostRanks) return;
    ProcessDump& dump = process_->dump;
    DumpGroup group;
    if (const auto id = word_after(said, "commId ")) {
      group.name = *id;
      group.description = "commId " + group.name;
    } else {
      group.name = name_of_split(said);
      group.description = group.name;
    }
    group.size = static_cast<uint32_t>(*size);
    group.position = static_cast<int32_t>(*rank);
    process_->group_of[*pointer] = dump.groups.size();
    dump.groups.push_back(std::move(group));
    // The largest communicator is assumed to be the world; the first one, if several are as large.
    if (!dump.rank || *size > dump.world_size) {
      dump.rank = static_cast<model::Rank>(*rank);
      dump.rank_found_by = kLargestCommunicator;
      dump.world_size = *size;
    }
  }

  /// From 2.22 on, a split communicator has no id in its line. Its members agree on the parent, on
  /// how many splits the parent has had, and on the color.
  std::string name_of_split(std::string_view said) {
    const auto pointer = hex_after(said, "parent ");
    const auto at = pointer ? process_->group_of.find(*pointer) : process_->group_of.end();
    // The pointer of an unknown parent means nothing in another process.
    const std::string parent =
        at == process_->group_of.end()
            ? fmt::format("an unknown communicator of {} process {}", process_->dump.computer,
                          process_->dump.process.value_or(0))
            : process_->dump.groups[at->second].name;
    const int64_t before = process_->splits[parent]++;
    auto count = number_after(said, "splitCount ");
    if (!count) count = number_after(said, "childCount ");
    return fmt::format("split {} of {} (color {})", count.value_or(before + 1), parent,
                       word_after(said, "color ").value_or("?"));
  }

  bool call(std::string_view said) {
    const std::string_view kind = said.substr(0, said.find(':'));
    const auto pointer = hex_after(said, "comm ");
    const auto count = number_after(said, "count ");
    const auto dtype = number_after(said, "datatype ");
    const auto op = number_after(said, "op ");
    const auto root = number_after(said, "root ");
    if (!pointer || !count || *count < 0) return false;
    const auto at = process_->group_of.find(*pointer);
    if (at == process_->group_of.end()) return false;
    DumpCall made;
    made.group = at->second;
    made.call.name = kind;
    made.call.kind = op_of(kind);
    if (dtype) made.call.dtype = nccl_dtype(*dtype);
    const auto is = [&](OpKind k) { return made.call.kind == k; };
    if (is(OpKind::all_reduce) || is(OpKind::reduce_scatter) || is(OpKind::reduce)) {
      if (op) made.call.reduction = nccl_reduction(*op);
    }
    if (is(OpKind::send) || is(OpKind::recv)) {
      made.shape = is(OpKind::send) ? DumpCall::Shape::kSend : DumpCall::Shape::kRecv;
      made.peer = root;
    } else {
      made.sequence = ++process_->next[made.group];
      if ((is(OpKind::broadcast) || is(OpKind::reduce) || is(OpKind::gather) ||
           is(OpKind::scatter)) &&
          root && *root >= 0 && *root < kMostRanks) {
        made.call.root = static_cast<int32_t>(*root);
      }
    }
    set_nccl_count(made.call, *count, process_->dump.groups[made.group].size.value_or(1));
    made.state = model::MemberState::kScheduled;
    process_->dump.calls.push_back(std::move(made));
    return true;
  }

  std::map<std::string, Process> processes_;
  Process* process_ = nullptr;
  size_t strange_ = 0;
};

}  // namespace

bool looks_like_nccl_debug(std::string_view head) {
  return head.find(kMarker) != std::string_view::npos ||
         head.find(" NCCL WARN ") != std::string_view::npos;
}

std::vector<ProcessDump> read_nccl_debug(std::string_view text) { return DebugReader().read(text); }

}  // namespace hostir::traces::import
