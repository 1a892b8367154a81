#include "traces/replay/recorded_line.h"

#include <fmt/core.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "hostir/support/characters.h"
#include "traces/reader/event_loader.h"
#include "traces/reader/event_scanner.h"

namespace hostir::traces {

using interp::DecisionRecord;

namespace {

tl::unexpected<Error> damaged_line(std::string sentence) {
  return fail(ErrorKind::kRuntime, "log_damaged", std::move(sentence));
}

std::optional<std::vector<std::byte>> parse_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const auto high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(*high * 16 + *low));
  }
  return bytes;
}

/// Parses `%name+offset:hex`, as the interpreter writes it.
Expected<interp::RecordedEdit> parse_edit(const std::string& detail) {
  const size_t plus = detail.rfind('+');
  const size_t colon = detail.find(':', plus == std::string::npos ? 0 : plus);
  if (plus == std::string::npos || colon == std::string::npos)
    return damaged_line("an edit in the log is damaged");
  auto bytes = parse_hex(std::string_view(detail).substr(colon + 1));
  if (!bytes) return damaged_line("an edit in the log is damaged");
  return interp::RecordedEdit{detail.substr(0, plus),
                              std::strtoll(detail.c_str() + plus + 1, nullptr, 10),
                              std::move(*bytes)};
}

/// Collects decisions in the order in which they were first taken; keeps those of the last branch.
class LineBuilder {
 public:
  Expected<void> add(uint64_t number, const interp::Decision& decision) {
    if (number > line_.decisions.size()) {
      return damaged_line(fmt::format("the log has no decision {} before decision {}",
                                      line_.decisions.size(), number));
    }
    line_.decisions.resize(number);
    line_.decisions.push_back(decision);
    return {};
  }
  Expected<void> add(ManualDecision& d) {
    const auto edit = static_cast<uint32_t>(line_.edits.size());
    if (d.kind == DecisionRecord::Kind::kEdit) line_.edits.push_back(std::move(d.edit));
    return add(d.number, {d.kind, d.rank, d.kind == DecisionRecord::Kind::kEdit ? edit : 0});
  }
  interp::RecordedLine take() { return std::move(line_); }

 private:
  interp::RecordedLine line_;
};

}  // namespace

Expected<std::vector<ManualDecision>> manual_decisions(Database& database,
                                                       interp::Rank rank_count) {
  std::vector<ManualDecision> all;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database.prepare("SELECT event_count, number, kind, rank, detail FROM decision "
                                    "WHERE kind <> 'branch' ORDER BY id"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) return all;
    ManualDecision d;
    d.before_event = s.integer(0);
    d.number = static_cast<uint64_t>(s.integer(1));
    HOSTIR_ASSIGN_OR_RETURN(d.kind, decision_kind(s.text_view(2)));
    const int64_t rank = s.integer_or(3, interp::kNoRank);
    if (rank < 0 || rank >= rank_count)
      return damaged_line("a decision names a rank that the run does not have");
    d.rank = static_cast<interp::Rank>(rank);
    if (d.kind == DecisionRecord::Kind::kEdit) {
      HOSTIR_ASSIGN_OR_RETURN(d.edit, parse_edit(s.text(4)));
    }
    all.push_back(std::move(d));
  }
}

Expected<RecordedLength> recorded_length(const LogReader& log, interp::Rank rank_count) {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect({}));
  HOSTIR_ASSIGN_OR_RETURN(const int64_t last, last_event_id(*connection));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<ManualDecision> by_hand,
                          manual_decisions(*connection, rank_count));
  RecordedLength length;
  length.by_hand = !by_hand.empty();
  if (last < 0) return length;
  HOSTIR_ASSIGN_OR_RETURN(EventFinder finder,
                          EventFinder::create(*connection, log.tables().limits()));
  HOSTIR_ASSIGN_OR_RETURN(const interp::LogEvent* event, finder.find(last));
  length.decisions = event->decision + 1;
  return length;
}

Expected<interp::RecordedLine> recorded_line(const LogReader& log, interp::Rank rank_count) {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect({}));
  HOSTIR_ASSIGN_OR_RETURN(std::vector<ManualDecision> by_hand,
                          manual_decisions(*connection, rank_count));
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                          EventScanner::create(*connection, log.tables().limits(), {}));
  LineBuilder line;
  size_t next = 0;
  for (int64_t id = 0;; ++id) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::LogEvent* event, scanner.next());
    if (event == nullptr || event->id != id) break;
    for (; next < by_hand.size() && by_hand[next].before_event <= id; ++next)
      HOSTIR_TRY(line.add(by_hand[next]));
    HOSTIR_TRY(line.add(event->decision, {DecisionRecord::Kind::kRun, event->rank, 0}));
  }
  for (; next < by_hand.size(); ++next) HOSTIR_TRY(line.add(by_hand[next]));
  return line.take();
}

}  // namespace hostir::traces
