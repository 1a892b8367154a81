// 1. Groups of all processes become one list.
// 2. Rows of each group and process are numbered: by the profiles' sequence numbers or, without
//    them, by the shift at which most calls agree.
// 3. Rows with equal numbers meet; sends and recvs of two ranks meet in order.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "traces/import/formats/names.h"
#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

namespace {

using Rows = std::vector<uint32_t>;  // of one process, by begin

class Matcher {
 public:
  explicit Matcher(JobProfile& job) : job_(job) {}

  void match() {
    fill_members();
    unite_groups();
    collect();
    for (auto& [group, by_process] : collectives_) match_group(group, by_process);
    match_pairs();
  }

 private:
  const Call& call(uint32_t process, uint32_t row) const {
    const ProcessProfile& p = job_.processes[process];
    return p.calls[p.rows[row].call];
  }

  // ---- groups

  // Members that one process does not list are taken from another one, or assembled from the
  // positions that every process records.
  void fill_members() {
    std::map<std::pair<std::string, std::string>, std::set<std::vector<model::Rank>>> listed;
    std::map<std::pair<std::string, uint32_t>, std::map<uint32_t, model::Rank>> placed;
    for (size_t p = 0; p < job_.processes.size(); ++p) {
      for (const Group& group : job_.processes[p].groups) {
        if (group.members) listed[{group.name, group.description}].insert(*group.members);
        if (group.position && group.size)
          placed[{group.name, *group.size}][*group.position] = job_.rank(p);
      }
    }
    for (size_t p = 0; p < job_.processes.size(); ++p) {
      for (Group& group : job_.processes[p].groups) {
        if (group.members) continue;
        std::set<std::vector<model::Rank>> fitting;
        for (const auto& members : listed[{group.name, group.description}]) {
          if (std::count(members.begin(), members.end(), job_.rank(p)) > 0) fitting.insert(members);
        }
        if (fitting.size() == 1) group.members = *fitting.begin();
        const auto places = placed.find({group.name, group.size.value_or(0)});
        if (group.members || places == placed.end() || places->second.size() != *group.size)
          continue;
        group.members.emplace();
        for (const auto& [place, rank] : places->second) group.members->push_back(rank);
      }
    }
  }

  void unite_groups() {
    std::map<std::tuple<std::string, std::string, std::vector<model::Rank>>, uint32_t> known;
    global_.resize(job_.processes.size());
    for (size_t p = 0; p < job_.processes.size(); ++p) {
      for (const Group& group : job_.processes[p].groups) {
        const auto [at, added] =
            known.try_emplace({group.name, group.description,
                               group.members ? *group.members : std::vector<model::Rank>()},
                              static_cast<uint32_t>(job_.groups.size()));
        if (added) {
          job_.groups.push_back(group);
          job_.groups.back().position.reset();
        }
        global_[p].push_back(at->second);
      }
    }
  }

  // ---- rows

  void collect() {
    for (uint32_t p = 0; p < job_.processes.size(); ++p) {
      const ProcessProfile& process = job_.processes[p];
      for (uint32_t r = 0; r < process.rows.size(); ++r) {
        if (process.rows[r].call == kNone) continue;
        const Call& c = call(p, r);
        if (c.group == kNone) continue;
        const uint32_t group = global_[p][c.group];
        if (c.shape == Call::Shape::kCollective) {
          collectives_[group][p].push_back(r);
          continue;
        }
        std::optional<model::Rank> peer = c.peer;
        const auto& members = job_.groups[group].members;
        if (!peer && c.peer_place && members && *c.peer_place < members->size())
          peer = (*members)[*c.peer_place];
        if (!peer) continue;
        const bool sends = c.shape == Call::Shape::kSend;
        const auto key =
            sends ? std::tuple(group, job_.rank(p), *peer) : std::tuple(group, *peer, job_.rank(p));
        auto& [sent, received] = pairs_[key];
        (sends ? sent : received).push_back({.process = p, .row = r});
      }
    }
  }

