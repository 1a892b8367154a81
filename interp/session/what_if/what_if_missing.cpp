// Calls that some ranks miss: all ranks make them, the missing ranks do, or no rank does.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "hostir/ops/record.h"
#include "interp/model/run.h"
#include "interp/session/what_if/what_if_edits.h"

namespace hostir::interp::what_if_parts {
namespace {

constexpr size_t kDropPenalty = 2;  // the dropped call may have been intended
constexpr size_t kMorePenalty = 2;  // the edit changes more ranks than needed

class Missing {
 public:
  explicit Missing(Proposals& out) : out_(out), program_(out.program) {}

  void run() {
    for (const StuckMeeting& meeting : out_.stop.meetings) {
      for (const StuckCall& call : meeting.calls) {
        const InstructionSite unit = program_.unit(call.at);
        if (meeting.point_to_point && !meeting.mismatch && !meeting.missing.empty())
          add_other_half(meeting, call);
        // Change the fewer ranks: add the call where it is missing, or remove it where it is made.
        const bool few_make_it = call.ranks.size() < meeting.missing.size();
        add_penalty_ = few_make_it ? kMorePenalty : 0;
        std::vector<InstructionSite> places = {unit};
        for (const InstructionSite& caller : call.callers) places.push_back(program_.unit(caller));
        for (const InstructionSite& place : places) {
          widen(place);
          if (!meeting.missing.empty() && !meeting.point_to_point) add_for(place, meeting.missing);
          drop(place, call, few_make_it ? 0 : kDropPenalty);
          if (!meeting.missing.empty()) same_trips(place);
        }
      }
    }
  }

 private:
  HostRole role(const InstructionSite& spot) const { return record(program_.at(spot).kind).role; }
  bool plain(const InstructionSite& where) const { return program_.at(where).results.empty(); }

  // Moves it out of conditions, or into the other branch.
  void widen(const InstructionSite& unit) {
    InstructionSite inner = unit;
    for (int level = 0; level < kMostLevels; ++level) {
      const InstructionSite around = program_.node(inner).parent;
      if (!around.valid()) return;
      if (role(around) == HostRole::kBranch && plain(around)) {
        if (program_.at(around).regions.size() == 1) unwrap(around, unit);
        if (inner == unit) {
          hoist(unit, around);
          into_other_branch(unit, around);
        }
      }
      inner = around;
    }
  }

  std::string condition_line(const InstructionSite& where) const {
    return "the condition on " + program_.where_line(program_.node(where).lines.first);
  }

  void unwrap(const InstructionSite& where, const InstructionSite& unit) {
    const LineRange lines = program_.node(where).lines;
    if (lines.count() < 3) return;
    LineEdit edit = out_.begin();
    edit.indent({lines.first + 1, lines.last - 1}, -2);
    edit.erase({lines.first, lines.first}).erase({lines.last, lines.last});
    out_.add(fmt::format("Let every rank call {} ({}): remove {}.", program_.short_text(unit),
                         program_.where(unit), condition_line(where)),
             edit, add_penalty_);
  }

  void hoist(const InstructionSite& unit, const InstructionSite& where) {
    const bool alone = program_.siblings(unit).size() == 1;
    if (alone && program_.at(where).regions.size() == 1) return;  // the region would be empty
    const LineRange mine = program_.node(unit).lines;
    const LineRange lines = program_.node(where).lines;
    const int columns = program_.indent(where) - program_.indent(unit);
    for (const bool after : {false, true}) {
      LineEdit edit = out_.begin();
      out_.add(fmt::format("Let every rank call {} ({}): move it {} {}.", program_.short_text(unit),
                           program_.where(unit), after ? "after" : "before", condition_line(where)),
               edit.move(mine, after ? lines.last + 1 : lines.first, columns), add_penalty_);
    }
  }

  void into_other_branch(const InstructionSite& unit, const InstructionSite& where) {
    const LineRange mine = program_.node(unit).lines;
    const LineRange lines = program_.node(where).lines;
    const std::string blanks(static_cast<size_t>(program_.indent(where)), ' ');
    const std::string sentence =
        fmt::format("Call {} ({}) in the other branch of {} as well", program_.short_text(unit),
                    program_.where(unit), condition_line(where));
    LineEdit edit = out_.begin();
    const std::vector<std::string> copy = edit.lines_of(mine, 0);
    if (program_.at(where).regions.size() == 1) {
      edit.insert(lines.last, {blanks + "} else {"}).insert(lines.last, copy);
      out_.add(sentence + ".", edit, add_penalty_);
      return;
    }
    const size_t middle = else_line(where);
    if (middle == 0) return;
    const bool in_then = program_.node(unit).branch == 0;
    LineEdit first = out_.begin();
    out_.add(sentence + ", first.", first.insert(in_then ? middle + 1 : lines.first + 1, copy),
             add_penalty_);
    out_.add(sentence + ", last.", edit.insert(in_then ? lines.last : middle, copy), add_penalty_);
  }

