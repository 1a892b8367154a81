// 1. The place of each rank: the forms of its groups, and its position where stages differ.
// 2. Each rank's calls as words: the form of the group, the call, the relative peer, the stack.
// 3. In each class of ranks with one place: the record of which most others are a beginning.
// 4. For the other ranks, the first difference, and the edit after which most calls agree again.
// 5. Without such classes: the rounds of each rank, compared with its first one.
#include "interp/diagnose/odd_program.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "interp/diagnose/program_words.h"

namespace hostir::diagnose {

namespace {

using model::CommunicatorId;
using model::Member;
using model::Rank;
using model::Run;
using Kind = OddRank::Kind;

constexpr size_t kMostLeftOut = 64;  // calls left out in one place

/// The first difference of a record (`mine`) from another (`theirs`).
struct Difference {
  Kind kind = Kind::kOther;
  size_t mine = 0;
  size_t theirs = 0;
  size_t count = 1;  // kLeftOut: calls
  bool proved = false;
};

class Finder : private ProgramWords {
 public:
  using ProgramWords::ProgramWords;

  std::vector<OddRank> find() {
    std::map<Place, std::vector<size_t>> classes;
    for (size_t r = 0; r < calls_.size(); ++r) {
      if (!calls_[r].empty()) classes[place_of(r)].push_back(r);
    }
    std::vector<OddRank> out;
    for (const auto& [place, ranks] : classes) {
      std::vector<OddRank> found = odd_of(ranks);
      out.insert(out.end(), found.begin(), found.end());
    }
    return in_calls(first_alike(std::move(out)));
  }

  std::vector<OddRank> find_by_rounds() {
    const std::optional<Word> end = end_of_rounds();
    if (!end) return {};
    const size_t ranks = calls_.size();
    std::vector<OddRank> out;
    size_t repeat = 0;
    for (size_t r = 0; r < ranks; ++r) {
      std::vector<size_t> ends;
      for (size_t i = 0; i < words_[r].size(); ++i) {
        if (same(words_[r][i], *end)) ends.push_back(i + 1);
      }
      if (ends.empty() || ends.front() == words_[r].size() || late_[r]) continue;
      if (auto odd = first_odd_round(r, ends)) {
        out.push_back(std::move(*odd));
      } else {
        ++repeat;
      }
    }
    if (out.size() > std::max<size_t>(1, repeat / 4)) return {};
    // Of two ranks, the other must repeat its rounds and wait.
    const bool awaited = repeat == 1 && out.size() == 1 && out.front().awaiting.member != nullptr;
    if (repeat < 2 && !awaited) return {};
    return in_calls(first_alike(std::move(out)));
  }

 private:
  std::vector<OddRank> in_calls(std::vector<OddRank> odd) const {
    for (OddRank& each : odd) {
      const auto& places = place_in_calls_[static_cast<size_t>(each.rank)];
      if (each.at < places.size()) each.at = places[each.at];
    }
    return odd;
  }

  // ---- rounds

  // The call of the largest group, made by all but one rank, that most often ends a round: the
  // rarest one that recurs, else the last that was made once.
  std::optional<Word> end_of_rounds() const {
    size_t largest = 2;
    size_t recorded = 0;
    for (const auto& line : calls_) {
      if (!line.empty()) ++recorded;
      for (const MemberRef& ref : line) {
        if (ref.meeting != nullptr) largest = std::max(largest, ref.meeting->members.size());
      }
    }
    struct Use {
      size_t ranks = 0;
      size_t times = 0;  // at most, on one rank
      size_t last = 0;
    };
    std::map<std::pair<uint32_t, uint32_t>, Use> uses;
    for (size_t r = 0; r < calls_.size(); ++r) {
      std::map<std::pair<uint32_t, uint32_t>, size_t> times;
      for (size_t i = 0; i < calls_[r].size(); ++i) {
        const MemberRef& ref = calls_[r][i];
        if (ref.meeting == nullptr || ref.meeting->members.size() < largest) continue;
        const std::pair key(words_[r][i].call, words_[r][i].stack);
        ++times[key];
        uses[key].last = std::max(uses[key].last, i);
      }
      for (const auto& [key, n] : times) {
        ++uses[key].ranks;
        uses[key].times = std::max(uses[key].times, n);
      }
    }
    std::optional<Word> out;
    std::tuple<bool, int64_t, size_t> best;
    for (const auto& [key, use] : uses) {
      if (use.ranks + 1 < recorded) continue;
      const std::tuple rank(use.times > 1, -static_cast<int64_t>(use.times), use.last);
      if (out && rank <= best) continue;
      best = rank;
      out = Word{key.first, key.second};
    }
    return out;
  }

