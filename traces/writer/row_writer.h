// The writer thread's side: receives records and writes the tables.
//
// Owns the database connection while events arrive. Every function returns the first error; the
// caller must then stop writing. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interp/core/trace_sink.h"
#include "traces/database/static_rows.h"
#include "traces/timeline/timeline_store.h"
#include "traces/writer/event_assembler.h"
#include "traces/writer/event_store.h"
#include "traces/writer/ring_records.h"
#include "traces/writer/trace_writer.h"

namespace hostir::traces {

class RowWriter {
 public:
  static Expected<std::unique_ptr<RowWriter>> create(const std::string& path,
                                                     const RunDescription& run,
                                                     const TraceOptions& options);

  Expected<void> kernels(const std::vector<KernelDescription>& kernels);
  Expected<void> property(const std::string& key, const std::string& value);
  Expected<void> called(const interp::CallRecord& record);
  Expected<void> issued(const interp::IssuedRecord& record);
  Expected<void> finished(const interp::FinishedRecord& record);
  Expected<void> loop_path(const LoopPathRecord& record);
  /// `data`: the contents, or empty.
  Expected<void> value(const ValueRecord& record, std::span<const std::byte> data);
  Expected<void> decision(const interp::DecisionRecord& record);
  Expected<void> fault(const interp::FaultRecord& record);
  Expected<void> rank_state(const interp::RankStateRecord& record);

  enum class Extent : uint8_t { kComplete, kAll };  // kAll: including work in flight
  Expected<void> commit(Extent extent);
  Expected<void> close(std::string outcome, uint64_t dropped);

  int64_t event_count() const { return assembler_.event_count(); }

 private:
  explicit RowWriter(Database database);
  Expected<void> prepare(const RunDescription& run, const TraceOptions& options);
  void deliver(const AssembledEvent& assembled, EventAssembler::Delivery delivery);
  Expected<void> insert_collective(RowInserter& rows, const AssembledEvent& assembled);
  Expected<void> insert_data(uint64_t digest, std::span<const std::byte> data);
  Expected<void> write_call(const interp::IssuedRecord& record);
  Expected<void> take_error();
  bool keeps_data(int64_t tensor) const;

  Database database_;
  ProgramDescription program_;
  std::vector<interp::CallRecord> calls_;  // by rank; belong to the next event
  std::map<std::pair<interp::CodeIndex, interp::Rank>, interp::CallRecord> written_calls_;
  std::vector<std::string> data_globs_;
  EventStore events_;
  TimelineStore timeline_;
  RowInserter collectives_;
  RowInserter late_collectives_;
  RowInserter loop_paths_;
  Statement insert_value_;
  Statement insert_data_;
  Statement insert_decision_;
  Statement insert_fault_;
  Statement insert_call_;
  Statement insert_state_;
  std::string first_fault_;
  bool closed_ = false;
  Expected<void> error_;  // of a delivery
  EventAssembler assembler_;
};

}  // namespace hostir::traces
