#include "interp/diagnose/charges/other_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;

namespace {

using Step = AlignedStep::Kind;

/// Crossed steps: each rank makes the other one's call.
size_t crossing(const AlignedCalls& aligned, size_t at) {
  const auto call = [](const MemberRef& ref) -> const model::Call& { return ref.member->call; };
  const AlignedStep& one = aligned.steps[at];
  for (size_t k = at + 1; k < aligned.steps.size(); ++k) {
    const AlignedStep& two = aligned.steps[k];
    if (two.kind == Step::kLeftOut || two.kind == Step::kExtra) return SIZE_MAX;
    if (two.kind != Step::kOther) continue;
    const bool crossed =
        same_call(call(aligned.mine.calls[one.mine]), call(aligned.theirs.calls[two.theirs])) &&
        same_call(call(aligned.mine.calls[two.mine]), call(aligned.theirs.calls[one.theirs]));
    return crossed ? k : SIZE_MAX;
  }
  return SIZE_MAX;
}

}  // namespace

void CallReader::read(const Disagreement& found, RecordedVerdict& verdict) const {
  std::vector<Rank> expected;
  for (const Member* member : found.expected) expected.push_back(member->rank);
  const Rank longest = longest_record(run_, expected, found.communicator());
  const MemberRef right = found.ref(*found.member(longest));
  RecordedVerdict first = verdict;
  read_one(found.odd.front()->rank, right, first);
  for (size_t i = 1; i < found.odd.size(); ++i) {
    RecordedVerdict other = verdict;
    read_one(found.odd[i]->rank, right, other);
    const bool alike = other.charge == first.charge && other.also == first.also &&
                       other.missing.meeting == first.missing.meeting &&
                       other.repair.size() == first.repair.size() &&
                       same_stack(run_, *other.at.member, *first.at.member);
    if (!alike) return;
    first.repair.insert(first.repair.end(), other.repair.begin(), other.repair.end());
  }
  if (found.odd.size() > 1 && !first.repair.empty()) {
    const size_t at = first.repair_text.rfind(" on rank ");
    if (at == std::string::npos) return;
    first.repair_text = first.repair_text.substr(0, at) + " on " + model::list_of(verdict.culprits);
  }
  verdict = std::move(first);
}

void CallReader::read_one(Rank odd, const MemberRef& right, RecordedVerdict& verdict) const {
  const AlignedCalls aligned = align_ranks(run_, odd, right.member->rank, right.communicator());
  if (only_one_differs(aligned)) return;
  for (size_t i = 0; i < aligned.steps.size(); ++i) {
    const AlignedStep& step = aligned.steps[i];
    if (step.kind == Step::kSame) continue;
    if (step.kind == Step::kElsewhere && !is_unusual(aligned, i)) continue;
    if (step.kind == Step::kOther || step.kind == Step::kElsewhere) {
      const size_t other = crossing(aligned, i);
      if (step.kind == Step::kOther && other != SIZE_MAX) {
        crossed(aligned, i, other, verdict);
      } else {
        by_rounds(aligned, i, verdict);
      }
      return;
    }
    if (!same_call_follows(aligned, i) && partner(aligned, i) == SIZE_MAX) return;
    step.kind == Step::kLeftOut ? left_out(aligned, i, verdict) : extra(aligned, i, verdict);
    return;
  }
}

// True if one call differs and the later ones agree, in the same places. If they also agree after
// moving the calls by one place, the ranks must have made equally many.
bool CallReader::only_one_differs(const AlignedCalls& aligned) const {
  const auto& mine = aligned.mine.calls;
  const auto& theirs = aligned.theirs.calls;
  const auto agree_from = [&](size_t m, size_t t) {
    while (m < mine.size() && t < theirs.size()) {
      if (!same(mine[m++], theirs[t++])) return false;
    }
    return true;
  };
  size_t at = 0;
  while (at < mine.size() && at < theirs.size() &&
         same_call(mine[at].member->call, theirs[at].member->call))
    ++at;
  if (at + 1 >= std::min(mine.size(), theirs.size()) || !agree_from(at + 1, at + 1)) return false;
  return mine.size() == theirs.size() || (!agree_from(at, at + 1) && !agree_from(at + 1, at));
}

// ---- what the alignment shows

