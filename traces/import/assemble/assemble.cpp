#include "traces/import/assemble/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/user_frame.h"
#include "interp/model/builder.h"
#include "traces/import/assemble/call_parts.h"
#include "traces/import/assemble/group_lists.h"
#include "traces/import/assemble/local_ranks.h"
#include "traces/import/assemble/merge.h"
#include "traces/import/assemble/met_calls.h"
#include "traces/import/assemble/other_runs.h"
#include "traces/import/assemble/pair_order.h"
#include "traces/import/formats/nccl_members.h"

namespace hostir::traces::import {

namespace {

/// `default_pg`, `tp`; torch names a group without a description "undefined".
model::Communicator communicator_of(const DumpGroup& group) {
  model::Communicator made;
  made.name = group.name;
  made.description = group.description == "undefined" ? "" : group.description;
  if (made.description.empty()) made.description = "group " + group.name;
  made.members = group.members;
  made.size = group.members ? static_cast<uint32_t>(group.members->size()) : group.size;
  made.content_key = group.content_key;
  return made;
}

model::Instruction instruction_of(std::string kind, const std::vector<model::StackFrame>& frames) {
  model::Instruction made;
  made.mnemonic = std::move(kind);
  made.frames = frames;
  if (const model::StackFrame* frame = diagnose::user_frame(frames)) made.place = frame->place;
  return made;
}

/// `0.4 s`, `12 s`, `5 h`, `6 days`.
std::string age_text(int64_t ns) {
  const double s = static_cast<double>(ns) / 1e9;
  if (s < 9.95) return fmt::format("{:.1f} s", s);
  if (s < 2 * 3600) return fmt::format("{:.0f} s", s);
  return s < 48 * 3600 ? fmt::format("{:.0f} h", s / 3600) : fmt::format("{:.0f} days", s / 86400);
}

class Assembler {
 public:
  explicit Assembler(std::vector<ProcessDump> dumps) : dumps_(std::move(dumps)) {}

  Expected<model::Run> assemble() {
    name_members(dumps_);
    HOSTIR_TRY(check_size());
    HOSTIR_TRY(find_ranks());
    HOSTIR_TRY(check_ranks());
    drop_other_runs();
    for (std::string& text : number_local_ranks(dumps_)) note_unread(std::move(text));
    drop_outsiders();
    for (std::string& text : forget_copies(dumps_)) note_unread(std::move(text));
    HOSTIR_TRY(merge_files());
    for (auto& remark : share_members(dumps_)) remarks_.push_back(std::move(remark));
    tell_groups_apart(dumps_);
    find_older_files(dumps_);
    model::Run& run = builder_.run();
    for (ProcessDump& dump : dumps_) {
      if (run.producer.name.empty()) {
        run.producer.name = dump.producer;
        run.producer.version = dump.version;
      } else if (run.producer.version != dump.version) {
        note_versions(dump);
      }
      if (dump.world_size && *dump.world_size > 0 && *dump.world_size <= kMostRanks) {
        builder_.expect_ranks(static_cast<model::Rank>(*dump.world_size));
      }
      add_process(dump);
    }
    forget_open_launches();
    add_pairs();
    add_motion();
    model::Run finished = std::move(builder_).finish();
    settle_met_calls(dumps_, finished);
    return finished;
  }

 private:
  static constexpr uint64_t kMostMembers = uint64_t{1} << 24;

  // A run stores every member of every call, so a short file could claim a huge run.
  Expected<void> check_size() const {
    for (const ProcessDump& dump : dumps_) {
      uint64_t members = 0;
      for (const DumpCall& call : dump.calls) {
        const auto& list = dump.groups[call.group].members;
        members += list ? list->size() : 1;
      }
      if (members > kMostMembers) {
        return fail(ErrorKind::kInvalid, "import_size",
                    fmt::format("{}: its calls have {} members together; at most {} can be held",
                                dump.file, members, kMostMembers));
      }
    }
    return {};
  }

