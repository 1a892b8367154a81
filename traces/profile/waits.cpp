// Divides the time of each collective: until the last member began (wait), and after that
// (transfer); and computes how much of it was not hidden by other kernels of the rank.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hostir/support/text.h"
#include "traces/profile/job_profile.h"
#include "traces/profile/profile_builder.h"

namespace hostir::traces::profile {

namespace {

/// When the compute kernels of a process ran, as disjoint stretches in its local time.
class BusyTimes {
 public:
  explicit BusyTimes(const ProcessProfile& process) {
    std::vector<bool> communicates;
    for (const std::string& name : process.names)
      communicates.push_back(!nccl_kernel_op(name).empty());
    for (const Row& row : process.rows) {
      const bool compute =
          !row.copy && row.call == kNone && (row.name == kNone || !communicates[row.name]);
      if (!compute || row.end_ns <= row.begin_ns) continue;
      if (!ends_.empty() && row.begin_ns <= ends_.back()) {
        ends_.back() = std::max(ends_.back(), row.end_ns);
      } else {
        begins_.push_back(row.begin_ns);
        ends_.push_back(row.end_ns);
      }
    }
    before_.push_back(0);
    for (size_t i = 0; i < begins_.size(); ++i)
      before_.push_back(before_.back() + ends_[i] - begins_[i]);
  }

  int64_t between(int64_t begin_ns, int64_t end_ns) const {
    return until(end_ns) - until(begin_ns);
  }

 private:
  int64_t until(int64_t ns) const {
    const auto at = std::upper_bound(begins_.begin(), begins_.end(), ns) - begins_.begin();
    if (at == 0) return 0;
    const auto i = static_cast<size_t>(at) - 1;
    return before_[i] + std::min(ns, ends_[i]) - begins_[i];
  }

  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
  std::vector<int64_t> before_;  // busy time before each stretch
};

void place(JobProfile& job, Meeting& meeting, const std::vector<BusyTimes>& busy) {
  meeting.begin_ns = meeting.all_in_ns = meeting.end_ns = 0;
  for (uint32_t i = 0; i < meeting.members.size(); ++i) {
    MemberTimes& a = meeting.members[i];
    const ProcessProfile& process = job.processes[a.process];
    const ClockFit& clock = job.clocks[a.process];
    const Row& row = process.rows[a.row];
    a.begin_ns = clock.common(row.begin_ns);
    a.end_ns = std::max(clock.common(row.end_ns), a.begin_ns);
    if (row.issued_ns) a.issued_ns = clock.common(*row.issued_ns);
    a.step = step_of(process, row.issued_ns.value_or(row.begin_ns));
    a.exposed_ns = std::clamp<int64_t>(
        a.time_ns() - busy[a.process].between(row.begin_ns, row.end_ns), 0, a.time_ns());
    if (i == 0 || a.begin_ns < meeting.begin_ns) meeting.begin_ns = a.begin_ns;
    if (i == 0 || a.begin_ns > meeting.all_in_ns) {
      meeting.all_in_ns = a.begin_ns;
      meeting.last = i;
    }
    if (i == 0 || a.end_ns > meeting.end_ns) meeting.end_ns = a.end_ns;
  }
  for (MemberTimes& a : meeting.members) {
    a.wait_ns = std::min(meeting.all_in_ns, a.end_ns) - a.begin_ns;
    a.transfer_ns = a.time_ns() - a.wait_ns;
  }
}

void add_up(JobProfile& job, const Meeting& meeting) {
  const size_t last = meeting.members[meeting.last].process;
  int64_t waited = 0;
  for (const MemberTimes& a : meeting.members) {
    RankWaits& own = job.waits[a.process];
    own.wait_ns += a.wait_ns;
    own.transfer_ns += a.transfer_ns;
    own.exposed_ns += a.exposed_ns;
    if (a.process == last) continue;
    waited += a.wait_ns;
    job.waited_for[a.process][last] += a.wait_ns;
  }
  if (!meeting.shared() || meeting.skew_ns() <= job.typical_error_ns) return;
  ++job.waits[last].last;
  job.waits[last].caused_ns += waited / static_cast<int64_t>(meeting.members.size() - 1);
}

}  // namespace

std::optional<int64_t> step_of(const ProcessProfile& process, int64_t ns) {
  const auto after = std::upper_bound(process.steps.begin(), process.steps.end(), ns,
                                      [](int64_t t, const Step& s) { return t < s.begin_ns; });
  if (after == process.steps.begin() || std::prev(after)->end_ns < ns) return {};
  return std::prev(after)->number;
}

void measure_waits(JobProfile& job) {
  std::vector<BusyTimes> busy;
  for (const ProcessProfile& process : job.processes) busy.emplace_back(process);
  const size_t count = job.processes.size();
  job.waits.assign(count, {});
  job.waited_for.assign(count, std::vector<int64_t>(count, 0));
  std::set<int64_t> steps;
  for (Meeting& meeting : job.meetings) {
    place(job, meeting, busy);
    add_up(job, meeting);
    for (const MemberTimes& a : meeting.members) {
      if (a.step) steps.insert(*a.step);
    }
  }
  job.steps = steps.size();
  std::stable_sort(job.meetings.begin(), job.meetings.end(),
                   [](const Meeting& a, const Meeting& b) { return a.begin_ns < b.begin_ns; });
}

namespace {

// Says which rank the others wait for. `shared`: the number of collectives in two or more profiles.
std::string late_rank(const JobProfile& job, size_t shared) {
  const auto late = std::max_element(
      job.waits.begin(), job.waits.end(),
      [](const RankWaits& a, const RankWaits& b) { return a.caused_ns < b.caused_ns; });
  const int64_t all =
      std::accumulate(job.waits.begin(), job.waits.end(), int64_t{0},
                      [](int64_t sum, const RankWaits& w) { return sum + w.caused_ns; });
  if (late->last == 0) {
    return fmt::format(
        "no rank is late: in {} the members arrive within {}, which is the accuracy of the clocks",
        shared == 1 ? "the only collective" : fmt::format("all {} collectives", shared),
        time_text(job.typical_error_ns));
  }
  const auto per = [&](int64_t ns) {
    if (job.steps == 0) return fmt::format("{} in total", time_text(ns));
    return fmt::format("{} per step", time_text(ns / static_cast<int64_t>(job.steps)));
  };
  const model::Rank rank = job.rank(static_cast<size_t>(late - job.waits.begin()));
  const double share =
      static_cast<double>(late->caused_ns) / static_cast<double>(std::max<int64_t>(all, 1));
  if (job.processes.size() > 2 && share < 1.5 / static_cast<double>(job.processes.size())) {
    return fmt::format(
        "the ranks take turns in arriving last: on average each of the others waits {}; rank {} "
        "causes most of it, {}",
        per(all), rank, per(late->caused_ns));
  }
  return fmt::format(
      "rank {} arrives last in {} of {} collectives; on average each of the others waits for it {}",
      rank, late->last, shared, per(late->caused_ns));
}

}  // namespace

std::string sentence(const JobProfile& job) {
  if (job.processes.size() < 2) {
    return fmt::format("only rank {} has a profile, which does not say whom it waits for",
                       job.rank(0));
  }
  size_t shared = 0;
  size_t whole = 0;
  for (const Meeting& meeting : job.meetings) {
    if (meeting.shared()) ++shared;
    if (meeting.whole()) ++whole;
  }
  if (shared == 0) return "no collective is in the profiles of two of its members";
  return (whole == shared ? "" : "as far as the profiles show, ") + late_rank(job, shared);
}

}  // namespace hostir::traces::profile
