// A hash of an interpreter's whole state, for comparing states that must be bitwise equal.
#pragma once

#include "hostir/support/hash.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

class StateHash {
 public:
  void add(uint64_t v) { words_.push_back(v); }
  void add(int64_t v) { add(static_cast<uint64_t>(v)); }
  void add(uint32_t v) { add(uint64_t{v}); }
  void add(bool v) { add(uint64_t{v}); }
  void add(const std::string& text) { add(hash_of(text)); }
  void add(const Tensor& tensor) { add(hash_of(tensor.data)); }
  uint64_t value() const { return hash_of(words_); }

 private:
  std::vector<uint64_t> words_;
};

inline void add_arrival(StateHash& hash, const Arrival& a) {
  hash.add(a.arrived);
  if (!a.arrived) return;
  hash.add(a.fingerprint);
  hash.add(a.task);
  hash.add(a.arrived_ns);
  hash.add(a.finished);
  hash.add(a.started_ns);
  hash.add(a.finished_ns);
}

inline void add_rank(StateHash& hash, const RunContext& run, Rank index) {
  const RankState& r = run.state.ranks[static_cast<size_t>(index)];
  hash.add(r.pc);
  hash.add(static_cast<uint32_t>(r.status));
  hash.add(r.frozen);
  hash.add(r.clock_ns);
  hash.add(r.steps);
  hash.add(r.waits_for);
  hash.add(r.loop_path);
  hash.add(r.live_bytes);
  hash.add(r.peak_bytes);
  hash.add(r.tasks.next_number());
  for (const Register& reg : r.registers) {
    hash.add(reg.value);
    hash.add(reg.offset_bytes);
    hash.add(reg.slot);
    hash.add(reg.generation);
    hash.add(reg.shape);
  }
  for (const TaskRecord& t : r.tasks.all()) {
    hash.add(t.number);
    hash.add(t.code);
    hash.add(t.issued_ns);
    hash.add(t.started_ns);
    hash.add(t.finished_ns);
  }
  for (const uint32_t c : r.clocks) hash.add(c);
  const bool contents = run.backend.capabilities().reads_values;
  for (const Allocation& a : r.allocations) {
    hash.add(a.live);
    if (!a.live) continue;
    hash.add(a.id.index);
    hash.add(a.version);
    hash.add(a.initialised);
    hash.add(a.layout);
    if (!contents || a.placement == nullptr || a.bytes == 0) continue;
    BufferRef ref;
    ref.allocation = a.id;
    ref.size_bytes = a.placement->local_bytes();
    ref.placement = a.placement;
    ref.access = Access::kRead;
    const Expected<Tensor> value = run.backend.read(index, ref, a.placement->box);
    if (value) hash.add(*value);
  }
}

/// Includes the buffer contents if the backend can read them.
inline uint64_t digest_of(const Interpreter& interpreter) {
  StateHash hash;
  const Engine& engine = interpreter.engine();
  const State& state = engine.run.state;
  hash.add(state.position);
  hash.add(state.in_flight);
  hash.add(state.failed);
  for (Rank r = 0; r < engine.run.code->rank_count; ++r) add_rank(hash, engine.run, r);
  for (const GroupLedger& group : state.ledger.groups) {
    hash.add(group.end());
    for (uint64_t s = group.first(); s < group.end(); ++s) {
      for (uint32_t p = 0; p < group.members(); ++p) add_arrival(hash, group.arrival(s, p));
    }
  }
  for (const Pair& pair : state.ledger.pairs) {
    add_arrival(hash, pair.send);
    add_arrival(hash, pair.recv);
  }
  for (const Fault& f : state.faults) hash.add(f.record.sentence);
  return hash.value();
}

}  // namespace hostir::interp
