#include "interp/diagnose/text/recorded_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/user_frame.h"
#include "interp/diagnose/charges/blocks.h"
#include "interp/diagnose/charges/peers.h"
#include "interp/diagnose/text/sentences.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::Run;

namespace {

// The outermost line, if all stacks of the run end with it, as with `main()`; else empty.
std::string shared_end(const Run& run) {
  std::string out;
  for (const model::Instruction& instruction : run.instructions) {
    if (instruction.frames.empty()) continue;
    const std::vector<std::string> lines = stack_lines(instruction);
    if (lines.size() < 2 || (!out.empty() && lines.back() != out)) return {};
    out = lines.back();
  }
  return out;
}

model::RankState state_of(const Run& run, Rank rank) {
  const model::RankFacts* facts = run.find(rank);
  return facts == nullptr ? model::RankState::kUnknown : facts->state;
}

std::string stack_of(const Run& run, const MemberRef& ref) {
  const model::Instruction* instruction = ref.member ? run.find(ref.member->instruction) : nullptr;
  if (instruction == nullptr) return {};
  std::vector<std::string> lines = stack_lines(*instruction);
  if (lines.size() > 1 && lines.back() == shared_end(run)) lines.pop_back();
  return fmt::format("{}", fmt::join(lines, ", "));
}

}  // namespace