void CallReader::left_out(const AlignedCalls& aligned, size_t at, RecordedVerdict& verdict) const {
  const MemberRef& missing = aligned.theirs.calls[aligned.steps[at].theirs];
  verdict.missing = missing;
  verdict.sequence = missing.sequence();
  const size_t other = partner(aligned, at);
  if (other != SIZE_MAX) {
    swapped(aligned, at, other, verdict);
    return;
  }
  const size_t count = same_call_follows(aligned, at) ? gaps_from(aligned, at) : 1;
  const size_t next = at + count;
  verdict.charge = Charge::kLeftOut;
  verdict.count = count;
  verdict.at = next < aligned.steps.size() && aligned.steps[next].mine != SIZE_MAX
                   ? aligned.mine.calls[aligned.steps[next].mine]
                   : last_call(calls_, aligned.mine.rank);
  verdict.repair.clear();
  for (size_t k = at; k < next; ++k) {
    verdict.repair.push_back(CallEdit::add(aligned.mine.rank, place_for(aligned, next - 1),
                                           aligned.theirs.calls[aligned.steps[k].theirs]));
  }
  verdict.repair_text =
      fmt::format("with {} on rank {}",
                  count == 1 ? std::string("this call") : fmt::format("these {} calls", count),
                  aligned.mine.rank);
  // If no other rank ever calls from that line, the rank may also be there one call too early.
  const bool elsewhere = count == 1 && next < aligned.steps.size() &&
                         aligned.steps[next].kind == Step::kElsewhere &&
                         is_new(aligned, {aligned.steps[next].mine, aligned.steps[next].theirs});
  if (elsewhere) {
    verdict.also = "; or it makes one call more, and comes to the others' call later";
  } else if (count == 1 && may_come(aligned.mine, verdict.at, missing)) {
    verdict.also = "; or it makes that call later";
  }
}

// True if `waits` is the last call on record, and `call`, which others made before it, may follow:
// it does not come from an earlier line of the same function.
bool CallReader::may_come(const CallSequence& sequence, const MemberRef& waits,
                          const MemberRef& call) const {
  return waits.member->unfinished() && !sequence.calls.empty() &&
         sequence.calls.back().member == waits.member && !further_on(waits, call);
}

// The position before the next call that both ranks have; the end if there is none.
size_t CallReader::place_for(const AlignedCalls& aligned, size_t at) const {
  for (size_t k = at + 1; k < aligned.steps.size(); ++k) {
    if (aligned.steps[k].mine != SIZE_MAX)
      return place_of(calls_, aligned.mine.calls[aligned.steps[k].mine]);
  }
  return calls_[static_cast<size_t>(aligned.mine.rank)].size();
}

void CallReader::extra(const AlignedCalls& aligned, size_t at, RecordedVerdict& verdict) const {
  const MemberRef& call = aligned.mine.calls[aligned.steps[at].mine];
  verdict.at = call;
  verdict.sequence = call.sequence();
  const size_t other = partner(aligned, at);
  if (other != SIZE_MAX) {
    swapped(aligned, other, at, verdict);
    return;
  }
  const size_t count = same_call_follows(aligned, at) ? gaps_from(aligned, at) : 1;
  verdict.charge = Charge::kExtraCall;
  verdict.count = count;
  verdict.missing = {};
  verdict.repair.clear();
  for (size_t k = at; k < at + count; ++k) {
    const MemberRef& extra_call = aligned.mine.calls[aligned.steps[k].mine];
    verdict.repair.push_back(CallEdit::remove(aligned.mine.rank, place_of(calls_, extra_call)));
  }
  verdict.repair_text =
      fmt::format("without {} on rank {}",
                  count == 1 ? std::string("this call") : fmt::format("these {} calls", count),
                  aligned.mine.rank);
  if (const auto between = left_out_instead(run_, aligned, at)) {
    verdict.also = fmt::format("; or it left out {}{}, and that call is of its next round",
                               call_name(run_, *between), at_stack(run_, *between));
  } else if (count == 1 && at + 1 < aligned.steps.size() &&
             aligned.steps[at + 1].theirs != SIZE_MAX &&
             may_come(aligned.theirs, aligned.theirs.calls[aligned.steps[at + 1].theirs], call)) {
    verdict.also = "; or the others make that call later";
  }
}

void CallReader::swapped(const AlignedCalls& aligned, size_t left, size_t extra,
                         RecordedVerdict& verdict) const {
  verdict.charge = Charge::kSwapped;
  const MemberRef& late = aligned.mine.calls[aligned.steps[extra].mine];
  const MemberRef& early = aligned.theirs.calls[aligned.steps[left].theirs];
  // The call that comes too early is the odd rank's call at the start of the gap.
  verdict.at = extra < left ? late : aligned.mine.calls[next_mine(aligned, left)];
  verdict.missing = extra < left ? aligned.theirs.calls[next_theirs(aligned, extra)] : early;
  verdict.sequence = std::min(verdict.at.sequence(), verdict.missing.sequence());
  verdict.repair = {
      CallEdit::move(aligned.mine.rank, place_of(calls_, late), place_for(aligned, left))};
  verdict.repair_text =
      fmt::format("with these calls in the other order on rank {}", aligned.mine.rank);
}

