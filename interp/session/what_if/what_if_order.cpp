// Orders: swaps two neighbouring communications, groups them, or orders them by rank.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/session/what_if/what_if_edits.h"

namespace hostir::interp::what_if_parts {
namespace {

std::vector<std::string> wrapped(std::vector<std::string> lines, int indent,
                                 const std::string& opening) {
  const std::string blanks(static_cast<size_t>(indent), ' ');
  lines.insert(lines.begin(), blanks + opening);
  lines.push_back(blanks + "}");
  return lines;
}

class Orders {
 public:
  explicit Orders(Proposals& out) : out_(out), program_(out.program) {}

  void run() {
    // If most ranks agree, brings the others to their order.
    std::vector<StuckCall> calls = out_.stop.calls();
    std::stable_sort(calls.begin(), calls.end(), [](const StuckCall& a, const StuckCall& b) {
      return a.ranks.size() < b.ranks.size();
    });
    for (const StuckCall& call : calls) {
      InstructionSite spot = program_.unit(call.at);
      if (!(spot == call.at)) beside(call.at, call, 1);  // among the members of its group
      for (int level = 0; spot.valid() && level < kMostLevels; ++level) {
        beside(spot, call, level);
        spot = program_.node(spot).parent;
      }
    }
  }

 private:
  void beside(const InstructionSite& spot, const StuckCall& call, int level) {
    const std::vector<InstructionSite> all = program_.siblings(spot);
    const size_t mine = program_.node(spot).index;
    if (level == 0) group_run(all, mine);
    for (size_t i = mine + 1; i < all.size(); ++i) {
      if (!program_.communicates(all[i])) continue;
      pair(spot, all[i], i == mine + 1, call, level);
      break;
    }
    for (size_t i = mine; i-- > 0;) {
      if (!program_.communicates(all[i])) continue;
      pair(all[i], spot, i + 1 == mine, call, level);
      break;
    }
  }

  void pair(const InstructionSite& first, const InstructionSite& second, bool adjacent,
            const StuckCall& call, int level) {
    const LineRange a = program_.node(first).lines;
    const LineRange b = program_.node(second).lines;
    const bool calls = level == 0 && program_.is_call(first) && program_.is_call(second);
    // Sends and receives are grouped; calls of all members are reordered.
    const bool transfers = calls && is_transfer(first) && is_transfer(second);
    if (transfers) group(first, second);
    const auto told = program_.told_apart(first, second);
    LineEdit up = out_.begin();
    out_.add(fmt::format("Move {} before {}.", told.second, told.first), up.move(b, a.first, 0));
    if (!adjacent) {
      LineEdit down = out_.begin();
      out_.add(fmt::format("Move {} after {}.", told.first, told.second),
               down.move(a, b.last + 1, 0));
    }
    if (calls && !transfers) group(first, second);
    if (calls && call.ranks.size() > 1) by_rank(first, second);
  }

  bool is_transfer(const InstructionSite& spot) const {
    const OpKind kind = program_.at(spot).kind;
    return kind == OpKind::send || kind == OpKind::recv;
  }

  void group(const InstructionSite& first, const InstructionSite& second) {
    const auto is_group = [&](const InstructionSite& s) {
      return record(program_.at(s).kind).role == HostRole::kGroup;
    };
    if (is_group(first) || is_group(second)) return;
    const LineRange a = program_.node(first).lines;
    const LineRange b = program_.node(second).lines;
    std::vector<size_t> places = {a.first};
    if (b.first > a.last + 1) places.push_back(b.first);
    for (const size_t place : places) {
      LineEdit edit = out_.begin();
      std::vector<std::string> lines = edit.lines_of(a, 2);
      for (std::string& line : edit.lines_of(b, 2)) lines.push_back(std::move(line));
      edit.insert(place, wrapped(std::move(lines), program_.indent(first), "group {"));
      const auto told = program_.told_apart(first, second);
      out_.add(fmt::format("Put {} and {} into one group{}.", told.first, told.second,
                           places.size() == 1 ? ""
                           : place == a.first ? " at the place of the first"
                                              : " at the place of the second"),
               edit.erase(a).erase(b));
    }
  }

  // Groups more than two consecutive calls.
  void group_run(const std::vector<InstructionSite>& all, size_t mine) {
    const auto plain = [&](size_t i) {
      return record(program_.at(all[i]).kind).op_class == OpClass::kCommunication;
    };
    if (!plain(mine)) return;
    size_t first = mine;
    size_t last = mine;
    while (first > 0 && plain(first - 1)) --first;
    while (last + 1 < all.size() && plain(last + 1)) ++last;
    if (last < first + 2) return;
    const LineRange lines = {program_.node(all[first]).lines.first,
                             program_.node(all[last]).lines.last};
    LineEdit edit = out_.begin();
    edit.insert(lines.first,
                wrapped(edit.lines_of(lines, 2), program_.indent(all[first]), "group {"));
    out_.add(fmt::format("Put the {} calls of {} into one group.", last - first + 1,
                         program_.where(lines)),
             edit.erase(lines));
  }

  // The text is the same on all ranks, so some ranks need another order.
  void by_rank(const InstructionSite& first, const InstructionSite& second) {
    if (!program_.at(first).results.empty() || !program_.at(second).results.empty()) return;
    std::vector<std::string> numbers = {"rank"};
    for (const MeshAxis& axis : out_.stop.code->world->axes) {
      if (axis.size > 1) numbers.push_back(fmt::format("coord({})", axis.name));
    }
    // With a single axis, prefer its coordinate to the rank.
    if (numbers.size() == 2) numbers.erase(numbers.begin());
    for (const std::string& number : numbers) {
      by_condition(first, second, number + " % 2 == 1",
                   number == "rank" ? "odd ranks" : fmt::format("ranks of odd {}", number));
      by_condition(first, second, number + " == 0",
                   number == "rank" ? "rank 0" : fmt::format("ranks of {} 0", number));
    }
  }

  void by_condition(const InstructionSite& first, const InstructionSite& second,
                    const std::string& condition, const std::string& who) {
    const LineRange a = program_.node(first).lines;
    const LineRange b = program_.node(second).lines;
    LineEdit edit = out_.begin();
    const std::string blanks(static_cast<size_t>(program_.indent(first)), ' ');
    const std::vector<std::string> one = edit.lines_of(a, 2);
    const std::vector<std::string> two = edit.lines_of(b, 2);
    edit.insert(a.first, {blanks + "where " + condition + " {"});
    edit.insert(a.first, two).insert(a.first, one);
    edit.insert(a.first, {blanks + "} else {"});
    edit.insert(a.first, one).insert(a.first, two);
    edit.insert(a.first, {blanks + "}"});
    const auto told = program_.told_apart(first, second);
    out_.add(fmt::format("On {}: {} before {}.", who, told.second, told.first),
             edit.erase(a).erase(b));
  }

  Proposals& out_;
  const EditableProgram& program_;
};

}  // namespace

void propose_orders(Proposals& out) { Orders(out).run(); }

}  // namespace hostir::interp::what_if_parts