  // `} else {`; 0: not found.
  size_t else_line(const InstructionSite& where) const {
    const LineRange lines = program_.node(where).lines;
    const std::string start =
        std::string(static_cast<size_t>(program_.indent(where)), ' ') + "} else {";
    for (size_t i = lines.first + 1; i < lines.last; ++i) {
      if (program_.lines()[i].starts_with(start)) return i;
    }
    return 0;
  }

  // The enclosing instruction in the function's body.
  InstructionSite outermost(InstructionSite spot) const {
    while (program_.node(spot).parent.valid()) spot = program_.node(spot).parent;
    return spot;
  }

  void add_for(const InstructionSite& unit, const std::vector<Rank>& ranks) {
    const InstructionSite around = outermost(unit);
    const std::string condition = condition_of(ranks, out_.stop.code->rank_count);
    if (around == unit || condition.empty()) return;
    const int columns = program_.indent(around) + 2 - program_.indent(unit);
    for (const bool after : {true, false}) {
      LineEdit edit = out_.begin();
      insert_where(edit, around, after, condition,
                   edit.lines_of(program_.node(unit).lines, columns));
      out_.add(fmt::format("Call {} ({}) on {} as well, {} {}.", program_.short_text(unit),
                           program_.where(unit), model::list_of(ranks), after ? "after" : "before",
                           program_.where(around)),
               edit, add_penalty_);
    }
  }

  void insert_where(LineEdit& edit, const InstructionSite& around, bool after,
                    const std::string& condition, const std::vector<std::string>& body) const {
    const LineRange lines = program_.node(around).lines;
    const size_t place = after ? lines.last + 1 : lines.first;
    const std::string blanks(static_cast<size_t>(program_.indent(around)), ' ');
    edit.insert(place, {blanks + "where " + condition + " {"});
    edit.insert(place, body).insert(place, {blanks + "}"});
  }

  // Adds a recv for a send, or a send for a recv, with its buffer.
  void add_other_half(const StuckMeeting& meeting, const StuckCall& call) {
    const Communicator& comm = out_.stop.code->communicators[meeting.comm];
    std::string buffer;
    std::string stream;
    const std::vector<Word> words = program_.words(call.at);
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& w = words[i].text;
      if (w.starts_with("ro(") || w.starts_with("wo(")) buffer = w.substr(3, w.size() - 4);
      if (w == "on" && i + 1 < words.size()) stream = words[i + 1].text;
    }
    if (buffer.empty() || stream.empty()) return;
    const bool sends = words.front().text == "send";
    const auto half = [&](const std::string& peer) {
      return fmt::format("{} %{} peer({}) {}({}) on {}", sends ? "recv" : "send", comm.name, peer,
                         sends ? "wo" : "ro", buffer, stream);
    };
    if (meeting.pairs.size() == 1) {
      const auto [source, target] = meeting.pairs.front();
      const Rank there = sends ? target : source;
      const int32_t peer = comm.position_of_rank[static_cast<size_t>(sends ? source : target)];
      const InstructionSite around = outermost(program_.unit(call.at));
      const std::string body(static_cast<size_t>(program_.indent(around)) + 2, ' ');
      for (const bool after : {true, false}) {
        LineEdit edit = out_.begin();
        insert_where(edit, around, after, fmt::format("rank == {}", there),
                     {body + half(std::to_string(peer))});
        out_.add(fmt::format("Add the {} on rank {} that {} ({}) waits for, {} {}.",
                             sends ? "recv" : "send", there, program_.short_text(call.at),
                             program_.where(call.at), after ? "after" : "before",
                             program_.where(around)),
                 edit);
      }
      return;
    }
    add_shifted_half(meeting, call, comm, sends, half);
  }

