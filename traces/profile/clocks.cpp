// Rank by rank, most shared collectives first: the median distance of the ends of its collectives
// from those of the ranks aligned before. An offset or drift below the scatter of the ends is set
// to zero: clocks of one machine need no correction.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "traces/import/formats/names.h"
#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

namespace {

/// One shared collective: when it ended on this rank, and how far from that on the others.
struct Sample {
  double local_ns = 0;  // since ClockFit::origin_ns
  double distance_ns = 0;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// 1.48 times the median distance from the median: for normal errors, their standard deviation.
double scatter(const std::vector<Sample>& samples, double offset, double drift) {
  std::vector<double> off;
  for (const Sample& s : samples)
    off.push_back(std::abs(s.distance_ns - offset - drift * s.local_ns));
  return 1.4826 * median(off);
}

/// The median of the slopes between pairs of samples (Theil and Sen).
double slope(const std::vector<Sample>& samples) {
  constexpr size_t kMost = 256;
  const size_t stride = samples.size() / kMost + 1;
  std::vector<double> slopes;
  for (size_t i = 0; i < samples.size(); i += stride) {
    for (size_t j = i + stride; j < samples.size(); j += stride) {
      const double apart = samples[j].local_ns - samples[i].local_ns;
      if (apart > 0) slopes.push_back((samples[j].distance_ns - samples[i].distance_ns) / apart);
    }
  }
  return slopes.empty() ? 0 : median(slopes);
}

double offset_with(const std::vector<Sample>& samples, double drift) {
  std::vector<double> rest;
  for (const Sample& s : samples) rest.push_back(s.distance_ns - drift * s.local_ns);
  return median(rest);
}

void fit(ClockFit& clock, std::vector<Sample>& samples) {
  constexpr size_t kLeastForDrift = 16;
  constexpr double kMostDrift = 1e-3;  // beyond this it is not a clock
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.local_ns < b.local_ns; });
  clock.collectives = samples.size();
  clock.connected = true;
  const double count = static_cast<double>(samples.size());
  const double plain = offset_with(samples, 0);
  const double plain_scatter = scatter(samples, plain, 0);
  // The error of a median is about 1.25 standard deviations over the root of the count.
  if (std::abs(plain) > 3 * 1.25 * plain_scatter / std::sqrt(count)) clock.offset_ns = plain;
  if (samples.size() < kLeastForDrift) return;
  const double drift = slope(samples);
  const double offset = offset_with(samples, drift);
  const double span = samples.back().local_ns - samples.front().local_ns;
  const double error = scatter(samples, offset, drift);
  const bool certain = std::abs(drift) * span > 4 * error && std::abs(drift) < kMostDrift &&
                       error < 0.7 * plain_scatter;
  if (!certain) return;
  clock.drift = drift;
  clock.offset_ns = offset;
}

bool ends_together(const JobProfile& job, const Meeting& meeting) {
  // The members with a profile end together, whether or not the others have one.
  if (meeting.pair || meeting.members.size() < 2) return false;
  const auto kind = import::op_of(job.call(meeting).name);
  return kind == OpKind::all_reduce || kind == OpKind::all_gather ||
         kind == OpKind::reduce_scatter || kind == OpKind::all_to_all;
}

class Aligner {
 public:
  explicit Aligner(JobProfile& job) : job_(job) {
    job_.clocks.resize(job_.processes.size());
    for (size_t m = 0; m < job_.meetings.size(); ++m) {
      if (!ends_together(job_, job_.meetings[m])) continue;
      shared_.push_back(m);
    }
    int64_t origin = 0;
    if (!shared_.empty()) origin = local_end(job_.meetings[shared_.front()].members.front());
    for (ClockFit& clock : job_.clocks) clock.origin_ns = origin;
  }

  void align() {
    for (size_t done = 0; done < job_.processes.size(); ++done) {
      const size_t next = most_linked();
      std::vector<Sample> samples = samples_of(next);
      if (!samples.empty()) fit(job_.clocks[next], samples);
      aligned_[next] = true;
      if (done == 0) job_.clocks[next].connected = true;
    }
  }

 private:
  int64_t local_end(const MemberTimes& a) const {
    return job_.processes[a.process].rows[a.row].end_ns;
  }

  /// The process that shares most collectives with the aligned ones; at the start, the first
  /// process.
  size_t most_linked() {
    if (aligned_.empty()) {
      aligned_.resize(job_.processes.size(), false);
      return 0;
    }
    std::vector<size_t> links(job_.processes.size(), 0);
    for (const size_t m : shared_) {
      const auto& members = job_.meetings[m].members;
      const bool reached = std::any_of(members.begin(), members.end(),
                                       [&](const MemberTimes& a) { return aligned_[a.process]; });
      if (!reached) continue;
      for (const MemberTimes& a : members) ++links[a.process];
    }
    size_t best = job_.processes.size();
    for (size_t p = 0; p < links.size(); ++p) {
      if (aligned_[p]) continue;
      if (best == links.size() || links[p] > links[best]) best = p;
    }
    return best;
  }

  std::vector<Sample> samples_of(size_t process) const {
    std::vector<Sample> out;
    for (const size_t m : shared_) {
      std::optional<int64_t> own;
      std::vector<double> others;
      const int64_t origin = job_.clocks[process].origin_ns;
      for (const MemberTimes& a : job_.meetings[m].members) {
        const int64_t end = local_end(a);
        if (a.process == process) own = end;
        if (aligned_[a.process])
          others.push_back(static_cast<double>(job_.clocks[a.process].common(end) - origin));
      }
      if (!own || others.empty()) continue;
      const auto local = static_cast<double>(*own - origin);
      out.push_back({local, median(others) - local});
    }
    return out;
  }

  JobProfile& job_;
  std::vector<size_t> shared_;  // meetings whose members end together
  std::vector<bool> aligned_;
};

}  // namespace

int64_t ClockFit::common(int64_t local_ns) const {
  const double more = offset_ns + drift * static_cast<double>(local_ns - origin_ns);
  return local_ns + static_cast<int64_t>(std::llround(more));
}

void align_clocks(JobProfile& job) {
  Aligner(job).align();
  std::vector<int64_t> spreads;
  for (Meeting& meeting : job.meetings) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (const MemberTimes& a : meeting.members) {
      const int64_t end = job.clocks[a.process].common(job.processes[a.process].rows[a.row].end_ns);
      first = std::min(first, end);
      last = std::max(last, end);
    }
    meeting.end_spread_ns = last - first;
    meeting.ends_together = ends_together(job, meeting);
    if (meeting.ends_together) spreads.push_back(meeting.end_spread_ns);
  }
  job.aligned_on = spreads.size();
  if (spreads.empty()) return;
  std::sort(spreads.begin(), spreads.end());
  job.error_ns = spreads.back();
  job.typical_error_ns = spreads[spreads.size() / 2];
}

}  // namespace hostir::traces::profile
