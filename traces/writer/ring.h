// The queue between the interpreter's thread and the writer's: bounded, lock-free, single-producer,
// single-consumer.
//
// Records are runs of 8-byte words, so that small ones stay small. A record never wraps: if it does
// not fit before the end, a filler skips the rest of the buffer. Each side caches the other's
// position and reads the shared one only when the cached one says "full" or "empty", so that in
// steady state the threads do not touch each other's cache lines. Waiting uses short sleeps: a
// system call per record would cost more than the record.
//
// The buffer is large for bursts, but a reader that keeps up needs little of it. Then the writer
// returns to the start after `kShortLap`: memory that was used before costs no page fault (2 us on
// virtual machines) and is in the cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

namespace hostir::traces {

class WordRing {
 public:
  /// `capacity_words` is rounded up to a power of two, at least 4096.
  explicit WordRing(size_t capacity_words)
      : capacity_(std::bit_ceil(capacity_words < 4096 ? size_t{4096} : capacity_words)),
        words_(std::make_unique_for_overwrite<uint64_t[]>(capacity_)) {}

  // ---- producer

  /// Reserves a record of `count` words (1..1024); waits while there is no room. Fill it, then call
  /// `commit()`.
  uint64_t* reserve(size_t count) {
    size_t need = count + 1;
    const size_t at = head_local_ & (capacity_ - 1);
    const size_t before_end = capacity_ - at;
    const bool wraps = before_end < need || (at >= next_look_ && may_return(at));
    if (wraps) need += before_end;
    if (head_local_ + need - tail_seen_ > capacity_) wait_for_room(need);
    if (wraps) {
      words_[at] = kFiller | before_end;
      head_local_ += before_end;
      next_look_ = kShortLap;
    }
    uint64_t* record = &words_[head_local_ & (capacity_ - 1)];
    record[0] = count;
    head_local_ += count + 1;
    return record + 1;
  }
  void commit() { head_.store(head_local_, std::memory_order_release); }

  /// The number of times the producer found the ring full.
  uint64_t stalls() const { return stalls_; }

  // ---- consumer

  /// The next record, or an empty span. It stays valid until `release()`.
  std::span<const uint64_t> peek() {
    while (true) {
      if (tail_local_ == head_seen_) {
        head_seen_ = head_.load(std::memory_order_acquire);
        if (tail_local_ == head_seen_) return {};
      }
      const uint64_t* record = &words_[tail_local_ & (capacity_ - 1)];
      if ((record[0] & kFiller) == 0) return {record + 1, record[0]};
      tail_local_ += record[0] & ~kFiller;
    }
  }
  /// Releases the record of the last `peek()`. The space is returned in batches: see `publish()`.
  void release(std::span<const uint64_t> record) {
    tail_local_ += record.size() + 1;
    if (tail_local_ - tail_published_ > std::min(capacity_ / 16, kShortLap / 4)) publish();
  }
  /// Returns all released space to the producer.
  void publish() {
    tail_published_ = tail_local_;
    tail_.store(tail_local_, std::memory_order_release);
  }

 private:
  static constexpr uint64_t kFiller = uint64_t{1} << 63;
  static constexpr size_t kShortLap = size_t{1} << 17;  // 1 MiB: 6,000 events

  // True if the reader is close enough for a return to the start. Looks at its position once per
  // quarter of a lap.
  bool may_return(size_t at) {
    tail_seen_ = tail_.load(std::memory_order_acquire);
    next_look_ = at + kShortLap / 4;
    return head_local_ - tail_seen_ <= kShortLap / 2;
  }

  void wait_for_room(size_t need) {
    tail_seen_ = tail_.load(std::memory_order_acquire);
    if (head_local_ + need - tail_seen_ <= capacity_) return;
    ++stalls_;
    while (head_local_ + need - tail_seen_ > capacity_) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      tail_seen_ = tail_.load(std::memory_order_acquire);
    }
  }

  const size_t capacity_;
  const std::unique_ptr<uint64_t[]> words_;

  alignas(64) std::atomic<uint64_t> head_ = 0;  // written by the producer
  uint64_t head_local_ = 0;
  uint64_t tail_seen_ = 0;
  size_t next_look_ = kShortLap;  // a position in the buffer
  uint64_t stalls_ = 0;

  alignas(64) std::atomic<uint64_t> tail_ = 0;  // written by the consumer
  uint64_t tail_local_ = 0;
  uint64_t head_seen_ = 0;
  uint64_t tail_published_ = 0;
};

}  // namespace hostir::traces
