#include "interp/diagnose/text/comparison_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/charges/peers.h"
#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::Run;

std::string passed_by_sentence(const Run& run, const PassedBy& found) {
  const MemberRef& waits = found.waits;
  return fmt::format(
      "rank {} left out the {} rank {}{}, which it made {} before; rank {} waits in {}{}; rank {} "
      "waits in {}{}",
      found.rank, waits.sends() ? "recv from" : "send to", waits.member->rank,
      at_stack(run, found.earlier),
      found.times == 1 ? std::string("once") : fmt::format("{} times", found.times),
      waits.member->rank, call_name(run, waits), at_stack(run, waits), found.rank,
      call_name(run, found.next), at_stack(run, found.next));
}

std::string order_sentence(const Run& run, const RecordedVerdict& verdict, bool swapped) {
  const std::string ranks = model::list_of(verdict.culprits);
  const std::string_view calls = verb(verdict.culprits, "calls", "call");
  if (swapped) {
    const std::vector<Rank> others = others_at(verdict.missing, verdict.culprits);
    return fmt::format("{} {} {}{} before {}; {} {} them in the other order", ranks, calls,
                       call_name(run, verdict.at), at_stack(run, verdict.at),
                       call_name(run, verdict.missing),
                       others.empty() ? "the others" : model::list_of(others),
                       others.size() == 1 ? "calls" : "call");
  }
  const std::string own = name_on_own_groups(run, verdict.missing, verdict.culprits, true);
  return fmt::format(
      "{} {} {}{} without {}{}, which the others call first: {} left it out, or {} it later", ranks,
      calls, call_name(run, verdict.at), at_stack(run, verdict.at),
      own.empty() ? call_name(run, verdict.missing) : own, at_stack(run, verdict.missing), ranks,
      calls);
}

std::string wrong_group_sentence(const Run& run, const std::vector<Rank>& ranks,
                                 const MemberRef& wrong, const MemberRef& right) {
  std::vector<Rank> waiting;
  for (const Member& member : right.meeting->members) {
    if (member.unfinished() && same_stack(run, member, *right.member))
      waiting.push_back(member.rank);
  }
  std::ranges::sort(waiting);
  return fmt::format("{} {} {}{} where the others call it on {}; {} {} there",
                     model::list_of(ranks), verb(ranks, "calls", "call"), call_name(run, wrong),
                     at_stack(run, wrong), communicator_name(run, right.communicator()),
                     model::list_of(waiting), verb(waiting, "waits", "wait"));
}

std::string wrong_group_repair(const Run& run, const std::vector<Rank>& ranks,
                               const MemberRef& right) {
  return fmt::format("with {} in its place on {}", short_call_name(run, right),
                     model::list_of(ranks));
}