  // ---- numbers

  void match_group(uint32_t group, std::map<uint32_t, Rows>& by_process) {
    std::map<uint64_t, Meeting> meetings;
    const auto numbers = numbered(by_process) ? stated(by_process) : shifted(by_process);
    for (const auto& [process, rows] : by_process) {
      const std::vector<uint64_t>& number = numbers.at(process);
      for (size_t i = 0; i < rows.size(); ++i) {
        Meeting& meeting = meetings[number[i]];
        meeting.group = group;
        meeting.sequence = number[i];
        meeting.members.push_back({.process = process, .row = rows[i]});
      }
    }
    const Group& facts = job_.groups[group];
    for (auto& [number, meeting] : meetings) {
      meeting.expected =
          facts.members ? static_cast<uint32_t>(facts.members->size()) : facts.size.value_or(0);
      job_.meetings.push_back(std::move(meeting));
    }
  }

  bool numbered(const std::map<uint32_t, Rows>& by_process) const {
    return std::all_of(by_process.begin(), by_process.end(), [&](const auto& entry) {
      const auto& rows = job_.processes[entry.first].rows;
      return std::all_of(entry.second.begin(), entry.second.end(),
                         [&](uint32_t row) { return rows[row].sequence != 0; });
    });
  }

  using Numbers = std::map<uint32_t, std::vector<uint64_t>>;  // by process, then row

  // A sequence number may be on several kernels of a process (a coalesced block); they are told
  // apart by their order, and all are renumbered if that happens.
  Numbers stated(const std::map<uint32_t, Rows>& by_process) const {
    std::map<uint32_t, std::vector<std::pair<uint64_t, uint64_t>>> keys;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> order;
    bool repeated = false;
    for (const auto& [process, rows] : by_process) {
      std::map<uint64_t, uint64_t> seen;
      for (const uint32_t row : rows) {
        const uint64_t sequence = job_.processes[process].rows[row].sequence;
        const uint64_t occurrence = seen[sequence]++;
        repeated = repeated || occurrence > 0;
        keys[process].emplace_back(sequence, occurrence);
        order[{sequence, occurrence}] = 0;
      }
    }
    uint64_t next = 0;
    for (auto& [key, number] : order) number = repeated ? ++next : key.first;
    Numbers out;
    for (const auto& [process, list] : keys) {
      for (const auto& key : list) out[process].push_back(order[key]);
    }
    return out;
  }

