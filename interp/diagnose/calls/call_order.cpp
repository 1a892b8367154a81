#include "interp/diagnose/calls/call_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::Run;

namespace {

// Cost of a difference. A moved call (missing here, extra there) costs less than two replaced
// calls. A different stack alone does not make it another call, but three in a row cost more than a
// gap.
constexpr uint32_t kGapCost = 6;
constexpr uint32_t kOtherCost = 8;
constexpr uint32_t kElsewhereCost = 2;
// Above this table size, two lines are compared position by position.
constexpr size_t kMostCells = size_t{1} << 24;

AlignedStep::Kind kind_of(const Run& run, const Member& a, const Member& b) {
  if (!same_call(a.call, b.call)) return AlignedStep::Kind::kOther;
  return same_stack(run, a, b) ? AlignedStep::Kind::kSame : AlignedStep::Kind::kElsewhere;
}

uint32_t cost_of(AlignedStep::Kind kind) {
  switch (kind) {
    case AlignedStep::Kind::kSame:
      return 0;
    case AlignedStep::Kind::kElsewhere:
      return kElsewhereCost;
    case AlignedStep::Kind::kOther:
      return kOtherCost;
    case AlignedStep::Kind::kLeftOut:
    case AlignedStep::Kind::kExtra:
      return kGapCost;
  }
  return kGapCost;
}

/// The table of edit distances, without the common prefix and suffix.
class Table {
 public:
  Table(const Run& run, const CallSequence& mine, const CallSequence& theirs, size_t skip)
      : run_(run), mine_(mine), theirs_(theirs), skip_(skip) {
    rows_ = mine.calls.size() - skip + 1;
    columns_ = theirs.calls.size() - skip + 1;
  }
  size_t cells() const { return rows_ * columns_; }

  // The table has the costs of suffixes, so that the walk can choose from the front: matches come
  // first, gaps as late as possible.
  void walk(std::vector<AlignedStep>& out) {
    for (size_t i = skip_; i < mine_.calls.size(); ++i) mine_numbers_.push_back(number(mine_, i));
    for (size_t j = skip_; j < theirs_.calls.size(); ++j) {
      theirs_numbers_.push_back(number(theirs_, j));
    }
    kinds_.assign(different_.size() * different_.size(), std::nullopt);
    cost_.assign(cells(), 0);
    for (size_t i = rows_; i-- > 0;) {
      for (size_t j = columns_; j-- > 0;) at(i, j) = best(i, j);
    }
    size_t i = 0;
    size_t j = 0;
    while (i + 1 < rows_ || j + 1 < columns_) {
      const bool both = i + 1 < rows_ && j + 1 < columns_;
      if (both && at(i, j) == at(i + 1, j + 1) + cost_of(pair(i, j))) {
        out.push_back({pair(i, j), skip_ + i, skip_ + j});
        ++i;
        ++j;
      } else if (j + 1 < columns_ && at(i, j) == at(i, j + 1) + kGapCost) {
        out.push_back({AlignedStep::Kind::kLeftOut, SIZE_MAX, skip_ + j});
        ++j;
      } else {
        out.push_back({AlignedStep::Kind::kExtra, skip_ + i, SIZE_MAX});
        ++i;
      }
    }
  }

 private:
  uint32_t& at(size_t i, size_t j) { return cost_[i * columns_ + j]; }
  // Each pair of different calls is compared once.
  AlignedStep::Kind pair(size_t i, size_t j) {
    const size_t a = mine_numbers_[i];
    const size_t b = theirs_numbers_[j];
    auto& kind = kinds_[a * different_.size() + b];
    if (!kind) kind = kind_of(run_, *different_[a], *different_[b]);
    return *kind;
  }
  size_t number(const CallSequence& line, size_t at) {
    const Member& call = *line.calls[at].member;
    for (const size_t known : of_instruction_[call.instruction.index]) {
      if (different_[known]->call == call.call) return known;
    }
    of_instruction_[call.instruction.index].push_back(different_.size());
    different_.push_back(&call);
    return different_.size() - 1;
  }
  uint32_t best(size_t i, size_t j) {
    if (i + 1 == rows_) return static_cast<uint32_t>(columns_ - 1 - j) * kGapCost;
    if (j + 1 == columns_) return static_cast<uint32_t>(rows_ - 1 - i) * kGapCost;
    return std::min(
        {at(i + 1, j + 1) + cost_of(pair(i, j)), at(i, j + 1) + kGapCost, at(i + 1, j) + kGapCost});
  }