std::string own_rounds_sentence(const Run& run, const RecordedVerdict& verdict,
                                const MemberRef& before, const MemberRef& awaiting) {
  const std::string ranks = model::list_of(verdict.culprits);
  const bool one = verdict.culprits.size() == 1;
  std::string text;
  if (verdict.charge == Charge::kExtraCall) {
    text = fmt::format("{} {} one call more than in {} earlier rounds: {}{}", ranks,
                       one ? "makes" : "make", one ? "its" : "their", call_name(run, verdict.at),
                       at_stack(run, verdict.at));
  } else if (verdict.charge == Charge::kLeftOut) {
    text = fmt::format("{} left out {}{}{}, which {} made in {} earlier rounds", ranks,
                       before.pair != nullptr ? "the " : "", unnumbered_name(run, before),
                       at_stack(run, before), one ? "it" : "they", one ? "its" : "their");
  } else if (verdict.charge == Charge::kSwapped || awaiting.member == nullptr) {
    text =
        fmt::format("{} {} {}{} before {}{}; in {} earlier rounds {} made them in the other order",
                    ranks, one ? "calls" : "call", short_call_name(run, verdict.at),
                    at_stack(run, verdict.at), unnumbered_name(run, before), at_stack(run, before),
                    one ? "its" : "their", one ? "it" : "they");
  } else {
    text = fmt::format(
        "{0} {1} {2}{3} without {4}{5}, which came first in {6} earlier rounds: {0} left it out, "
        "or "
        "{7} it later",
        ranks, one ? "calls" : "call", short_call_name(run, verdict.at), at_stack(run, verdict.at),
        unnumbered_name(run, before), at_stack(run, before), one ? "its" : "their",
        one ? "makes" : "make");
  }
  if (awaiting.member != nullptr) {
    std::vector<Rank> waiting;
    const auto alike = [&](const Member& member) {
      return member.unfinished() && same_stack(run, member, *awaiting.member);
    };
    if (awaiting.pair != nullptr) waiting = {awaiting.member->rank};
    for (size_t i = 0; awaiting.meeting != nullptr && i < awaiting.meeting->members.size(); ++i) {
      const Member& member = awaiting.meeting->members[i];
      if (alike(member)) waiting.push_back(member.rank);
    }
    std::ranges::sort(waiting);
    text += fmt::format("; {} {} for it in {}{}", model::list_of(waiting),
                        verb(waiting, "waits", "wait"), call_name(run, awaiting),
                        at_stack(run, awaiting));
  }
  return text + "; all other ranks repeat their rounds";
}

std::string as_others_sentence(const Run& run, const RecordedVerdict& verdict,
                               const MemberRef& like) {
  const MemberRef& awaiting = verdict.missing;
  const std::string ranks = model::list_of(verdict.culprits);
  const std::string call = fmt::format("the {} rank {}", awaiting.sends() ? "recv from" : "send to",
                                       awaiting.member->rank);
  const std::string twin =
      fmt::format("rank {} runs the same program and makes it", like.member->rank);
  const std::string theirs = call_name(run, like) + at_stack(run, like);
  const std::string mine = call_name(run, verdict.at) + at_stack(run, verdict.at);
  const bool certain = verdict.charge == Charge::kLeftOut;
  std::string text =
      certain ? fmt::format("{} left out {}; {}, as {}; {} {} on in {}", ranks, call, twin, theirs,
                            ranks, verb(verdict.culprits, "goes", "go"), mine)
              : fmt::format("{} {} {} without {}; {} first, as {}: {} left it out, or {} it later",
                            ranks, verb(verdict.culprits, "calls", "call"), mine, call, twin,
                            theirs, ranks, verb(verdict.culprits, "makes", "make"));
  return text + fmt::format("; rank {} waits for it in {}{}", awaiting.member->rank,
                            call_name(run, awaiting), at_stack(run, awaiting));
}

std::string call_of_one_sentence(const Run& run, const MemberRef& call, Rank other, bool may_come) {
  const Rank rank = call.member->rank;
  return fmt::format(
      "rank {} makes a call that rank {} does not: {}{}; then both go on alike, so either rank {} "
      "makes one call too many, or rank {} left it out{}",
      rank, other, call_name(run, call), at_stack(run, call), rank, other,
      may_come ? " or makes it later" : "");
}

std::string either_sentence(const Run& run, const RecordedVerdict& verdict) {
  const Rank idle = verdict.culprits.front();
  const Rank waits = verdict.missing.member->rank;
  std::string text = fmt::format(
      "rank {} waits in {}{}, which rank {} never reached: either rank {} left it out or stopped, "
      "or "
      "rank {} makes one call too many",
      waits, call_name(run, verdict.missing), at_stack(run, verdict.missing), idle, idle, waits);
  if (verdict.at.member != nullptr) {
    text += fmt::format("; the last call of rank {} was {}{}", idle, call_name(run, verdict.at),
                        at_stack(run, verdict.at));
  }
  return text;
}

}  // namespace hostir::diagnose