  // If all members send by the same distance, one text is the other half for all.
  template <class Half>
  void add_shifted_half(const StuckMeeting& meeting, const StuckCall& call,
                        const Communicator& comm, bool sends, const Half& half) {
    if (comm.axes.size() != 1 || !comm.axes.front().whole() || comm.groups.empty()) return;
    const auto n = static_cast<int32_t>(comm.groups.front().size());
    const auto position = [&](Rank r) { return comm.position_of_rank[static_cast<size_t>(r)]; };
    int32_t shift = -1;
    for (const auto& [source, target] : meeting.pairs) {
      const int32_t d = (position(target) - position(source) + n) % n;
      if (shift >= 0 && d != shift) return;
      shift = d;
    }
    const int32_t back = sends ? n - shift : shift;
    const std::string peer = fmt::format("(coord({}) + {}) % {}", comm.axes.front().name, back, n);
    const InstructionSite unit = program_.unit(call.at);
    const LineRange lines = program_.node(unit).lines;
    const int indent = program_.indent(unit);
    const std::string what =
        fmt::format("Add the {} that {} ({}) waits for", sends ? "recv" : "send",
                    program_.short_text(call.at), program_.where(call.at));
    if (!(unit == call.at)) {
      LineEdit edit = out_.begin();
      const std::string blanks(static_cast<size_t>(indent) + 2, ' ');
      out_.add(what + " to its group.", edit.insert(lines.last, {blanks + half(peer)}));
      return;
    }
    // If only some make the call, others have to make the other half.
    std::vector<Rank> there;
    for (const auto& [source, target] : meeting.pairs) there.push_back(sends ? target : source);
    std::sort(there.begin(), there.end());
    there.erase(std::unique(there.begin(), there.end()), there.end());
    if (there != call.ranks) return add_half_on(there, unit, what, half(peer));
    LineEdit edit = out_.begin();
    const std::string blanks(static_cast<size_t>(indent), ' ');
    edit.insert(lines.first, {blanks + "group {"});
    edit.insert(lines.first, edit.lines_of(lines, 2));
    edit.insert(lines.first, {blanks + "  " + half(peer), blanks + "}"});
    out_.add(what + ", in one group with it.", edit.erase(lines));
  }

  void add_half_on(const std::vector<Rank>& ranks, const InstructionSite& unit,
                   const std::string& what, const std::string& half) {
    const InstructionSite around = outermost(unit);
    const std::string condition = condition_of(ranks, out_.stop.code->rank_count);
    if (condition.empty()) return;
    const std::string body(static_cast<size_t>(program_.indent(around)) + 2, ' ');
    for (const bool after : {true, false}) {
      LineEdit edit = out_.begin();
      insert_where(edit, around, after, condition, {body + half});
      out_.add(fmt::format("{} on {}, {} {}.", what, model::list_of(ranks),
                           after ? "after" : "before", program_.where(around)),
               edit);
    }
  }

  // Drops enclosing regions too, if they contain nothing else.
  void drop(const InstructionSite& unit, const StuckCall& call, size_t penalty) {
    InstructionSite last = unit;
    while (program_.siblings(last).size() == 1 && program_.node(last).parent.valid() &&
           program_.at(program_.node(last).parent).regions.size() == 1)
      last = program_.node(last).parent;
    LineEdit edit = out_.begin();
    out_.add(fmt::format("Leave out {} ({}), which {} called.", program_.short_text(unit),
                         program_.where(unit), model::list_of(call.ranks)),
             edit.erase(program_.node(last).lines), penalty);
  }

  // The range of a loop, such as `0..4`; nullopt if its line has no plain range.
  std::optional<Word> trips(const InstructionSite& loop) const {
    const size_t line = program_.node(loop).lines.first;
    const std::string& text = program_.lines()[line];
    const size_t in = text.find(" in ");
    const size_t end = std::min(text.find(" carry("), text.find(" {"));
    if (in == std::string::npos || end == std::string::npos || end < in + 4) return std::nullopt;
    return Word{in + 4, text.substr(in + 4, end - in - 4)};
  }

  // Pairs a loop around the call with another loop that communicates, and gives either the trip
  // count of the other.
  void same_trips(const InstructionSite& unit) {
    for (InstructionSite mine = program_.node(unit).parent; mine.valid();
         mine = program_.node(mine).parent) {
      if (role(mine) != HostRole::kLoop) continue;
      for (const InstrId id : mine.function->preorder()) {
        const InstructionSite other{mine.function, id};
        if (role(other) != HostRole::kLoop || !program_.communicates(other)) continue;
        const LineRange a = program_.node(mine).lines;
        const LineRange b = program_.node(other).lines;
        if (a.first <= b.last && b.first <= a.last) continue;
        repeat_like(mine, other);
        repeat_like(other, mine);
      }
    }
  }

  void repeat_like(const InstructionSite& loop, const InstructionSite& like) {
    const auto own = trips(loop);
    const auto theirs = trips(like);
    if (!own || !theirs || own->text == theirs->text) return;
    const size_t line = program_.node(loop).lines.first;
    std::string text = program_.lines()[line];
    text.replace(own->begin, own->text.size(), theirs->text);
    LineEdit edit = out_.begin();
    out_.add(fmt::format("Write {} instead of {} in {}, as in {}.", theirs->text, own->text,
                         program_.where_line(line),
                         program_.where_line(program_.node(like).lines.first)),
             edit.replace(line, std::move(text)));
  }

  Proposals& out_;
  const EditableProgram& program_;
  size_t add_penalty_ = 0;  // of edits by which more ranks make the call
};

}  // namespace

void propose_missing(Proposals& out) { Missing(out).run(); }

}  // namespace hostir::interp::what_if_parts
