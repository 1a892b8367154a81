#include "traces/writer/trace_writer.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "traces/writer/ring.h"
#include "traces/writer/row_writer.h"

namespace hostir::traces {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kCommitInterval = std::chrono::milliseconds(100);
// Work in flight for longer is committed as it is, and written again when it finishes.
constexpr auto kDrainInterval = std::chrono::milliseconds(300);
constexpr auto kShortestNap = std::chrono::microseconds(100);
constexpr auto kLongestNap = std::chrono::milliseconds(10);
constexpr int kRecordsPerLook = 4096;  // between two checks of the clock

}  // namespace

struct TraceWriter::Impl {
  Impl(std::unique_ptr<RowWriter> writer, const TraceOptions& trace_options)
      : options(trace_options),
        rows(std::move(writer)),
        ring(static_cast<size_t>(std::max<int64_t>(options.ring_bytes, 0)) / 8) {
    thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  ~Impl() {
    if (thread.joinable()) finish({});
  }

  // ---- the interpreter's thread

  template <class Record>
  void put(RecordTag tag, const Record& record) {
    put_record(ring.reserve(record_words<Record>()), tag, record);
    ring.commit();
  }
  void send(WriterCommand command) {
    put(RecordTag::kCommand, new WriterCommand(std::move(command)));  // owned by run_command()
  }
  /// Waits until the writer's thread has done everything so far.
  void wait_for_command(WriterCommand command) {
    // Shared, because this thread may wake up and return between the store and the notification.
    const auto done = std::make_shared<std::atomic<bool>>(false);
    send([command = std::move(command), done] {
      command();
      done->store(true, std::memory_order_release);
      done->notify_one();
    });
    done->wait(false, std::memory_order_acquire);
  }
  void finish(const std::string& outcome) {
    wait_for_command([this, outcome] { note(rows->close(outcome, 0)); });
    thread.request_stop();
    thread.join();
  }

  // ---- the writer's thread

  void work(const std::stop_token& stop) {
    auto last_commit = Clock::now();
    auto last_drain = last_commit;
    std::chrono::microseconds nap = kShortestNap;
    bool settled = true;  // nothing happened since the last full commit
    while (true) {
      if (take_records()) {
        nap = kShortestNap;
        settled = false;
        const auto now = Clock::now();
        if (now - last_commit < kCommitInterval) continue;
        const bool drains = now - last_drain >= kDrainInterval;
        commit(drains ? RowWriter::Extent::kAll : RowWriter::Extent::kComplete);
        last_commit = Clock::now();
        if (drains) last_drain = last_commit;
        continue;
      }
      ring.publish();
      if (stop.stop_requested()) return;
      if (!settled && Clock::now() - last_commit >= kCommitInterval) {
        commit(RowWriter::Extent::kAll);
        settled = true;
        last_commit = Clock::now();
      }
      std::this_thread::sleep_for(nap);
      nap = std::min<std::chrono::microseconds>(nap * 2, kLongestNap);
    }
  }

  bool take_records() {
    for (int i = 0; i < kRecordsPerLook; ++i) {
      const std::span<const uint64_t> record = ring.peek();
      if (record.empty()) return i > 0;
      take(record);
      ring.release(record);
    }
    return true;
  }

  void take(std::span<const uint64_t> record) {
    switch (static_cast<RecordTag>(record[0])) {
      case RecordTag::kCalled:
        return write([&] { return rows->called(get_record<interp::CallRecord>(record)); });
      case RecordTag::kIssued:
        return write([&] { return rows->issued(get_record<interp::IssuedRecord>(record)); });
      case RecordTag::kFinished:
        return write([&] { return rows->finished(get_record<interp::FinishedRecord>(record)); });
      case RecordTag::kLoopPath:
        return write([&] { return rows->loop_path(get_record<LoopPathRecord>(record)); });
      case RecordTag::kValue:
        return write([&] { return rows->value(get_record<ValueRecord>(record), {}); });
      case RecordTag::kCommand: {
        const std::unique_ptr<WriterCommand> command(get_record<WriterCommand*>(record));
        return (*command)();
      }
    }
  }

  template <class Function>
  void write(Function function) {
    if (!failed) note(function());
  }
  void commit(RowWriter::Extent extent) {
    write([&] { return rows->commit(extent); });
  }
  /// Keeps the first error; nothing is written afterwards.
  void note(Expected<void> result) {
    if (result || failed) return;
    failed = true;
    error = std::move(result.error());
  }

  const TraceOptions options;
  std::unique_ptr<RowWriter> rows;
  WordRing ring;
  bool failed = false;  // guards `error`: belongs to the writer's thread until it finishes an
                        // command that is waited for
  Error error;
  std::jthread thread;
};

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceWriter::~TraceWriter() = default;

Expected<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::string& path,
                                                           const RunDescription& run,
                                                           const TraceOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(std::unique_ptr<RowWriter> rows, RowWriter::create(path, run, options));
  return std::unique_ptr<TraceWriter>(
      new TraceWriter(std::make_unique<Impl>(std::move(rows), options)));
}