// Two calls are swapped, and the calls between them are right.
void CallReader::crossed(const AlignedCalls& aligned, size_t one, size_t two,
                         RecordedVerdict& verdict) const {
  const MemberRef& early = aligned.mine.calls[aligned.steps[one].mine];
  const MemberRef& late = aligned.mine.calls[aligned.steps[two].mine];
  verdict.charge = Charge::kSwapped;
  verdict.at = early;
  verdict.missing = aligned.theirs.calls[aligned.steps[one].theirs];
  verdict.sequence = early.sequence();
  const size_t first = place_of(calls_, early);
  const size_t second = place_of(calls_, late);
  verdict.repair = {CallEdit::move(aligned.mine.rank, second, first),
                    CallEdit::move(aligned.mine.rank, first, second)};
  verdict.repair_text =
      fmt::format("with these calls in the other order on rank {}", aligned.mine.rank);
}

// ---- what earlier rounds show

void CallReader::by_rounds(const AlignedCalls& aligned, size_t step,
                           RecordedVerdict& verdict) const {
  const Place here{aligned.steps[step].mine, aligned.steps[step].theirs};
  const MemberRef& mine = aligned.mine.calls[here.mine];
  const MemberRef& theirs = aligned.theirs.calls[here.theirs];
  const bool one_line = same_stack(run_, *mine.member, *theirs.member);
  const Earlier before = last_like(aligned, here, theirs);
  if (before.at != SIZE_MAX) {
    // The number of calls from theirs to this call, in the last such round.
    for (size_t k = 1; k <= kMostLeftOut && before.at + k < here.mine; ++k) {
      const MemberRef& later = aligned.mine.calls[before.at + k];
      if (stands_for(aligned, step, later, theirs)) break;
      if (!same(later, mine)) continue;
      if (k == 1 || before.agree > 0) steps_left_out(aligned, here, before, k, verdict);
      return;
    }
  }
  if (one_line) return;
  const MemberRef* previous = here.mine > 0 ? &aligned.mine.calls[here.mine - 1] : nullptr;
  if (before.agree > 0 && (is_new(aligned, here) || same(*previous, mine))) {
    verdict.at = mine;
    verdict.missing = theirs;
    verdict.sequence = mine.sequence();
    verdict.repair.clear();
    const size_t more = aligned.mine.calls.size() - here.mine;
    const std::string who = model::list_of(verdict.culprits);
    if (more == 1) {
      verdict.repair.push_back(CallEdit::change(aligned.mine.rank, place_of(calls_, mine), theirs));
      verdict.repair_text =
          fmt::format("with {} on rank {}", repaired_call(mine, theirs), aligned.mine.rank);
      verdict.also = fmt::format(
          "; the others go on as in earlier rounds, so {} made one call too many, made another "
          "call "
          "than they did, or left the loop early",
          who);
      return;
    }
    // All later calls belong to the ones that the others do not make.
    for (size_t k = here.mine; k < aligned.mine.calls.size(); ++k) {
      const size_t place = place_of(calls_, aligned.mine.calls[k]);
      verdict.repair.push_back(CallEdit::remove(aligned.mine.rank, place));
    }
    verdict.repair_text = fmt::format("without these calls on rank {}", aligned.mine.rank);
    verdict.also = fmt::format(
        "; the others go on as in earlier rounds, so {} made {} calls too many, or left the loop "
        "early",
        who, more);
    return;
  }
  const Earlier usual = last_like(aligned, here, mine);
  const bool as_before = before.at == SIZE_MAX && usual.agree > 0;
  if (!as_before && !further_on(mine, theirs)) return;
  verdict.at = mine;
  verdict.missing = theirs;
  verdict.sequence = theirs.sequence();
  verdict.repair = {CallEdit::add(mine.member->rank, place_of(calls_, mine), theirs)};
  verdict.repair_text =
      fmt::format("with {} before it on rank {}", short_call_name(run_, theirs), aligned.mine.rank);
  if (as_before) {
    verdict.also =
        "; it goes on as in its earlier rounds: it left out the others' call, or makes a round "
        "more";
  } else {
    verdict.charge = Charge::kLeftOut;
    verdict.count = 1;
    verdict.also = "; or it makes that call in its place";
  }
}

