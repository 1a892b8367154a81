#include "interp/core/engine/races.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/access.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::interp {

bool RaceDetector::overlap(const AccessRecord& a, const AccessRecord& b) const {
  if (a.lo >= b.hi || b.lo >= a.hi) return false;
  if (a.shape == 0 && b.shape == 0) return true;
  const auto rows = [&](const AccessRecord& x) {
    return x.shape == 0 ? std::vector<ByteRange>{{x.lo, x.hi}}
                        : rows_of(run_.shapes[x.shape], x.lo);
  };
  const std::vector<ByteRange> ra = rows(a);
  const std::vector<ByteRange> rb = rows(b);
  size_t i = 0;
  size_t j = 0;
  while (i < ra.size() && j < rb.size()) {
    if (ra[i].lo < rb[j].hi && rb[j].lo < ra[i].hi) return true;
    ra[i].hi <= rb[j].hi ? ++i : ++j;
  }
  return false;
}

bool RaceDetector::check_launch_overlap(const Step& step, const IssuePlan& bound) {
  const auto span_of = [&](size_t i) {
    AccessRecord a;
    a.lo = bound.refs[i].offset_bytes;
    a.hi = a.lo + bound.refs[i].size_bytes;
    a.shape = bound.buffers[i].shape;
    return a;
  };
  const size_t count = bound.buffers.size();
  for (size_t i = 0; i < count; ++i) {
    if (bound.refs[i].access == Access::kRead) continue;
    for (size_t j = 0; j < count; ++j) {
      if (bound.buffers[j].bound != bound.buffers[i].bound || i == j) continue;
      if (!overlap(span_of(i), span_of(j))) continue;
      const bool reads = bound.refs[j].access != Access::kWrite;
      return faults_.fault(
          step, "launch_overlap",
          fmt::format("rank {}: {} writes {}, which overlaps {} that it {}", step.rank,
                      faults_.name_of(step), run_.code->register_name(bound.buffers[i].reg),
                      run_.code->register_name(bound.buffers[j].reg),
                      reads ? "reads; use rw to update in place" : "writes"));
    }
  }
  return true;
}

bool RaceDetector::note_in_list(Step& step, Allocation& a, uint32_t reg,
                                const AccessRecord& access) {
  using Kind = AccessRecord::Kind;
  WholeAccesses& w = a.whole;
  if (w.write != 0) {
    a.accesses.push_back({0, a.bytes, 0, w.stream, w.write, w.write_code, w.write_kind});
  }
  if (w.read != 0) {
    a.accesses.push_back({0, a.bytes, 0, w.stream, w.read, w.read_code, Kind::kRead});
  }
  w = {};
  const uint32_t* row = run_.clock_row(step.rank_state, access.stream);
  const bool writes = access.kind != Kind::kRead;
  auto& known = a.accesses;
  const size_t count = known.size();
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const AccessRecord& old = known[i];
    if (old.lo < access.hi && access.lo < old.hi) {
      const bool ordered = old.stream == access.stream || old.sequence <= row[old.stream];
      const bool conflict = writes || old.kind != Kind::kRead;
      // Two operands of one task also meet here: same stream and sequence number, never a race.
      if (conflict && !ordered && overlap(old, access) && !suspect(step, reg, old, access)) {
        return false;
      }
      const bool covers = old.lo >= access.lo && old.hi <= access.hi &&
                          (access.shape == 0 || (access.shape == old.shape && access.lo == old.lo));
      if (ordered && covers && (writes || old.kind == Kind::kRead)) continue;
    }
    if (kept != i) known[kept] = old;
    ++kept;
  }
  known.resize(kept);
  if (kept == 0 && access.lo == 0 && access.hi == a.bytes) return note_access(step, a, reg, access);
  known.push_back(access);
  return true;
}

bool RaceDetector::suspect(Step& step, uint32_t reg, const AccessRecord& first,
                           const AccessRecord& second) {
  const size_t n = run_.code->streams.size();
  const uint32_t* row = run_.clock_row(step.rank_state, second.stream);
  PossibleRace suspicion{step.rank, first, second, reg, {row, row + n}, step.rank_state.loop_path};
  const Order order = order_through_others(step.rank, suspicion.clock, first);
  if (order == Order::kUnordered) report_race(suspicion);
  if (order == Order::kUnknown) run_.state.possible_races.push_back(std::move(suspicion));
  return !run_.state.failed;
}

