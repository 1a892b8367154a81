#include "hostir/api/serve/snapshot_json.h"

#include <set>

namespace hostir::api {

namespace {

using interp::LedgerCell;
using interp::LedgerRow;
using interp::Snapshot;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string_view word(LedgerCell::State state) {
  switch (state) {
    case LedgerCell::State::kMissing:
      return "missing";
    case LedgerCell::State::kQueued:
      return "queued";
    case LedgerCell::State::kArrived:
      return "arrived";
    case LedgerCell::State::kRunning:
      return "running";
    case LedgerCell::State::kDone:
      return "done";
    case LedgerCell::State::kDiffers:
      return "differs";
    case LedgerCell::State::kUnknown:
      return "unknown";
  }
  return "";
}

std::string_view word(LedgerRow::State state) {
  switch (state) {
    case LedgerRow::State::kWaiting:
      return "waiting";
    case LedgerRow::State::kRunning:
      return "running";
    case LedgerRow::State::kDone:
      return "done";
    case LedgerRow::State::kMismatch:
      return "mismatch";
  }
  return "";
}

Json ranks_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const auto& rank : snapshot.ranks) {
    Json item;
    item["rank"] = rank->rank;
    item["status"] = name(rank->status);
    item["frozen"] = rank->frozen;
    const bool stands = rank->status != interp::RankStatus::kDone;
    const interp::TextLine shown = snapshot.program->shown(rank->code);
    item["at"] = stands ? Json(rank->address) : Json(nullptr);
    item["file"] = stands && shown.sources ? Json(shown.sources->name(shown.file)) : Json(nullptr);
    item["line"] = stands && shown.line > 0 ? Json(shown.line) : Json(nullptr);
    item["op"] = stands ? Json(rank->op) : Json(nullptr);
    item["frames"] = Json::array();
    for (const interp::FrameSnapshot& frame : rank->frames) {
      const bool loop = frame.kind == interp::FrameSnapshot::Kind::kLoop;
      item["frames"].push_back({{"kind", loop ? "loop" : "call"},
                                {"at", frame.address},
                                {loop ? "variable" : "function", frame.variable},
                                {"iteration", loop ? Json(frame.iteration) : Json(nullptr)}});
    }
    item["steps"] = rank->steps;
    item["outstanding"] = rank->outstanding();
    item["host_clock_ns"] = rank->host_clock_ns;
    item["waits"] = nullptr;
    if (rank->waits)
      item["waits"] = {{"sentence", rank->waits->sentence}, {"ranks", rank->waits->ranks}};
    out.push_back(std::move(item));
  }
  return out;
}

Json collectives_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const LedgerRow& row : *snapshot.ledger) {
    Json cells = Json::array();
    for (const LedgerCell& cell : row.cells) {
      const model::Times& times = cell.member->times;
      const auto arrived_ns = times.issued_ns ? times.issued_ns : times.ready_ns;
      cells.push_back({{"rank", cell.rank()},
                       {"state", word(cell.state)},
                       {"at", text_or_null(cell.address(*snapshot.run))},
                       {"call", text_or_null(cell.call)},
                       {"arrived_ns", arrived_ns ? Json(*arrived_ns) : Json(nullptr)}});
    }
    out.push_back({{"communicator", row.comm_name},
                   {"group", row.group},
                   {"sequence", row.sequence},
                   {"point_to_point", row.point_to_point},
                   {"kind", row.kind},
                   {"bytes", row.bytes},
                   {"state", word(row.state)},
                   {"ranks", std::move(cells)}});
  }
  return out;
}

Json waits_json(const Snapshot& snapshot) {
  Json edges = Json::array();
  for (const interp::RankWait& edge : snapshot.waits->edges) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"from_text", edge.from_text},
                     {"to_text", edge.to_text},
                     {"on", edge.on}});
  }
  return {{"sentence", snapshot.waits->sentence},
          {"culprits", snapshot.waits->culprits},
          {"cycle", snapshot.waits->cycle},
          {"edges", std::move(edges)}};
}

Json streams_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const auto& rank : snapshot.ranks) {
    for (const interp::StreamSnapshot& stream : rank->streams) {
      Json tasks = Json::array();
      for (const interp::TaskSnapshot& task : stream.tasks) {
        const bool queued = task.state == interp::TaskSnapshot::State::kQueued;
        tasks.push_back({{"state", queued ? "queued" : "running"},
                         {"at", task.address},
                         {"text", task.text},
                         {"issued_ns", task.issued_ns}});
      }
      out.push_back({{"rank", rank->rank}, {"stream", stream.name}, {"tasks", std::move(tasks)}});
    }
  }
  return out;
}

Json events_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const auto& rank : snapshot.ranks) {
    for (const interp::EventSnapshot& event : rank->events)
      out.push_back({{"rank", rank->rank}, {"event", event.name}, {"done", event.done}});
  }
  return out;
}

