// 1. Sides by fingerprint. 2. What a rank of each side called before and would call next. 3. The
// branches that led there. 4. The cause: the order of the calls first, if they are at different
// instructions, else the field that differs.
#include "gui/panels/mismatch_story.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "gui/panels/call_alignment.h"
#include "gui/panels/next_calls.h"
#include "gui/panels/written.h"
#include "interp/core/wait_graph.h"

namespace hostir::gui {

namespace {

using interp::Code;
using interp::CodeIndex;
using interp::LedgerCell;
using interp::LedgerRow;
using interp::Rank;
using interp::Snapshot;

constexpr size_t kMaxColumns = 8;
constexpr size_t kBefore = 4;  // calls that are shown before the mismatch
constexpr size_t kAfter = 6;   // and from it on

std::vector<CallSide> sides_of(const LedgerRow& row) {
  std::vector<CallSide> sides;
  std::map<std::string_view, size_t> side_of;
  for (const LedgerCell& c : row.cells) {
    const auto [at, added] = side_of.emplace(c.fingerprint, sides.size());
    if (added) sides.push_back({c.fingerprint, {}});
    sides[at->second].cells.push_back(&c);
  }
  std::stable_sort(sides.begin(), sides.end(), [](const CallSide& a, const CallSide& b) {
    if (a.fingerprint.empty() != b.fingerprint.empty()) return b.fingerprint.empty();
    return a.cells.size() > b.cells.size();
  });
  return sides;
}

std::string who(const CallSide& side) {
  std::vector<Rank> ranks;
  for (const LedgerCell* c : side.cells) ranks.push_back(c->rank);
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() <= 4) return interp::list_of(ranks);
  return fmt::format("{} ranks ({})", ranks.size(), rank_list(ranks));
}

const char* s_of(const CallSide& side) { return side.cells.size() == 1 ? "s" : ""; }

// By sequence number: what a rank has issued on the communicator, from the ledger.
std::map<uint64_t, AlignedCall> issued_calls(const Snapshot& shot, const LedgerRow& row,
                                             Rank rank) {
  std::map<uint64_t, AlignedCall> out;
  const Code& code = *shot.program->code;
  for (const LedgerRow& other : *shot.ledger) {
    if (other.comm != row.comm || other.group != row.group || other.point_to_point) continue;
    if (other.sequence + kBefore < row.sequence || other.sequence >= row.sequence + kAfter)
      continue;
    for (const LedgerCell& c : other.cells) {
      if (c.rank != rank || c.state == LedgerCell::State::kMissing) continue;
      std::string text = call_text(code, c.code, rank);
      out[other.sequence] = {text.empty() ? c.fingerprint : std::move(text), c.code, true, false};
    }
  }
  return out;
}

// A rank whose call ended the run still stands at it.
bool still_at_call(const Snapshot& shot, const LedgerRow& row, Rank rank) {
  const Code& code = *shot.program->code;
  const LedgerCell* mine = nullptr;
  int64_t last_ns = 0;
  for (const LedgerCell& c : row.cells) {
    last_ns = std::max(last_ns, c.arrived_ns);
    if (c.rank == rank) mine = &c;
  }
  if (!mine || mine->state == LedgerCell::State::kMissing) return false;
  const CodeIndex at = shot.rank(rank).code;
  if (shot.rank(rank).status == interp::RankStatus::kDone || at != mine->code) return false;
  for (CodeIndex i = at; i != interp::kNoCode; i = code.instructions[i].parent) {
    // In a loop it may have come back to the instruction; whoever came last has not.
    if (code.instructions[i].index_register != interp::kNoRegister)
      return mine->arrived_ns == last_ns;
  }
  return true;
}

void align(const Snapshot& shot, const LedgerRow& row, MismatchStory& story) {
  const Code& code = *shot.program->code;
  std::vector<std::map<uint64_t, AlignedCall>> by_column;
  uint64_t first = row.sequence;
  uint64_t end = row.sequence + 1;
  for (const Rank rank : story.columns) {
    auto calls = issued_calls(shot, row, rank);
    uint64_t next = calls.empty() ? row.sequence : calls.rbegin()->first + 1;
    std::vector<CodeIndex> coming = next_calls(shot, rank, row.comm, kAfter + 1).calls;
    if (!coming.empty() && still_at_call(shot, row, rank)) coming.erase(coming.begin());
    for (const CodeIndex call : coming) {
      if (next >= row.sequence + kAfter) break;
      calls[next++] = {call_text(code, call, rank), call, false, false};
    }
    if (!calls.empty()) {
      first = std::min(first, calls.begin()->first);
      end = std::max(end, calls.rbegin()->first + 1);
    }
    by_column.push_back(std::move(calls));
  }
  for (uint64_t s = first; s < end; ++s) {
    AlignedRow out{s, s == row.sequence, {}};
    for (const auto& calls : by_column) {
      const auto at = calls.find(s);
      out.calls.push_back(at == calls.end() ? AlignedCall{} : at->second);
      out.calls.back().differs = out.calls.back().text != out.calls.front().text;
    }
    story.rows.push_back(std::move(out));
  }
}

enum class CallsBy : uint8_t { kText, kInstruction };

// The calls from the mismatch on, as they are known.
std::vector<std::string> calls_from(const MismatchStory& story, size_t column, CallsBy by) {
  std::vector<std::string> out;
  for (const AlignedRow& row : story.rows) {
    const bool before = out.empty() && !row.here;
    if (before || row.calls[column].text.empty()) continue;
    const AlignedCall& call = row.calls[column];
    out.push_back(by == CallsBy::kText ? call.text : std::to_string(call.code));
  }
  return out;
}

// Which way a call's own place says that the condition went.
std::optional<bool> by_place(const Code& code, CodeIndex where, CodeIndex call) {
  const interp::CodeInstruction& c = code.instructions[where];
  if (call <= where || call >= c.end) return std::nullopt;
  return c.jump == c.end || call < c.jump;
}

void find_branches(const Snapshot& shot, const std::vector<CodeIndex>& calls,
                   MismatchStory& story) {
  const Code& code = *shot.program->code;
  std::vector<CodeIndex> wheres;
  for (const CodeIndex call : calls) {
    for (CodeIndex i = call < code.instructions.size() ? code.instructions[call].parent
                                                       : interp::kNoCode;
         i != interp::kNoCode; i = code.instructions[i].parent) {
      const bool is_where = code.instructions[i].kind == OpKind::where;
      if (is_where && std::find(wheres.begin(), wheres.end(), i) == wheres.end())
        wheres.push_back(i);
    }
  }
  std::sort(wheres.begin(), wheres.end());
  for (const CodeIndex where : wheres) {
    BranchTaken branch{where, line_text(*shot.program, where), {}};
    for (size_t i = 0; i < story.columns.size(); ++i) {
      auto holds = by_place(code, where, calls[i]);
      branch.holds.push_back(holds ? holds : where_holds(code, where, story.columns[i]));
    }
    const bool alike = std::all_of(branch.holds.begin(), branch.holds.end(),
                                   [&](const auto& h) { return h == branch.holds.front(); });
    while (!branch.text.empty() && (branch.text.back() == '{' || branch.text.back() == ' '))
      branch.text.pop_back();
    if (!alike) story.branches.push_back(std::move(branch));
  }
}

// Where an operand of the call is a part of something: `%part is a subview %a[0:3] (line 41)`.
std::string part_of(const Snapshot& shot, CodeIndex call) {
  const Code& code = *shot.program->code;
  if (call >= code.instructions.size()) return {};
  for (const uint32_t operand : code.instructions[call].operands) {
    if (operand == interp::kNoRegister) continue;
    for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
      const interp::CodeInstruction& c = code.instructions[i];
      if (c.kind != OpKind::subview || c.results.empty() || c.results.front() != operand) continue;
      std::string text = line_text(*shot.program, i);
      const size_t equals = text.find("= ");
      if (equals == std::string::npos) continue;
      text = text.substr(0, text.find(" : "));
      return fmt::format("{} is a {} (line {})", code.register_name(operand),
                         text.substr(equals + 2), shot.program->lines[i]);
    }
  }
  return {};
}

