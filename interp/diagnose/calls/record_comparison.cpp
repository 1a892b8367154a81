#include "interp/diagnose/calls/record_comparison.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "interp/diagnose/calls/call_order.h"

namespace hostir::diagnose {

using model::CommunicatorId;
using model::Member;
using model::Rank;
using Kind = DivergentRank::Kind;

std::optional<std::pair<size_t, size_t>> RecordComparison::common_begin(size_t mine,
                                                                        size_t theirs) const {
  if (!late_[mine] && !late_[theirs]) return std::pair<size_t, size_t>{0, 0};
  std::map<std::pair<uint32_t, uint64_t>, size_t> known;
  for (size_t j = 0; j < calls_[theirs].size(); ++j) {
    const MemberRef& ref = calls_[theirs][j];
    if (ref.meeting != nullptr)
      known.try_emplace({form_of(theirs, ref.communicator()), ref.sequence()}, j);
  }
  for (size_t i = 0; i < calls_[mine].size(); ++i) {
    const MemberRef& ref = calls_[mine][i];
    if (ref.meeting == nullptr) continue;
    const auto at = known.find({form_of(mine, ref.communicator()), ref.sequence()});
    if (at != known.end()) return std::pair(i, at->second);
  }
  return std::nullopt;
}

// How many calls agree from there on, and whether a record ends before they differ.
std::pair<size_t, bool> RecordComparison::agree_from(size_t mine, size_t i, size_t theirs,
                                                     size_t j) const {
  size_t n = 0;
  while (i < words_[mine].size() && j < words_[theirs].size()) {
    if (!same(words_[mine][i++], words_[theirs][j++])) return {n, false};
    ++n;
  }
  return {n, true};
}

const RecordComparison::Word* RecordComparison::word(size_t rank, size_t at) const {
  return at < words_[rank].size() ? &words_[rank][at] : nullptr;
}

bool RecordComparison::lost_sends(size_t rank) const {
  return late_[rank] && std::none_of(calls_[rank].begin(), calls_[rank].end(),
                                     [](const MemberRef& ref) { return ref.pair != nullptr; });
}

bool RecordComparison::same_at(size_t mine, size_t i, size_t theirs, size_t j) const {
  const Word* a = word(mine, i);
  const Word* b = word(theirs, j);
  return a != nullptr && b != nullptr && same(*a, *b);
}

std::optional<RecordComparison::Difference> RecordComparison::difference(size_t mine, size_t theirs,
                                                                         Order order) const {
  const auto begin = common_begin(mine, theirs);
  if (!begin) return std::nullopt;
  auto [i, j] = *begin;
  const size_t first = i;
  Reordered made_before;
  for (; i < words_[mine].size() && j < words_[theirs].size(); ++i, ++j) {
    const Word& a = words_[mine][i];
    const Word& b = words_[theirs][j];
    if (same(a, b)) continue;
    // A different line alone is not a difference, unless the calls agree again one call later.
    const bool shifted = same_at(mine, i, theirs, j + 1) || same_at(mine, i + 1, theirs, j);
    if (a.call == b.call && !shifted) continue;
    if (ends_in_launch(mine, i, theirs, j)) return std::nullopt;
    // Records that begin late may have been aligned in a wrong place.
    if (late_[mine] && i == first) return std::nullopt;
    const Difference found = classified(mine, i, theirs, j);
    if (order == Order::kSame) return found;
    // Equal calls of two lines meet in any order.
    const size_t same_calls = a.call == b.call ? 1 : reordered(mine, i, theirs, j, made_before);
    if (same_calls == 0 || shifts_numbers(mine, theirs, found)) return found;
    i += same_calls - 1;
    j += same_calls - 1;
  }
  return std::nullopt;
}

RecordComparison::Agreement RecordComparison::agreement(size_t a, size_t b) const {
  if (!difference(a, b, Order::kSame)) return Agreement::kInOrder;
  return difference(a, b) || difference(b, a) ? Agreement::kNone : Agreement::kAnyOrder;
}

// The number of calls from there on that both ranks made, each in its own order, without holding up
// anybody: all have completed, or did so before in another order, but those of one group, which
// both made in the same order. 0: none.
size_t RecordComparison::reordered(size_t mine, size_t i, size_t theirs, size_t j,
                                   Reordered& made_before) const {
  std::map<std::pair<uint32_t, uint32_t>, int> surplus;  // of mine, by word
  size_t unequal = 0;                                    // words with a surplus
  const auto count = [&](const Word& each, int by) {
    int& n = surplus[{each.call, each.stack}];
    if (n == 0) ++unequal;
    n += by;
    if (n == 0) --unequal;
  };
  std::optional<uint32_t> waits_in;  // the form of the group whose calls have not completed
  std::array<std::vector<Word>, 2> waiting;
  const auto note = [&](size_t rank, size_t at, std::vector<Word>& list) {
    const MemberRef& ref = calls_[rank][at];
    const Word& each = words_[rank][at];
    if (is_settled(ref) || made_before.contains({each.call, each.stack})) return true;
    const uint32_t form = form_of(rank, ref.communicator());
    list.push_back(each);
    if (!waits_in) waits_in = form;
    return ref.meeting != nullptr && *waits_in == form;
  };
  for (size_t n = 1; i < words_[mine].size() && j < words_[theirs].size(); ++n, ++i, ++j) {
    if (!note(mine, i, waiting[0]) || !note(theirs, j, waiting[1])) return 0;
    count(words_[mine][i], 1);
    count(words_[theirs][j], -1);
    if (unequal != 0 || waiting[0] != waiting[1]) continue;
    if (waiting[0].empty()) {
      for (const auto& entry : surplus) made_before.insert(entry.first);
    }
    return n;
  }
  return 0;
}

// A meeting is asked about once for each of its members.
bool RecordComparison::is_settled(const MemberRef& ref) const {
  if (ref.pair != nullptr) return completed_by_all(ref);
  const auto [at, added] = settled_.try_emplace(ref.meeting, false);
  if (added) at->second = completed_by_all(ref);
  return at->second;
}

// A call left out explains others that wait for the rank on that group; one call more, that the
// rank waits there for most others. Either explains that it waits in another call than most.
bool RecordComparison::shifts_numbers(size_t mine, size_t theirs, const Difference& found) const {
  const bool extra = found.kind == Kind::kExtra;
  if (!extra && found.kind != Kind::kLeftOut) return false;
  const MemberRef& call = extra ? calls_[mine][found.mine] : calls_[theirs][found.theirs];
  if (call.pair != nullptr) return true;
  const CommunicatorId own =
      extra ? call.communicator() : of_form(mine, form_of(theirs, call.communicator()));
  const Rank rank = calls_[mine].front().member->rank;
  for (const model::Meeting& meeting : run_.meetings) {
    const Member* here = meeting.communicator == own ? meeting.member(rank) : nullptr;
    if (here == nullptr) continue;
    size_t waiting = 0;
    size_t absent = 0;
    size_t alike = 0;
    for (const Member& other : meeting.members) {
      if (&other == here) continue;
      if (other.state == model::MemberState::kNotArrived) ++absent;
      if (!other.unfinished()) continue;
      ++waiting;
      if (same_call(here->call, other.call)) ++alike;
    }
    const bool waits = here->unfinished();
    const bool is_odd = waits && 2 * alike < waiting;
    const bool is_absent = here->state == model::MemberState::kNotArrived && waiting > 0;
    if (is_odd || (extra ? waits && absent > waiting : is_absent)) return true;
  }
  return false;
}

// True if the record ends with a part of the others' launch: the rank stopped there.
bool RecordComparison::ends_in_launch(size_t mine, size_t i, size_t theirs, size_t j) const {
  const auto& launch = *calls_[theirs][j].member->order;
  if (calls_[mine][i].member->order != calls_[mine].back().member->order) return false;
  for (; i < words_[mine].size(); ++i, ++j) {
    while (j < words_[theirs].size() && *calls_[theirs][j].member->order == launch &&
           !same(words_[mine][i], words_[theirs][j]))
      ++j;
    if (j == words_[theirs].size() || *calls_[theirs][j].member->order != launch) return false;
  }
  return true;
}

RecordComparison::Difference RecordComparison::classified(size_t mine, size_t i, size_t theirs,
                                                          size_t j) const {
  Difference out{Kind::kOther, i, j, 1, false};
  size_t best = 0;
  bool clean = false;
  const auto consider = [&](Kind kind, size_t count, std::pair<size_t, bool> agree, size_t more) {
    const size_t n = agree.first + more;
    if (n == 0 || std::tuple(agree.second, n) <= std::tuple(clean, best)) return;
    out.kind = kind;
    out.count = count;
    // A call left out just before the last one may also come later.
    const bool may_come = kind == Kind::kLeftOut && n == 1 && calls_[mine][i].member->unfinished();
    out.proved = kind != Kind::kOther && !may_come;
    best = n;
    clean = agree.second;
  };
  if (same_at(mine, i, theirs, j + 1) && same_at(mine, i + 1, theirs, j))
    consider(Kind::kSwapped, 1, agree_from(mine, i + 2, theirs, j + 2), 2);
  consider(Kind::kExtra, 1, agree_from(mine, i + 1, theirs, j), 0);
  consider(Kind::kLeftOut, 1, agree_from(mine, i, theirs, j + 1), 0);
  consider(Kind::kOther, 1, agree_from(mine, i + 1, theirs, j + 1), 0);
  // Calls that repeat, at the end of a record: both fit, and a call is left out more often.
  if (out.kind == Kind::kSwapped && agree_from(mine, i, theirs, j + 1) == std::pair(best, clean)) {
    out.kind = Kind::kLeftOut;
    out.or_swapped = true;
  }
  if (best > 0) return out;
  if (swapped_in_branches(mine, i, theirs, j)) {
    out.kind = Kind::kSwapped;
    out.proved = true;
    return out;
  }
  const Word& wrong = words_[mine][i];
  for (size_t k = 2; wrong.stack != 0 && k <= kMostLeftOut && j + k < words_[theirs].size(); ++k) {
    if (words_[theirs][j + k] == wrong) {
      consider(Kind::kLeftOut, k, agree_from(mine, i, theirs, j + k), 0);
      if (best > 0) return out;
    }
  }
  // A call on another group that the others do not make there: as far as is known, an extra call.
  if (calls_[mine][i].meeting == nullptr || calls_[theirs][j].meeting == nullptr) return out;
  if (form_of(mine, calls_[mine][i].communicator()) !=
      form_of(theirs, calls_[theirs][j].communicator())) {
    out.kind = Kind::kExtra;
    out.or_left_out = repeats_only_here(mine, i, theirs);
    out.proved = out.or_left_out || only_here(mine, i, theirs);
  }
  return out;
}

// True if both make the same two calls, each rank from lines of its own, in the other order.
bool RecordComparison::swapped_in_branches(size_t mine, size_t i, size_t theirs, size_t j) const {
  const Word* first = word(mine, i);
  const Word* second = word(mine, i + 1);
  const Word* other_first = word(theirs, j);
  const Word* other_second = word(theirs, j + 1);
  return second != nullptr && other_second != nullptr && first->call != second->call &&
         first->call == other_second->call && second->call == other_first->call;
}

// True if the rank makes its previous call again, and neither record has it twice in a row before.
bool RecordComparison::repeats_only_here(size_t mine, size_t i, size_t theirs) const {
  const Word& wrong = words_[mine][i];
  const auto twice = [&](const std::vector<Word>& words, size_t end) {
    for (size_t k = 1; k < end; ++k) {
      if (words[k] == wrong && words[k - 1] == wrong) return true;
    }
    return false;
  };
  return i > 0 && wrong.stack != 0 && words_[mine][i - 1] == wrong && !twice(words_[mine], i) &&
         !twice(words_[theirs], words_[theirs].size());
}

bool RecordComparison::leaves_its_order(size_t rank, size_t at) const {
  const std::vector<Word>& line = words_[rank];
  bool usual = false;
  for (size_t i = 0; i < at && at + 1 < line.size(); ++i) {
    if (line[i] == line[at] && line[i + 1] == line[at + 1]) return false;
    usual = usual || (line[i] == line[at + 1] && line[i + 1] == line[at]);
  }
  return usual;
}

// True if the others call on this group, but never from this line.
bool RecordComparison::only_here(size_t mine, size_t i, size_t theirs) const {
  const Word& wrong = words_[mine][i];
  const uint32_t form = form_of(mine, calls_[mine][i].communicator());
  bool knows_group = false;
  for (size_t k = 0; k < words_[theirs].size(); ++k) {
    if (words_[theirs][k].stack == wrong.stack) return false;
    knows_group = knows_group || form_of(theirs, calls_[theirs][k].communicator()) == form;
  }
  return wrong.stack != 0 && knows_group;
}

MemberRef RecordComparison::counterpart(size_t rank, size_t at, size_t model,
                                        const std::vector<size_t>& ranks) const {
  const MemberRef& theirs = calls_[model][at];
  const CommunicatorId own = of_form(rank, form_of(model, theirs.communicator()));
  if (theirs.pair != nullptr) return unanswered(rank, theirs, own, peer_like(rank, theirs, own));
  for (const size_t r : ranks) {
    if (r == rank) continue;
    const auto begin = common_begin(r, model);
    if (!begin || at < begin->second) continue;
    const size_t i = begin->first + (at - begin->second);
    if (i < calls_[r].size() && calls_[r][i].communicator() == own &&
        words_[r][i].call == words_[model][at].call)
      return calls_[r][i];
  }
  return theirs;
}

Rank RecordComparison::peer_like(size_t rank, const MemberRef& theirs, CommunicatorId own) const {
  const model::Communicator* group = run_.find(own);
  if (group == nullptr || !group->members) return model::kNoRank;
  const int64_t distance = relative_peer(static_cast<size_t>(theirs.member->rank), theirs);
  const auto n = static_cast<int64_t>(group->members->size());
  return (*group->members)[static_cast<size_t>((position(rank, own) + distance) % n)];
}

MemberRef RecordComparison::unanswered(size_t rank, const MemberRef& like, CommunicatorId own,
                                       Rank peer) const {
  for (const model::SendRecv& pair : run_.pairs) {
    const Member& mine = like.sends() ? pair.send : pair.recv;
    const Member& other = like.sends() ? pair.recv : pair.send;
    if (pair.communicator == own && mine.rank == static_cast<Rank>(rank) && !mine.arrived() &&
        other.unfinished() && (peer == model::kNoRank || other.rank == peer))
      return {nullptr, &pair, &other};
  }
  return {};
}

MemberRef RecordComparison::awaiting(size_t rank, const MemberRef& like) const {
  if (like.pair != nullptr) {
    const Rank peer = like.sends() ? like.pair->target : like.pair->source;
    return unanswered(rank, like, like.communicator(), peer);
  }
  MemberRef from_line;  // in which the rank may make another call
  for (const model::Meeting& meeting : run_.meetings) {
    if (meeting.communicator != like.communicator()) continue;
    const Member* mine = meeting.member(static_cast<Rank>(rank));
    if (mine == nullptr) continue;
    const bool absent = mine->state == model::MemberState::kNotArrived;
    if (!absent && (!mine->unfinished() || same_stack(run_, *mine, *like.member))) continue;
    for (const Member& other : meeting.members) {
      if (!other.unfinished()) continue;
      const bool same = stack_is_known(run_, other) && same_stack(run_, other, *like.member);
      if (from_line.member == nullptr && same) from_line = {&meeting, nullptr, &other};
      if (absent)
        return from_line.member != nullptr ? from_line : MemberRef{&meeting, nullptr, &other};
    }
  }
  return {};
}

bool RecordComparison::same_line(size_t mine, const Difference& found, size_t theirs) const {
  const Word* a = word(mine, found.mine);
  const Word* b = word(theirs, found.theirs);
  return a != nullptr && b != nullptr && (a->stack == b->stack || a->stack == 0 || b->stack == 0);
}

}  // namespace hostir::diagnose
