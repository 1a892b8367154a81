// 1. Group members by their call.
// 2. For a rank of each side: the calls before, and the calls it would make next.
// 3. The conditions that led there.
// 4. The cause: the order of the calls if they are at different instructions, else the field that
//    differs.

#include "interp/diagnose/text/mismatch_card.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/text.h"
#include "interp/diagnose/calls/call_alignment.h"

namespace hostir::diagnose {

namespace {

using model::Call;
using model::Meeting;
using model::Member;
using model::Rank;
using model::Run;

constexpr size_t kMaxColumns = 8;
constexpr size_t kBefore = 4;  // calls shown before the mismatch
constexpr size_t kAfter = 6;   // calls shown from the mismatch on
constexpr const char* kReadAlike =
    "the calls have the same text; they differ in how the blocks are cut (see the sentence above).";

std::vector<CardSide> sides_of(const Meeting& meeting) {
  std::vector<CardSide> sides;
  std::map<std::string, size_t> side_of;
  for (const Member& m : meeting.members) {
    const std::string text = m.arrived() ? model::call_text(m.call) : std::string();
    const auto [at, added] = side_of.emplace(text, sides.size());
    if (added) sides.push_back({text, m.call, m.instruction, {}});
    sides[at->second].ranks.push_back(m.rank);
  }
  std::stable_sort(sides.begin(), sides.end(), [](const CardSide& a, const CardSide& b) {
    if (a.text.empty() != b.text.empty()) return b.text.empty();
    return a.ranks.size() > b.ranks.size();
  });
  return sides;
}

std::string who(const CardSide& side) {
  std::vector<Rank> ranks = side.ranks;
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() <= 4) return model::list_of(ranks);
  return fmt::format("{} ranks ({})", ranks.size(), ranges_text(ranks));
}

const char* s_of(const CardSide& side) { return side.ranks.size() == 1 ? "s" : ""; }

int64_t elements_of(const Call& call) {
  if (!call.shape) return -1;
  int64_t count = 1;
  for (const int64_t d : *call.shape) count *= d;
  return count;
}

std::string dims_text(const Call& call) {
  if (!call.shape) return "?";
  std::string out;
  for (const int64_t d : *call.shape) out += (out.empty() ? "" : ",") + std::to_string(d);
  return out;
}

template <class T>
std::string word_of(const std::optional<T>& value) {
  return value ? std::string(name(*value)) : std::string();
}
std::string root_of(const Call& call) { return call.root ? std::to_string(*call.root) : ""; }

class CardMaker {
 public:
  CardMaker(const Run& run, const Meeting& meeting, const ProgramTexts& words)
      : run_(run), meeting_(meeting), words_(words) {}

  MismatchCard make() {
    card_.sides = sides_of(meeting_);
    const auto& sides = card_.sides;
    card_.majority =
        sides.size() > 1 && sides[0].ranks.size() > sides[1].ranks.size() && !sides[0].text.empty();
    for (const CardSide& side : sides) {
      if (side.text.empty() || card_.columns.size() == kMaxColumns) continue;
      card_.columns.push_back(side.ranks.front());
    }
    if (card_.columns.empty()) return std::move(card_);
    align();
    find_conditions();
    card_.cause = cause();
    return std::move(card_);
  }

 private:
  // By sequence number: the rank's issued and upcoming calls on the communicator.
  std::map<uint64_t, CardCall> calls_of(Rank rank) const {
    std::map<uint64_t, CardCall> out;
    const uint64_t sequence = meeting_.sequence;
    const uint64_t first = sequence > kBefore ? sequence - kBefore : 0;
    for (uint64_t s = first; s < sequence + kAfter; ++s) {
      const Meeting* other = run_.meeting(meeting_.communicator, s);
      const Member* m = other != nullptr ? other->member(rank) : nullptr;
      if (m != nullptr && m->arrived())
        out[s] = {model::call_text(m->call), m->instruction, true, false};
    }
    for (const model::UpcomingCall& next : run_.upcoming) {
      if (next.rank == rank && next.communicator == meeting_.communicator &&
          next.sequence < sequence + kAfter)
        out[next.sequence] = {model::call_text(next.call), next.instruction, false, false};
    }
    return out;
  }