std::string where_of(const Snapshot& shot, const CallSide& side) {
  const LedgerCell& c = *side.cells.front();
  const auto& lines = shot.program->lines;
  if (c.code >= lines.size() || lines[c.code] == 0) return c.address;
  return fmt::format("line {}", lines[c.code]);
}

std::string elements(int64_t count) {
  return count < 0 ? "a number of elements that is not known"
                   : fmt::format("{} element{}", count, count == 1 ? "" : "s");
}

// The field that differs first: kind, reduction, root, dtype, count.
std::string by_field(const Snapshot& shot, const CallSide& one, const CallSide& most) {
  const CallFields a = fields_of(one.fingerprint);
  const CallFields b = fields_of(most.fingerprint);
  const auto both = [&](const char* verb, const std::string& mine, const std::string& theirs) {
    return fmt::format("{} {}{} {}, {} {}{} {}", who(one), verb, s_of(one), mine, who(most), verb,
                       s_of(most), theirs);
  };
  if (a.kind != b.kind) return both("call", a.kind, b.kind) + " at the same place in the order.";
  if (a.reduction != b.reduction)
    return both("reduce", "with " + a.reduction, "with " + b.reduction) + ".";
  if (a.root != b.root) return both("name", "root " + a.root, "root " + b.root) + ".";
  if (a.dtype != b.dtype) return both("bring", a.dtype, b.dtype) + ".";
  if (a.dims == b.dims)
    return "the calls read alike; what differs is in how the blocks are cut (see the sentence "
           "above).";
  std::string text = a.elements() != b.elements()
                         ? both("bring", elements(a.elements()), elements(b.elements()))
                         : both("bring", "the shape [" + a.dims + "]", "[" + b.dims + "]");
  for (const CallSide* side : {&one, &most}) {
    const std::string part = part_of(shot, side->cells.front()->code);
    if (!part.empty()) return fmt::format("{}: {}.", text, part);
  }
  if (one.cells.front()->code == most.cells.front()->code)
    return text + " at the same instruction: its size depends on the rank (uneven shards?).";
  return text + ".";
}

