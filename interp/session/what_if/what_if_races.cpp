// Two accesses that nothing orders: the second waits for the first, in the places where a wait may
// be missing or wrong.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/session/what_if/what_if_edits.h"

namespace hostir::interp::what_if_parts {
namespace {

constexpr size_t kOtherStreamPenalty =
    1;  // prefers edits that add a wait, which are easier to understand

class Races {
 public:
  explicit Races(Proposals& out) : out_(out), program_(out.program) {}

  void run() {
    for (const StuckRace& race : out_.stop.races) propose(race);
    if (out_.stop.races.size() > 1) all_at_once();
  }

 private:
  /// An access by what is issued: the instruction or its group.
  struct Side {
    InstructionSite unit;
    std::string stream;  // `%s`, or `host`
    std::string event;   // `%e`; empty: it has none
  };

  void propose(const StuckRace& race) {
    const Side first = side(race.first);
    const Side second = side(race.second);
    if (first.unit == second.unit) return leave_group(race.second);
    if (second.stream.empty()) return;
    if (record(program_.at(race.first).kind).role == HostRole::kAlloc) {
      return other_stream(first, second.stream);
    }
    if (!can_have_event(first.unit)) return;
    for (const InstructionSite& wait : program_.siblings(second.unit))
      correct_wait(wait, first, second);
    if (!is_visible(first.unit, second.unit)) correct_yield(first);
    insert_wait(first, second);
    if (record(program_.at(second.unit).kind).role == HostRole::kFree)
      other_stream(second, first.stream);
  }

  Side side(const InstructionSite& spot) const {
    Side out{program_.unit(spot), word_after_on(spot), {}};
    const Instruction& instruction = program_.at(out.unit);
    if (instruction.kind == OpKind::read) out.stream = "host";
    if (!instruction.results.empty())
      out.event = "%" + out.unit.function->value(instruction.results.front()).name;
    return out;
  }

