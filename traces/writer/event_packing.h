// Events packed as JSON, many in one row of `event_block`.
//
// With JSON, the view `event` can unpack a block with functions that every SQLite >= 3.38 has, so
// that `sqlite3` and pandas can still read a log of millions of events. Numbers are differences
// from bases in the block's row, which keeps them short; NULLs at the end of a row are omitted.
// Invariant: unpack(pack(events)) == events, and the view gives the same cells. The text of a block
// may be damaged: unpacking checks everything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/log/log_records.h"

namespace hostir::traces {

/// The number of a task in the log; kNull for none.
int64_t task_cell(interp::TaskId task);

/// The bases of the numbers in a block, and its summary.
struct BlockHeader {
  int64_t first_id = 0;
  int64_t last_id = 0;
  int64_t row_count = 0;
  int64_t branch = 0;
  int64_t base_decision = 0;
  int64_t base_task = 0;
  int64_t base_ns = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t checksum = 0;
};

/// Collects events of one branch, in order of id, into a block.
class BlockPacker {
 public:
  bool empty() const { return header_.row_count == 0; }
  int64_t row_count() const { return header_.row_count; }
  /// True if the event can be added to the current block.
  bool accepts(const interp::LogEvent& event) const;
  void add(const interp::LogEvent& event);
  /// Completes the text and the checksum; the block can then be written and `clear()`ed.
  const BlockHeader& finish();
  std::string_view text() const { return {text_.data(), size_}; }
  void clear();

 private:
  void put(char c) { text_[size_++] = c; }
  void put_cell(int64_t value, int64_t base);

  BlockHeader header_;
  std::string text_;  // capacity; `size_` of it is used
  size_t size_ = 0;
  size_t pending_nulls_ = 0;  // written only if a number follows
};

/// Appends the block's events to `out`. Errors: `log_damaged` where the text is not what a packer
/// writes or the checksum differs.
Expected<void> unpack_block(const BlockHeader& header, std::string_view text,
                            std::vector<interp::LogEvent>& out);

/// Like `unpack_block`, but only the events with these ids (ascending); ids that are not in the
/// block are skipped. Skipped events cost little.
Expected<void> unpack_some(const BlockHeader& header, std::string_view text,
                           std::span<const int64_t> ids, std::vector<interp::LogEvent>& out);

}  // namespace hostir::traces
