#include "traces/import/formats/ras.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "traces/import/formats/names.h"

namespace hostir::traces::import {

namespace {

/// A process is identified by host name, process id and device: ranks are counted per communicator.
using ProcessKey = std::tuple<std::string, int64_t, int64_t>;

ProcessKey key_of(io::PlainView rank) {
  return {std::string(rank["host"].text()), rank["pid"].integer().value_or(0),
          rank["cuda_dev"].integer().value_or(0)};
}

/// `2026-01-05 10:00:00`. The zone is unknown: good for differences only.
std::optional<int64_t> time_of(std::string_view text) {
  struct tm parts = {};
  if (strptime(std::string(text).c_str(), "%Y-%m-%d %H:%M:%S", &parts) == nullptr) return {};
  return int64_t{timegm(&parts)} * 1'000'000'000;
}

/// Calls made, by rank and communicator.
using Progress = std::map<std::pair<model::Rank, std::string>, int64_t>;

class RasReader {
 public:
  explicit RasReader(io::PlainView report) : report_(report) {}

  std::vector<ProcessDump> read() {
    find_world();
    const io::PlainView communicators = report_["communicators"];
    for (size_t i = 0; i < communicators.size(); ++i) add_communicator(communicators.at(i));
    for (const Communicator& communicator : communicators_) add_calls(communicator);
    doubt_single_report();
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
      dump.written_ns = time_of(report_["timestamp"].text());
    }
    return dump;
  }

  using Counts = std::map<std::string, int64_t>;  // by kind

  struct Communicator {
    DumpGroup group;
    std::map<model::Rank, Counts> counts;
    Counts least, most;    // of all ranks
    int64_t furthest = 0;  // the largest sum of a rank's counts
    bool lacks_ranks = false;
  };

  void add_communicator(io::PlainView communicator) {
    std::map<int64_t, model::Rank> members;
    Communicator& made = communicators_.emplace_back();
    std::map<model::Rank, Counts>& counts = made.counts;
    const io::PlainView ranks = communicator["ranks"];
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto all = global(ranks.at(i));
      if (!all) continue;
      dump_of(*all, ranks.at(i));
      members[ranks.at(i)["rank"].integer().value_or(-1)] = *all;
      const io::PlainView list = ranks.at(i)["collective_counts"];
      for (size_t k = 0; k < list.size(); ++k) {
        const int64_t count = list.value(k).integer().value_or(0);
        counts[*all][std::string(list.key(k).text())] = std::clamp<int64_t>(count, 0, kMostCalls);
      }
    }
    const io::PlainView missing = communicator["missing_ranks"];
    for (size_t i = 0; i < missing.size(); ++i) {
      const auto all = global(missing.at(i));
      if (!all) continue;
      members[missing.at(i)["rank"].integer().value_or(-1)] = *all;
      dump_of(*all, missing.at(i)).dead = true;
      made.lacks_ranks = true;
    }
    std::set<std::string> kinds;
    for (const auto& [rank, mine] : counts) {
      for (const auto& [kind, count] : mine) kinds.insert(kind);
    }
    for (auto& [rank, mine] : counts) {
      for (const std::string& kind : kinds) mine.try_emplace(kind, 0);
    }
    for (const auto& [rank, mine] : counts) {
      for (const auto& [kind, count] : mine) {
        int64_t& least = made.least.try_emplace(kind, count).first->second;
        least = std::min(least, count);
        made.most[kind] = std::max(made.most[kind], count);
      }
      made.furthest = std::max(made.furthest, total(mine));
    }
    made.group.name = communicator["hash"].text();
    made.group.description = "communicator " + made.group.name;
    made.group.members.emplace();
    for (const auto& [position, rank] : members) made.group.members->push_back(rank);
    some_are_missing_ = some_are_missing_ || made.lacks_ranks;
    furthest_apart_ = std::max(furthest_apart_, made.furthest - total(made.least));
  }

