#include "traces/import/ras.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "traces/import/names.h"

namespace hostir::traces::import {

namespace {

/// A process is identified by host name, process id and device: ranks are counted per communicator.
using ProcessKey = std::tuple<std::string, int64_t, int64_t>;

ProcessKey key_of(io::PlainView rank) {
  return {std::string(rank["host"].text()), rank["pid"].integer().value_or(0),
          rank["cuda_dev"].integer().value_or(0)};
}

class RasReader {
 public:
  explicit RasReader(io::PlainView report) : report_(report) {}

  std::vector<ProcessDump> read() {
    find_world();
    const io::PlainView communicators = report_["communicators"];
    for (size_t i = 0; i < communicators.size(); ++i) add_communicator(communicators.at(i));
    std::vector<ProcessDump> out;
    for (auto& [rank, dump] : dumps_) out.push_back(std::move(dump));
    return out;
  }

 private:
  // The largest communicator is assumed to be the world: its ranks are the global ones.
  void find_world() {
    const io::PlainView communicators = report_["communicators"];
    io::PlainView world;
    for (size_t i = 0; i < communicators.size(); ++i) {
      const io::PlainView each = communicators.at(i);
      const int64_t size = each["size"].integer().value_or(0);
      if (size > world_size_ && size <= kMostRanks) {
        world_size_ = size;
        world = each;
      }
    }
    for (const std::string_view list : {"ranks", "missing_ranks"}) {
      for (size_t i = 0; i < world[list].size(); ++i) {
        const io::PlainView rank = world[list].at(i);
        const auto number = rank["rank"].integer();
        if (!number || *number < 0 || *number >= world_size_) continue;
        global_[key_of(rank)] = static_cast<model::Rank>(*number);
      }
    }
  }

  std::optional<model::Rank> global(io::PlainView rank) const {
    const auto at = global_.find(key_of(rank));
    return at == global_.end() ? std::nullopt : std::optional(at->second);
  }

  ProcessDump& dump_of(model::Rank rank, io::PlainView facts) {
    const auto [at, added] = dumps_.try_emplace(rank);
    ProcessDump& dump = at->second;
    if (added) {
      dump.producer = "NCCL RAS";
      dump.version = report_["nccl_version"].text();
      dump.rank = rank;
      dump.rank_found_by = "its rank in the largest communicator";
      dump.world_size = world_size_;
      dump.computer = facts["host"].text();
      dump.process = facts["pid"].integer();
    }
    return dump;
  }

  void add_communicator(io::PlainView communicator) {
    const io::PlainView ranks = communicator["ranks"];
    const io::PlainView missing = communicator["missing_ranks"];
    std::map<int64_t, model::Rank> members;
    std::map<std::string, int64_t> kinds;   // with the largest count
    std::map<std::string, int64_t> fewest;  // with the smallest
    for (size_t i = 0; i < ranks.size(); ++i) {
      const io::PlainView rank = ranks.at(i);
      if (const auto all = global(rank)) members[rank["rank"].integer().value_or(-1)] = *all;
      const io::PlainView counts = rank["collective_counts"];
      for (size_t k = 0; k < counts.size(); ++k) {
        int64_t& most = kinds[std::string(counts.key(k).text())];
        const int64_t count = counts.value(k).integer().value_or(0);
        most = std::max(most, count);
        const auto [least, is_first] = fewest.try_emplace(std::string(counts.key(k).text()), count);
        if (!is_first) least->second = std::min(least->second, count);
      }
    }
    for (size_t i = 0; i < missing.size(); ++i) {
      const io::PlainView rank = missing.at(i);
      const auto all = global(rank);
      if (!all) continue;
      members[rank["rank"].integer().value_or(-1)] = *all;
      dump_of(*all, rank).dead = true;
    }
    for (const auto& [kind, most] : kinds) {
      DumpGroup group;
      group.name = fmt::format("{} of {}", kind, communicator["hash"].text());
      group.description = group.name;
      group.members.emplace();
      for (const auto& [position, rank] : members) group.members->push_back(rank);
      for (size_t i = 0; i < ranks.size(); ++i) {
        const auto all = global(ranks.at(i));
        if (!all) continue;
        ProcessDump& dump = dump_of(*all, ranks.at(i));
        add_counts(dump, group, kind, most, ranks.at(i));
        if (dump.groups.back().last_enqueued == most - 1 && fewest[kind] == most - 1) {
          dump.remarks.push_back(
              fmt::format("its count of {} is one below the others', which happens briefly in a "
                          "running job; if a second report says the same, it is stuck",
                          kind));
        }
      }
    }
  }

  // Only the newest call matters; a rank that made it has made all earlier ones.
  static void add_counts(ProcessDump& dump, const DumpGroup& group, const std::string& kind,
                         int64_t most, io::PlainView rank) {
    const int64_t count = rank["collective_counts"][kind].integer().value_or(0);
    DumpGroup mine = group;
    mine.last_enqueued = count;
    if (most > 0 && count >= most) {
      DumpCall& call = dump.calls.emplace_back();
      call.group = dump.groups.size();
      call.sequence = static_cast<uint64_t>(most);
      call.call.kind = op_of(kind);
      call.call.name = kind;
      call.state = model::MemberState::kScheduled;
    }
    dump.groups.push_back(std::move(mine));
  }

  io::PlainView report_;
  int64_t world_size_ = 0;
  std::map<ProcessKey, model::Rank> global_;
  std::map<model::Rank, ProcessDump> dumps_;
};

}  // namespace

bool looks_like_ras(io::PlainView report) {
  return report.is(io::PlainKind::kDict) && report["communicators"].is(io::PlainKind::kList);
}

std::vector<ProcessDump> read_ras(io::PlainView report) { return RasReader(report).read(); }

}  // namespace hostir::traces::import
