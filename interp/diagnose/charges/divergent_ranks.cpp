// 1. The place of each rank: the forms of its groups, and its position where stages differ.
// 2. Each rank's calls as words: the form of the group, the call, the relative peer, the stack.
// 3. In each class of ranks with one place: the record that has most of the others as prefixes.
// 4. For the other ranks, the first difference, and the edit after which most calls agree again.
// 5. Without such classes: the rounds of each rank, compared with its first one.
#include "interp/diagnose/charges/divergent_ranks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/record_comparison.h"
#include "interp/diagnose/charges/explanation.h"

namespace hostir::diagnose {

namespace {

using model::CommunicatorId;
using model::Member;
using model::Rank;
using model::Run;
using Kind = DivergentRank::Kind;

class Finder : private RecordComparison {
 public:
  using RecordComparison::RecordComparison;

  std::vector<DivergentRank> find() {
    std::vector<DivergentRank> out;
    for (const auto& [place, ranks] : classes())
      std::ranges::move(odd_of(ranks), std::back_inserter(out));
    return in_calls(first_alike(std::move(out)));
  }

  std::vector<DivergentRank> find_twins() {
    std::vector<DivergentRank> out;
    for (const auto& [place, ranks] : classes()) {
      if (ranks.size() != 2) continue;
      for (const auto& [mine, theirs] : {std::pair(ranks[0], ranks[1]), {ranks[1], ranks[0]}}) {
        const auto found = difference(mine, theirs);
        if (!found) continue;
        DivergentRank odd = odd_rank(mine, *found, theirs, ranks);
        // If nobody waits for that send or recv, only the rank's own call may be wrong.
        const bool own = odd.kind == Kind::kExtra || odd.kind == Kind::kOther;
        if (own || odd.theirs.front().call.member != nullptr) out.push_back(std::move(odd));
      }
    }
    return in_calls(std::move(out));
  }

  bool goes_on(size_t idle, const MemberRef& call) {
    const auto rank = static_cast<size_t>(call.member->rank);
    if (place_of(idle) != place_of(rank)) return false;
    const auto found = difference(rank, idle);
    return found && found->theirs < words_[idle].size() && found->mine < calls_[rank].size() &&
           calls_[rank][found->mine].member == call.member;
  }

  bool is_ahead(size_t idle, const MemberRef& call, const std::set<Rank>& waiting) {
    const auto ahead = static_cast<size_t>(call.member->rank);
    const size_t made = words_[ahead].size();
    const bool is_last = calls_[ahead].back().member == call.member;
    const auto same_program = [&](size_t r) {
      return words_[r].size() == words_[idle].size() && !difference(r, idle);
    };
    const auto makes_one_less = [&](size_t r) {
      const bool shorter = words_[r].size() + 1 == made;
      const auto found = difference(ahead, r);
      if (!found) return is_last && shorter;
      // Or it goes on with another call.
      return (is_last && found->mine + 1 == made) || (found->kind == Kind::kExtra && shorter);
    };
    const auto programs = classes();
    // nullopt: there is no other rank to compare this one with.
    const auto all = [&](size_t rank, const auto& holds) -> std::optional<bool> {
      std::optional<bool> out;
      for (const size_t r : programs.at(place_of(rank))) {
        const bool may_be_ahead = r != ahead && waiting.contains(static_cast<Rank>(r));
        if (may_be_ahead || (call.pair != nullptr && lost_sends(r))) continue;
        if (r != rank) out = out.value_or(true) && holds(r);
      }
      return out;
    };
    return all(idle, same_program).value_or(false) && all(ahead, makes_one_less).value_or(false);
  }

  std::vector<DivergentRank> find_by_rounds() {
    const std::optional<Word> end = end_of_rounds();
    if (!end) return {};
    std::vector<DivergentRank> out;
    size_t repeat = 0;
    for (size_t r = 0; r < calls_.size(); ++r) {
      std::vector<size_t> ends;
      for (size_t i = 0; i < words_[r].size(); ++i) {
        if (same(words_[r][i], *end)) ends.push_back(i + 1);
      }
      if (ends.empty() || ends.front() == words_[r].size() || late_[r]) continue;
      bool known = true;
      if (auto odd = first_odd_round(r, ends, known)) {
        out.push_back(std::move(*odd));
      } else if (known) {
        ++repeat;
      }
    }
    if (out.size() > std::max<size_t>(1, repeat / 4)) return {};
    // With only two ranks, the other one must repeat its rounds and wait.
    const bool awaited = repeat == 1 && out.size() == 1 && out.front().awaiting.member != nullptr;
    if (repeat < 2 && !awaited) return {};
    return in_calls(first_alike(std::move(out)));
  }