Json memory_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const auto& memory : snapshot.memory) {
    Json allocations = Json::array();
    for (const interp::AllocationSnapshot& a : memory->allocations) {
      allocations.push_back({{"value", a.name},
                             {"bytes", a.bytes},
                             {"type", to_string(a.type)},
                             {"box", box_json(a.placement.box)},
                             {"version", a.version},
                             {"parameter", a.parameter},
                             {"live", a.live},
                             {"written", a.written},
                             {"written_by", text_or_null(a.written_by)}});
    }
    out.push_back({{"rank", memory->rank},
                   {"live_bytes", memory->live_bytes},
                   {"peak_bytes", memory->peak_bytes},
                   {"allocations", std::move(allocations)}});
  }
  return out;
}

Json breakpoints_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const interp::BreakpointSnapshot& b : *snapshot.breakpoints) {
    out.push_back({{"number", b.number},
                   {"command", b.text},
                   {"enabled", b.enabled},
                   {"hits", b.hits},
                   {"ignore", b.ignore},
                   {"problem", text_or_null(b.problem)}});
  }
  return out;
}

Json program_json(const Snapshot& snapshot) {
  const interp::ProgramView& view = *snapshot.program;
  Json mesh = Json::object();
  if (view.world) {
    for (const auto& axis : view.world->axes) mesh[axis.name] = axis.size;
  }
  Json phases = Json::array();
  for (const interp::PhaseText& phase : view.phases)
    phases.push_back({{"name", phase.name}, {"text", phase.text}});
  return {{"function", view.entry},
          {"ranks", view.rank_count},
          {"mesh", std::move(mesh)},
          {"phases", std::move(phases)},
          {"text", view.text()}};
}

// The memory of a value on every rank that holds it; the newest allocation of the name.
Json layout_of(const Snapshot& snapshot, const std::string& value) {
  Json out = {{"value", value}, {"type", nullptr}, {"pytorch", nullptr}, {"ranks", Json::array()}};
  for (const auto& memory : snapshot.memory) {
    const interp::AllocationSnapshot* found = nullptr;
    for (const interp::AllocationSnapshot& a : memory->allocations) {
      if (a.name == value) found = &a;
    }
    if (!found) continue;
    if (out["type"].is_null()) {
      out["type"] = to_string(found->type);
      if (const Sharding* sharding = sharding_of(found->type))
        out["pytorch"] = sharding->to_pytorch();
    }
    out["ranks"].push_back(
        {{"rank", memory->rank}, {"box", box_json(found->placement.box)}, {"bytes", found->bytes}});
  }
  return out;
}

Json layout_json(const Snapshot& snapshot, const std::string& value) {
  Json out = Json::array();
  if (!value.empty()) {
    out.push_back(layout_of(snapshot, value));
    return out;
  }
  std::set<std::string> seen;
  for (const auto& a : snapshot.memory[static_cast<size_t>(snapshot.focus)]->allocations) {
    if (seen.insert(a.name).second) out.push_back(layout_of(snapshot, a.name));
  }
  return out;
}

Json faults_json(const Snapshot& snapshot) {
  Json out = Json::array();
  for (const interp::FaultSnapshot& fault : *snapshot.faults) {
    out.push_back({{"kind", fault.kind},
                   {"severity", fault.severity == Severity::kError ? "error" : "warning"},
                   {"sentence", fault.sentence},
                   {"ranks", fault.ranks},
                   {"instructions", fault.instructions},
                   {"notes", fault.notes}});
  }
  return out;
}

}  // namespace

Json box_json(const Box& box) {
  Json out = Json::array();
  for (size_t d = 0; d < box.lo.size(); ++d) out.push_back({box.lo[d], box.hi[d]});
  return out;
}

Json position_json(const Snapshot& snapshot) {
  return {{"decision", snapshot.position.decision},
          {"branch", snapshot.position.branch},
          {"last", snapshot.last_decision},
          {"now_ns", snapshot.now_ns},
          {"focus", snapshot.focus}};
}

Json topic_json(interp::InfoTopic topic, const std::string& value, const Snapshot& snapshot) {
  switch (topic) {
    case interp::InfoTopic::kRanks:
      return ranks_json(snapshot);
    case interp::InfoTopic::kColls:
      return collectives_json(snapshot);
    case interp::InfoTopic::kWaits:
      return waits_json(snapshot);
    case interp::InfoTopic::kStreams:
      return streams_json(snapshot);
    case interp::InfoTopic::kEvents:
      return events_json(snapshot);
    case interp::InfoTopic::kMemory:
      return memory_json(snapshot);
    case interp::InfoTopic::kBreak:
      return breakpoints_json(snapshot);
    case interp::InfoTopic::kProgram:
      return program_json(snapshot);
    case interp::InfoTopic::kLayout:
      return layout_json(snapshot, value);
    case interp::InfoTopic::kFaults:
      return faults_json(snapshot);
    case interp::InfoTopic::kHistory:
      return position_json(snapshot);
  }
  return nullptr;
}

}  // namespace hostir::api
