// Formats a joined profile as text and as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostir/support/text.h"
#include "interp/model/meeting.h"
#include "traces/import/formats/names.h"
#include "traces/profile/open_profiles.h"
#include "traces/profile/profile_json.h"

namespace hostir::traces::profile {

namespace {

using nlohmann::ordered_json;

std::string kind_of(const JobProfile& job, const Meeting& meeting) {
  if (meeting.pair) return "send/recv";
  const Call& call = job.call(meeting);
  const auto kind = import::op_of(call.name);
  model::Call named;
  named.kind = kind;
  named.name = call.name;
  return model::kind_text(named);
}

std::string group_name(const Group& group) {
  return group.description.empty() ? "group " + group.name : group.description;
}

std::optional<int64_t> bytes_of(const JobProfile& job, const Meeting& meeting) {
  const Call& call = job.call(meeting);
  if (call.bytes) return call.bytes;
  const int64_t elems = std::max(call.in_elems.value_or(-1), call.out_elems.value_or(-1));
  if (elems < 0 || elems > (int64_t{1} << 56) || !call.dtype) return {};
  return elems * size_bytes(*call.dtype);
}

std::string rank_table(const JobProfile& job) {
  std::string out = fmt::format("{:>5} {:>6} {:>12} {:>12} {:>12} {:>12}  clock\n", "rank", "last",
                                "waits", "is waited for", "transfer", "exposed");
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const RankWaits& w = job.waits[p];
    const ClockFit& c = job.clocks[p];
    std::string clock = c.offset_ns == 0 && c.drift == 0
                            ? "as it is"
                            : fmt::format("{:+.1f} us", c.offset_ns / 1e3);
    if (c.drift != 0) clock += fmt::format(", {:+.3f} ppm", c.drift * 1e6);
    out += fmt::format("{:>5} {:>6} {:>12} {:>12} {:>12} {:>12}  {}\n", job.rank(p), w.last,
                       time_text(w.wait_ns), time_text(w.caused_ns), time_text(w.transfer_ns),
                       time_text(w.exposed_ns), clock);
  }
  return out;
}

std::string slowest_table(const JobProfile& job) {
  constexpr size_t kShown = 10;
  std::vector<const Meeting*> slowest;
  for (const Meeting& meeting : job.meetings) {
    if (meeting.members.size() > 1) slowest.push_back(&meeting);
  }
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const Meeting* a, const Meeting* b) { return a->time_ns() > b->time_ns(); });
  if (slowest.size() > kShown) slowest.resize(kShown);
  std::string out = fmt::format("{:<16} {:>12} {:<16} {:>10} {:>10} {:>10}  last\n", "slowest",
                                "seq", "group", "time", "skew", "transfer");
  for (const Meeting* m : slowest) {
    out += fmt::format("{:<16} {:>12} {:<16} {:>10} {:>10} {:>10}  rank {}\n", kind_of(job, *m),
                       m->sequence, group_name(job.groups[m->group]), time_text(m->time_ns()),
                       time_text(m->skew_ns()), time_text(m->transfer_ns()),
                       job.rank(m->members[m->last].process));
  }
  return slowest.empty() ? std::string() : out;
}

