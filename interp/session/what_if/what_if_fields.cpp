// Fields: copies a word from another call, and makes rank-dependent numbers equal.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "hostir/ops/position_attribute.h"
#include "hostir/ops/record.h"
#include "interp/model/run.h"
#include "interp/session/what_if/what_if_edits.h"

namespace hostir::interp::what_if_parts {
namespace {

constexpr int32_t kMostPositions = 16;  // largest communicator whose peers are all tried

// The part of a line that contains a number.
struct Place {
  size_t line = 0;
  size_t begin = 0;
  std::string text;
};

class Fields {
 public:
  explicit Fields(Proposals& out) : out_(out), program_(out.program) {}

  void run() {
    for (const StuckMeeting& meeting : out_.stop.meetings) {
      for (const StuckCall& like : meeting.calls) {
        for (const StuckCall& odd : meeting.calls) {
          if (!(odd.at == like.at)) align(odd, like);
        }
      }
      for (const StuckCall& call : meeting.calls) {
        whole_buffers(call);
        constants(call, meeting);
      }
    }
    const std::vector<StuckCall> calls = out_.stop.calls();
    for (const StuckCall& like : calls) {
      for (const StuckCall& odd : calls) {
        if (!(odd.at == like.at)) communicators(odd, like);
      }
    }
    for (const StuckMeeting& meeting : out_.stop.meetings) {
      if (meeting.point_to_point) peers(meeting);
    }
  }

 private:
  LineEdit with(size_t line, size_t begin, size_t length, const std::string& text) const {
    std::string changed = program_.lines()[line];
    changed.replace(begin, length, text);
    LineEdit edit = out_.begin();
    edit.replace(line, std::move(changed));
    return edit;
  }

  void write(const StuckCall& odd, const Word& word, const std::string& text,
             const std::string& reason) {
    const size_t line = program_.node(odd.at).lines.first;
    out_.add(fmt::format("Write {} instead of {} in {}{}.", text, word.text,
                         program_.where_line(line), reason),
             with(line, word.begin, word.text.size(), text));
  }

  // Changes single words of a call, then the whole call.
  void align(const StuckCall& odd, const StuckCall& like) {
    const std::vector<Word> mine = program_.words(odd.at);
    const std::vector<Word> theirs = program_.words(like.at);
    if (mine.empty() || theirs.empty()) return;
    const std::string reason = fmt::format(", as {} {} it ({})", model::list_of(like.ranks),
                                           like.ranks.size() == 1 ? "has" : "have",
                                           program_.where_line(program_.node(like.at).lines.first));
    if (mine.front().text == theirs.front().text && mine.size() == theirs.size()) {
      for (size_t i = 1; i < mine.size(); ++i) {
        if (mine[i].text != theirs[i].text) write(odd, mine[i], theirs[i].text, reason);
      }
    }
    buffers(odd, mine, theirs, reason);
    if (mine.front().text == "send" || mine.front().text == "recv") return;
    const size_t line = program_.node(odd.at).lines.first;
    const size_t begin = mine.front().begin;
    const size_t end = mine.back().begin + mine.back().text.size();
    const std::string& their_line = program_.lines()[program_.node(like.at).lines.first];
    const size_t their_end = theirs.back().begin + theirs.back().text.size();
    const auto [wanted, instead_of] = program_.texts_apart(like.at, odd.at);
    out_.add(fmt::format("Call {} in {} instead of {}{}.", wanted, program_.where_line(line),
                         instead_of, reason),
             with(line, begin, end - begin,
                  their_line.substr(theirs.front().begin, their_end - theirs.front().begin)));
  }

  // Send and recv use different words but one buffer each.
  void buffers(const StuckCall& odd, const std::vector<Word>& mine, const std::vector<Word>& theirs,
               const std::string& reason) {
    const auto buffer = [](const std::vector<Word>& words) -> const Word* {
      const Word* found = nullptr;
      for (const Word& w : words) {
        if (!w.text.starts_with("ro(") && !w.text.starts_with("wo(") && !w.text.starts_with("rw("))
          continue;
        if (found) return nullptr;
        found = &w;
      }
      return found;
    };
    const Word* own = buffer(mine);
    const Word* other = buffer(theirs);
    if (!own || !other || own->text.substr(2) == other->text.substr(2)) return;
    write(odd, *own, own->text.substr(0, 2) + other->text.substr(2), reason);
  }

  // Replaces a view by the whole buffer.
  void whole_buffers(const StuckCall& call) {
    const Instruction& instruction = program_.at(call.at);
    for (const Operand& operand : instruction.operands) {
      if (!operand.value.valid() || operand.access == Access::kUse) continue;
      const Value& value = call.at.function->value(operand.value);
      if (!value.defined_by.valid()) continue;
      const Instruction& view = call.at.function->instr(value.defined_by);
      if (record(view.kind).role != HostRole::kView || view.operands.empty()) continue;
      const std::string base = "%" + call.at.function->value(view.operands.front().value).name;
      for (const Word& w : program_.words(call.at)) {
        const std::string name = "(%" + value.name + ")";
        if (w.text.size() != name.size() + 2 || w.text.substr(2) != name) continue;
        write(call, w, w.text.substr(0, 2) + "(" + base + ")",
              ", the whole buffer instead of a view");
      }
    }
  }

  void communicators(const StuckCall& odd, const StuckCall& like) {
    const std::vector<Word> mine = program_.words(odd.at);
    const std::vector<Word> theirs = program_.words(like.at);
    const auto comm = [](const std::vector<Word>& words) -> const Word* {
      for (const Word& w : words) {
        if (w.text.starts_with('%')) return &w;
      }
      return nullptr;
    };
    const Word* own = comm(mine);
    const Word* other = comm(theirs);
    if (own && other && own->text != other->text)
      write(odd, *own, other->text,
            ", as in " + program_.where_line(program_.node(like.at).lines.first));
  }