  const Run& run_;
  const CallSequence& mine_;
  const CallSequence& theirs_;
  size_t skip_;
  size_t rows_ = 0;
  size_t columns_ = 0;
  std::vector<uint32_t> cost_;
  std::vector<const Member*> different_;
  std::map<uint32_t, std::vector<size_t>> of_instruction_;  // in different_
  std::vector<size_t> mine_numbers_;
  std::vector<size_t> theirs_numbers_;
  std::vector<std::optional<AlignedStep::Kind>> kinds_;  // by both numbers
};

}  // namespace

bool line_is_known(const model::Instruction& site) {
  return !site.frames.empty() || !site.address.empty();
}

bool same_lines(const model::Instruction& a, const model::Instruction& b) {
  return a.frames == b.frames && (!a.frames.empty() || a.address == b.address);
}

bool same_stack(const Run& run, const Member& a, const Member& b) {
  if (a.instruction == b.instruction) return true;
  const model::Instruction* one = run.find(a.instruction);
  const model::Instruction* two = run.find(b.instruction);
  if (one == nullptr || two == nullptr) return true;
  return !line_is_known(*one) || !line_is_known(*two) || same_lines(*one, *two);
}

bool stack_is_known(const Run& run, const Member& member) {
  const model::Instruction* site = run.find(member.instruction);
  return site != nullptr && line_is_known(*site);
}

bool same_site(const Run& run, const Member& a, const Member& b) {
  const bool known = stack_is_known(run, a) && stack_is_known(run, b);
  return same_stack(run, a, b) && (known || same_call(a.call, b.call));
}

bool differ_in_group(const Run& run, const MemberRef& a, const MemberRef& b) {
  if (a.meeting == nullptr || b.meeting == nullptr || a.communicator() == b.communicator())
    return false;
  return stack_is_known(run, *a.member) && same_stack(run, *a.member, *b.member) &&
         a.member->call.kind == b.member->call.kind && a.member->call.shape == b.member->call.shape;
}

bool same_call(const model::Call& a, const model::Call& b) {
  if (!model::agree(a, b)) return false;
  // Totals do not determine a gather's rows, and an all_to_all's sizes differ between ranks.
  const auto kind = a.kind;
  const bool exact = a.fingerprint && b.fingerprint;  // covers all that must be equal
  if (!exact && (kind == OpKind::gather || kind == OpKind::scatter))
    return !a.local_elems || !b.local_elems || *a.local_elems == *b.local_elems;
  return true;
}

bool comes_before(const MemberRef& a, const MemberRef& b) {
  if (a.meeting == nullptr || b.meeting == nullptr || a.meeting == b.meeting) return false;
  return std::any_of(a.meeting->members.begin(), a.meeting->members.end(), [&](const Member& m) {
    const Member* there = b.meeting->member(m.rank);
    return m.unfinished() && there != nullptr && there->state == model::MemberState::kNotArrived;
  });
}

bool same_direction(const MemberRef& a, const MemberRef& b) {
  return (a.pair == nullptr) == (b.pair == nullptr) && a.sends() == b.sends();
}

bool alike(const Run& run, const MemberRef& a, const MemberRef& b) {
  return same_direction(a, b) && same_stack(run, *a.member, *b.member);
}

