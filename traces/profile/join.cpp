#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "traces/import/formats/file_name.h"
#include "traces/profile/job_profile.h"

namespace hostir::traces::profile {

namespace {

constexpr size_t kMostProfiles = 1024;

/// Profiles that state no rank get the rank in their file's name, if all of them have one and no
/// two are equal; otherwise the free ranks in order.
void name_ranks(JobProfile& job) {
  std::set<model::Rank> taken;
  bool good = true;
  std::vector<ProcessProfile*> unnamed;
  for (ProcessProfile& p : job.processes) {
    if (p.rank) {
      taken.insert(*p.rank);
      continue;
    }
    unnamed.push_back(&p);
    const auto rank = import::rank_in_name(p.file);
    good = good && rank && static_cast<size_t>(*rank) < kMostProfiles && taken.insert(*rank).second;
  }
  if (unnamed.empty()) return;
  if (good) {
    for (ProcessProfile* p : unnamed) {
      p->rank = import::rank_in_name(p->file);
      p->rank_found_by = "its file's name";
    }
    return;
  }
  taken.clear();
  for (const ProcessProfile& p : job.processes) {
    if (p.rank) taken.insert(*p.rank);
  }
  model::Rank next = 0;
  for (ProcessProfile* p : unnamed) {
    while (taken.contains(next)) ++next;
    p->rank = next;
    p->rank_found_by = "the order of the files";
    taken.insert(next);
    job.notes.push_back(fmt::format("{} does not state its rank; assuming rank {}", p->file, next));
  }
}

}  // namespace

Expected<JobProfile> join(std::vector<ProcessProfile> processes) {
  JobProfile job;
  job.processes = std::move(processes);
  if (job.processes.empty() || job.processes.size() > kMostProfiles) {
    return fail(
        ErrorKind::kInvalid, "profile_size",
        fmt::format("{} profiles; 1 to {} can be joined", job.processes.size(), kMostProfiles));
  }
  name_ranks(job);
  std::stable_sort(job.processes.begin(), job.processes.end(),
                   [](const auto& a, const auto& b) { return *a.rank < *b.rank; });
  for (size_t i = 1; i < job.processes.size(); ++i) {
    const ProcessProfile& a = job.processes[i - 1];
    const ProcessProfile& b = job.processes[i];
    if (a.rank != b.rank) continue;
    return fail(ErrorKind::kInvalid, "profile_rank",
                fmt::format("{} and {} are both of rank {}; name one profile for each rank", a.file,
                            b.file, *a.rank));
  }
  match_meetings(job);
  align_clocks(job);
  measure_waits(job);
  const model::Rank last = *job.processes.back().rank;
  int64_t world = int64_t{last} + 1;
  for (const ProcessProfile& p : job.processes) {
    world = std::max(world, p.world_size.value_or(0));
    for (const std::string& remark : p.remarks)
      job.notes.push_back(fmt::format("rank {}: {}", *p.rank, remark));
  }
  if (world > static_cast<int64_t>(job.processes.size())) {
    job.notes.push_back(
        fmt::format("only {} of {} ranks have a profile: collectives are measured among these "
                    "ranks, and one of the others may arrive later",
                    job.processes.size(), world));
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (job.clocks[p].connected || job.processes.size() == 1) continue;
    job.notes.push_back(fmt::format(
        "rank {} shares no collective with the others: its clock is not aligned", job.rank(p)));
  }
  return job;
}

}  // namespace hostir::traces::profile
