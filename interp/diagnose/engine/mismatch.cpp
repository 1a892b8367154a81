// Members that disagree. A call made by a strict majority is "expected"; otherwise both sides are
// named in rank order and neither is blamed.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/charges/disagreement.h"
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

// ` (at @f#7, @f#10)`: each place once, in the order of the notes.
void name_places(const Run& run, Verdict& verdict) {
  std::vector<std::string> seen;
  for (const model::VerdictNote& note : verdict.notes) {
    const model::Instruction* instruction = run.find(note.instruction);
    const std::string place = instruction ? model::place_text(*instruction) : std::string();
    if (place.empty() || contains(seen, place)) continue;
    verdict.sentence += (seen.empty() ? " (at " : ", ") + place;
    seen.push_back(place);
  }
  if (!seen.empty()) verdict.sentence += ")";
}

// True if some call was made by a majority of all members.
bool has_majority(const Meeting& meeting) {
  for (const Member& a : meeting.members) {
    if (!a.arrived()) continue;
    const auto same =
        std::count_if(meeting.members.begin(), meeting.members.end(),
                      [&](const Member& b) { return b.arrived() && agree(a.call, b.call); });
    if (2 * static_cast<size_t>(same) > meeting.members.size()) return true;
  }
  return false;
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

Verdict disagreement(const Run& run, const Meeting& meeting,
                     const std::vector<const Member*>& came) {
  Verdict verdict;
  verdict.kind = "collective_mismatch";
  verdict.communicator = meeting.communicator;
  verdict.sequence = meeting.sequence;
  verdict.sides = sides_of(came, meeting.members.size());
  const Side* expected = nullptr;
  std::string odd;
  for (const Side& s : verdict.sides) {
    if (s.expected) {
      expected = &s;
      continue;
    }
    odd += fmt::format("{}{} {}", odd.empty() ? "" : ", ", model::list_of(s.ranks), s.text);
  }
  verdict.sentence = fmt::format("{} seq {}: {}", communicator_name(run, meeting.communicator),
                                 meeting.sequence, odd);
  if (expected != nullptr) {
    verdict.sentence +=
        fmt::format(", expected {} as on {}", expected->text, model::list_of(expected->ranks));
  }
  add_notes(run, came, verdict);
  const auto is_expected = [&](const model::VerdictNote& note) {
    return expected != nullptr && contains(expected->ranks, note.ranks.front());
  };
  while (verdict.culprit < verdict.notes.size() && is_expected(verdict.notes[verdict.culprit]))
    ++verdict.culprit;  // the first one outside the majority
  name_places(run, verdict);
  return verdict;
}

// The (sender, receiver) pairs, by position, whose sent and expected block sizes differ.
std::vector<std::pair<size_t, size_t>> unequal_blocks(const Meeting& meeting) {
  std::vector<std::pair<size_t, size_t>> out;
  const auto& members = meeting.members;
  for (size_t p = 0; p < members.size(); ++p) {
    for (size_t q = 0; q < members[p].call.sends.size() && q < members.size(); ++q) {
      if (p < members[q].call.receives.size() &&
          members[p].call.sends[q] != members[q].call.receives[p])
        out.emplace_back(p, q);
    }
  }
  return out;
}

// The one member that is in every mismatched pair, if there are several pairs and exactly one such
// member.
std::optional<size_t> in_every_pair(const std::vector<std::pair<size_t, size_t>>& wrong) {
  if (wrong.size() < 2) return std::nullopt;
  std::optional<size_t> found;
  for (const size_t one : {wrong.front().first, wrong.front().second}) {
    const bool all = std::all_of(wrong.begin(), wrong.end(), [&](const auto& pair) {
      return pair.first == one || pair.second == one;
    });
    if (!all || found == one) continue;
    if (found) return std::nullopt;
    found = one;
  }
  return found;
}

// The shift of a permute whose member sends to a single position; nullopt otherwise.
std::optional<size_t> shift_of(const Meeting& meeting, size_t position) {
  const Call& call = meeting.members[position].call;
  if (call.kind != OpKind::permute) return std::nullopt;
  std::optional<size_t> target;
  for (size_t q = 0; q < call.sends.size(); ++q) {
    if (call.sends[q] == 0) continue;
    if (target) return std::nullopt;
    target = q;
  }
  if (!target) return std::nullopt;
  return (*target + call.sends.size() - position) % call.sends.size();
}

// The counts stated by the member that is in every mismatched pair, and the counts that the others
// expect from it.
std::string odd_text(const Meeting& meeting, size_t odd,
                     const std::vector<std::pair<size_t, size_t>>& wrong) {
  const Member& member = meeting.members[odd];
  std::string text = fmt::format("; rank {} is in each of the {} pairs that do not fit",
                                 member.rank, wrong.size());
  const auto own = shift_of(meeting, odd);
  std::optional<size_t> theirs;
  bool alike = own.has_value();
  for (size_t p = 0; p < meeting.members.size() && alike; ++p) {
    if (p == odd) continue;
    const auto other = shift_of(meeting, p);
    alike = other && (!theirs || *theirs == *other);
    theirs = other;
  }
  if (alike && theirs)
    return text + fmt::format(": it has shift {}, the others shift {}", *own, *theirs);
  std::vector<int64_t> wanted;
  std::vector<int64_t> given;
  for (size_t q = 0; q < meeting.members.size(); ++q) {
    const Call& other = meeting.members[q].call;
    if (odd >= other.receives.size() || odd >= other.sends.size()) return text;
    // The block that it sends to itself need not match.
    wanted.push_back(q == odd ? other.sends[odd] : other.receives[odd]);
    given.push_back(q == odd ? other.receives[odd] : other.sends[odd]);
  }
  if (member.call.sends != wanted) {
    text += fmt::format(": it sends [{}], the others expect [{}]",
                        fmt::join(member.call.sends, ", "), fmt::join(wanted, ", "));
  }
  if (member.call.receives != given) {
    text += fmt::format("{} it expects [{}], the others send [{}]",
                        member.call.sends != wanted ? ";" : ":",
                        fmt::join(member.call.receives, ", "), fmt::join(given, ", "));
  }
  return text;
}

// If no single member is in every pair: which ranks have which shift.
std::string shifts_text(const Meeting& meeting) {
  std::map<size_t, std::vector<model::Rank>> ranks;
  for (size_t p = 0; p < meeting.members.size(); ++p) {
    const auto shift = shift_of(meeting, p);
    if (!shift) return {};
    ranks[*shift].push_back(meeting.members[p].rank);
  }
  std::string text;
  for (const auto& [shift, with] : ranks)
    text += fmt::format("{} shift {} on {}", text.empty() ? ";" : ",", shift, model::list_of(with));
  return ranks.size() > 1 ? text : std::string();
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
  verdict.sentence =
      fmt::format("{} seq {}: rank {} {} sends {} elements to rank {}, which expects {}{}",
                  communicator_name(run, meeting.communicator), meeting.sequence, from.rank,
                  model::call_text(from.call), from.call.sends[q], to.rank, to.call.receives[p],
                  odd ? odd_text(meeting, *odd, wrong) : shifts_text(meeting));
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
  name_places(run, verdict);
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
  verdict.sentence =
      fmt::format("{} send {} to {} number {}: rank {} {}, rank {} {}",
                  communicator_name(run, pair.communicator), pair.source, pair.target, pair.ordinal,
                  pair.source, model::call_text(send), pair.target, model::call_text(recv));
  verdict.sides = {{model::call_text(send), {pair.source}},
                   {model::call_text(recv), {pair.target}}};
  add_notes(run, {&pair.send, &pair.recv}, verdict);
  name_places(run, verdict);
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