std::vector<std::vector<MemberRef>> calls_by_rank(const Run& run) {
  std::vector<std::vector<MemberRef>> calls(run.ranks.size());
  const auto add = [&](const MemberRef& ref) {
    if (!ref.member->arrived() || !ref.member->order || run.find(ref.member->rank) == nullptr)
      return;
    calls[static_cast<size_t>(ref.member->rank)].push_back(ref);
  };
  for (const model::Meeting& meeting : run.meetings) {
    for (const Member& member : meeting.members) add({&meeting, nullptr, &member});
  }
  for (const model::SendRecv& pair : run.pairs) {
    add({nullptr, &pair, &pair.send});
    add({nullptr, &pair, &pair.recv});
  }
  const auto before = [](const MemberRef& a, const MemberRef& b) {
    return *a.member->order < *b.member->order;
  };
  for (auto& line : calls) {
    if (!std::ranges::is_sorted(line, before)) std::ranges::stable_sort(line, before);
  }
  return calls;
}

size_t place_of(const std::vector<std::vector<MemberRef>>& calls, const MemberRef& ref) {
  const auto& line = calls[static_cast<size_t>(ref.member->rank)];
  const auto at = std::find_if(line.begin(), line.end(),
                               [&](const MemberRef& each) { return each.member == ref.member; });
  return static_cast<size_t>(at - line.begin());
}

size_t members_on_record(const Run& run, const model::Meeting& meeting) {
  return static_cast<size_t>(std::ranges::count_if(meeting.members, [&](const Member& member) {
    return run.find(member.rank)->record != model::RecordState::kMissing;
  }));
}

bool completed_by_all(const MemberRef& ref) {
  const auto done = [](const Member& member) {
    return member.state == model::MemberState::kCompleted ||
           member.state == model::MemberState::kUnknown;
  };
  return ref.pair != nullptr ? done(*ref.member) && done(ref.other_side())
                             : std::ranges::all_of(ref.meeting->members, done);
}

MemberRef last_call(const std::vector<std::vector<MemberRef>>& calls, Rank rank) {
  const auto& line = calls[static_cast<size_t>(rank)];
  return line.empty() ? MemberRef{} : line.back();
}

CallSequence sequence_of(const Run& run, Rank rank, model::CommunicatorId communicator,
                         uint64_t first) {
  CallSequence line;
  line.rank = rank;
  const auto begin =
      std::lower_bound(run.meetings.begin(), run.meetings.end(), std::tuple(communicator, first),
                       [](const model::Meeting& m, const auto& key) {
                         return std::tuple(m.communicator, m.sequence) < key;
                       });
  for (auto at = begin; at != run.meetings.end() && at->communicator == communicator; ++at) {
    const Member* member = at->member(rank);
    if (member != nullptr && member->arrived()) line.calls.push_back({&*at, nullptr, member});
  }
  return line;
}

std::vector<AlignedStep> align_sequences(const Run& run, const CallSequence& mine,
                                         const CallSequence& theirs) {
  std::vector<AlignedStep> out;
  const size_t common = std::min(mine.calls.size(), theirs.calls.size());
  size_t skip = 0;
  while (skip < common && kind_of(run, *mine.calls[skip].member, *theirs.calls[skip].member) ==
                              AlignedStep::Kind::kSame) {
    out.push_back({AlignedStep::Kind::kSame, skip, skip});
    ++skip;
  }
  Table table(run, mine, theirs, skip);
  if (table.cells() <= kMostCells) {
    table.walk(out);
    return out;
  }
  for (size_t i = skip; i < common; ++i) {
    out.push_back({kind_of(run, *mine.calls[i].member, *theirs.calls[i].member), i, i});
  }
  for (size_t i = common; i < mine.calls.size(); ++i)
    out.push_back({AlignedStep::Kind::kExtra, i, SIZE_MAX});
  for (size_t i = common; i < theirs.calls.size(); ++i)
    out.push_back({AlignedStep::Kind::kLeftOut, SIZE_MAX, i});
  return out;
}

}  // namespace hostir::diagnose