// From the order of the calls; empty: that does not explain it.
std::string by_order(const Snapshot& shot, const MismatchStory& story, const CallSide& one,
                     size_t column) {
  const CallSide& most = story.sides.front();
  const std::vector<std::string> ours = calls_from(story, column, CallsBy::kText);
  const std::vector<std::string> theirs = calls_from(story, 0, CallsBy::kText);
  // The same instructions say more than calls that read alike.
  CallAlignment found = align_calls(calls_from(story, 0, CallsBy::kInstruction),
                                    calls_from(story, column, CallsBy::kInstruction));
  if (found.run == 0) found = align_calls(theirs, ours);
  const std::string a = who(most);
  const std::string b = who(one);
  if (found.first == FirstEdit::kSwapped)
    return fmt::format("the order is swapped: {} call{} {} and then {}, {} the other way round.", a,
                       s_of(most), theirs[0], theirs[1], b);
  if (found.run == 0) return {};
  const bool left_out = found.first == FirstEdit::kOnlyFirst;
  if (!left_out && found.first != FirstEdit::kOnlySecond) return {};
  const std::string call = left_out ? theirs[0] : ours[0];
  const std::string line = where_of(shot, left_out ? most : one);
  const std::string after = "the calls after it fit each other";
  if (!story.majority)
    return fmt::format("{} call{} {} ({}) and {} {} not: one call too many or one left out; {}.",
                       left_out ? a : b, s_of(left_out ? most : one), call, line, left_out ? b : a,
                       (left_out ? one : most).cells.size() == 1 ? "does" : "do", after);
  if (left_out) return fmt::format("{} leave{} out {} ({}); {}.", b, s_of(one), call, line, after);
  return fmt::format("{} call{} {} ({}) once more than the others; {}.", b, s_of(one), call, line,
                     after);
}

