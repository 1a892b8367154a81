// Members that disagree. A call made by a strict majority is "expected"; otherwise both sides are
// named in rank order and neither is blamed. judge() writes the sentence.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/charges/blocks.h"
#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"

namespace hostir::diagnose {

namespace {

using model::Call;
using model::Meeting;
using model::Member;
using model::Rank;
using model::Run;
using model::SendRecv;
using model::Side;
using model::Verdict;

std::vector<const Member*> arrived_by_rank(const Meeting& meeting) {
  std::vector<const Member*> out;
  for (const Member& m : meeting.members) {
    if (m.arrived()) out.push_back(&m);
  }
  std::sort(out.begin(), out.end(),
            [](const Member* a, const Member* b) { return a->rank < b->rank; });
  return out;
}

// The text of a note after its ranks.
std::string note_words(const Run& run, const Member& member, bool several) {
  std::string note;
  const std::string at = instruction_name(run, member.instruction);
  if (!at.empty()) note += (several ? " were at " : " was at ") + at;
  if (!member.loops.empty()) note += fmt::format(" ({})", member.loops);
  return note + ": " + model::call_text(member.call);
}

// Members with the same text at one instruction share a note.
void add_notes(const Run& run, const std::vector<const Member*>& members, Verdict& verdict) {
  std::map<std::pair<uint32_t, std::string>, size_t> known;
  std::vector<std::vector<const Member*>> all;
  for (const Member* m : members) {
    const auto [at, added] =
        known.emplace(std::pair(m->instruction.index, note_words(run, *m, true)), all.size());
    if (added) all.emplace_back();
    all[at->second].push_back(m);
  }
  for (const std::vector<const Member*>& alike : all) {
    std::vector<Rank> ranks;
    for (const Member* m : alike) ranks.push_back(m->rank);
    std::string text = model::list_of(ranks) + note_words(run, *alike.front(), ranks.size() > 1);
    verdict.notes.push_back({std::move(ranks), alike.front()->instruction, std::move(text)});
  }
}

// True if some call was made by a majority of all members.
bool has_majority(const Meeting& meeting) {
  std::vector<std::pair<const Call*, size_t>> distinct;  // each with its number of members
  for (const Member& m : meeting.members) {
    if (!m.arrived()) continue;
    const auto at = std::ranges::find_if(
        distinct, [&](const auto& known) { return states_same(*known.first, m.call); });
    ++(at == distinct.end() ? distinct.emplace_back(&m.call, 0) : *at).second;
  }
  return std::ranges::any_of(distinct, [&](const auto& a) {
    size_t same = 0;
    for (const auto& [call, members] : distinct) same += agree(*a.first, *call) ? members : 0;
    return 2 * same > meeting.members.size();
  });
}

bool members_differ(const std::vector<const Member*>& came) {
  std::vector<const Call*> distinct;
  for (const Member* m : came) {
    const bool known = std::any_of(distinct.begin(), distinct.end(),
                                   [&](const Call* c) { return states_same(*c, m->call); });
    if (!known) distinct.push_back(&m->call);
  }
  for (size_t a = 0; a < distinct.size(); ++a) {
    for (size_t b = a + 1; b < distinct.size(); ++b) {
      if (!agree(*distinct[a], *distinct[b])) return true;
    }
  }
  return false;
}

// True if the record of every member that did not arrive is missing: no later part of the record
// will tell more.
bool others_have_no_record(const Run& run, const Meeting& meeting) {
  return std::all_of(meeting.members.begin(), meeting.members.end(), [&](const Member& m) {
    const model::RankFacts* facts = run.find(m.rank);
    return m.arrived() || (facts != nullptr && facts->record == model::RecordState::kMissing);
  });
}

std::vector<Side> sides_of(const std::vector<const Member*>& came, size_t members) {
  std::vector<Side> sides;
  std::vector<const Call*> calls;
  bool alike = false;
  const auto collect = [&](bool with_details) {
    sides.clear();
    calls.clear();
    for (const Member* m : came) {
      const auto at = std::find_if(calls.begin(), calls.end(),
                                   [&](const Call* c) { return states_same(*c, m->call); });
      if (at != calls.end()) {
        sides[static_cast<size_t>(at - calls.begin())].ranks.push_back(m->rank);
        continue;
      }
      std::string text = model::call_text(m->call);
      if (with_details) text += model::call_details(m->call);
      for (const Side& s : sides) alike |= s.text == text;
      calls.push_back(&m->call);
      sides.push_back({std::move(text), {m->rank}});
    }
  };
  collect(false);
  if (alike) collect(true);
  for (Side& s : sides) s.expected = 2 * s.ranks.size() > members;
  return sides;
}

// `members of comm over {x} disagree in seq 0`, and how.
std::string disagree_text(const Run& run, const Verdict& verdict, std::string_view how) {
  return fmt::format("members of {} disagree in seq {}: {}",
                     communicator_name(run, verdict.communicator), *verdict.sequence, how);
}

// `rank 1 calls broadcast f32[6] root 0, ranks 0, 2 call all_reduce sum f32[6]`
std::string sides_text(const std::vector<Side>& sides) {
  std::string text;
  for (const Side& side : sides) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", model::list_of(side.ranks),
                        verb(side.ranks, "calls", "call"), side.text);
  }
  return text;
}