  Numbers shifted(const std::map<uint32_t, Rows>& by_process) {
    const auto base = std::max_element(
        by_process.begin(), by_process.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::map<uint32_t, int64_t> shifts;
    int64_t least = 0;
    for (const auto& [process, rows] : by_process) {
      shifts[process] =
          process == base->first ? 0 : best_shift(base->first, base->second, process, rows);
      least = std::min(least, shifts[process]);
      if (shifts[process] == 0 && rows.size() == base->second.size()) continue;
      job_.notes.push_back(
          fmt::format("rank {} has {} collectives on {}, rank {} has {}: without sequence numbers "
                      "they are matched by kind, size and time",
                      job_.rank(process), rows.size(), group_name(process, rows),
                      job_.rank(base->first), base->second.size()));
    }
    Numbers out;
    for (const auto& [process, rows] : by_process) {
      for (size_t i = 0; i < rows.size(); ++i) {
        out[process].push_back(
            static_cast<uint64_t>(static_cast<int64_t>(i) + shifts[process] - least + 1));
      }
    }
    return out;
  }

  std::string group_name(uint32_t process, const Rows& rows) const {
    const Group& group = job_.groups[global_[process][call(process, rows.front()).group]];
    return group.description.empty() ? "group " + group.name : group.description;
  }

  /// True if the two calls may be the same collective.
  bool similar(uint32_t p, uint32_t row, uint32_t q, uint32_t other) const {
    const Call& a = call(p, row);
    const Call& b = call(q, other);
    const auto kind = import::op_of(a.name);
    if (kind != import::op_of(b.name) || (!kind && a.name != b.name)) return false;
    const bool equal_sizes = kind == OpKind::all_reduce || kind == OpKind::all_gather ||
                             kind == OpKind::reduce_scatter || kind == OpKind::broadcast;
    return a.dtype == b.dtype &&
           (!equal_sizes ||
            (a.in_elems == b.in_elems && a.out_elems == b.out_elems && a.bytes == b.bytes));
  }

  int64_t best_shift(uint32_t p, const Rows& base, uint32_t q, const Rows& rows) const {
    constexpr int64_t kReach = 256;
    const auto& base_rows = job_.processes[p].rows;
    const Row& first = job_.processes[q].rows[rows.front()];
    const auto near =
        std::lower_bound(base.begin(), base.end(), first.end_ns,
                         [&](uint32_t row, int64_t ns) { return base_rows[row].end_ns < ns; });
    std::set<int64_t> candidates;
    for (const int64_t center :
         {int64_t{0}, static_cast<int64_t>(base.size()) - static_cast<int64_t>(rows.size()),
          static_cast<int64_t>(near - base.begin())}) {
      for (int64_t s = center - kReach; s <= center + kReach; ++s) {
        const bool overlaps =
            s < static_cast<int64_t>(base.size()) && s + static_cast<int64_t>(rows.size()) > 0;
        if (overlaps) candidates.insert(s);
      }
    }
    std::tuple best(INT64_MIN, INT64_MIN);
    int64_t shift = 0;
    for (const int64_t s : candidates) {
      const auto score = score_of(p, base, q, rows, s);
      if (score > best) std::tie(best, shift) = std::pair(score, s);
    }
    return shift;
  }

  /// A shift's score: agreeing minus disagreeing calls, then how close their ends are.
  std::tuple<int64_t, int64_t> score_of(uint32_t p, const Rows& base, uint32_t q, const Rows& rows,
                                        int64_t shift) const {
    constexpr size_t kSamples = 512;
    const size_t stride = rows.size() / kSamples + 1;
    int64_t agreeing = 0;
    std::vector<int64_t> apart;
    for (size_t i = 0; i < rows.size(); i += stride) {
      const int64_t at = static_cast<int64_t>(i) + shift;
      if (at < 0 || at >= static_cast<int64_t>(base.size())) continue;
      const uint32_t row = base[static_cast<size_t>(at)];
      agreeing += similar(p, row, q, rows[i]) ? 1 : -1;
      apart.push_back(
          std::abs(job_.processes[p].rows[row].end_ns - job_.processes[q].rows[rows[i]].end_ns));
    }
    const auto middle = apart.begin() + static_cast<int64_t>(apart.size() / 2);
    if (apart.empty()) return {INT64_MIN, 0};
    std::nth_element(apart.begin(), middle, apart.end());
    return {agreeing, -*middle};
  }

  // ---- send and recv

  void match_pairs() {
    for (auto& [key, sides] : pairs_) {
      auto& [sent, received] = sides;
      const size_t count = std::min(sent.size(), received.size());
      for (size_t i = 0; i < count; ++i) {
        Meeting& meeting = job_.meetings.emplace_back();
        meeting.group = std::get<0>(key);
        meeting.sequence = i + 1;
        meeting.pair = true;
        meeting.expected = 2;
        meeting.members = {sent[i], received[i]};
      }
    }
  }

  JobProfile& job_;
  std::vector<std::vector<uint32_t>> global_;                 // by process and its group
  std::map<uint32_t, std::map<uint32_t, Rows>> collectives_;  // by group and process
  std::map<std::tuple<uint32_t, model::Rank, model::Rank>,
           std::pair<std::vector<MemberTimes>, std::vector<MemberTimes>>>
      pairs_;
};

}  // namespace

void match_meetings(JobProfile& job) { Matcher(job).match(); }

}  // namespace hostir::traces::profile