 private:
  std::map<Place, std::vector<size_t>> classes() {
    std::map<Place, std::vector<size_t>> out;
    for (size_t r = 0; r < calls_.size(); ++r) {
      if (!calls_[r].empty()) out[place_of(r)].push_back(r);
    }
    return out;
  }

  std::vector<DivergentRank> in_calls(std::vector<DivergentRank> odd) const {
    for (DivergentRank& each : odd) {
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

  // A part of a rank's calls as one more list, to be compared.
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

  std::optional<DivergentRank> first_odd_round(size_t rank, const std::vector<size_t>& ends,
                                               bool& known) {
    // Calls before the first round are not repeated. But the second round may begin with another
    // call because it is wrong: then some rank waits for the call that began the first round.
    size_t begin = 0;
    while (begin < ends.front() && !same(words_[rank][begin], words_[rank][ends.front()])) ++begin;
    if (begin == ends.front() || ends.size() == 1) {
      const bool repeats = begin < ends.front();
      std::optional<DivergentRank> odd = odd_round(rank, ends, 0, known);
      if (!repeats || (odd && odd->awaiting.member != nullptr)) return odd;
    }
    return odd_round(rank, ends, begin, known);
  }
  // Calls that follow a call of all ranks may still belong to its round. Later rounds then begin
  // with calls that the first round lacks. `known` is set if there are enough rounds to tell.
  std::optional<DivergentRank> odd_round(size_t rank, const std::vector<size_t>& ends, size_t begin,
                                         bool& known) {
    const size_t ranks = calls_.size();
    std::optional<DivergentRank> out;
    size_t lead_before = 0;  // such calls of the round before
    for (size_t k = 0; k < ends.size() && !out; ++k) {
      const size_t end = k + 1 < ends.size() ? ends[k + 1] : words_[rank].size();
      size_t lead = 0;
      std::optional<Difference> found;
      while (true) {
        const size_t first = add_part(rank, begin, ends.front());
        const size_t later = add_part(rank, ends[k] + lead, end);
        found = difference(later, first);
        const bool leads = found && found->kind == Kind::kExtra && found->mine == 0 &&
                           found->theirs == 0 &&
                           calls_[later].front().member->state == model::MemberState::kCompleted;
        if (found && !leads) out = odd_in_round(rank, *found, later, first, ends[k] + lead);
        drop_parts(ranks);
        if (!leads) break;
        ++lead;
      }
      if (!out && lead < lead_before && ends[k] < end)
        out = without_lead(rank, ends[k - 1] + lead, lead_before - lead, ends[k] + lead);
      lead_before = lead;
    }
    // After a single round, a new call at the beginning of the next round may belong to the end of
    // the first.
    const auto in_first = [&](const Word& each) { return same(each, words_[rank][ends.front()]); };
    const auto begin_first = words_[rank].begin() + static_cast<ptrdiff_t>(begin);
    const auto end_first = words_[rank].begin() + static_cast<ptrdiff_t>(ends.front());
    const bool is_new = out && !out->proved && out->at == ends.front() &&
                        std::none_of(begin_first, end_first, in_first);
    known = ends.size() > 1 || (lead_before == 0 && !is_new);
    if (!known && is_new) return std::nullopt;
    return out;
  }
  DivergentRank odd_in_round(size_t rank, const Difference& found, size_t later, size_t first,
                             size_t begin) const {
    DivergentRank out;
    out.kind = found.kind;
    out.rank = static_cast<Rank>(rank);
    out.at = begin + found.mine;
    out.own_rounds = true;
    out.proved = found.proved;
    out.or_swapped = found.or_swapped;
    out.same_line = same_line(later, found, first);
    out.awaiting = awaiting(rank, calls_[first][found.theirs]);
    for (size_t c = 0; c < (found.kind == Kind::kLeftOut ? found.count : 1); ++c) {
      const MemberRef& own = calls_[first][found.theirs + c];
      out.theirs.push_back({own, own.communicator()});
    }
    return out;
  }
  // The calls that followed the end of the rank's other rounds, and for which another rank waits.
  std::optional<DivergentRank> without_lead(size_t rank, size_t before, size_t count,
                                            size_t at) const {
    DivergentRank out;
    out.rank = static_cast<Rank>(rank);
    out.at = at;
    out.own_rounds = out.proved = true;
    out.awaiting = awaiting(rank, calls_[rank][before]);
    if (out.awaiting.member == nullptr) return std::nullopt;
    for (size_t c = 0; c < count; ++c) {
      const MemberRef& own = calls_[rank][before + c];
      out.theirs.push_back({own, own.communicator()});
    }
    return out;
  }

  // ---- the odd ranks of a class

  std::vector<DivergentRank> odd_of(const std::vector<size_t>& ranks) {
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
    std::tuple<size_t, size_t, size_t> best;
    size_t model = 0;
    for (size_t k = 0; k < records.size(); ++k) {
      size_t agree = 0;
      size_t in_order = 0;
      for (const auto& other : records) {
        const Agreement found = agreement(other.front(), records[k].front());
        if (found != Agreement::kNone) agree += other.size();
        if (found == Agreement::kInOrder) in_order += other.size();
      }
      const std::tuple rank(agree, in_order, words_[records[k].front()].size());
      if (rank <= best) continue;
      best = rank;
      model = k;
    }
    const size_t odd = ranks.size() - std::get<0>(best);
    if (odd == 0 || odd > std::max<size_t>(1, ranks.size() / 4)) return {};
    std::vector<DivergentRank> out;
    for (const auto& record : records) {
      const auto found = difference(record.front(), records[model].front());
      if (!found) continue;
      for (const size_t r : record)
        out.push_back(odd_rank(r, *found, records[model].front(), ranks));
    }
    if (is_a_stage(out)) return {};
    return without_shared(std::move(out), ranks);
  }

  // Several ranks, at one place in all groups of one form, in which ranks send to each other: a
  // program of their own.
  bool is_a_stage(const std::vector<DivergentRank>& odd) const {
    if (odd.size() < 2) return false;
    const auto first = static_cast<size_t>(odd.front().rank);
    for (const auto& [communicator, form] : forms_[first]) {
      const uint32_t place = position(first, CommunicatorId(communicator));
      size_t groups = 0;
      size_t odd_groups = 0;
      for (size_t r = 0; r < forms_.size(); ++r) {
        for (const auto& [other, same] : forms_[r]) {
          if (same != form || position(r, CommunicatorId(other)) != place || !sends_in(other))
            continue;
          ++groups;
          odd_groups += static_cast<size_t>(std::count_if(
              odd.begin(), odd.end(),
              [&](const DivergentRank& each) { return static_cast<size_t>(each.rank) == r; }));
        }
      }
      if (groups == odd.size() && odd_groups == groups) return true;
    }
    return false;
  }
  bool sends_in(uint32_t communicator) const {
    return std::ranges::any_of(run_.pairs, [&](const model::SendRecv& pair) {
      return pair.communicator.index == communicator;
    });
  }

  DivergentRank odd_rank(size_t rank, const Difference& found, size_t model,
                         const std::vector<size_t>& ranks) const {
    DivergentRank out;
    out.kind = found.kind;
    out.rank = static_cast<Rank>(rank);
    out.at = found.mine;
    out.proved = found.proved;
    out.or_swapped = found.or_swapped;
    out.or_left_out = found.or_left_out;
    out.same_line = same_line(rank, found, model);
    const size_t count = found.kind == Kind::kLeftOut ? found.count : 1;
    out.like = calls_[model][found.theirs];
    for (size_t k = 0; k < count; ++k) {
      const MemberRef& like = calls_[model][found.theirs + k];
      out.theirs.push_back({counterpart(rank, found.theirs + k, model, ranks),
                            of_form(rank, form_of(model, like.communicator()))});
    }
    return out;
  }

  // ---- differences that belong to the program

  std::vector<DivergentRank> without_shared(std::vector<DivergentRank> odd,
                                            const std::vector<size_t>& ranks) const {
    std::vector<DivergentRank> out;
    for (const DivergentRank& each : odd) {
      const auto r = static_cast<size_t>(each.rank);
      const bool wrong_peer = each.kind == Kind::kOther;
      if (each.theirs.front().call.member == nullptr && each.kind != Kind::kExtra)
        continue;  // nobody waits for that send or recv
      if (each.kind == Kind::kExtra || wrong_peer) {
        const MemberRef& mine = calls_[r][each.at];
        // The exchange takes place, or the other rank left its part out.
        if (mine.pair != nullptr && wrong_peer &&
            mine.pair->send.arrived() == mine.pair->recv.arrived())
          continue;
        const bool alone = mine.pair == nullptr && not_made_outside(mine, ranks);
        if (mine.pair == nullptr && !alone && all_share(mine.communicator(), each, odd, ranks))
          continue;
      } else if (each.theirs.front().call.pair == nullptr &&
                 all_share(each.theirs.front().communicator, each, odd, ranks)) {
        continue;
      }
      out.push_back(each);
    }
    return out;
  }
  // A member that runs another program did not reach that call.
  static bool not_made_outside(const MemberRef& call, const std::vector<size_t>& ranks) {
    return std::ranges::any_of(call.meeting->members, [&](const Member& member) {
      return member.state == model::MemberState::kNotArrived &&
             !contains(ranks, static_cast<size_t>(member.rank));
    });
  }
  bool all_share(CommunicatorId id, const DivergentRank& each,
                 const std::vector<DivergentRank>& odd, const std::vector<size_t>& ranks) const {
    const model::Communicator* group = run_.find(id);
    if (group == nullptr || !group->members) return true;
    const auto is_compared = [&](Rank member) {
      return contains(ranks, static_cast<size_t>(member));
    };
    if (each.kind == Kind::kSwapped && std::ranges::count_if(*group->members, is_compared) == 1 &&
        leaves_its_order(static_cast<size_t>(each.rank), each.at))
      return false;
    const auto shares = [&](Rank member) {
      return !is_compared(member) || std::ranges::any_of(odd, [&](const DivergentRank& other) {
        return other.rank == member && other.kind == each.kind && other.at == each.at;
      });
    };
    return std::ranges::all_of(*group->members, shares);
  }

  // Of several differences, keeps those at the first call, because later ones may follow from it.
  std::vector<DivergentRank> first_alike(std::vector<DivergentRank> odd) const {
    if (odd.size() < 2) return odd;
    const auto first = std::min_element(odd.begin(), odd.end(), [&](const auto& a, const auto& b) {
      return issued(a) < issued(b);
    });
    std::vector<DivergentRank> out;
    for (const DivergentRank& each : odd) {
      const bool alike =
          each.kind == first->kind && each.at == first->at && word_at(each) == word_at(*first);
      if (alike) out.push_back(each);
    }
    return out;
  }
  int64_t issued(const DivergentRank& odd) const {
    const auto& line = calls_[static_cast<size_t>(odd.rank)];
    if (odd.at >= line.size()) return INT64_MAX;
    return line[odd.at].member->times.issued_ns.value_or(INT64_MAX - 1);
  }
  uint32_t word_at(const DivergentRank& odd) const {
    const Word* at = word(static_cast<size_t>(odd.rank), odd.at);
    return at == nullptr ? 0 : at->call;
  }
};

// Rounds by lines and rounds by calls may begin at different places.
bool comparable(const Run& run, const std::vector<std::vector<MemberRef>>& calls) {
  size_t with = 0;
  size_t without = 0;
  for (const auto& line : calls) {
    if (!line.empty()) ++(stack_is_known(run, *line.front().member) ? with : without);
  }
  return with == 0 || without == 0;
}

}  // namespace

std::vector<DivergentRank> find_divergent_pairs(const Run& run,
                                                const std::vector<std::vector<MemberRef>>& calls) {
  return Finder(run, calls, true).find_twins();
}

bool is_ahead_of_its_program(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                             Rank idle, const MemberRef& call, const std::set<Rank>& waiting) {
  return Finder(run, calls, true).is_ahead(static_cast<size_t>(idle), call, waiting);
}

bool goes_on_without(const Run& run, const std::vector<std::vector<MemberRef>>& calls, Rank idle,
                     const MemberRef& call) {
  return Finder(run, calls, true).goes_on(static_cast<size_t>(idle), call);
}

std::vector<DivergentRank> find_divergent_ranks(const Run& run,
                                                const std::vector<std::vector<MemberRef>>& calls) {
  const bool some_completed = std::ranges::any_of(calls, [](const auto& line) {
    return std::ranges::any_of(line, [](const MemberRef& ref) {
      return ref.member->state == model::MemberState::kCompleted;
    });
  });
  if (!some_completed && some_lost(run)) return {};  // perhaps only unfinished calls are recorded
  // Sizes may depend on the data of each group: without a majority they are left out.
  Finder sized(run, calls, true);
  std::vector<DivergentRank> odd = sized.find();
  if (odd.empty()) odd = Finder(run, calls, false).find();
  return odd.empty() && comparable(run, calls) ? sized.find_by_rounds() : odd;
}

}  // namespace hostir::diagnose