std::string cause_of(const Snapshot& shot, const MismatchStory& story) {
  if (story.columns.size() < 2) {
    return "the calls read alike; what differs is in how the blocks are cut (see the sentence "
           "above).";
  }
  const CallSide& most = story.sides[0];
  const CallSide& one = story.sides[1];
  std::string cause;
  if (most.cells.front()->code != one.cells.front()->code) cause = by_order(shot, story, one, 1);
  if (cause.empty()) cause = by_field(shot, one, most);
  if (story.columns.size() > 2) cause += " Others differ as well.";
  if (!story.branches.empty()) {
    const BranchTaken& branch = story.branches.back();
    const auto word = [&](size_t column) {
      const auto& h = branch.holds[column];
      return !h ? "decided as it ran" : *h ? "true" : "false";
    };
    cause += fmt::format(" They took different branches: {} is {} on rank {} and {} on rank {}.",
                         branch.text.rfind("where ", 0) == 0 ? branch.text.substr(6) : branch.text,
                         word(0), story.columns[0], word(1), story.columns[1]);
  }
  return cause;
}

}  // namespace

int64_t CallFields::elements() const {
  int64_t count = 1;
  for (size_t at = 0; at < dims.size();) {
    const size_t end = std::min(dims.find(',', at), dims.size());
    int64_t d = 0;
    const auto [stop, error] = std::from_chars(dims.data() + at, dims.data() + end, d);
    if (error != std::errc() || stop != dims.data() + end) return -1;
    count *= d;
    at = end + 1;
  }
  return count;
}

CallFields fields_of(std::string_view text) {
  CallFields out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word(text.substr(at, end - at));
    at = end + 1;
    const size_t open = word.find('[');
    if (out.kind.empty()) {
      out.kind = word;
    } else if (open != std::string::npos && word.back() == ']') {
      out.dtype = word.substr(0, open);
      out.dims = word.substr(open + 1, word.size() - open - 2);
    } else if (out.dtype.empty()) {
      out.reduction = word;
    } else if (word != "root") {
      out.root = word;
    }
  }
  return out;
}

std::string line_text(const interp::ProgramView& program, CodeIndex code) {
  if (code >= program.lines.size() || program.lines[code] == 0) return {};
  std::string_view text = program.text();
  for (uint32_t line = 1; line < program.lines[code]; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text);
}

std::vector<Rank> callers_of(const Snapshot& shot, const LedgerRow& row) {
  std::vector<CallSide> sides = sides_of(row);
  std::erase_if(sides, [](const CallSide& side) { return side.fingerprint.empty(); });
  if (sides.size() > 1) std::rotate(sides.begin(), sides.begin() + 1, sides.end());
  std::vector<Rank> ranks;
  for (const CallSide& side : sides) {
    for (const LedgerCell* c : side.cells) ranks.push_back(c->rank);
  }
  const auto last = std::find(ranks.begin(), ranks.end(), shot.stop.rank);
  if (sides.size() == 1 && last != ranks.end()) std::rotate(ranks.begin(), last, last + 1);
  return ranks;
}

const LedgerRow* mismatch_of(const Snapshot& shot) {
  if (shot.faults->empty()) return nullptr;  // without one no row is looked at
  for (const LedgerRow& row : *shot.ledger) {
    if (row.state == LedgerRow::State::kMismatch) return &row;
  }
  return nullptr;
}

MismatchStory mismatch_story(const Snapshot& shot, const LedgerRow& row) {
  MismatchStory story;
  story.sides = sides_of(row);
  const auto& sides = story.sides;
  story.majority = sides.size() > 1 && sides[0].cells.size() > sides[1].cells.size() &&
                   !sides[0].fingerprint.empty();
  std::vector<CodeIndex> calls;
  for (const CallSide& side : sides) {
    if (side.fingerprint.empty() || story.columns.size() == kMaxColumns) continue;
    story.columns.push_back(side.first());
    calls.push_back(side.cells.front()->code);
  }
  if (story.columns.empty()) return story;
  if (!row.point_to_point) align(shot, row, story);
  find_branches(shot, calls, story);
  story.cause = cause_of(shot, story);
  return story;
}

}  // namespace hostir::gui