  // A part of a rank's calls as one more line, to be compared.
  size_t add_part(size_t rank, size_t begin, size_t end) {
    const auto cut = [&](const auto& list) {
      return std::vector(list.begin() + static_cast<ptrdiff_t>(begin),
                         list.begin() + static_cast<ptrdiff_t>(end));
    };
    auto words = cut(words_[rank]);
    auto calls = cut(calls_[rank]);
    auto forms = forms_[rank];
    words_.push_back(std::move(words));
    calls_.push_back(std::move(calls));
    forms_.push_back(std::move(forms));
    late_.push_back(false);
    return words_.size() - 1;
  }
  void drop_parts(size_t ranks) {
    words_.resize(ranks);
    calls_.resize(ranks);
    forms_.resize(ranks);
    late_.resize(ranks);
  }

  std::optional<OddRank> first_odd_round(size_t rank, const std::vector<size_t>& ends) {
    // What comes before the first round is not repeated.
    size_t begin = 0;
    while (begin < ends.front() && !same(words_[rank][begin], words_[rank][ends.front()])) ++begin;
    if (begin == ends.front()) begin = 0;
    const size_t ranks = calls_.size();
    std::optional<OddRank> out;
    for (size_t k = 0; k < ends.size() && !out; ++k) {
      const size_t end = k + 1 < ends.size() ? ends[k + 1] : words_[rank].size();
      const size_t first = add_part(rank, begin, ends.front());
      const size_t later = add_part(rank, ends[k], end);
      if (const auto found = difference(later, first)) {
        out = OddRank();
        out->kind = found->kind;
        out->rank = static_cast<Rank>(rank);
        out->at = ends[k] + found->mine;
        out->own_rounds = true;
        out->proved = found->proved;
        out->same_line = same_line(later, *found, first);
        out->awaiting = awaiting(rank, calls_[first][found->theirs]);
        for (size_t c = 0; c < (found->kind == Kind::kLeftOut ? found->count : 1); ++c) {
          const MemberRef& own = calls_[first][found->theirs + c];
          out->theirs.push_back({own, own.communicator()});
        }
      }
      drop_parts(ranks);
    }
    return out;
  }

  // ---- comparison