  std::string word_after_on(const InstructionSite& spot) const {
    const std::vector<Word> words = program_.words(spot);
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].text == "on") return words[i + 1].text;
    }
    return {};
  }

  bool can_have_event(const InstructionSite& unit) const {
    const OpRecord& op = record(program_.at(unit).kind);
    return std::any_of(op.results.begin(), op.results.end(),
                       [](const auto& result) { return result.name == "event"; });
  }

  // The second may use names of the region of the first, if it comes later.
  bool is_visible(const InstructionSite& first, const InstructionSite& second) const {
    if (first.function != second.function) return false;
    if (program_.node(first).lines.first >= program_.node(second).lines.first) return false;
    const Node& home = program_.node(first);
    for (InstructionSite at = second; at.valid(); at = program_.node(at).parent) {
      const Node& node = program_.node(at);
      if (node.parent == home.parent && node.branch == home.branch) return true;
    }
    return false;
  }

  std::string fresh_name() const {
    std::string name = "%done";
    for (int n = 2; program_.text().find(name) != std::string::npos; ++n)
      name = fmt::format("%done{}", n);
    return name;
  }

  // The event of the first, which gets a name if it has none.
  std::string named_event(const Side& first, LineEdit& edit) const {
    if (!first.event.empty()) return first.event;
    const size_t line = program_.node(first.unit).lines.first;
    const std::string name = fresh_name();
    std::string text = program_.lines()[line];
    text.insert(static_cast<size_t>(program_.indent(first.unit)), name + " = ");
    edit.replace(line, std::move(text));
    return name;
  }

  std::string wait_line(const InstructionSite& beside, const std::string& event,
                        const std::string& stream) const {
    return std::string(static_cast<size_t>(program_.indent(beside)), ' ') +
           fmt::format("wait {} on {}", event, stream);
  }

  std::string waits_for(const Side& first, const Side& second) const {
    const auto told = program_.told_apart(second.unit, first.unit);
    return fmt::format("Let {} wait for {}", told.first, told.second);
  }

  void insert_wait(const Side& first, const Side& second) {
    if (is_visible(first.unit, second.unit)) {
      LineEdit edit = out_.begin();
      const std::string event = named_event(first, edit);
      edit.insert(program_.node(second.unit).lines.first,
                  {wait_line(second.unit, event, second.stream)});
      out_.add(waits_for(first, second) + ".", edit);
    }
    if (first.unit.function != second.unit.function || second.stream == "host") return;
    LineEdit edit = out_.begin();
    const std::string event = named_event(first, edit);
    edit.insert(program_.node(first.unit).lines.last + 1,
                {wait_line(first.unit, event, second.stream)});
    out_.add(fmt::format("{}: the stream {} waits right after that.", waits_for(first, second),
                         second.stream),
             edit);
  }

  // A wait before the second that names another event, or the right one on another stream.
  void correct_wait(const InstructionSite& wait, const Side& first, const Side& second) {
    if (record(program_.at(wait).kind).role != HostRole::kWait) return;
    if (program_.node(wait).lines.first > program_.node(second.unit).lines.first) return;
    const std::vector<Word> words = program_.words(wait);
    if (words.size() < 4 || first.event.empty()) return;
    const bool other_event = words[1].text != first.event;
    const bool other_stream = words[3].text != second.stream;
    if (other_event == other_stream) return;
    if (other_event && !is_visible(first.unit, wait)) return;
    const Word& wrong = words[other_event ? 1 : 3];
    replace_word(wait, wrong, other_event ? first.event : second.stream,
                 fmt::format("{}: `wait {} on {}` in {}.", waits_for(first, second), first.event,
                             second.stream, program_.where(wait)));
  }

  // In a loop, the event that the next iteration gets.
  void correct_yield(const Side& first) {
    if (first.event.empty()) return;
    for (const InstructionSite& spot : program_.siblings(first.unit)) {
      if (record(program_.at(spot).kind).role != HostRole::kYield) continue;
      const std::vector<Word> words = program_.words(spot);
      for (size_t i = 1; i < words.size(); ++i) {
        std::string name = words[i].text;
        const bool comma = name.ends_with(",");
        if (comma) name.pop_back();
        if (name == first.event) continue;
        replace_word(
            spot, words[i], first.event + (comma ? "," : ""),
            fmt::format("Carry {} of {} ({}) to the next iteration instead of {}.", first.event,
                        program_.short_text(first.unit), program_.where(first.unit), name));
      }
    }
  }

  // Members of a group run together.
  void leave_group(const InstructionSite& member) {
    const InstructionSite group = program_.unit(member);
    if (group == member) return;
    LineEdit edit = out_.begin();
    edit.move(program_.node(member).lines, program_.node(group).lines.last + 1,
              program_.indent(group) - program_.indent(member));
    out_.add(fmt::format("Call {} ({}) after its group.", program_.short_text(member),
                         program_.where(member)),
             edit);
  }

  void other_stream(const Side& side, const std::string& stream) {
    const std::vector<Word> words = program_.words(side.unit);
    const auto on =
        std::find_if(words.begin(), words.end(), [](const Word& w) { return w.text == "on"; });
    if (on == words.end() || on + 1 == words.end() || stream.empty() || stream == "host") return;
    replace_word(
        side.unit, *(on + 1), stream,
        fmt::format("Issue {} ({}) on the stream {} instead of {}.", program_.short_text(side.unit),
                    program_.where(side.unit), stream, side.stream),
        kOtherStreamPenalty);
  }

  void replace_word(const InstructionSite& spot, const Word& word, const std::string& with,
                    std::string sentence, size_t penalty = 0) {
    const size_t line = program_.node(spot).lines.first;
    std::string text = program_.lines()[line];
    text.replace(word.begin, word.text.size(), with);
    LineEdit edit = out_.begin();
    out_.add(std::move(sentence), edit.replace(line, std::move(text)), penalty);
  }

  // Several races of a text whose events all have names.
  void all_at_once() {
    LineEdit edit = out_.begin();
    std::vector<std::pair<size_t, std::string>> lines;
    for (const StuckRace& race : out_.stop.races) {
      const Side first = side(race.first);
      const Side second = side(race.second);
      if (first.event.empty() || !can_have_event(first.unit) || second.stream.empty()) continue;
      if (!is_visible(first.unit, second.unit)) continue;
      std::pair line(program_.node(second.unit).lines.first,
                     wait_line(second.unit, first.event, second.stream));
      if (contains(lines, line)) continue;
      edit.insert(line.first, {line.second});
      lines.push_back(std::move(line));
    }
    if (lines.size() > 1) out_.add(fmt::format("Add {} missing waits.", lines.size()), edit);
  }

  Proposals& out_;
  const EditableProgram& program_;
};

}  // namespace

void propose_races(Proposals& out) { Races(out).run(); }

}  // namespace hostir::interp::what_if_parts