  // If the file name does not give the rank, a send or recv does: it has the position in the group.
  Expected<void> find_ranks() {
    for (ProcessDump& dump : dumps_) {
      for (const DumpGroup& group : dump.groups) {
        if (!group.position || !group.members) continue;
        const auto at = static_cast<size_t>(*group.position);
        if (at >= group.members->size()) continue;
        const model::Rank told = (*group.members)[at];
        if (!dump.rank) {
          dump.rank = told;
          dump.rank_found_by = "a send or recv in it";
        } else if (*dump.rank != told) {
          remarks_.push_back({*dump.rank, fmt::format("{} is named as rank {}, but a send or recv "
                                                      "in it is rank {}'s",
                                                      dump.file, *dump.rank, told)});
        }
      }
    }
    const auto has_rank = [](const ProcessDump& dump) { return dump.rank.has_value(); };
    const bool any = std::any_of(dumps_.begin(), dumps_.end(), has_rank);
    for (const ProcessDump& dump : dumps_) {
      if (dump.rank) continue;
      std::string what = fmt::format(
          "{}: the file does not say whose rank it is, and its name has no number; "
          "name it like trace_3",
          dump.file);
      if (!any) return fail(ErrorKind::kInvalid, "import_rank", std::move(what));
      note_unread(what + "; it is not read");
    }
    std::erase_if(dumps_, [&](const ProcessDump& dump) { return !has_rank(dump); });
    return {};
  }

  // Ranks of a communicator that is not the world's would mix up processes.
  Expected<void> check_ranks() const {
    std::map<model::Rank, const ProcessDump*> first;
    for (const ProcessDump& dump : dumps_) {
      if (dump.rank_found_by != kLargestCommunicator) continue;
      const ProcessDump& other = *first.try_emplace(*dump.rank, &dump).first->second;
      if (std::tie(other.computer, other.process) == std::tie(dump.computer, dump.process))
        continue;
      return fail(
          ErrorKind::kInvalid, "import_rank",
          fmt::format("{}: processes {} and {} on {} and {} are both rank {} of their largest "
                      "communicator, so they are of two jobs, or no communicator has all "
                      "ranks; open the files of one job",
                      dump.file, other.process.value_or(0), dump.process.value_or(0),
                      other.computer, dump.computer, *dump.rank));
    }
    return {};
  }

  // A copy under another name, or a file of another job: its name gives a rank that is not a member
  // of the file's groups, and all their members have files of their own.
  void drop_outsiders() {
    std::set<model::Rank> known;
    for (const ProcessDump& dump : dumps_) known.insert(*dump.rank);
    std::erase_if(dumps_, [&](const ProcessDump& dump) {
      const DumpGroup* outside = nullptr;
      for (const DumpGroup& group : dump.groups) {
        if (!group.members || group.members->empty()) continue;
        const auto has_file = [&](model::Rank rank) { return known.contains(rank); };
        if (contains(*group.members, *dump.rank) ||
            !std::all_of(group.members->begin(), group.members->end(), has_file)) {
          return false;
        }
        if (outside == nullptr) outside = &group;
      }
      if (outside == nullptr) return false;
      note_unread(
          fmt::format("{}: its name says rank {}, which is not a member of its group {} of {} "
                      "ranks: a copy, or of another job; it is not read",
                      dump.file, *dump.rank, outside->name, outside->members->size()));
      return true;
    });
  }

  void note_unread(std::string text) {
    builder_.run().gaps.push_back(
        {model::Gap::Kind::kNotTranslated, std::nullopt, {}, std::nullopt, std::move(text)});
  }

  Expected<void> merge_files() {
    std::stable_sort(dumps_.begin(), dumps_.end(),
                     [](const ProcessDump& a, const ProcessDump& b) { return *a.rank < *b.rank; });
    std::vector<ProcessDump> merged;
    for (ProcessDump& dump : dumps_) {
      builder_.run().producer.files.push_back(dump.file);
      if (!merged.empty() && merged.back().rank == dump.rank) {
        MergedDump both = merge(std::move(merged.back()), std::move(dump));
        merged.back() = std::move(both.dump);
        for (std::string& text : both.contradictions) {
          remarks_.push_back({*merged.back().rank, std::move(text)});
        }
      } else {
        merged.push_back(std::move(dump));
      }
    }
    dumps_ = std::move(merged);
    return {};
  }