  // 1. Each rank has made at least the calls that all have made. The next call is the one that some
  //    lack; if all have made equally many, the last one.
  // 2. Every rank that made this call has made more calls of its kind than the others; the report
  //   has no order.
  // 3. Members call the same collectives in the same order. If there is no such kind, they differ.
  //
  // If the ranks of one communicator differ, other communicators are not recorded, because the
  // report does not order calls across communicators either. If a rank is gone, the calls that
  // other ranks lack may be a consequence.
  void add_calls(const Communicator& communicator) {
    const auto& [group, counts, least, most, furthest, lacks_ranks] = communicator;
    const int64_t made_by_all = total(least);
    const bool differ = furthest > made_by_all && !some_are_missing_;
    const bool tells = some_are_missing_ ? lacks_ranks : differ || furthest_apart_ == 0;
    std::map<model::Rank, std::set<std::string>> kinds;  // the kinds that the call may have
    for (const auto& [rank, mine] : counts) {
      for (const auto& [kind, count] : mine) {
        if (count > (differ ? least.at(kind) : 0)) kinds[rank].insert(kind);
      }
    }
    std::set<std::string> shared = kinds.empty() ? std::set<std::string>() : kinds.begin()->second;
    for (const auto& each : kinds)
      std::erase_if(shared, [&](const std::string& kind) { return !each.second.contains(kind); });
    for (const auto& [rank, mine] : counts) {
      ProcessDump& dump = dumps_.at(rank);
      DumpGroup& made = dump.groups.emplace_back(group);
      made.last_enqueued = total(mine);
      note_counts(dump, group, mine, most);
      if (!tells || !kinds.contains(rank)) continue;
      const std::set<std::string>& mine_or_shared = shared.empty() ? kinds[rank] : shared;
      DumpCall& call = dump.calls.emplace_back();
      call.group = dump.groups.size() - 1;
      call.sequence = static_cast<uint64_t>(made_by_all + (differ ? 1 : 0));
      call.call.name = mine_or_shared.size() == 1 ? *mine_or_shared.begin() : "collective";
      call.call.kind = op_of(call.call.name);
      call.state = model::MemberState::kScheduled;
    }
  }

  static int64_t total(const Counts& counts) {
    int64_t out = 0;
    for (const auto& [kind, count] : counts) out += count;
    return out;
  }

  /// Reports the counts of a rank that lacks calls of the others.
  static void note_counts(ProcessDump& dump, const DumpGroup& group, const Counts& mine,
                          const Counts& most) {
    for (const auto& [kind, count] : mine) {
      if (count >= most.at(kind)) continue;
      dump.remarks.push_back(fmt::format("only {} {} on {}, and others made {}", count, kind,
                                         group.description, most.at(kind)));
    }
  }

  // Counts are read while the job runs, each rank's at another moment.
  void doubt_single_report() {
    if (furthest_apart_ != 1 || some_are_missing_) return;
    for (auto& [rank, dump] : dumps_) {
      dump.motion = model::Motion::kMoving;
      dump.motion_source =
          "in one RAS report, ranks that are one call apart may both be moving; a second report "
          "that says the same decides";
    }
  }

  static constexpr int64_t kMostCalls = int64_t{1} << 32;  // of one kind
  io::PlainView report_;
  int64_t world_size_ = 0;
  std::map<ProcessKey, model::Rank> global_;
  std::map<model::Rank, ProcessDump> dumps_;
  std::vector<Communicator> communicators_;
  bool some_are_missing_ = false;
  int64_t furthest_apart_ = 0;  // calls that a rank has made and another member has not
};

}  // namespace

bool looks_like_ras(io::PlainView report) {
  return report.is(io::PlainKind::kDict) && report["communicators"].is(io::PlainKind::kList);
}

std::vector<ProcessDump> read_ras(io::PlainView report) { return RasReader(report).read(); }

std::vector<ProcessDump> newest_report(std::vector<ProcessDump> dumps) {
  constexpr int64_t kTellingNs = 10'000'000'000;
  std::map<int64_t, Progress> reports;  // by time
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups) {
      if (dump.written_ns && dump.rank)
        reports[*dump.written_ns][{*dump.rank, group.name}] = group.last_enqueued.value_or(0);
    }
  }
  if (reports.size() < 2) return dumps;
  const int64_t newest_ns = reports.rbegin()->first;
  const Progress& newest = reports.rbegin()->second;
  std::erase_if(dumps, [&](const ProcessDump& dump) { return dump.written_ns != newest_ns; });
  const auto before = std::find_if(std::next(reports.rbegin()), reports.rend(), [&](const auto& r) {
    return newest_ns - r.first >= kTellingNs;
  });
  if (before == reports.rend()) return dumps;
  const bool same = before->second == newest;
  const int64_t apart_s = (newest_ns - before->first) / 1'000'000'000;
  for (ProcessDump& dump : dumps) {
    dump.motion = same ? model::Motion::kStuck : model::Motion::kMoving;
    dump.motion_source =
        same ? fmt::format("two RAS reports {} s apart have the same counts", apart_s)
             : fmt::format("counts advanced between two RAS reports {} s apart", apart_s);
  }
  return dumps;
}

}  // namespace hostir::traces::import