std::vector<Rank> others_at(const MemberRef& ref, const std::vector<Rank>& but) {
  std::vector<Rank> ranks;
  const std::set<Rank> left_out(but.begin(), but.end());
  const auto add = [&](const Member& member) {
    if (member.arrived() && !left_out.contains(member.rank)) ranks.push_back(member.rank);
  };
  if (ref.meeting != nullptr) {
    for (const Member& member : ref.meeting->members) add(member);
  } else if (ref.pair != nullptr) {
    add(ref.pair->send);
    add(ref.pair->recv);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string_view verb(const std::vector<Rank>& ranks, std::string_view one, std::string_view many) {
  return ranks.size() == 1 ? one : many;
}

namespace {

class Teller {
 public:
  Teller(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
         const RecordedVerdict& verdict)
      : run_(run), calls_(calls), v_(verdict) {}

  std::string tell() const {
    switch (v_.charge) {
      case Charge::kNone:
      case Charge::kOrder:
      case Charge::kWrongGroup:
        return {};
      case Charge::kLeftOut:
        return left_out() + who_waits();
      case Charge::kExtraCall:
        return fmt::format(
                   "{} {} {} more than the others{} {}{}", who(),
                   verb(v_.culprits, "makes", "make"),
                   v_.count == 1 ? std::string("one call") : fmt::format("{} calls", v_.count),
                   v_.count == 1 ? ":" : ", beginning with", call_name(run_, v_.at),
                   at_stack(run_, v_.at)) +
               who_waits();
      case Charge::kSwapped:
        return fmt::format(
                   "{} makes two calls in the other order: {}{} where the others call "
                   "{}{}",
                   who(), call_name(run_, v_.at), at_stack(run_, v_.at),
                   call_name(run_, v_.missing), at_stack(run_, v_.missing)) +
               who_waits();
      case Charge::kDifferentCall:
        return different() + who_waits();
      case Charge::kBlocks:
        return blocks() + who_waits();
      case Charge::kWrongPeer:
        return wrong_peer();
      case Charge::kStopped:
        return stopped_process();
      case Charge::kNeverCame:
      case Charge::kDied:
        return v_.at.meeting != nullptr && v_.at.meeting == v_.missing.meeting ? stopped_process()
                                                                               : never_came();
      case Charge::kNoRecord:
        return no_record();
    }
    return {};
  }

 private:
  std::string who() const {
    return v_.culprits.empty() ? model::list_of(v_.suspects) : model::list_of(v_.culprits);
  }

  // The ranks that made this call, and not another one with the same number.
  std::vector<Rank> makers(const std::vector<Rank>& but) const {
    std::vector<Rank> ranks = others_at(v_.missing, but);
    if (v_.missing.meeting == nullptr) return ranks;
    const auto elsewhere = [&](Rank rank) {
      const Member& member = *v_.missing.meeting->member(rank);
      return !same_stack(run_, member, *v_.missing.member) ||
             !model::agree(member.call, v_.missing.member->call);
    };
    ranks.erase(std::remove_if(ranks.begin(), ranks.end(), elsewhere), ranks.end());
    return ranks;
  }

  std::string left_out_by_half() const {
    std::vector<Rank> odd;
    for (const CallEdit& edit : v_.repair) odd.push_back(edit.rank);
    std::sort(odd.begin(), odd.end());
    const std::vector<Rank> others = makers(odd);
    return fmt::format("{} {} {}{}, which {} {}; nothing shows which of them is right",
                       model::list_of(others), verb(others, "makes", "make"),
                       call_name(run_, v_.missing), at_stack(run_, v_.missing), model::list_of(odd),
                       verb(odd, "leaves out", "leave out"));
  }

  std::string left_out() const {
    if (v_.culprits.empty()) return left_out_by_half();
    const std::vector<Rank> others = makers(v_.culprits);
    const std::string first =
        v_.count == 1 ? std::string() : fmt::format("{} calls, beginning with ", v_.count);
    std::string text = fmt::format("{} left out {}{}, which {} {}{}", who(), first,
                                   call_name(run_, v_.missing), model::list_of(others),
                                   verb(others, "makes", "make"), at_stack(run_, v_.missing));
    if (v_.at.member != nullptr) {
      const std::string next = stack_of(run_, v_.at);
      if (!next.empty() && next != stack_of(run_, v_.missing)) {
        text += fmt::format("; {} {} on at {}", who(), verb(v_.culprits, "goes", "go"), next);
      }
    }
    return text;
  }

  static std::string waiting_in(std::vector<Rank> ranks, const std::string& kind) {
    std::sort(ranks.begin(), ranks.end());
    return fmt::format("{} {} in {}", model::list_of(ranks), verb(ranks, "waits", "wait"), kind);
  }

  // A call that all its members have reached with the same call: nobody holds it up.
  bool is_in_flight(const MemberRef& ref) const {
    return ref.meeting != v_.at.meeting && ref.meeting != v_.missing.meeting &&
           std::ranges::all_of(ref.meeting->members, [&](const Member& member) {
             return member.arrived() && same_call(member.call, ref.member->call);
           });
  }

  // The call that the others wait for, if it is not the reported one.
  std::string who_waits() const {
    std::string text;
    std::vector<const model::Meeting*> told;
    std::map<const model::Meeting*, bool> in_flight;  // its members are not compared for each rank
    for (const Rank rank : v_.waiting) {
      if (static_cast<size_t>(rank) >= calls_.size()) continue;
      for (const MemberRef& ref : calls_[static_cast<size_t>(rank)]) {
        if (!ref.member->unfinished() || ref.meeting == nullptr) continue;
        const auto [known, added] = in_flight.try_emplace(ref.meeting, false);
        if (added) known->second = is_in_flight(ref);
        if (known->second) continue;
        const bool has_sides = v_.charge == Charge::kDifferentCall && v_.culprits.empty();
        if (has_sides && ref.meeting == v_.at.meeting) break;  // sides() names its ranks
        if (std::count(told.begin(), told.end(), ref.meeting) != 0) break;
        told.push_back(ref.meeting);
        if (told.size() > 2) return text;
        std::map<std::string, std::vector<Rank>> waiting;  // by the kind of the call
        std::vector<Rank> absent;
        for (const Member& member : ref.meeting->members) {
          if (member.unfinished()) waiting[kind_name(member.call)].push_back(member.rank);
          if (member.state == model::MemberState::kNotArrived) absent.push_back(member.rank);
        }
        std::sort(absent.begin(), absent.end());
        const std::string first = kind_name(ref.member->call);
        text += "; " + waiting_in(std::move(waiting[first]), first);
        waiting.erase(first);
        for (auto& [kind, ranks] : waiting) text += ", " + waiting_in(std::move(ranks), kind);
        text += fmt::format(" seq {} on {}", ref.meeting->sequence,
                            communicator_name(run_, ref.meeting->communicator));
        if (!absent.empty()) {
          text += fmt::format(", which {} never {}", model::list_of(absent),
                              verb(absent, "enters", "enter"));
        }
        break;
      }
    }
    return text;
  }

  // Each different call once, in the order of its first rank.
  std::string sides() const {
    constexpr size_t kMostSides = 4;
    struct Calls {
      MemberRef first;
      std::vector<Rank> ranks;
    };
    std::vector<Calls> all;
    const auto add = [&](const MemberRef& ref) {
      if (!ref.member->arrived() || !contains(v_.suspects, ref.member->rank)) return;
      const auto at = std::ranges::find_if(all, [&](const Calls& calls) {
        return ref.meeting != nullptr && same_call(calls.first.member->call, ref.member->call);
      });
      (at == all.end() ? all.emplace_back(Calls{ref, {}}) : *at).ranks.push_back(ref.member->rank);
    };
    if (v_.at.meeting != nullptr) {
      for (const Member& member : v_.at.meeting->members) add({v_.at.meeting, nullptr, &member});
    } else {
      add({nullptr, v_.at.pair, &v_.at.pair->send});
      add({nullptr, v_.at.pair, &v_.at.pair->recv});
    }
    for (Calls& calls : all) std::ranges::sort(calls.ranks);
    std::ranges::sort(all, {}, [](const Calls& calls) { return calls.ranks.front(); });
    const std::string group = " on " + communicator_name(run_, v_.communicator);  // named before
    std::string text;
    for (size_t i = 0; i < std::min(all.size(), kMostSides); ++i) {
      std::string call = call_name(run_, all[i].first);
      if (call.ends_with(group)) call.resize(call.size() - group.size());
      text += fmt::format("{}{} {} {}{}", i == 0 ? "" : ", ", model::list_of(all[i].ranks),
                          verb(all[i].ranks, "calls", "call"), call, at_stack(run_, all[i].first));
    }
    if (all.size() > kMostSides)
      text += fmt::format(", and others make {} more different calls", all.size() - kMostSides);
    return text;
  }

  std::string different() const {
    if (v_.culprits.empty()) {
      return fmt::format("members of {} disagree: {}; nothing shows which of them is right",
                         communicator_name(run_, v_.communicator), sides());
    }
    const std::vector<Rank> others = others_at(v_.missing, v_.culprits);
    std::string mine = call_name(run_, v_.at);
    std::string theirs = model::call_text(v_.missing.member->call);
    if (model::call_text(v_.at.member->call) == theirs) {
      mine += model::call_details(v_.at.member->call);
      theirs += model::call_details(v_.missing.member->call);
    }
    std::string text = fmt::format("{} {} {}{} where {} {} {}", who(),
                                   verb(v_.culprits, "calls", "call"), mine, at_stack(run_, v_.at),
                                   model::list_of(others), verb(others, "calls", "call"), theirs);
    if (stack_of(run_, v_.at) != stack_of(run_, v_.missing)) text += at_stack(run_, v_.missing);
    return text;
  }

  std::string wrong_peer() const {
    const Rank first = v_.at.member->rank;
    std::vector<Rank> others = v_.culprits;
    std::erase(others, first);
    std::string text = fmt::format(
        "{} {} the wrong rank: {} {}{} has no counterpart, and rank {}'s {}{} has none either",
        who(), verb(v_.culprits, "names", "name"),
        others.empty() ? "its" : fmt::format("rank {}'s", first), call_name(run_, v_.at),
        at_stack(run_, v_.at), v_.missing.member->rank, call_name(run_, v_.missing),
        at_stack(run_, v_.missing));
    if (others.empty()) return text;
    return text + fmt::format(
                      "; the same holds for the {} of {}",
                      v_.at.sends() ? verb(others, "send", "sends") : verb(others, "recv", "recvs"),
                      model::list_of(others));
  }

  std::string blocks() const {
    const MemberRef& ref = v_.at;
    std::string text = fmt::format("what is sent in {} is not what is expected: {}{}",
                                   call_name(run_, ref), who(), at_stack(run_, ref));
    if (const auto wrong = unequal_blocks(*ref.meeting); !wrong.empty())
      return text + "; " + blocks_text(*ref.meeting, wrong);
    int64_t sent = 0;
    int64_t received = 0;
    for (const Member& member : ref.meeting->members) {
      for (const Extents& shape : member.call.inputs) sent += element_count(shape).value_or(0);
      for (const Extents& shape : member.call.outputs) {
        received += element_count(shape).value_or(0);
      }
    }
    return text + fmt::format("; {} elements are sent and {} expected", sent, received);
  }

  // All members have arrived: the others wait only for the culprits' processes to continue.
  std::string stopped_process() const {
    return fmt::format(
        "{} {} in {}{}, in which {} {}", who(),
        v_.charge == Charge::kDied ? "died" : verb(v_.culprits, "is stopped", "are stopped"),
        call_name(run_, v_.at), at_stack(run_, v_.at), model::list_of(v_.waiting),
        verb(v_.waiting, "waits", "wait"));
  }

  std::string never_came() const {
    std::string text =
        absence_text(run_, v_.missing, v_.culprits, others_at(v_.missing, v_.culprits));
    const bool waits = std::ranges::any_of(v_.culprits, [&](Rank rank) {
      return std::ranges::any_of(calls_[static_cast<size_t>(rank)],
                                 [](const MemberRef& ref) { return ref.member->unfinished(); });
    });
    const std::string state = waits ? std::string() : state_text(run_, v_.culprits);
    text += state;
    if (v_.at.member == nullptr)
      return text + (state.empty() ? "; none of its calls are recorded" : "");
    const std::string whose = v_.culprits.size() == 1
                                  ? std::string("its last call")
                                  : fmt::format("the last call of rank {}", v_.at.member->rank);
    const std::string at = at_stack(run_, v_.at);
    const bool same_line = !at.empty() && at == at_stack(run_, v_.missing);
    text += fmt::format("; {} was {}{}", whose, call_name(run_, v_.at),
                        same_line ? " from the same line" : at);
    if (v_.at.member->state == model::MemberState::kCompleted) text += ", which completed";
    return text;
  }

  std::string no_record() const {
    const std::vector<Rank> others = others_at(v_.missing, v_.culprits);
    const auto& ranks = v_.culprits.empty() ? v_.suspects : v_.culprits;
    std::vector<Rank> no_file;
    bool ends_early = false;
    for (const Rank rank : ranks) {
      const model::RankFacts* facts = run_.find(rank);
      if (facts == nullptr || facts->record == model::RecordState::kMissing) {
        no_file.push_back(rank);
      } else {
        ends_early = ends_early || facts->record == model::RecordState::kCut;
      }
    }
    const bool all = no_file.size() == ranks.size();
    const std::string_view why = all ? ", which left no record: a rank that died leaves none"
                                 : ends_early ? ", whose record ends before this call"
                                              : ", whose record of this call was overwritten";
    std::string text = fmt::format("{} {} in {}{} for {}{}", model::list_of(others),
                                   verb(others, "waits", "wait"), call_name(run_, v_.missing),
                                   at_stack(run_, v_.missing), model::list_of(ranks), why);
    if (ranks.size() > 1) text += "; at least one of them did not arrive";
    if (!all && !no_file.empty())
      text += fmt::format("; {} left no record, like a rank that died", model::list_of(no_file));
    return text;
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
  const RecordedVerdict& v_;
};

}  // namespace

std::string call_name(const Run& run, const MemberRef& ref) {
  const std::string on = communicator_name(run, ref.communicator());
  const std::string call = model::call_text(ref.member->call);
  if (ref.meeting != nullptr) return fmt::format("{} seq {} on {}", call, ref.sequence(), on);
  return ref.sends() ? fmt::format("{} to rank {} on {}", call, ref.pair->target, on)
                     : fmt::format("{} from rank {} on {}", call, ref.pair->source, on);
}

std::string short_call_name(const Run& run, const MemberRef& ref) {
  if (ref.meeting != nullptr) {
    const std::string kind = kind_name(ref.member->call);
    return fmt::format("{} seq {} on {}", kind, ref.sequence(),
                       communicator_name(run, ref.communicator()));
  }
  return ref.sends() ? fmt::format("send to rank {}", ref.pair->target)
                     : fmt::format("recv from rank {}", ref.pair->source);
}

std::string name_on_own_groups(const Run& run, const MemberRef& ref, const std::vector<Rank>& ranks,
                               bool with_type) {
  if (ref.meeting == nullptr) return {};
  const bool is_theirs = std::ranges::all_of(ranks, [&](Rank rank) {
    return std::ranges::any_of(ref.meeting->members,
                               [&](const Member& m) { return m.rank == rank; });
  });
  if (is_theirs) return {};
  std::string on = communicator_name(run, ref.communicator());
  on.resize(std::min(on.size(), on.find(" (group ")));
  return fmt::format(
      "{} on {}", with_type ? model::call_text(ref.member->call) : kind_name(ref.member->call),
      ranks.size() == 1 ? fmt::format("its {} group", on) : fmt::format("their {} groups", on));
}

std::string unnumbered_name(const Run& run, const MemberRef& ref) {
  if (ref.meeting == nullptr) return short_call_name(run, ref);
  return fmt::format("{} on {}", kind_name(ref.member->call),
                     communicator_name(run, ref.communicator()));
}

MemberRef as_made_by(Rank rank, const MemberRef& ref) {
  MemberRef out = ref;
  if (ref.pair == nullptr) return out;
  if (ref.pair->source == rank) out.member = &ref.pair->send;
  if (ref.pair->target == rank) out.member = &ref.pair->recv;
  return out;
}

std::string absence_text(const Run& run, const MemberRef& call, const std::vector<Rank>& absent,
                         const std::vector<Rank>& waiting) {
  const std::string who = model::list_of(absent);
  if (call.pair != nullptr) {
    return fmt::format("{} never {} what rank {} {}: {}{}", who, call.sends() ? "received" : "sent",
                       call.member->rank, call.sends() ? "sends" : "waits for",
                       call_name(run, call), at_stack(run, call));
  }
  const bool died = std::ranges::all_of(
      absent, [&](Rank rank) { return state_of(run, rank) == model::RankState::kDead; });
  return fmt::format("{} {} to {}, in which {} {}{}", who,
                     died ? "died and never came" : "never came", call_name(run, call),
                     model::list_of(waiting), verb(waiting, "waits", "wait"), at_stack(run, call));
}

std::string state_text(const Run& run, const std::vector<Rank>& ranks) {
  const model::RankState state = state_of(run, ranks.front());
  const bool all =
      std::ranges::all_of(ranks, [&](Rank rank) { return state_of(run, rank) == state; });
  std::string_view text;
  if (all && state == model::RankState::kDone) text = "finished";
  if (all && state == model::RankState::kNotStarted) text = "never started";
  if (all && state == model::RankState::kFrozen) text = verb(ranks, "is frozen", "are frozen");
  if (all && state == model::RankState::kRunning) text = verb(ranks, "is running", "are running");
  if (all && state == model::RankState::kRemote) text = "did not report from another process";
  if (text.empty()) return {};
  return fmt::format("; {} {}", verb(ranks, "it", "they"), text);
}

std::string circle_text(const Run& run, const std::vector<CircleStep>& steps) {
  constexpr size_t kLong = 6;
  std::string text = "ranks wait for each other in a circle: ";
  const size_t told = steps.size() > kLong ? kLong - 1 : steps.size();
  for (size_t i = 0; i < told; ++i) {
    text += fmt::format("{}rank {} waits for rank {} in {}{}", i == 0 ? "" : ", ", steps[i].from,
                        steps[i].to, call_name(run, steps[i].call), at_stack(run, steps[i].call));
  }
  if (told < steps.size()) {
    text += fmt::format(", and so on: {} waits, back to rank {}", steps.size(), steps.front().from);
  }
  return text;
}

std::string at_stack(const Run& run, const MemberRef& ref) {
  const std::string stack = stack_of(run, ref);
  return stack.empty() ? stack : " at " + stack;
}

std::string sentence_of(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                        const RecordedVerdict& verdict) {
  return Teller(run, calls, verdict).tell();
}

}  // namespace hostir::diagnose