void CallReader::steps_left_out(const AlignedCalls& aligned, const Place& here,
                                const Earlier& before, size_t count,
                                RecordedVerdict& verdict) const {
  const MemberRef& mine = aligned.mine.calls[here.mine];
  verdict.at = mine;
  verdict.missing = aligned.theirs.calls[here.theirs];
  verdict.sequence = verdict.missing.sequence();
  verdict.repair.clear();
  for (size_t k = 0; k < count; ++k) {
    verdict.repair.push_back(
        CallEdit::add(mine.member->rank, place_of(calls_, mine),
                      k == 0 ? verdict.missing : aligned.mine.calls[before.at + k]));
  }
  if (count > 1) {
    verdict.repair_text =
        fmt::format("with the {} calls of its round before on rank {}", count, aligned.mine.rank);
    verdict.also = fmt::format(
        "; in its round before, {} calls came first: they were left out, or come later", count);
    return;
  }
  verdict.charge = Charge::kLeftOut;
  verdict.count = 1;
  verdict.repair_text = fmt::format("with this call on rank {}", aligned.mine.rank);
  const bool twice = here.mine > 0 && same(aligned.mine.calls[here.mine - 1], mine);
  const bool one_line = same_stack(run_, *mine.member, *verdict.missing.member);
  verdict.also.clear();
  if (twice) verdict.also = "; or it makes that call once more";
  if (!twice && one_line) {
    verdict.also = fmt::format("; rank {} calls {} in its place, which may be a wrong size",
                               aligned.mine.rank, model::call_text(mine.member->call));
  }
}

// The same call, but from another line than the others'. That usually means nothing, but here the
// rank called the others' line in earlier rounds, and nobody has called this line.
bool CallReader::is_unusual(const AlignedCalls& aligned, size_t step) const {
  const Place here{aligned.steps[step].mine, aligned.steps[step].theirs};
  const MemberRef& mine = aligned.mine.calls[here.mine];
  return is_new(aligned, here) &&
         last_like(aligned, here, aligned.theirs.calls[here.theirs]).agree > 0 &&
         !stands_for(aligned, step, mine, aligned.theirs.calls[here.theirs]);
}

// Of the rank's earlier calls like `call`: the last of those that are preceded by the most calls
// equal to those before the difference.
CallReader::Earlier CallReader::last_like(const AlignedCalls& aligned, const Place& here,
                                          const MemberRef& call) const {
  const auto& calls = aligned.mine.calls;
  Earlier best;
  for (size_t p = 0; p < here.mine; ++p) {
    const bool like = call.member->rank == aligned.mine.rank
                          ? same(calls[p], call)
                          : stands_for(aligned, here.mine, calls[p], call);
    if (!like) continue;
    size_t agree = 0;
    while (agree < kMostLeftOut && agree < p &&
           same(calls[p - 1 - agree], calls[here.mine - 1 - agree]))
      ++agree;
    if (best.at == SIZE_MAX || agree >= best.agree) best = {p, agree};
  }
  return best;
}

// True if the two are the same call from the same line, or from lines that met before step `end`.
bool CallReader::stands_for(const AlignedCalls& aligned, size_t end, const MemberRef& mine,
                            const MemberRef& theirs) const {
  if (!same_call(mine.member->call, theirs.member->call)) return false;
  if (same_stack(run_, *mine.member, *theirs.member)) return true;
  for (size_t i = 0; i < std::min(end, aligned.steps.size()); ++i) {
    const AlignedStep& step = aligned.steps[i];
    if (step.kind == Step::kElsewhere &&
        same_stack(run_, *aligned.mine.calls[step.mine].member, *mine.member) &&
        same_stack(run_, *aligned.theirs.calls[step.theirs].member, *theirs.member))
      return true;
  }
  return false;
}

// True if neither rank has made a call from this line before, as far as stacks are known.
bool CallReader::is_new(const AlignedCalls& aligned, const Place& here) const {
  const Member& mine = *aligned.mine.calls[here.mine].member;
  const auto from_there = [&](const MemberRef& ref) { return same_stack(run_, *ref.member, mine); };
  const auto begin = aligned.mine.calls.begin();
  return std::none_of(begin, begin + static_cast<ptrdiff_t>(here.mine), from_there) &&
         std::none_of(aligned.theirs.calls.begin(), aligned.theirs.calls.end(), from_there);
}

// True if both stacks part in one function, and `mine` is at a later line of it.
bool CallReader::further_on(const MemberRef& mine, const MemberRef& theirs) const {
  const model::Instruction* a = run_.find(mine.member->instruction);
  const model::Instruction* b = run_.find(theirs.member->instruction);
  if (a == nullptr || b == nullptr) return false;
  auto one = a->frames.rbegin();  // the outermost
  auto two = b->frames.rbegin();
  while (one != a->frames.rend() && two != b->frames.rend() && *one == *two) {
    ++one;
    ++two;
  }
  return one != a->frames.rend() && two != b->frames.rend() && one->function == two->function &&
         one->place.file == two->place.file && one->place.line && two->place.line &&
         *one->place.line > *two->place.line;
}

bool CallReader::same(const MemberRef& a, const MemberRef& b) const {
  return same_call(a.member->call, b.member->call) && same_stack(run_, *a.member, *b.member);
}

}  // namespace hostir::diagnose
