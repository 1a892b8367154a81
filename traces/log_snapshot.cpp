#include "traces/log_snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "traces/log_program.h"

namespace hostir::traces {

using interp::LedgerCell;
using interp::LedgerRow;
using interp::LogCollective;
using interp::Rank;
using interp::Snapshot;

namespace {

constexpr int64_t kMaxLedgerCells = 50'000;

/// Which collectives go into the ledger: all, or about as many from the end.
Expected<interp::EventFilter> ledger_filter(const LogReader& log) {
  interp::EventFilter filter;
  filter.limit = kMaxLedgerCells;
  HOSTIR_ASSIGN_OR_RETURN(const interp::LogTable counted,
                          log.query("SELECT COUNT(*), MAX(event) FROM collective_row"));
  if (counted.rows.empty()) return filter;
  const auto* count = std::get_if<int64_t>(&counted.rows[0][0]);
  const auto* last = std::get_if<int64_t>(&counted.rows[0][1]);
  if (count && last && *count > kMaxLedgerCells) {
    const double share = static_cast<double>(kMaxLedgerCells) / static_cast<double>(*count);
    filter.first_id = *last - static_cast<int64_t>(static_cast<double>(*last) * share);
  }
  return filter;
}

LedgerCell cell_of(const LogReader& log, const LogCollective& c) {
  LedgerCell cell;
  cell.rank = c.rank;
  cell.state = c.finish_ns != interp::kUnknownNs  ? LedgerCell::State::kDone
               : c.start_ns != interp::kUnknownNs ? LedgerCell::State::kRunning
                                                  : LedgerCell::State::kArrived;
  if (c.instruction < log.instructions().size()) {
    cell.code = c.instruction;
    cell.address = log.instructions()[c.instruction].address;
  }
  cell.fingerprint = fmt::format("{}{}{} {}, {} bytes", c.kind, c.reduction.empty() ? "" : " ",
                                 c.reduction, name(c.dtype), c.bytes);
  cell.arrived_ns = c.arrival_ns == interp::kUnknownNs ? -1 : c.arrival_ns;
  return cell;
}

/// What meets: communicator, group, sequence number and, of send and receive, source and target.
using Meeting = std::tuple<interp::CommIndex, int32_t, uint64_t, int64_t, int64_t>;

Meeting meeting_of(const LogReader& log, const LogCollective& c) {
  int64_t source = -1;
  int64_t target = -1;
  if (c.peer >= 0 && c.comm < log.communicators().size()) {
    const auto& groups = log.communicators()[c.comm].groups;
    const auto group = static_cast<size_t>(c.group);
    int64_t own = -1;
    if (c.group >= 0 && group < groups.size()) {
      const auto at = std::find(groups[group].begin(), groups[group].end(), c.rank);
      own = at - groups[group].begin();
    }
    source = c.kind == "send" ? own : c.peer;
    target = c.kind == "send" ? c.peer : own;
  }
  return {c.comm, c.group, c.sequence, source, target};
}

/// Members that never came; and the state of the row.
void complete(const LogReader& log, LedgerRow& row) {
  const auto& groups = log.communicators()[row.comm].groups;
  if (!row.point_to_point && row.group < groups.size()) {
    for (const Rank rank : groups[row.group]) {
      const bool came = std::any_of(row.cells.begin(), row.cells.end(),
                                    [&](const LedgerCell& c) { return c.rank == rank; });
      if (came) continue;
      LedgerCell missing;
      missing.rank = rank;
      row.cells.push_back(missing);
    }
  }
  std::sort(row.cells.begin(), row.cells.end(),
            [](const LedgerCell& a, const LedgerCell& b) { return a.rank < b.rank; });
  const auto all = [&](LedgerCell::State state) {
    return std::all_of(row.cells.begin(), row.cells.end(),
                       [&](const LedgerCell& c) { return c.state == state; });
  };
  if (all(LedgerCell::State::kDone)) row.state = LedgerRow::State::kDone;
  if (all(LedgerCell::State::kRunning)) row.state = LedgerRow::State::kRunning;
}

Expected<std::vector<LedgerRow>> ledger_of(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::EventFilter filter, ledger_filter(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogCollective> all, log.collectives(filter));
  std::vector<LedgerRow> rows;
  std::map<Meeting, size_t> known;
  for (const LogCollective& c : all) {
    if (c.comm >= log.communicators().size() || c.rank < 0 || c.rank >= log.run().rank_count)
      continue;
    const auto [at, added] = known.try_emplace(meeting_of(log, c), rows.size());
    if (added) {
      LedgerRow row;
      row.comm = c.comm;
      row.comm_name = log.communicators()[c.comm].name;
      row.group = static_cast<uint32_t>(std::max(0, c.group));
      row.sequence = c.sequence;
      row.point_to_point = c.peer >= 0;
      row.kind = c.kind;
      row.bytes = c.bytes;
      rows.push_back(std::move(row));
    }
    rows[at->second].cells.push_back(cell_of(log, c));
  }
  for (LedgerRow& row : rows) complete(log, row);
  return rows;
}

/// When the last of the recorded work ended.
Expected<int64_t> end_ns(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable found,
      log.query("SELECT MAX(n) FROM (SELECT MAX(end_ns) n FROM event_block UNION ALL "
                "SELECT MAX(COALESCE(finish_ns, host_end_ns)) FROM (SELECT finish_ns, host_end_ns "
                "FROM event_row ORDER BY id DESC LIMIT 10000))"));
  const auto* end = found.rows.empty() ? nullptr : std::get_if<int64_t>(&found.rows[0][0]);
  return end ? *end : 0;
}

interp::AllocationSnapshot allocation_of(const interp::LogTensor& tensor, size_t rank) {
  interp::AllocationSnapshot a;
  a.name = tensor.name;
  a.placement.dtype = tensor.dtype;
  a.placement.global = tensor.extents;
  a.placement.box = tensor.boxes[rank];
  TensorType type;
  type.dtype = tensor.dtype;
  for (const int64_t extent : tensor.extents) type.shape.emplace_back(extent);
  a.type = std::move(type);
  a.bytes = a.placement.local_bytes();
  a.written = true;
  return a;
}

void add_ranks(const LogReader& log, Snapshot& shot) {
  for (Rank r = 0; r < log.run().rank_count; ++r) {
    auto rank = std::make_shared<interp::RankSnapshot>();
    rank->rank = r;
    rank->status = interp::RankStatus::kDone;
    rank->function = log.run().entry;
    shot.ranks.push_back(std::move(rank));
    auto memory = std::make_shared<interp::MemorySnapshot>();
    memory->rank = r;
    const auto index = static_cast<size_t>(r);
    // The same buffer in several layouts: the last one, as at the end of the run.
    std::map<std::string, const interp::LogTensor*> last;
    for (const interp::LogTensor& tensor : log.tensors()) {
      if (index < tensor.boxes.size() && tensor.boxes[index].lo.size() == tensor.extents.size())
        last[tensor.name] = &tensor;
    }
    for (const auto& [name, tensor] : last)
      memory->allocations.push_back(allocation_of(*tensor, index));
    shot.memory.push_back(std::move(memory));
  }
}

Expected<std::vector<interp::FaultSnapshot>> faults_of(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::LogFault> logged, log.faults());
  std::vector<interp::FaultSnapshot> out;
  for (const interp::LogFault& f : logged) {
    interp::FaultSnapshot fault;
    fault.kind = f.kind;
    fault.sentence = f.sentence;
    fault.instructions = f.instructions;
    fault.notes = f.notes;
    for (const Rank rank : f.ranks) {
      if (rank >= 0 && rank < log.run().rank_count) fault.ranks.push_back(rank);
    }
    out.push_back(std::move(fault));
  }
  return out;
}

}  // namespace

