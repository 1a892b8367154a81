#include "interp/diagnose/charges/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "interp/model/run.h"

namespace hostir::diagnose {

using model::Call;
using model::Meeting;
using model::Member;
using model::Rank;

namespace {

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
std::string odd_text(const Meeting& meeting, size_t odd, const std::vector<BlockPair>& wrong) {
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
  std::map<size_t, std::vector<Rank>> ranks;
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

}  // namespace

std::vector<BlockPair> unequal_blocks(const Meeting& meeting) {
  std::vector<BlockPair> out;
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

std::optional<size_t> in_every_pair(const std::vector<BlockPair>& wrong) {
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

std::string blocks_text(const Meeting& meeting, const std::vector<BlockPair>& wrong) {
  const auto [p, q] = wrong.front();
  const Member& from = meeting.members[p];
  const Member& to = meeting.members[q];
  const std::optional<size_t> odd = in_every_pair(wrong);
  return fmt::format("rank {} sends {} elements to rank {}, which expects {}{}", from.rank,
                     from.call.sends[q], to.rank, to.call.receives[p],
                     odd ? odd_text(meeting, *odd, wrong) : shifts_text(meeting));
}

}  // namespace hostir::diagnose