  void note_versions(const ProcessDump& dump) {
    builder_.gap({model::Gap::Kind::kContradiction,
                  dump.rank,
                  {},
                  {},
                  fmt::format("rank {} wrote version {}, the first file has {}", *dump.rank,
                              dump.version, builder_.run().producer.version)});
  }

  void add_process(const ProcessDump& dump) {
    const model::Rank rank = *dump.rank;
    model::RankFacts& facts = builder_.rank(rank);
    facts.found_by = dump.rank_found_by;
    facts.computer = dump.computer;
    facts.process = dump.process;
    if (dump.stopped) facts.state = model::RankState::kFrozen;
    if (dump.ended) facts.state = model::RankState::kDone;
    if (dump.dead) facts.state = model::RankState::kDead;
    if (dump.cut) {
      facts.record = model::RecordState::kCut;
      builder_.gap({model::Gap::Kind::kEndsEarly,
                    rank,
                    {},
                    {},
                    dump.cut_where.empty()
                        ? fmt::format("rank {}: its record ends in the middle of a line, so it may "
                                      "have made that call and later ones",
                                      rank)
                        : fmt::format("rank {}: its record ends {}", rank, dump.cut_where)});
    }
    if (dump.sequences_lost) facts.record = model::RecordState::kUnknown;
    const std::string owner =
        dump.computer.empty() ? fmt::format("the computer of rank {}", rank) : dump.computer;
    const model::ClockId clock = builder_.clock({model::ClockKind::kWall, owner, {}});
    std::vector<model::CommunicatorId> ids;
    for (const DumpGroup& group : dump.groups) {
      ids.push_back(builder_.communicator(communicator_of(group)));
    }
    std::map<size_t, uint64_t> first;
    uint64_t order = 0;
    const DumpCall* before = nullptr;
    for (const DumpCall& call : dump.calls) {
      // Calls that were issued together have the same place in the order.
      const bool together = before != nullptr && call.together && before->group == call.group &&
                            before->together == call.together;
      if (!together) ++order;
      before = &call;
      if (call.shape != DumpCall::Shape::kCollective) {
        pairs_.add({rank, order, &dump, &call, ids[call.group], clock});
        continue;
      }
      model::Member& member = builder_.arrive(ids[call.group], call.sequence, rank);
      fill(member, dump, call, clock, order);
      first.try_emplace(call.group, call.sequence);
      if (call.coalesced) coalesced_.emplace(ids[call.group], call.sequence);
      if (!call.coalesced && &call == &dump.calls.back())
        last_calls_.push_back({ids[call.group], call.sequence, rank});
    }
    if (dump.start_lost || dump.only_unfinished) {
      pairs_.lost_before(rank, dump);
      note_lost_pairs(dump);
    }
    for (size_t g = 0; g < dump.groups.size(); ++g) add_beginning(dump, g, ids[g], first);
    for (const std::string& text : dump.remarks) {
      builder_.gap(
          {model::Gap::Kind::kNotTranslated, rank, {}, {}, fmt::format("rank {}: {}", rank, text)});
    }
  }

  void note_lost_pairs(const ProcessDump& dump) {
    const bool any = std::ranges::any_of(dump.calls, [](const DumpCall& call) {
      return call.shape != DumpCall::Shape::kCollective;
    });
    if (!any) return;
    builder_.gap({model::Gap::Kind::kBeginsLate,
                  dump.rank,
                  {},
                  {},
                  fmt::format("rank {}: earlier sends and recvs are not on record", *dump.rank)});
  }

  // If other ranks launched several collectives as one call, a rank's last entry may be only the
  // first part of that call.
  void forget_open_launches() {
    for (const auto& [communicator, sequence, rank] : last_calls_) {
      if (coalesced_.contains({communicator, sequence}))
        forget_sizes(builder_.arrive(communicator, sequence, rank).call);
    }
  }