Verdict disagreement(const Run& run, const Meeting& meeting,
                     const std::vector<const Member*>& came) {
  Verdict verdict;
  verdict.kind = "collective_mismatch";
  verdict.communicator = meeting.communicator;
  verdict.sequence = meeting.sequence;
  verdict.sides = sides_of(came, meeting.members.size());
  verdict.sentence = disagree_text(run, verdict, sides_text(verdict.sides));
  add_notes(run, came, verdict);
  const auto is_expected = [&](const model::VerdictNote& note) {
    return std::ranges::any_of(verdict.sides, [&](const Side& side) {
      return side.expected && contains(side.ranks, note.ranks.front());
    });
  };
  while (verdict.culprit < verdict.notes.size() && is_expected(verdict.notes[verdict.culprit]))
    ++verdict.culprit;  // the first one outside the majority
  return verdict;
}

std::optional<Verdict> exchange(const Run& run, const Meeting& meeting) {
  const auto wrong = unequal_blocks(meeting);
  if (wrong.empty()) return std::nullopt;
  const auto [p, q] = wrong.front();
  const Member& from = meeting.members[p];
  const Member& to = meeting.members[q];
  const std::optional<size_t> odd = in_every_pair(wrong);
  Verdict verdict;
  verdict.kind = "collective_mismatch";
  verdict.communicator = meeting.communicator;
  verdict.sequence = meeting.sequence;
  verdict.sentence = disagree_text(run, verdict, blocks_text(meeting, wrong));
  Side apart{model::call_text(from.call), {}};
  Side rest{model::call_text(to.call), {}, odd.has_value()};
  for (size_t at = 0; at < meeting.members.size(); ++at) {
    const bool wrong_one = odd ? at == *odd : at == p || at == q;
    (wrong_one ? apart : rest).ranks.push_back(meeting.members[at].rank);
  }
  verdict.sides = {std::move(apart)};
  if (odd) verdict.sides.push_back(std::move(rest));
  add_notes(run, p == q ? std::vector{&from} : std::vector{&from, &to}, verdict);
  if (odd == q) verdict.culprit = verdict.notes.size() - 1;
  if (to.call.receives_given == false) {
    verdict.notes.push_back(
        {{},
         to.instruction,
         fmt::format("rank {} does not say what it receives: without receives(..) that is taken "
                     "from its own counts and its output",
                     to.rank)});
  }
  return verdict;
}

std::optional<Verdict> of_pair(const Run& run, const SendRecv& pair) {
  if (!sides_differ(pair)) return std::nullopt;
  const Call& send = pair.send.call;
  const Call& recv = pair.recv.call;
  Verdict verdict;
  verdict.kind = "collective_mismatch";
  verdict.communicator = pair.communicator;
  verdict.sequence = pair.ordinal;
  verdict.sides = {{model::call_text(send), {pair.source}},
                   {model::call_text(recv), {pair.target}}};
  verdict.sentence = disagree_text(run, verdict, sides_text(verdict.sides));
  add_notes(run, {&pair.send, &pair.recv}, verdict);
  return verdict;
}

}  // namespace

bool disagree(const Meeting& meeting) {
  const std::vector<const Member*> came = arrived_by_rank(meeting);
  return members_differ(came) ||
         (came.size() == meeting.members.size() && !unequal_blocks(meeting).empty());
}

std::optional<Verdict> mismatch_verdict(const Run& run, Pending pending) {
  constexpr size_t kMostOthers = 8;
  std::optional<Verdict> first;
  size_t others = 0;
  const auto keep = [&](std::optional<Verdict> found) {
    if (!found) return;
    if (!first) {
      first = std::move(found);
    } else if (++others <= kMostOthers) {
      const model::InstructionId at =
          found->notes.empty() ? model::InstructionId{} : found->notes.front().instruction;
      first->notes.push_back({{}, at, "also " + found->sentence});
    }
  };
  for (const Meeting& meeting : run.meetings) {
    const std::vector<const Member*> came = arrived_by_rank(meeting);
    const bool all = came.size() == meeting.members.size();
    if (members_differ(came)) {
      if (all || pending == Pending::kTell || first || has_majority(meeting) ||
          others_have_no_record(run, meeting))
        keep(disagreement(run, meeting, came));
    } else if (all) {
      keep(exchange(run, meeting));
    }
  }
  for (const SendRecv& pair : run.pairs) keep(of_pair(run, pair));
  if (others > kMostOthers) {
    first->notes.push_back({{}, {}, fmt::format("and {} more mismatches", others - kMostOthers)});
  }
  return first;
}

}  // namespace hostir::diagnose
