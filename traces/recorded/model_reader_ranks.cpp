// The positions of the ranks at the end of a log.

#include <algorithm>

#include "traces/recorded/model_reader.h"

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogEvent;
using interp::Rank;
using model::ClockId;
using model::InstructionId;

namespace {

/// The newest events of a log; they include everything in flight at the end.
constexpr int64_t kLastEvents = 65536;

}  // namespace

Expected<void> ModelReader::add_ranks() {
  HOSTIR_TRY(for_rows("SELECT rank, local, started, host FROM rank",
                      [&](const Statement& row) -> Expected<void> {
                        if (!is_rank(row.integer(0))) return {};
                        if (row.integer(1) == 0) return {};  // it is in another process's log
                        model::RankFacts& facts = builder_.rank(static_cast<Rank>(row.integer(0)));
                        facts.computer = row.text(3);
                        if (row.integer(2) == 0) facts.state = model::RankState::kNotStarted;
                        if (log_.run().ending != interp::LogEnding::kClosed)
                          facts.record = model::RecordState::kCut;
                        return {};
                      }));
  HOSTIR_TRY(read_last_events());
  HOSTIR_TRY(add_states());
  if (!has_states_) derive_states();
  return {};
}

Expected<void> ModelReader::add_states() {
  return for_rows_of(
      "rank_state",
      "SELECT rank, state, record, instruction, loop_path, waits_for, host_ns, computer, "
      "process, found_by, decision, branch FROM rank_state",
      [&](const Statement& row) -> Expected<void> {
        if (!is_rank(row.integer(0)) || !is_of_the_end(row)) return {};
        const auto rank = static_cast<Rank>(row.integer(0));
        const auto record = by_name(row.text_view(2), model::RecordState::kWhole)
                                .value_or(model::RecordState::kUnknown);
        // The position of a remote rank is in that process's log.
        if (builder_.run().ranks[static_cast<size_t>(rank)].record ==
                model::RecordState::kUnknown &&
            record == model::RecordState::kWhole && !row.is_null(10))
          return {};
        has_states_ = true;
        model::RankFacts& facts = builder_.rank(rank);
        facts.state = by_name(row.text_view(1), model::RankState::kRemote)
                          .value_or(model::RankState::kUnknown);
        facts.record = record;
        if (!row.is_null(3)) facts.at = instruction_id(row.integer(3));
        facts.loops = loops_of(row.integer(4));
        if (!row.is_null(5))
          facts.waits_for = model::make_task_id(rank, static_cast<uint64_t>(row.integer(5)));
        if (!row.is_null(6)) facts.last_sign_ns = row.integer(6);
        if (!row.is_null(6)) facts.last_sign_clock = ClockId(0U);
        if (!row.is_null(7)) facts.computer = row.text(7);
        if (!row.is_null(8)) facts.process = row.integer(8);
        facts.found_by = row.text(9);
        return {};
      });
}

bool ModelReader::is_of_the_end(const Statement& row) const {
  if (row.is_null(10)) return true;
  return lineage_.contains(static_cast<uint32_t>(row.integer(11)),
                           static_cast<uint64_t>(std::max<int64_t>(row.integer(10), 1) - 1)) &&
         static_cast<uint64_t>(row.integer(10)) >= last_decision_;
}

Expected<void> ModelReader::read_last_events() {
  interp::EventFilter filter;
  filter.first_id = std::max<int64_t>(0, last_event_ - kLastEvents);
  filter.limit = 2 * kLastEvents;
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogEvent> events, log_.events(filter));
  for (const LogEvent& e : events) {
    if (!shows(e.id)) continue;
    last_decision_ = std::max(last_decision_, e.decision);
    last_of_rank_[e.rank] = e;
  }
  return {};
}

void ModelReader::derive_states() {
  const bool ended_well =
      log_.run().ending == interp::LogEnding::kClosed && log_.run().outcome == "ok";
  for (size_t r = 0; r < builder_.run().ranks.size(); ++r) {
    model::RankFacts& facts = builder_.run().ranks[r];
    if (facts.record == model::RecordState::kUnknown ||
        facts.state == model::RankState::kNotStarted)
      continue;
    const auto last = last_of_rank_.find(static_cast<Rank>(r));
    const bool returned = last != last_of_rank_.end() &&
                          log_.instructions()[last->second.instruction].mnemonic == "return" &&
                          log_.instructions()[last->second.instruction].address.starts_with(
                              "@" + log_.run().entry + "#");
    if (returned) {  // it makes no call after that
      facts.at = instruction_id(last->second.instruction);
      facts.record = model::RecordState::kWhole;
    }
    if (returned || ended_well) facts.state = model::RankState::kDone;
    const bool written_now = log_.run().ending == interp::LogEnding::kRunning;
    if (!returned && written_now && last != last_of_rank_.end()) {  // about where its host is
      facts.state = model::RankState::kRunning;
      facts.at = instruction_id(last->second.instruction);
    }
    if (last != last_of_rank_.end() && last->second.host_end_ns != kUnknownNs) {
      facts.last_sign_ns = last->second.host_end_ns;
      facts.last_sign_clock = ClockId(0U);
    }
  }
}

std::string ModelReader::loops_of(int64_t path) {
  if (path <= 0) return {};
  const auto [at, added] = loops_.try_emplace(path);
  if (!added) return at->second;
  // The variable's name is in the text of the `for`: `for %i in 0..3 {`.
  std::vector<std::string> parts;
  auto row =
      database_->prepare("SELECT parent, instruction, iteration FROM loop_path WHERE id = ?");
  constexpr size_t kMaxDepth = 64;  // a damaged table may contain cycles
  for (int64_t id = path; row && id > 0 && parts.size() < kMaxDepth;) {
    row->bind_int(1, id);
    const auto found = row->step();
    if (!found || !*found) break;
    const InstructionId loop = instruction_id(row->integer(1));
    const std::string& text = loop.valid() ? log_.instructions()[loop.index].text : std::string();
    const size_t mark = text.find('%');
    const std::string variable = mark == std::string::npos
                                     ? std::string("iteration ")
                                     : text.substr(mark, text.find(' ', mark) - mark) + "=";
    parts.push_back(variable + std::to_string(row->integer(2)));
    id = row->integer(0);
    row->reset();
  }
  std::string out;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    out += (out.empty() ? "" : ", ") + *part;
  return loops_[path] = out;
}

}  // namespace hostir::traces