  // Calls that were overwritten, or omitted because they had completed, may have been made.
  void add_beginning(const ProcessDump& dump, size_t group, model::CommunicatorId id,
                     const std::map<size_t, uint64_t>& first) {
    const auto known = first.find(group);
    if (known != first.end()) {
      if (known->second > 1) builder_.lost_before(*dump.rank, id, known->second);
      return;
    }
    const auto& enqueued = dump.groups[group].last_enqueued;
    if (enqueued && *enqueued > 0) {
      builder_.lost_before(*dump.rank, id, static_cast<uint64_t>(*enqueued) + 1);
    } else if ((dump.start_lost || dump.only_unfinished) && !enqueued) {
      builder_.lost_before(*dump.rank, id, UINT64_MAX);
    }
  }

  void fill(model::Member& member, const ProcessDump& dump, const DumpCall& call,
            model::ClockId clock, uint64_t order) {
    std::string kind = model::kind_text(call.call);
    const auto [known, added] =
        instructions_.try_emplace({&dump, call.stack, kind}, model::InstructionId());
    if (added)
      known->second =
          builder_.instruction(instruction_of(std::move(kind), dump.stacks[call.stack]));
    member.state = call.state;
    member.call = call.call;
    member.instruction = known->second;
    member.order = order;
    member.times = call.times;
    member.times.issued_clock = clock;
    member.times.execution_clock = clock;
    member.timed_out = call.timed_out;
    add_root(member, dump.groups[call.group]);
  }

  // In a gather or scatter, only the root has a tensor per member.
  static void add_root(model::Member& member, const DumpGroup& group) {
    if (member.call.root || !group.members || group.members->size() < 2) return;
    const auto& lists =
        member.call.kind == OpKind::gather ? member.call.outputs : member.call.inputs;
    const bool rooted = member.call.kind == OpKind::gather || member.call.kind == OpKind::scatter;
    if (!rooted || lists.size() != group.members->size()) return;
    const auto at = std::find(group.members->begin(), group.members->end(), member.rank);
    if (at == group.members->end()) return;
    member.call.root = static_cast<int32_t>(at - group.members->begin());
  }

  void add_pairs() {
    for (const OrderedCall& call : pairs_.ordered()) {
      if (call.may_have_met) {
        const auto& [rank, peer] = std::tie(call.side.rank, call.peer);
        builder_.lost_counterpart(call.side.communicator, call.sends ? rank : peer,
                                  call.sends ? peer : rank, call.ordinal);
      }
      model::Member& member =
          call.sends
              ? builder_.send(call.side.communicator, call.side.rank, call.peer, call.ordinal)
              : builder_.recv(call.side.communicator, call.peer, call.side.rank, call.ordinal);
      member.rank = call.side.rank;
      fill(member, *call.side.dump, *call.side.call, call.side.clock, call.side.order);
    }
    for (const std::string& text : pairs_.remarks()) {
      builder_.gap({model::Gap::Kind::kNotTranslated, {}, {}, {}, text});
    }
    for (auto& [rank, text] : remarks_) builder_.contradiction(rank, {}, {}, std::move(text));
  }