  void align() {
    std::vector<std::map<uint64_t, CardCall>> by_column;
    uint64_t first = meeting_.sequence;
    uint64_t end = meeting_.sequence + 1;
    for (const Rank rank : card_.columns) {
      by_column.push_back(calls_of(rank));
      if (by_column.back().empty()) continue;
      first = std::min(first, by_column.back().begin()->first);
      end = std::max(end, by_column.back().rbegin()->first + 1);
    }
    for (uint64_t s = first; s < end; ++s) {
      CardRow out{s, s == meeting_.sequence, {}};
      for (const auto& calls : by_column) {
        const auto at = calls.find(s);
        out.calls.push_back(at == calls.end() ? CardCall{} : at->second);
        out.calls.back().differs = out.calls.back().text != out.calls.front().text;
      }
      card_.rows.push_back(std::move(out));
    }
  }

  void find_conditions() {
    for (const model::Condition& condition : run_.conditions) {
      CardCondition out{condition.instruction, condition.text, {}};
      for (const Rank rank : card_.columns) {
        const auto at = std::find_if(condition.holds.begin(), condition.holds.end(),
                                     [&](const auto& h) { return h.first == rank; });
        out.holds.push_back(at == condition.holds.end() ? std::nullopt : at->second);
      }
      const bool alike = std::all_of(out.holds.begin(), out.holds.end(),
                                     [&](const auto& h) { return h == out.holds.front(); });
      if (!alike) card_.conditions.push_back(std::move(out));
    }
  }

  enum class CallsBy : uint8_t { kText, kInstruction };

  // The known calls from the mismatch on.
  std::vector<std::string> calls_from(size_t column, CallsBy by) const {
    std::vector<std::string> out;
    for (const CardRow& row : card_.rows) {
      const bool before = out.empty() && !row.here;
      if (before || row.calls[column].text.empty()) continue;
      const CardCall& call = row.calls[column];
      out.push_back(by == CallsBy::kText ? call.text : std::to_string(call.instruction.index));
    }
    return out;
  }

  std::string where_of(const CardSide& side) const {
    const auto line = words_.lines.find(side.instruction);
    if (line != words_.lines.end()) return fmt::format("line {}", line->second);
    const model::Instruction* at = run_.find(side.instruction);
    const std::string place = at != nullptr ? model::place_text(*at) : std::string();
    return place.empty() ? "place not known" : place;
  }

  // The first field that differs: kind, reduction, root, dtype, count.
  std::string by_field(const CardSide& one, const CardSide& most) const {
    const Call& a = one.call;
    const Call& b = most.call;
    const auto both = [&](const char* verb, const std::string& mine, const std::string& theirs) {
      return fmt::format("{} {}{} {}, {} {}{} {}", who(one), verb, s_of(one), mine, who(most), verb,
                         s_of(most), theirs);
    };
    if (model::kind_text(a) != model::kind_text(b))
      return both("call", model::kind_text(a), model::kind_text(b)) +
             " at the same place in the order.";
    if (a.reduction != b.reduction)
      return both("reduce", "with " + word_of(a.reduction), "with " + word_of(b.reduction)) + ".";
    if (a.root != b.root) return both("name", "root " + root_of(a), "root " + root_of(b)) + ".";
    if (a.dtype != b.dtype) return both("bring", word_of(a.dtype), word_of(b.dtype)) + ".";
    if (a.shape == b.shape) return kReadAlike;
    const auto elements = [](int64_t count) {
      return count < 0 ? std::string("an unknown number of elements")
                       : fmt::format("{} element{}", count, count == 1 ? "" : "s");
    };
    std::string text =
        elements_of(a) != elements_of(b)
            ? both("bring", elements(elements_of(a)), elements(elements_of(b)))
            : both("bring", "the shape [" + dims_text(a) + "]", "[" + dims_text(b) + "]");
    for (const CardSide* side : {&one, &most}) {
      const auto operand = words_.operands.find(side->instruction);
      if (operand != words_.operands.end()) return fmt::format("{}: {}.", text, operand->second);
    }
    if (one.instruction == most.instruction && one.instruction.valid())
      return text + " at the same instruction: its size depends on the rank (uneven shards?).";
    return text + ".";
  }

