// How sink calls are encoded in the ring.
//
// Trivially copyable records are copied as words. Data that owns memory is passed as a pointer to
// a `WriterCommand`, which the writer's thread takes over. The first word is the tag.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>

#include "interp/core/trace_sink.h"

namespace hostir::traces {

enum class RecordTag : uint64_t { kCalled, kIssued, kFinished, kLoopPath, kValue, kCommand };

struct LoopPathRecord {
  interp::LoopPathId id = 0;
  interp::LoopPathId parent = 0;
  interp::CodeIndex loop = 0;
  int64_t iteration = 0;
};

/// A ValueSummary without its data.
struct ValueRecord {
  interp::TaskId task = interp::kNoTask;
  interp::Rank rank = 0;
  uint32_t allocation = 0;
  uint32_t operand = 0;
  uint32_t has_stats = 0;
  uint64_t digest = 0;
  double min = 0, max = 0, mean = 0;
  int64_t nan_count = 0, inf_count = 0;
};

/// Rare work for the writer's thread, or work that owns memory: faults, decisions, contents, flush.
using WriterCommand = std::function<void()>;

template <class Record>
constexpr size_t record_words() {
  static_assert(std::is_trivially_copyable_v<Record>);
  return 1 + (sizeof(Record) + 7) / 8;
}

template <class Record>
void put_record(uint64_t* words, RecordTag tag, const Record& record) {
  words[0] = static_cast<uint64_t>(tag);
  std::memcpy(words + 1, &record, sizeof(Record));
}

template <class Record>
Record get_record(std::span<const uint64_t> words) {
  Record record;
  std::memcpy(static_cast<void*>(&record), words.data() + 1, sizeof(Record));
  return record;
}

}  // namespace hostir::traces
