#include "interp/diagnose/charges/unusual.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/charges/explanation.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

using model::Member;
using model::Run;

namespace {

constexpr size_t kLeastOthers = 2;

bool same_facts(const MemberRef& a, const MemberRef& b) {
  const auto facts = [](const model::Call& c) { return std::tie(c.dtype, c.total_elems); };
  const bool kinds =
      a.pair != nullptr || model::kind_text(a.member->call) == model::kind_text(b.member->call);
  return kinds && facts(a.member->call) == facts(b.member->call);
}

/// The calls that a line made elsewhere.
struct LineUse {
  size_t like_mine = 0;
  size_t like_theirs = 0;
  size_t others = 0;
};

LineUse use_of(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
               const Disagreement& found, const Member& mine, const Member& theirs) {
  LineUse out;
  std::map<uint32_t, bool> same_line;  // by instruction
  for (const auto& line : calls) {
    for (const MemberRef& ref : line) {
      if (ref.meeting == found.meeting && ref.pair == found.pair) continue;
      const auto [at, added] = same_line.try_emplace(ref.member->instruction.index, false);
      if (added)
        at->second = stack_is_known(run, *ref.member) && same_stack(run, *ref.member, mine);
      if (!at->second || (ref.pair == nullptr) != (found.pair == nullptr)) continue;
      if (same_facts(ref, found.ref(mine))) {
        ++out.like_mine;
      } else {
        ++(same_facts(ref, found.ref(theirs)) ? out.like_theirs : out.others);
      }
    }
  }
  return out;
}

}  // namespace

void accuse_unusual(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                    const Disagreement& found, RecordedVerdict& verdict) {
  if (found.blocks || found.expected.empty()) return;
  const Member& one = *found.expected.front();
  std::vector<const Member*> rest;
  for (const Member* member : found.members) {
    if (std::count(found.expected.begin(), found.expected.end(), member) == 0)
      rest.push_back(member);
  }
  const bool two_sides = std::all_of(rest.begin(), rest.end(), [&](const Member* member) {
    return same_facts(found.ref(*member), found.ref(*rest.front()));
  });
  if (rest.empty() || !two_sides) return;
  const Member& two = *rest.front();
  if (!stack_is_known(run, one) || !stack_is_known(run, two)) return;
  const LineUse of_one = use_of(run, calls, found, one, two);
  const LineUse of_two = use_of(run, calls, found, two, one);
  if (of_one.others + of_two.others > 0) return;
  const auto is_odd = [](const LineUse& odd, const LineUse& usual) {
    return odd.like_mine == 0 && usual.like_theirs == 0 && odd.like_theirs >= kLeastOthers &&
           usual.like_mine >= kLeastOthers;
  };
  const bool one_is_odd = is_odd(of_one, of_two);
  if (!one_is_odd && !is_odd(of_two, of_one)) return;
  const MemberRef right = found.ref(one_is_odd ? two : one);
  const std::vector<const Member*>& odd = one_is_odd ? found.expected : rest;
  // If a call is missing, sizes that differ only show where.
  std::vector<CallEdit> repair;
  for (const Member* member : odd)
    repair.push_back(CallEdit::change(member->rank, place_of(calls, found.ref(*member)), right));
  if (!some_lost(run) && !explains(run, repair)) return;
  verdict.suspects.clear();
  verdict.repair = std::move(repair);
  verdict.at = found.ref(*odd.front());
  verdict.missing = right;
  for (const Member* member : odd) insert_once(verdict.culprits, member->rank);
  verdict.repair_text = fmt::format("with {} on {}", repaired_call(verdict.at, right),
                                    model::list_of(verdict.culprits));
  verdict.sentence = sentence_of(run, calls, verdict) +
                     fmt::format("; all {} other calls of {} have the size and type of the latter",
                                 (one_is_odd ? of_one : of_two).like_theirs +
                                     (one_is_odd ? of_two : of_one).like_mine,
                                 one.instruction == two.instruction ? "this line" : "these lines");
}

}  // namespace hostir::diagnose