  // The cause in terms of call order; empty if that does not explain it.
  std::string by_order(const CardSide& one, size_t column) const {
    const CardSide& most = card_.sides.front();
    const std::vector<std::string> ours = calls_from(column, CallsBy::kText);
    const std::vector<std::string> theirs = calls_from(0, CallsBy::kText);
    if (ours.empty() || theirs.empty()) return {};
    // Compare instructions first: different calls may read the same.
    CallAlignment found = align_calls(calls_from(0, CallsBy::kInstruction),
                                      calls_from(column, CallsBy::kInstruction));
    if (found.run == 0) found = align_calls(theirs, ours);
    const std::string a = who(most);
    const std::string b = who(one);
    if (found.first == FirstEdit::kSwapped && theirs.size() > 1)
      return fmt::format(
          "the order is swapped: {} call{} {} and then {}, {} call{} them in the other order.", a,
          s_of(most), theirs[0], theirs[1], b, s_of(one));
    if (found.run == 0) return {};
    const bool left_out = found.first == FirstEdit::kOnlyFirst;
    if (!left_out && found.first != FirstEdit::kOnlySecond) return {};
    const std::string call = left_out ? theirs[0] : ours[0];
    const std::string line = where_of(left_out ? most : one);
    const std::string after = "the calls after it fit each other";
    if (!card_.majority)
      return fmt::format("{} call{} {} ({}) and {} {} not: one call too many or one left out; {}.",
                         left_out ? a : b, s_of(left_out ? most : one), call, line,
                         left_out ? b : a,
                         (left_out ? one : most).ranks.size() == 1 ? "does" : "do", after);
    if (left_out)
      return fmt::format("{} leave{} out {} ({}); {}.", b, s_of(one), call, line, after);
    return fmt::format("{} call{} {} ({}) once more than the others; {}.", b, s_of(one), call, line,
                       after);
  }

  std::string cause() const {
    if (card_.columns.size() < 2) return kReadAlike;
    const CardSide& most = card_.sides[0];
    const CardSide& one = card_.sides[1];
    std::string text;
    const bool elsewhere = most.instruction != one.instruction || !most.instruction.valid();
    if (elsewhere) text = by_order(one, 1);
    if (text.empty()) text = by_field(one, most);
    if (card_.columns.size() > 2) text += " Others differ as well.";
    if (!card_.conditions.empty()) {
      const CardCondition& condition = card_.conditions.back();
      const auto word = [&](size_t column) {
        const auto& h = condition.holds[column];
        return !h ? "decided as it ran" : *h ? "true" : "false";
      };
      text += fmt::format(
          " They took different branches: {} is {} on rank {} and {} on rank {}.",
          condition.text.starts_with("where ") ? condition.text.substr(6) : condition.text, word(0),
          card_.columns[0], word(1), card_.columns[1]);
    }
    return text;
  }

  const Run& run_;
  const Meeting& meeting_;
  const ProgramTexts& words_;
  MismatchCard card_;
};

}  // namespace

MismatchCard mismatch_card(const Run& run, const Meeting& meeting, const ProgramTexts& words) {
  return CardMaker(run, meeting, words).make();
}

std::string difference_text(const Call& theirs, const Call& ours) {
  if (model::kind_text(theirs) != model::kind_text(ours))
    return "called " + model::kind_text(theirs);
  if (theirs.reduction != ours.reduction) return "called " + word_of(theirs.reduction);
  if (theirs.root != ours.root) return "named root " + root_of(theirs);
  return fmt::format("brought {}[{}]", word_of(theirs.dtype), dims_text(theirs));
}

}  // namespace hostir::diagnose