// Propagates the second task's knowledge through every meeting that it knows to be finished: a
// finished collective comes after the start of all its members, a finished recv after the reads of
// its send.
RaceDetector::Order RaceDetector::order_through_others(Rank rank,
                                                       const std::vector<uint32_t>& clock,
                                                       const AccessRecord& first) const {
  const size_t n = run_.code->streams.size();
  std::vector<uint32_t> known(n * static_cast<size_t>(run_.code->rank_count), 0);
  const auto at = [&](Rank r, size_t s) -> uint32_t& {
    return known[static_cast<size_t>(r) * n + s];
  };
  for (size_t s = 0; s < n; ++s) at(rank, s) = clock[s];
  const auto knows = [&](const Arrival& a) {
    return a.arrived && a.stream_sequence <= at(task_rank(a.task), a.stream);
  };
  bool open_ends = false;
  const auto learn = [&](const Arrival& a) {
    const Rank r = task_rank(a.task);
    const TaskRecord* task =
        run_.state.ranks[static_cast<size_t>(r)].tasks.find(task_number(a.task));
    bool changed = false;
    for (size_t s = 0; s < n; ++s) {
      // A dropped task leaves only its place on the stream.
      uint32_t value = 0;
      if (s == a.stream) {
        value = a.stream_sequence - 1;  // a member's start is known, not its end
      } else if (task != nullptr) {
        value = run_.state.ranks[static_cast<size_t>(r)].tasks.clock(*task)[s];
      }
      if (value > at(r, s)) {
        at(r, s) = value;
        changed = true;
      }
    }
    return changed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    open_ends = false;
    for (const GroupLedger& group : run_.state.ledger.groups) {
      for (uint64_t seq = group.first(); seq < group.end(); ++seq) {
        bool reached = false;
        for (uint32_t p = 0; p < group.members(); ++p) reached |= knows(group.arrival(seq, p));
        if (!reached) continue;
        open_ends |= group.head(seq).arrived < group.members();
        for (uint32_t p = 0; p < group.members(); ++p) {
          if (group.arrival(seq, p).arrived) changed |= learn(group.arrival(seq, p));
        }
      }
    }
    for (const Pair& pair : run_.state.ledger.pairs) {
      if (!knows(pair.send) && !knows(pair.recv)) continue;
      open_ends |= !pair.send.arrived || !pair.recv.arrived;
      if (pair.send.arrived) changed |= learn(pair.send);
      if (pair.recv.arrived) changed |= learn(pair.recv);
    }
  }
  if (first.sequence <= at(rank, first.stream)) return Order::kOrdered;
  const auto is_first = [&](const Arrival& a) {
    return a.arrived && task_rank(a.task) == rank && a.stream == first.stream &&
           a.stream_sequence == first.sequence && a.code == first.code;
  };
  const auto has_been_read = [&](const Pair& pair) {
    return is_first(pair.send) && knows(pair.recv);
  };
  if (first.kind == AccessRecord::Kind::kRead &&
      std::any_of(run_.state.ledger.pairs.begin(), run_.state.ledger.pairs.end(), has_been_read))
    return Order::kOrdered;
  return open_ends ? Order::kUnknown : Order::kUnordered;
}

void RaceDetector::revisit_suspicions(bool last_chance) {
  std::vector<PossibleRace> open = std::move(run_.state.possible_races);
  run_.state.possible_races.clear();
  for (PossibleRace& suspicion : open) {
    const Order order = order_through_others(suspicion.rank, suspicion.clock, suspicion.first);
    if (order == Order::kUnordered || (order == Order::kUnknown && last_chance)) {
      report_race(suspicion);
    } else if (order == Order::kUnknown) {
      run_.state.possible_races.push_back(std::move(suspicion));
    }
  }
}

void RaceDetector::check_group_overlap(const Step& step, std::span<const ResolvedCall> members) {
  if (!run_.checks_all()) return;
  const auto span_of = [](const BufferAccess& touch) {
    AccessRecord a;
    a.lo = touch.range.lo;
    a.hi = touch.range.hi;
    a.shape = touch.shape;
    return a;
  };
  const auto check = [&](const BufferAccess& first, const BufferAccess& second) {
    const bool first_writes = first.access != Access::kRead;
    const bool second_writes = second.access != Access::kRead;
    if (first.slot != second.slot || !(first_writes || second_writes)) return;
    if (!overlap(span_of(first), span_of(second))) return;
    const char* id = !second_writes ? "race_raw" : !first_writes ? "race_war" : "race_waw";
    add_race(id, step.rank, first.code, second.code, [&] {
      return fmt::format(
          "rank {}: {} {} {}, which {} of the same group {}{}; members of a group run together",
          step.rank, faults_.name_of(second.code), second_writes ? "writes" : "reads",
          run_.code->register_name(second.reg), faults_.name_of(first.code),
          first_writes ? "writes" : "reads",
          first.reg == second.reg ? "" : " as " + run_.code->register_name(first.reg));
    });
  };
  for (size_t j = 1; j < members.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      for (const BufferAccess& first : members[i].accesses) {
        for (const BufferAccess& second : members[j].accesses) check(first, second);
      }
    }
  }
}