  // A watchdog timeout means that nothing moves. Files that were written before any call in flight
  // was older than its timeout, or than a time that writing a checkpoint may take, show a job that
  // may only be slow. If a process died or was stopped, a second is enough.
  void add_motion() {
    const bool halted = std::any_of(dumps_.begin(), dumps_.end(),
                                    [](const ProcessDump& d) { return d.dead || d.stopped; });
    const int64_t patience_ms = halted ? 1000 : 60'000;
    model::Run& run = builder_.run();
    for (const ProcessDump& dump : dumps_) {
      if (dump.motion == model::Motion::kUnknown) continue;
      run.motion = dump.motion;
      run.motion_source = dump.motion_source;
      // The ages of the calls are not known. From a second on, judge() also names who would be at
      // fault if the job is stuck.
      if (dump.motion == model::Motion::kMoving) run.oldest_call_ns = 1'000'000'000;
      return;
    }
    bool unfinished = false;
    bool young = true;
    int64_t oldest_ns = 0;
    std::optional<int64_t> timeout_ms;
    for (const ProcessDump& dump : dumps_) {
      for (const DumpCall& call : dump.calls) {
        if (call.state == model::MemberState::kCompleted) continue;
        unfinished = true;
        const auto& issued = call.times.issued_ns;
        const int64_t age_ns = issued && dump.written_ns ? *dump.written_ns - *issued : -1;
        young = young && age_ns >= 0 && age_ns / 1'000'000 < call.timeout_ms.value_or(patience_ms);
        if (age_ns >= oldest_ns) {
          oldest_ns = age_ns;
          timeout_ms = call.timeout_ms;
        }
        if (!call.timed_out.value_or(false) || run.motion == model::Motion::kStuck) continue;
        run.motion = model::Motion::kStuck;
        run.motion_source =
            call.timeout_ms
                ? fmt::format("a timeout of {} s", static_cast<double>(*call.timeout_ms) / 1000)
                : std::string("a watchdog that gave up");
      }
    }
    if (!unfinished) return;
    // A watchdog would have reported so old a call long ago: the file's time is that of a copy.
    const int64_t limit_ms = timeout_ms.value_or(patience_ms);
    const bool copied = !young && oldest_ns / 1'000'000 >= 2 * limit_ms + 60'000;
    if (young || oldest_ns > 0) run.oldest_call_ns = copied ? limit_ms * 1'000'000 : oldest_ns;
    if (run.motion == model::Motion::kStuck) return;
    if (copied) doubt_file_times(oldest_ns);
    if (!young) return;
    run.motion = model::Motion::kMoving;
    note_older_files();
    run.motion_source =
        fmt::format("the oldest call was {} old when its file was written", age_text(oldest_ns));
    if (timeout_ms) {
      run.motion_source = fmt::format("the oldest call is {} old and its timeout is {} s",
                                      age_text(oldest_ns), static_cast<double>(*timeout_ms) / 1000);
    }
  }

  void doubt_file_times(int64_t oldest_ns) {
    builder_.gap({model::Gap::Kind::kNotTranslated,
                  {},
                  {},
                  {},
                  fmt::format("when the files were written: by their times, {} after the oldest "
                              "call in flight; if these are the times of copies, the job may "
                              "still have been running",
                              age_text(oldest_ns))});
  }

  // A rank of a running job goes on after its file was written. Each rank whose file is older than
  // the newest one is named.
  void note_older_files() {
    constexpr int64_t kTellingNs = 2'000'000'000;
    const ProcessDump* newest = nullptr;
    for (const ProcessDump& dump : dumps_) {
      const bool newer = dump.written_ns && (!newest || *dump.written_ns > *newest->written_ns);
      if (newer) newest = &dump;
    }
    for (const ProcessDump& dump : dumps_) {
      const int64_t before_ns =
          dump.written_ns && newest != nullptr ? *newest->written_ns - *dump.written_ns : 0;
      if (before_ns < kTellingNs) continue;
      builder_.gap(
          {model::Gap::Kind::kEndsEarly,
           dump.rank,
           {},
           {},
           fmt::format("rank {}: its file was written {} before that of rank {}, so it may "
                       "have gone on since",
                       *dump.rank, age_text(before_ns), *newest->rank)});
    }
  }

  void drop_other_runs() {
    const std::vector<OtherRun> others = find_other_runs(dumps_);
    std::vector<bool> other(dumps_.size(), false);
    for (const OtherRun& one : others) {
      other[one.dump] = true;
      note_unread(one.remark);
    }
    size_t i = 0;
    std::erase_if(dumps_, [&](const ProcessDump&) { return other[i++]; });
  }

  std::vector<ProcessDump> dumps_;
  model::RunBuilder builder_;
  PairOrder pairs_;
  /// By dump, its stack and the kind of the call.
  std::map<std::tuple<const ProcessDump*, size_t, std::string>, model::InstructionId> instructions_;
  std::set<std::pair<model::CommunicatorId, uint64_t>> coalesced_;  // and sequence
  std::vector<std::tuple<model::CommunicatorId, uint64_t, model::Rank>> last_calls_;
  std::vector<std::pair<model::Rank, std::string>> remarks_;
};

}  // namespace

Expected<model::Run> assemble(std::vector<ProcessDump> dumps) {
  return Assembler(std::move(dumps)).assemble();
}

}  // namespace hostir::traces::import
