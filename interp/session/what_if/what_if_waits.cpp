// Waits and streams: removes or moves a wait, or moves a call to another stream.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/session/what_if/what_if_edits.h"

namespace hostir::interp::what_if_parts {
namespace {

constexpr size_t kNear = 4;           // searched instructions before and after a call
constexpr size_t kStreamPenalty = 1;  // reordering is easier to understand

class Waits {
 public:
  explicit Waits(Proposals& out) : out_(out), program_(out.program) {}

  void run() {
    std::vector<InstructionSite> waits;
    const auto add = [&](const InstructionSite& spot) { add_once(waits, spot); };
    for (const StuckCall& call : out_.stop.waits) add(call.at);
    for (const StuckCall& call : out_.stop.calls()) {
      const InstructionSite unit = program_.unit(call.at);
      const std::vector<InstructionSite> all = program_.siblings(unit);
      const size_t mine = program_.node(unit).index;
      for (size_t i = mine > kNear ? mine - kNear : 0; i < std::min(all.size(), mine + kNear);
           ++i) {
        if (record(program_.at(all[i]).kind).role == HostRole::kWait) add(all[i]);
      }
      other_streams(call.at);
    }
    for (const InstructionSite& wait : waits) {
      later(wait);
      LineEdit edit = out_.begin();
      out_.add(fmt::format("Leave out the wait of {}.", program_.where(wait)),
               edit.erase(program_.node(wait).lines));
    }
  }

 private:
  void later(const InstructionSite& wait) {
    const std::vector<InstructionSite> all = program_.siblings(wait);
    for (size_t i = program_.node(wait).index + 1; i < all.size(); ++i) {
      if (!program_.communicates(all[i])) continue;
      LineEdit edit = out_.begin();
      out_.add(fmt::format("Wait later: move {} after {} ({}).", program_.where(wait),
                           program_.short_text(all[i]), program_.where(all[i])),
               edit.move(program_.node(wait).lines, program_.node(all[i]).lines.last + 1, 0));
      return;
    }
  }

  void other_streams(const InstructionSite& call) {
    const std::vector<Word> words = program_.words(call);
    const auto on =
        std::find_if(words.begin(), words.end(), [](const Word& w) { return w.text == "on"; });
    if (on == words.end() || on + 1 == words.end()) return;
    const Word& stream = *(on + 1);
    for (const Instruction& instruction : call.function->instructions) {
      if (record(instruction.kind).role != HostRole::kStream || instruction.results.empty())
        continue;
      const std::string name = "%" + call.function->value(instruction.results.front()).name;
      if (name == stream.text) continue;
      const size_t line = program_.node(call).lines.first;
      std::string changed = program_.lines()[line];
      changed.replace(stream.begin, stream.text.size(), name);
      LineEdit edit = out_.begin();
      out_.add(fmt::format("Issue {} ({}) on the stream {} instead of {}.",
                           program_.short_text(call), program_.where(call), name, stream.text),
               edit.replace(line, std::move(changed)), kStreamPenalty);
    }
  }

  Proposals& out_;
  const EditableProgram& program_;
};

}  // namespace

void propose_waits(Proposals& out) { Waits(out).run(); }

}  // namespace hostir::interp::what_if_parts
