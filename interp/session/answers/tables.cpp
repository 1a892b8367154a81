#include "interp/session/answers/tables.h"

#include <fmt/core.h>

#include "hostir/ir/box_text.h"
#include "hostir/support/text.h"
#include "interp/session/answers/matrix_text.h"

namespace hostir::interp {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string loop_text(const RankSnapshot& rank) {
  std::string out;
  for (const FrameSnapshot& f : rank.frames) {
    if (!out.empty()) out += " ";
    if (f.kind == FrameSnapshot::Kind::kLoop)
      out += fmt::format("%{}={}", f.variable, f.iteration);
    else
      out += "@" + f.variable;
  }
  return out;
}

// Of a rank whose host position is not recorded: its first call in flight.
std::string op_in_flight(const RankSnapshot& rank) {
  if (rank.status != RankStatus::kUnknown) return "-";
  for (const StreamSnapshot& stream : rank.streams) {
    if (!stream.tasks.empty()) return stream.tasks.front().text;
  }
  return "-";
}

// What the host waits for, or otherwise the first thing one of its streams waits for.
std::string wait_text(const Snapshot& snapshot, const RankSnapshot& rank) {
  if (rank.waits) return rank.waits->sentence;
  for (const RankWait& e : snapshot.waits->edges) {
    if (e.from == rank.rank && e.to != rank.rank) return fmt::format("{}: rank {}", e.on, e.to);
  }
  return "";
}

std::string status_text(const RankSnapshot& rank) {
  return std::string(name(rank.status)) + (rank.frozen ? ", frozen" : "");
}

std::string cell_text(const LedgerCell& cell) {
  switch (cell.state) {
    case LedgerCell::State::kMissing:
      return "missing";
    case LedgerCell::State::kQueued:
      return "queued";
    case LedgerCell::State::kArrived:
    case LedgerCell::State::kRunning:
      return "arrived";
    case LedgerCell::State::kDone:
      return "done";
    case LedgerCell::State::kDiffers:
      return "DIFFERS: " + cell.call;
    case LedgerCell::State::kUnknown:
      return "not known";
  }
  return "";
}

std::string row_state(const LedgerRow& row) {
  switch (row.state) {
    case LedgerRow::State::kWaiting:
      return "waiting";
    case LedgerRow::State::kRunning:
      return "all arrived";
    case LedgerRow::State::kDone:
      return "done";
    case LedgerRow::State::kMismatch:
      return "mismatch";
  }
  return "";
}

const AllocationSnapshot* find_allocation(const MemorySnapshot& memory, const std::string& value) {
  const AllocationSnapshot* found = nullptr;
  for (const AllocationSnapshot& a : memory.allocations) {
    if (a.name == value) found = &a;
  }
  return found;
}

std::string layout_of(const Snapshot& snapshot, const std::string& value) {
  std::string out;
  for (const auto& memory : snapshot.memory) {
    const AllocationSnapshot* a = find_allocation(*memory, value);
    if (!a) continue;
    if (out.empty()) {
      out = fmt::format("%{} : {}\n", value, to_string(a->type));
      if (const Sharding* s = sharding_of(a->type)) out += "  " + s->to_pytorch() + "\n";
    }
    out += fmt::format("  rank {}  {}{}  {}\n", memory->rank, to_string(a->placement.box),
                       a->placement.box.empty() ? " (empty)" : "", bytes_text(a->bytes));
  }
  return out;
}

}  // namespace

std::string ranks_table(const Snapshot& snapshot) {
  Rows rows = {
      {" ", "rank", "status", "at", "line", "op", "loops", "pending", "clock", "waits for"}};
  for (const auto& rank : snapshot.ranks) {
    const uint32_t line = snapshot.program->shown(rank->code).line;
    const bool is_nowhere = rank->status == RankStatus::kDone || rank->address.empty();
    const bool is_known = rank->status != RankStatus::kUnknown;
    const size_t pending = rank->outstanding();
    rows.push_back(
        {rank->rank == snapshot.focus ? "*" : " ", fmt::format("{}", rank->rank),
         status_text(*rank), is_nowhere ? "-" : rank->address,
         is_nowhere ? "-" : fmt::format("{}", line), is_nowhere ? op_in_flight(*rank) : rank->op,
         loop_text(*rank), is_known || pending > 0 ? fmt::format("{}", pending) : "-",
         is_known ? fmt::format("{} ns", rank->host_clock_ns) : "-", wait_text(snapshot, *rank)});
  }
  return aligned(rows);
}

std::string collectives_table(const Snapshot& snapshot) {
  if (snapshot.ledger->empty()) return "No collective has been issued yet.\n";
  Rows rows = {{"comm", "group", "seq", "kind", "bytes", "state", "ranks"}};
  for (const LedgerRow& row : *snapshot.ledger) {
    std::string cells;
    for (const LedgerCell& cell : row.cells)
      cells += fmt::format("{}{} {}", cells.empty() ? "" : ", ", cell.rank(), cell_text(cell));
    rows.push_back({row.comm_text, fmt::format("{}", row.group), fmt::format("{}", row.sequence),
                    row.kind, fmt::format("{}", row.bytes), row_state(row), cells});
  }
  return aligned(rows);
}