  // Where both records have the same collective for the first time; nullopt: nowhere.
  std::optional<std::pair<size_t, size_t>> common_begin(size_t mine, size_t theirs) const {
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
  std::pair<size_t, bool> agree_from(size_t mine, size_t i, size_t theirs, size_t j) const {
    size_t n = 0;
    while (i < words_[mine].size() && j < words_[theirs].size()) {
      if (!same(words_[mine][i++], words_[theirs][j++])) return {n, false};
      ++n;
    }
    return {n, true};
  }
  const Word* word(size_t rank, size_t at) const {
    return at < words_[rank].size() ? &words_[rank][at] : nullptr;
  }
  bool same_at(size_t mine, size_t i, size_t theirs, size_t j) const {
    const Word* a = word(mine, i);
    const Word* b = word(theirs, j);
    return a != nullptr && b != nullptr && same(*a, *b);
  }

  /// nullopt: one record is a beginning of the other, but for ranks that call from other lines.
  std::optional<Difference> difference(size_t mine, size_t theirs) const {
    const auto begin = common_begin(mine, theirs);
    if (!begin) return std::nullopt;
    auto [i, j] = *begin;
    const size_t first = i;
    for (; i < words_[mine].size() && j < words_[theirs].size(); ++i, ++j) {
      const Word& a = words_[mine][i];
      const Word& b = words_[theirs][j];
      if (same(a, b)) continue;
      // Another line alone is no difference, unless the calls agree again one call further.
      const bool shifted = same_at(mine, i, theirs, j + 1) || same_at(mine, i + 1, theirs, j);
      if (a.call == b.call && !shifted) continue;
      // Records that begin late may have been laid beside each other in a wrong place.
      if (late_[mine] && i == first) return std::nullopt;
      return classified(mine, i, theirs, j);
    }
    return std::nullopt;
  }

  Difference classified(size_t mine, size_t i, size_t theirs, size_t j) const {
    Difference out{Kind::kOther, i, j, 1, false};
    size_t best = 0;
    bool clean = false;
    const auto consider = [&](Kind kind, size_t count, std::pair<size_t, bool> agree, size_t more) {
      const size_t n = agree.first + more;
      if (n == 0 || std::tuple(agree.second, n) <= std::tuple(clean, best)) return;
      out.kind = kind;
      out.count = count;
      // A call left out just before the last one may also come later.
      const bool may_come =
          kind == Kind::kLeftOut && n == 1 && calls_[mine][i].member->unfinished();
      out.proved = kind != Kind::kOther && !may_come;
      best = n;
      clean = agree.second;
    };
    if (same_at(mine, i, theirs, j + 1) && same_at(mine, i + 1, theirs, j))
      consider(Kind::kSwapped, 1, agree_from(mine, i + 2, theirs, j + 2), 2);
    consider(Kind::kExtra, 1, agree_from(mine, i + 1, theirs, j), 0);
    consider(Kind::kLeftOut, 1, agree_from(mine, i, theirs, j + 1), 0);
    consider(Kind::kOther, 1, agree_from(mine, i + 1, theirs, j + 1), 0);
    if (best > 0) return out;
    const Word& wrong = words_[mine][i];
    for (size_t k = 2; wrong.stack != 0 && k <= kMostLeftOut && j + k < words_[theirs].size();
         ++k) {
      if (words_[theirs][j + k] == wrong) {
        consider(Kind::kLeftOut, k, agree_from(mine, i, theirs, j + k), 0);
        if (best > 0) return out;
      }
    }
    // A call on another group, which the others do not make there: one more, as far as is known.
    if (calls_[mine][i].meeting == nullptr || calls_[theirs][j].meeting == nullptr) return out;
    if (form_of(mine, calls_[mine][i].communicator()) !=
        form_of(theirs, calls_[theirs][j].communicator())) {
      out.kind = Kind::kExtra;
      out.proved = only_here(mine, i, theirs);
    }
    return out;
  }

  // True if the others know this group, but no such line: so far they called it from others.
  bool only_here(size_t mine, size_t i, size_t theirs) const {
    const Word& wrong = words_[mine][i];
    const uint32_t form = form_of(mine, calls_[mine][i].communicator());
    bool knows_group = false;
    for (size_t k = 0; k < words_[theirs].size(); ++k) {
      if (words_[theirs][k].stack == wrong.stack) return false;
      knows_group = knows_group || form_of(theirs, calls_[theirs][k].communicator()) == form;
    }
    return wrong.stack != 0 && knows_group;
  }

  // ---- the odd ranks of a class

  std::vector<OddRank> odd_of(const std::vector<size_t>& ranks) {
    if (ranks.size() < 3) return {};
    // One rank for each different record.
    std::map<std::vector<std::pair<uint32_t, uint32_t>>, std::vector<size_t>> by_record;
    for (const size_t r : ranks) {
      std::vector<std::pair<uint32_t, uint32_t>> key;
      // Records that begin late are one record only if they begin at the same call.
      for (const MemberRef& ref : calls_[r]) {
        if (!late_[r] || ref.meeting == nullptr) continue;
        key.emplace_back(form_of(r, ref.communicator()), static_cast<uint32_t>(ref.sequence()));
        break;
      }
      for (const Word& each : words_[r]) key.emplace_back(each.call, each.stack);
      by_record[std::move(key)].push_back(r);
    }
    std::vector<std::vector<size_t>> records;
    for (auto& [key, list] : by_record) records.push_back(std::move(list));
    size_t most = 0;
    size_t longest = 0;
    size_t model = 0;
    for (size_t k = 0; k < records.size(); ++k) {
      size_t agree = 0;
      for (const auto& other : records) {
        if (!difference(other.front(), records[k].front())) agree += other.size();
      }
      const size_t length = words_[records[k].front()].size();
      if (std::tuple(agree, length) <= std::tuple(most, longest)) continue;
      most = agree;
      longest = length;
      model = k;
    }
    const size_t odd = ranks.size() - most;
    if (odd == 0 || odd > std::max<size_t>(1, ranks.size() / 4)) return {};
    std::vector<OddRank> out;
    for (const auto& record : records) {
      const auto found = difference(record.front(), records[model].front());
      if (!found) continue;
      for (const size_t r : record)
        out.push_back(odd_rank(r, *found, records[model].front(), ranks));
    }
    return without_shared(std::move(out), ranks);
  }

  OddRank odd_rank(size_t rank, const Difference& found, size_t model,
                   const std::vector<size_t>& ranks) const {
    OddRank out;
    out.kind = found.kind;
    out.rank = static_cast<Rank>(rank);
    out.at = found.mine;
    out.proved = found.proved;
    out.same_line = same_line(rank, found, model);
    const size_t count = found.kind == Kind::kLeftOut ? found.count : 1;
    for (size_t k = 0; k < count; ++k) {
      const MemberRef& like = calls_[model][found.theirs + k];
      out.theirs.push_back({counterpart(rank, found.theirs + k, model, ranks),
                            of_form(rank, form_of(model, like.communicator()))});
    }
    return out;
  }

  // The others' call at that place in the record of `model`: in the odd rank's own group if a
  // member of it has come so far, else in the model's.
  MemberRef counterpart(size_t rank, size_t at, size_t model,
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
  // The rank that stands to this one as the peer of `theirs` to the rank that calls it.
  Rank peer_like(size_t rank, const MemberRef& theirs, CommunicatorId own) const {
    const model::Communicator* group = run_.find(own);
    if (group == nullptr || !group->members) return model::kNoRank;
    const int64_t distance = relative_peer(static_cast<size_t>(theirs.member->rank), theirs);
    const auto n = static_cast<int64_t>(group->members->size());
    return (*group->members)[static_cast<size_t>((position(rank, own) + distance) % n)];
  }
  // The send or recv of a peer (kNoRank: of any) that waits for this rank.
  MemberRef unanswered(size_t rank, const MemberRef& like, CommunicatorId own, Rank peer) const {
    for (const model::SendRecv& pair : run_.pairs) {
      const Member& mine = like.sends() ? pair.send : pair.recv;
      const Member& other = like.sends() ? pair.recv : pair.send;
      if (pair.communicator == own && mine.rank == static_cast<Rank>(rank) && !mine.arrived() &&
          other.unfinished() && (peer == model::kNoRank || other.rank == peer))
        return {nullptr, &pair, &other};
    }
    return {};
  }

  // Another rank that waits in such a call, or in its counterpart, for this rank to make it.
  MemberRef awaiting(size_t rank, const MemberRef& like) const {
    if (like.pair != nullptr) {
      const Rank peer = like.sends() ? like.pair->target : like.pair->source;
      return unanswered(rank, like, like.communicator(), peer);
    }
    for (const model::Meeting& meeting : run_.meetings) {
      if (meeting.communicator != like.communicator()) continue;
      const Member* mine = meeting.member(static_cast<Rank>(rank));
      if (mine == nullptr || mine->state != model::MemberState::kNotArrived) continue;
      for (const Member& other : meeting.members) {
        if (other.unfinished()) return {&meeting, nullptr, &other};
      }
    }
    return {};
  }
  bool same_line(size_t mine, const Difference& found, size_t theirs) const {
    const Word* a = word(mine, found.mine);
    const Word* b = word(theirs, found.theirs);
    return a != nullptr && b != nullptr && (a->stack == b->stack || a->stack == 0 || b->stack == 0);
  }

  // ---- differences that belong to the program

  std::vector<OddRank> without_shared(std::vector<OddRank> odd,
                                      const std::vector<size_t>& ranks) const {
    std::vector<OddRank> out;
    for (const OddRank& each : odd) {
      const auto r = static_cast<size_t>(each.rank);
      const bool wrong_peer = each.kind == Kind::kOther;
      if (each.theirs.front().call.member == nullptr)
        continue;  // nobody waits for that send or recv
      if (each.kind == Kind::kExtra || wrong_peer) {
        const MemberRef& mine = calls_[r][each.at];
        // An exchange that takes place; or the other rank left its part out.
        if (mine.pair != nullptr &&
            (!wrong_peer || mine.pair->send.arrived() == mine.pair->recv.arrived()))
          continue;
        if (all_share(mine.communicator(), each, odd, ranks)) continue;
      } else if (all_share(each.theirs.front().communicator, each, odd, ranks)) {
        continue;
      }
      out.push_back(each);
    }
    return out;
  }
  bool all_share(CommunicatorId id, const OddRank& each, const std::vector<OddRank>& odd,
                 const std::vector<size_t>& ranks) const {
    const model::Communicator* group = run_.find(id);
    if (group == nullptr || !group->members) return true;
    const auto shares = [&](Rank member) {
      if (std::count(ranks.begin(), ranks.end(), static_cast<size_t>(member)) == 0) return true;
      return std::any_of(odd.begin(), odd.end(), [&](const OddRank& other) {
        return other.rank == member && other.kind == each.kind && other.at == each.at;
      });
    };
    return std::all_of(group->members->begin(), group->members->end(), shares);
  }

  // Of several differences, those at the first call: later ones may follow from it.
  std::vector<OddRank> first_alike(std::vector<OddRank> odd) const {
    if (odd.size() < 2) return odd;
    const auto first = std::min_element(odd.begin(), odd.end(), [&](const auto& a, const auto& b) {
      return issued(a) < issued(b);
    });
    std::vector<OddRank> out;
    for (const OddRank& each : odd) {
      const bool alike =
          each.kind == first->kind && each.at == first->at && word_at(each) == word_at(*first);
      if (alike) out.push_back(each);
    }
    return out;
  }
  int64_t issued(const OddRank& odd) const {
    const auto& line = calls_[static_cast<size_t>(odd.rank)];
    if (odd.at >= line.size()) return INT64_MAX;
    return line[odd.at].member->times.issued_ns.value_or(INT64_MAX - 1);
  }
  uint32_t word_at(const OddRank& odd) const {
    const Word* at = word(static_cast<size_t>(odd.rank), odd.at);
    return at == nullptr ? 0 : at->call;
  }
};

}  // namespace

std::vector<OddRank> find_odd_ranks(const Run& run,
                                    const std::vector<std::vector<MemberRef>>& calls) {
  bool some_completed = false;
  for (const auto& line : calls) {
    some_completed =
        some_completed || std::any_of(line.begin(), line.end(), [](const MemberRef& ref) {
          return ref.member->state == model::MemberState::kCompleted;
        });
  }
  const bool some_lost =
      std::any_of(run.ranges.begin(), run.ranges.end(),
                  [](const model::CallRange& r) { return r.first && *r.first > 1; });
  if (!some_completed && some_lost) return {};  // perhaps only unfinished calls are recorded
  // Sizes may depend on the data of each group: without a majority they are left out.
  Finder sized(run, calls, true);
  std::vector<OddRank> odd = sized.find();
  if (odd.empty()) odd = Finder(run, calls, false).find();
  return odd.empty() ? sized.find_by_rounds() : odd;
}

}  // namespace hostir::diagnose