Expected<Snapshot> end_of(const LogReader& log, std::string why) {
  Snapshot shot;
  shot.origin = interp::Origin::kRecorded;
  shot.can_reverse = false;
  shot.no_stepping = std::move(why);
  shot.program = program_of(log);
  add_ranks(log, shot);
  HOSTIR_ASSIGN_OR_RETURN(shot.now_ns, end_ns(log));
  HOSTIR_ASSIGN_OR_RETURN(std::vector<LedgerRow> ledger, ledger_of(log));
  shot.ledger = std::make_shared<const std::vector<LedgerRow>>(std::move(ledger));
  HOSTIR_ASSIGN_OR_RETURN(std::vector<interp::FaultSnapshot> faults, faults_of(log));
  interp::WaitsSnapshot waits;
  waits.sentence = "Nobody waits.";
  if (!faults.empty()) waits.sentence = faults.back().sentence;
  shot.waits = std::make_shared<const interp::WaitsSnapshot>(std::move(waits));
  shot.stop.kind = interp::StopKind::kFinished;
  shot.stop.sentence = "A recorded run, to be looked at.";
  if (!faults.empty()) shot.stop.sentence += " It ended: " + faults.back().sentence;
  shot.faults = std::make_shared<const std::vector<interp::FaultSnapshot>>(std::move(faults));
  shot.breakpoints = std::make_shared<const std::vector<interp::BreakpointSnapshot>>();
  return shot;
}

}  // namespace hostir::traces