std::string waits_text(const Snapshot& snapshot) {
  std::string out = snapshot.waits->sentence + "\n";
  for (const RankWait& e : snapshot.waits->edges)
    out += fmt::format("  {}  ->  {}   ({})\n", e.from_text, e.to_text, e.on);
  return out;
}

std::string streams_table(const Snapshot& snapshot) {
  Rows rows = {{"rank", "stream", "pending"}};
  for (const auto& rank : snapshot.ranks) {
    for (const StreamSnapshot& s : rank->streams) {
      std::string tasks;
      for (const TaskSnapshot& t : s.tasks)
        tasks += fmt::format("{}{} ({})", tasks.empty() ? "" : "; ", t.text, t.address);
      rows.push_back({fmt::format("{}", rank->rank), s.name, tasks.empty() ? "-" : tasks});
    }
  }
  return aligned(rows);
}

std::string events_table(const Snapshot& snapshot) {
  Rows rows = {{"rank", "event", "state"}};
  for (const auto& rank : snapshot.ranks) {
    for (const EventSnapshot& e : rank->events)
      rows.push_back({fmt::format("{}", rank->rank), "%" + e.name, e.done ? "done" : "pending"});
  }
  return rows.size() == 1 ? "No name holds an event.\n" : aligned(rows);
}

std::string memory_table(const Snapshot& snapshot) {
  std::string out;
  for (const auto& memory : snapshot.memory) {
    out += fmt::format("rank {}: {} live, {} at most\n", memory->rank,
                       bytes_text(memory->live_bytes), bytes_text(memory->peak_bytes));
    if (memory->rank != snapshot.focus) continue;
    Rows rows;
    for (const AllocationSnapshot& a : memory->allocations) {
      rows.push_back({"  %" + a.name, bytes_text(a.bytes), fmt::format("version {}", a.version),
                      to_string(a.type),
                      a.parameter && a.version == 0 ? "parameter"
                      : a.written                   ? "written by " + a.written_by
                                                    : "not written"});
    }
    out += aligned(rows);
  }
  return out;
}

std::string breakpoints_table(const Snapshot& snapshot) {
  if (snapshot.breakpoints->empty()) return "No breakpoints.\n";
  Rows rows = {{"number", "enabled", "hits", "what"}};
  for (const BreakpointSnapshot& b : *snapshot.breakpoints) {
    std::string what = b.text;
    if (b.ignore > 0) what += fmt::format("  (ignores {} more)", b.ignore);
    if (!b.problem.empty()) what += "  (" + b.problem + ")";
    rows.push_back(
        {fmt::format("{}", b.number), b.enabled ? "yes" : "no", fmt::format("{}", b.hits), what});
  }
  return aligned(rows);
}

std::string program_text(const Snapshot& snapshot) {
  const ProgramView& program = *snapshot.program;
  std::string out = fmt::format("@{} on {} ranks", program.entry, program.rank_count);
  if (const Mesh* mesh = program.mesh()) {
    out += fmt::format(", mesh @{} <", mesh->name);
    for (size_t i = 0; i < mesh->axes.size(); ++i)
      out += fmt::format("{}{}={}", i == 0 ? "" : ", ", mesh->axes[i].name, mesh->axes[i].size);
    out += ">";
  }
  out += "\n";
  if (!snapshot.program->phases.empty()) {
    out += "phases:";
    for (const std::string& name : snapshot.program->phases.names()) out += " " + name;
    out += "\n";
  }
  return out;
}

std::string faults_text(const Snapshot& snapshot) {
  if (snapshot.faults->empty()) return "No faults.\n";
  std::string out;
  for (const FaultSnapshot& f : *snapshot.faults) {
    out += fmt::format("{}: {}\n", f.kind, f.sentence);
    for (const std::string& note : f.notes) out += "  note: " + note + "\n";
  }
  return out;
}

std::string history_text(const Snapshot& snapshot) {
  return fmt::format("position {} of {}, branch {}\n", snapshot.position.decision,
                     snapshot.last_decision, snapshot.position.branch);
}

Expected<std::string> layout_text(const Snapshot& snapshot, const std::string& value) {
  if (!value.empty()) {
    std::string out = layout_of(snapshot, value);
    if (!out.empty()) return out;
    return fail(ErrorKind::kRuntime, "not_live",
                fmt::format("%{} is not live on any rank here", value));
  }
  std::string out;
  const MemorySnapshot& memory = *snapshot.memory[static_cast<size_t>(snapshot.focus)];
  for (const AllocationSnapshot& a : memory.allocations) out += layout_of(snapshot, a.name);
  return out.empty() ? std::string("Nothing is allocated.\n") : out;
}

}  // namespace hostir::interp