  // ---- rank-dependent numbers ----

  std::optional<int64_t> value(const IndexExpr& expr, Rank rank) const {
    const Mesh& world = *out_.stop.code->world;
    const auto position = world.position_of(rank);
    const auto result = expr.evaluate([&](const IndexExpr& leaf) -> std::optional<int64_t> {
      const auto axis = world.axis_index(leaf.symbol());
      switch (leaf.kind()) {
        case IndexExpr::Kind::kRank:
          return rank;
        case IndexExpr::Kind::kCoord:
          if (!position || !axis) return std::nullopt;
          return world.coord(*position, *axis);
        case IndexExpr::Kind::kAxisSize:
          if (!axis) return std::nullopt;
          return world.axes[*axis].size;
        default:
          return std::nullopt;
      }
    });
    return result ? std::optional<int64_t>(*result) : std::nullopt;
  }

  // The places of `name(` and `in ..` in the first line of an instruction.
  std::vector<std::pair<Place, const IndexExpr*>> numbers_of(const InstructionSite& spot) const {
    std::vector<std::pair<Place, const IndexExpr*>> out;
    const size_t line = program_.node(spot).lines.first;
    const std::string& text = program_.lines()[line];
    const Attributes& attributes = program_.at(spot).attributes;
    const AttributeSpec* position = position_attribute(program_.at(spot).kind);
    const auto* expr = position ? attributes.get<IndexExpr>(position->name) : nullptr;
    const size_t open = expr ? text.find(std::string(position->name) + "(") : std::string::npos;
    if (open != std::string::npos) {
      const size_t begin = open + position->name.size() + 1;
      size_t end = begin;
      for (int depth = 1; end < text.size(); ++end) {
        if (text[end] == '(') ++depth;
        if (text[end] == ')' && --depth == 0) break;
      }
      out.push_back({{line, begin, text.substr(begin, end - begin)}, expr});
    }
    if (record(program_.at(spot).kind).role != HostRole::kLoop) return out;
    const size_t in = text.find(" in ");
    const size_t dots = text.find("..", in);
    const size_t end = std::min(text.find(" carry", dots), text.rfind(" {"));
    const auto* lower = attributes.get<IndexExpr>("lower");
    const auto* upper = attributes.get<IndexExpr>("upper");
    if (in == std::string::npos || dots == std::string::npos || end == std::string::npos)
      return out;
    if (lower) out.push_back({{line, in + 4, text.substr(in + 4, dots - in - 4)}, lower});
    if (upper) out.push_back({{line, dots + 2, text.substr(dots + 2, end - dots - 2)}, upper});
    return out;
  }

  void constants(const StuckCall& call, const StuckMeeting& meeting) {
    std::vector<Rank> ranks = meeting.missing;
    for (const StuckCall& c : meeting.calls)
      ranks.insert(ranks.end(), c.ranks.begin(), c.ranks.end());
    // With sends and receives, a rank may be in one meeting and missing in another.
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    InstructionSite spot = call.at;
    for (int level = 0; spot.valid() && level < kMostLevels; ++level) {
      for (const auto& [place, expr] : numbers_of(spot)) constant(place, *expr, ranks);
      spot = program_.node(spot).parent;
    }
  }

  void constant(const Place& place, const IndexExpr& expr, const std::vector<Rank>& ranks) {
    std::map<int64_t, std::vector<Rank>> by_value;
    for (const Rank r : ranks) {
      const auto v = value(expr, r);
      if (!v) return;
      by_value[*v].push_back(r);
    }
    if (by_value.size() < 2) return;
    std::vector<std::pair<int64_t, std::vector<Rank>>> sorted(by_value.begin(), by_value.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    constexpr size_t kMostValues = 3;
    for (size_t i = 0; i < std::min(sorted.size(), kMostValues); ++i) {
      auto& [number, holders] = sorted[i];
      std::sort(holders.begin(), holders.end());
      out_.add(fmt::format("Write {} instead of {} in {}: that is its value on {}.", number,
                           place.text, program_.where_line(place.line), model::list_of(holders)),
               with(place.line, place.begin, place.text.size(), std::to_string(number)));
    }
  }

  // ---- peers of sends and receives ----

  void peers(const StuckMeeting& meeting) {
    const Communicator& comm = out_.stop.code->communicators[meeting.comm];
    for (const StuckCall& call : meeting.calls) {
      for (const auto& [place, expr] : numbers_of(call.at)) {
        const size_t members = comm.groups.empty() ? 0 : comm.groups.front().size();
        if (members > static_cast<size_t>(kMostPositions)) continue;
        const auto n = static_cast<int32_t>(members);
        const bool one_axis = comm.axes.size() == 1 && comm.axes.front().whole();
        for (int32_t d = 0; d < n; ++d) {
          // An expression becomes another distance for all ranks, a constant another position.
          const bool shifted = !expr->is_const();
          if (shifted && (!one_axis || d == 0)) continue;
          const std::string peer =
              shifted ? fmt::format("(coord({}) + {}) % {}", comm.axes.front().name, d, n)
                      : std::to_string(d);
          if (peer == place.text) continue;
          out_.add(fmt::format("Write peer({}) instead of peer({}) in {}.", peer, place.text,
                               program_.where_line(place.line)),
                   with(place.line, place.begin, place.text.size(), peer));
        }
      }
    }
  }

  Proposals& out_;
  const EditableProgram& program_;
};

}  // namespace

void propose_fields(Proposals& out) { Fields(out).run(); }

}  // namespace hostir::interp::what_if_parts
