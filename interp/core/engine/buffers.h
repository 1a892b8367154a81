// What tasks do to buffers: uninitialised reads, written bytes, versions and layouts.
#pragma once

#include "interp/core/communication_facts.h"
#include "interp/core/engine/races.h"

namespace hostir::interp {

class Buffers {
 public:
  Buffers(RunContext& run, FaultReporter& faults, RaceDetector& races)
      : run_(run), faults_(faults), races_(races) {}

  /// Checks and records the accesses of the task just begun. `item` is set for communication. False
  /// after a fatal fault.
  bool note_accesses(Step& step, const IssuePlan& plan, const CommunicationItem* item = nullptr);
  /// Only the bytes that the communication reads and writes.
  BufferAccess access_of(const Step& step, const PlannedBuffer& planned, const BufferRef& ref,
                         const CommunicationItem& item) const;
  /// Processes one access of the task just begun on `stream`: checks, then version and layout.
  bool note_access(Step& step, StreamIndex stream, const BufferAccess& access) {
    Allocation& a = step.rank_state.allocations[access.slot];
    const bool writes = access.access != Access::kRead;
    if (run_.checks_all() && access.range.lo < access.range.hi) {
      if (!a.initialised && access.access != Access::kWrite && access.reads.lo < access.reads.hi &&
          !check_read(step, a, access.reg, access.reads, access.shape)) {
        return false;
      }
      const AccessRecord record{access.range.lo,
                                access.range.hi,
                                access.shape,
                                stream,
                                step.rank_state.streams[stream].issued,
                                access.code,
                                writes ? AccessRecord::Kind::kWrite : AccessRecord::Kind::kRead};
      if (!races_.note_access(step, a, access.reg, record)) return false;
    }
    if (writes) note_write(step, a, access);
    return true;
  }
  /// Reports a read of bytes that nothing has written. False after a fatal fault.
  bool check_read(Step& step, const Allocation& allocation, uint32_t reg, ByteRange range,
                  uint32_t shape);
  /// A read by the host, which must have waited for all writes.
  bool check_host_read(Step& step, const BufferRef& ref);
  void note_written(Allocation& allocation, ByteRange range, uint32_t shape);

 private:
  BufferAccess access_of(const Step& step, const PlannedBuffer& planned,
                         const BufferRef& ref) const {
    const Register& name = step.rank_state.registers[planned.reg];
    const ByteRange range{ref.offset_bytes, ref.offset_bytes + ref.size_bytes};
    return {name.slot,     planned.reg, name.shape, range, ref.access,
            planned.after, ref.after,   step.index, range};
  }
  void note_write(const Step& step, Allocation& allocation, const BufferAccess& access);

  RunContext& run_;
  FaultReporter& faults_;
  RaceDetector& races_;
};

}  // namespace hostir::interp
