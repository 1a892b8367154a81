#include "traces/import/job_watch.h"

#include <algorithm>
#include <set>
#include <vector>

namespace hostir::traces::import {

namespace {

struct RankProgress {
  size_t calls = 0;
  size_t completed = 0;
  int64_t newest_ns = 0;
};

void count(const model::Member& member, std::vector<RankProgress>& ranks) {
  if (!member.arrived() || member.rank < 0 || static_cast<size_t>(member.rank) >= ranks.size())
    return;
  RankProgress& rank = ranks[static_cast<size_t>(member.rank)];
  ++rank.calls;
  if (member.state == model::MemberState::kCompleted) ++rank.completed;
  for (const auto& time :
       {member.times.issued_ns, member.times.started_ns, member.times.finished_ns})
    rank.newest_ns = std::max(rank.newest_ns, time.value_or(0));
}

std::vector<RankProgress> progress_of(const model::Run& run) {
  std::vector<RankProgress> out(run.ranks.size());
  for (const model::Meeting& meeting : run.meetings) {
    for (const model::Member& member : meeting.members) count(member, out);
  }
  for (const model::SendRecv& pair : run.pairs) {
    count(pair.send, out);
    count(pair.recv, out);
  }
  return out;
}

bool is_over(const model::Run& run) {
  return std::all_of(run.ranks.begin(), run.ranks.end(), [](const model::RankFacts& facts) {
    return facts.state == model::RankState::kDone || facts.state == model::RankState::kDead;
  });
}

}  // namespace

// The first look uses the recorded times, so that a job that has been stuck for long is recognised
// at once. Later looks rely only on changes, because clocks of other computers may be wrong.
void JobWatch::note(model::Rank rank, const Progress& progress, int64_t now_ns) {
  const auto [at, first] = seen_.try_emplace(rank);
  if (first) {
    const int64_t newest = std::get<2>(progress);
    at->second = {progress, newest > 0 ? std::min(newest, now_ns) : now_ns};
  } else if (at->second.progress != progress) {
    at->second = {progress, now_ns};
  }
}

JobLook JobWatch::look(const OpenedDumps& opened, int64_t now_ns) {
  JobLook out;
  const model::Run& run = *opened.run;
  const std::vector<RankProgress> progress = progress_of(run);
  for (size_t r = 0; r < progress.size(); ++r) {
    out.calls += progress[r].calls;
    out.completed += progress[r].completed;
    note(static_cast<model::Rank>(r),
         {progress[r].calls, progress[r].completed, progress[r].newest_ns}, now_ns);
  }
  const diagnose::RecordedVerdict& verdict = opened.verdict.accusation();
  if (!verdict.is_fault() && !verdict.unknown) {
    if (is_over(run)) out.state = JobState::kOver;
    return out;
  }
  std::set<model::Rank> concerned(verdict.waiting.begin(), verdict.waiting.end());
  concerned.insert(verdict.culprits.begin(), verdict.culprits.end());
  concerned.insert(verdict.suspects.begin(), verdict.suspects.end());
  int64_t newest = 0;
  for (const model::Rank rank : concerned) {
    const auto at = seen_.find(rank);
    if (at != seen_.end()) newest = std::max(newest, at->second.changed_ns);
  }
  out.quiet_ns = now_ns - newest;
  if (out.quiet_ns >= stall_ns_) out.state = JobState::kStalled;
  return out;
}

}  // namespace hostir::traces::import