// A race of two instructions is reported once; the other ranks on which it occurs are added to that
// report.
void RaceDetector::add_race(const std::string& id, Rank rank, CodeIndex first, CodeIndex second,
                            const std::function<std::string()>& sentence) {
  const std::vector<std::string> where = {run_.code->address(second), run_.code->address(first)};
  for (Fault& known : run_.state.faults) {
    if (known.record.kind != id || known.record.instructions != where) continue;
    add_once(known.record.ranks, rank);
    return;
  }
  Fault fault;
  fault.fatal = false;
  fault.record.kind = id;
  fault.record.sentence = sentence();
  fault.record.ranks = {rank};
  fault.record.instructions = where;
  fault.record.notes = {fmt::format("rank {} was at {}", rank, faults_.name_of(second)),
                        fmt::format("the other access is {}", faults_.name_of(first))};
  fault.spans = {run_.code->source(second).span, run_.code->source(first).span};
  faults_.add(std::move(fault));
}

void RaceDetector::name_other_ranks() {
  for (Fault& fault : run_.state.faults) {
    const std::string& kind = fault.record.kind;
    const bool by_rank =
        kind.starts_with("race_") || kind == "free_in_flight" || kind == "uninitialised_read";
    std::vector<Rank> others = fault.record.ranks;
    if (!by_rank || others.size() < 2) continue;
    others.erase(others.begin());
    std::sort(others.begin(), others.end());
    fault.record.notes.push_back("the same on " + model::list_of(others));
  }
}

// Text about the access: the bytes that both touch, the buffer's other name, the iteration.
std::string RaceDetector::touched_text(const PossibleRace& suspicion) const {
  const AccessRecord& a = suspicion.first;
  const AccessRecord& b = suspicion.second;
  std::string text =
      fmt::format("; both touch bytes {}:{}", std::max(a.lo, b.lo), std::min(a.hi, b.hi));
  const std::string name = run_.code->register_name(suspicion.reg);
  const CodeInstruction& c = run_.code->instructions[a.code];
  const std::vector<Operand>& operands = run_.code->source(a.code).operands;
  std::vector<std::string> names;
  for (size_t o = 0; o < c.operands.size() && o < operands.size(); ++o) {
    const Access access = operands[o].access;
    const bool fits = a.kind == AccessRecord::Kind::kRead ? reads(access) : writes(access);
    if (fits && c.operands[o] != kNoRegister)
      names.push_back(run_.code->register_name(c.operands[o]));
  }
  if (names.size() == 1 && names.front() != name)
    text += fmt::format(" of the same buffer, known there as {}", names.front());
  const std::string path = run_.paths.to_string(*run_.code, suspicion.path);
  return path.empty() ? text : text + fmt::format(" ({})", path);
}

void RaceDetector::report_race(const PossibleRace& suspicion) {
  using Kind = AccessRecord::Kind;
  const AccessRecord& a = suspicion.first;
  const AccessRecord& b = suspicion.second;
  const bool freed = record(run_.code->instructions[b.code].kind).role == HostRole::kFree;
  const char* id = freed                   ? "free_in_flight"
                   : b.kind == Kind::kRead ? "race_raw"
                   : a.kind == Kind::kRead ? "race_war"
                                           : "race_waw";
  const char* did = a.kind == Kind::kRead    ? "reads"
                    : a.kind == Kind::kAlloc ? "allocates"
                                             : "writes";
  const char* does = freed ? "frees" : b.kind == Kind::kRead ? "reads" : "writes";
  add_race(id, suspicion.rank, a.code, b.code, [&] {
    return fmt::format(
        "rank {}: {} {} {} on stream \"{}\" without waiting for {}, which {} it on stream \"{}\"{}",
        suspicion.rank, faults_.name_of(b.code), does, run_.code->register_name(suspicion.reg),
        run_.code->streams[b.stream], faults_.name_of(a.code), did, run_.code->streams[a.stream],
        touched_text(suspicion));
  });
}

}  // namespace hostir::interp