ordered_json optional_json(const std::optional<int64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json meeting_json(const JobProfile& job, const Meeting& m) {
  const Call& call = job.call(m);
  ordered_json out;
  out["kind"] = kind_of(job, m);
  out["communicator"] = group_name(job.groups[m.group]);
  out["sequence"] = m.sequence;
  out["reduction"] = call.reduction ? ordered_json(name(*call.reduction)) : ordered_json(nullptr);
  out["dtype"] = call.dtype ? ordered_json(name(*call.dtype)) : ordered_json(nullptr);
  out["in_elems"] = optional_json(call.in_elems);
  out["out_elems"] = optional_json(call.out_elems);
  out["bytes"] = optional_json(bytes_of(job, m));
  out["step"] = optional_json(m.members[m.last].step);
  out["whole"] = m.whole();
  out["last_rank"] = job.rank(m.members[m.last].process);
  out["begin_ns"] = m.begin_ns;
  out["time_ns"] = m.time_ns();
  out["skew_ns"] = m.skew_ns();
  out["transfer_ns"] = m.transfer_ns();
  out["ends_together"] = m.ends_together;
  out["end_spread_ns"] = m.end_spread_ns;
  out["members"] = ordered_json::array();
  for (const MemberTimes& a : m.members) {
    ordered_json member;
    member["rank"] = job.rank(a.process);
    member["issued_ns"] = optional_json(a.issued_ns);
    member["begin_ns"] = a.begin_ns;
    member["end_ns"] = a.end_ns;
    member["time_ns"] = a.time_ns();
    member["wait_ns"] = a.wait_ns;
    member["transfer_ns"] = a.transfer_ns;
    member["exposed_ns"] = a.exposed_ns;
    out["members"].push_back(std::move(member));
  }
  return out;
}

ordered_json rank_json(const JobProfile& job, size_t p) {
  const RankWaits& w = job.waits[p];
  const ClockFit& c = job.clocks[p];
  ordered_json out;
  out["rank"] = job.rank(p);
  out["file"] = job.processes[p].file;
  if (!job.processes[p].rank_found_by.empty()) out["found_by"] = job.processes[p].rank_found_by;
  out["last"] = w.last;
  out["wait_ns"] = w.wait_ns;
  out["caused_wait_ns"] = w.caused_ns;
  out["transfer_ns"] = w.transfer_ns;
  out["exposed_ns"] = w.exposed_ns;
  out["clock_offset_ns"] = c.offset_ns;
  out["clock_drift"] = c.drift;
  out["clock_collectives"] = c.collectives;
  return out;
}

}  // namespace

std::string details_text(const JobProfile& job) {
  std::string out = fmt::format("{} {}, {} collectives{}", job.processes.size(),
                                job.processes.size() == 1 ? "rank" : "ranks", job.meetings.size(),
                                job.steps > 0 ? fmt::format(", {} steps", job.steps) : "");
  if (job.aligned_on == 1) out += "; clocks aligned on one of them, so their error is not known";
  if (job.aligned_on > 1) {
    out += fmt::format(
        "; clocks aligned on {} of them, which end on all members within {} (half of them within "
        "{})",
        job.aligned_on, time_text(job.error_ns), time_text(job.typical_error_ns));
  }
  out += "\n" + rank_table(job) + slowest_table(job);
  for (const std::string& note : job.notes) out += "note: " + note + "\n";
  return out;
}

ordered_json json_of(const JobProfile& job) {
  ordered_json out;
  out["producer"] = job.processes.front().producer;
  out["sentence"] = sentence(job);
  out["steps"] = job.steps;
  out["alignment"] = {{"collectives", job.aligned_on},
                      {"error_ns", job.error_ns},
                      {"typical_error_ns", job.typical_error_ns}};
  out["ranks"] = ordered_json::array();
  for (size_t p = 0; p < job.processes.size(); ++p) out["ranks"].push_back(rank_json(job, p));
  out["waited_for"] = ordered_json::array();
  for (size_t i = 0; i < job.processes.size(); ++i) {
    for (size_t j = 0; j < job.processes.size(); ++j) {
      if (job.waited_for[i][j] == 0) continue;
      out["waited_for"].push_back(
          {{"rank", job.rank(i)}, {"waits_for", job.rank(j)}, {"wait_ns", job.waited_for[i][j]}});
    }
  }
  out["collectives"] = ordered_json::array();
  for (const Meeting& meeting : job.meetings)
    out["collectives"].push_back(meeting_json(job, meeting));
  out["notes"] = job.notes;
  return out;
}

}  // namespace hostir::traces::profile