void TraceWriter::kernels(std::vector<KernelDescription> kernels) {
  impl_->send([impl = impl_.get(), kernels = std::move(kernels)] {
    impl->write([&] { return impl->rows->kernels(kernels); });
  });
}

void TraceWriter::property(const std::string& key, const std::string& value) {
  impl_->send([impl = impl_.get(), key, value] {
    impl->write([&] { return impl->rows->property(key, value); });
  });
}

void TraceWriter::called(const interp::CallRecord& record) {
  impl_->put(RecordTag::kCalled, record);
}
void TraceWriter::issued(const interp::IssuedRecord& record) {
  impl_->put(RecordTag::kIssued, record);
}
void TraceWriter::finished(const interp::FinishedRecord& record) {
  impl_->put(RecordTag::kFinished, record);
}
void TraceWriter::loop_path(interp::LoopPathId id, interp::LoopPathId parent,
                            interp::CodeIndex loop, int64_t iteration) {
  impl_->put(RecordTag::kLoopPath, LoopPathRecord{id, parent, loop, iteration});
}

void TraceWriter::value(const interp::ValueSummary& s) {
  const ValueRecord record{
      s.task, s.rank, s.allocation.index, s.operand,  s.has_stats ? 1U : 0U, s.digest, s.min,
      s.max,  s.mean, s.nan_count,        s.inf_count};
  if (s.data.empty()) return impl_->put(RecordTag::kValue, record);
  // The contents are valid only during this call.
  impl_->send(
      [impl = impl_.get(), record, data = std::vector<std::byte>(s.data.begin(), s.data.end())] {
        impl->write([&] { return impl->rows->value(record, data); });
      });
}

void TraceWriter::decision(const interp::DecisionRecord& record) {
  impl_->send(
      [impl = impl_.get(), record] { impl->write([&] { return impl->rows->decision(record); }); });
}

void TraceWriter::fault(const interp::FaultRecord& record) {
  impl_->send(
      [impl = impl_.get(), record] { impl->write([&] { return impl->rows->fault(record); }); });
}

void TraceWriter::rank_state(const interp::RankStateRecord& record) {
  impl_->send([impl = impl_.get(), record] {
    impl->write([&] { return impl->rows->rank_state(record); });
  });
}

Expected<void> TraceWriter::flush() {
  if (!impl_->thread.joinable()) return {};
  impl_->wait_for_command([impl = impl_.get()] { impl->commit(RowWriter::Extent::kAll); });
  if (impl_->failed) return tl::unexpected(impl_->error);
  return {};
}

Expected<TraceStatistics> TraceWriter::close(const std::string& outcome) {
  if (impl_->thread.joinable()) impl_->finish(outcome);
  if (impl_->failed) return tl::unexpected(impl_->error);
  return TraceStatistics{impl_->rows->event_count(), impl_->ring.stalls()};
}

}  // namespace hostir::traces
