// Events packed as JSON: many of them in one row of `event_block`.
//
// JSON, because then the view `event` unpacks a block with what every SQLite >= 3.38 has, and a log
// of millions of events is still read by `sqlite3` and pandas. Numbers count from bases that the
// block's row holds, so that they are short; NULLs at the end of a row are left out. Invariant:
// unpack(pack(events)) == events, and the view gives the same cells. The text of a block may be
// damaged: unpacking checks everything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/log_records.h"

namespace hostir::traces {

/// What the numbers in a block count from, and its summary.
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
  /// Whether the event can go into the block that is being made.
  bool accepts(const interp::LogEvent& event) const;
  void add(const interp::LogEvent& event);
  /// Closes the text and fills in the checksum; the block can then be written, then `clear()`ed.
  const BlockHeader& finish();
  std::string_view text() const { return {text_.data(), size_}; }
  void clear();

 private:
  void put(char c) { text_[size_++] = c; }
  void put_cell(int64_t value, int64_t base);

  BlockHeader header_;
  std::string text_;  // capacity; `size_` of it are used
  size_t size_ = 0;
  size_t pending_nulls_ = 0;  // written only if a number follows
};

uint64_t block_checksum(std::string_view text);

/// Appends the block's events to `out`. Errors: `log_damaged` where the text is not what a packer
/// writes or the checksum differs.
Expected<void> unpack_block(const BlockHeader& header, std::string_view text,
                            std::vector<interp::LogEvent>& out);

/// As `unpack_block`, but only the events with these ids (rising); ids that the block does not hold
/// are passed over. Costs little for what is not wanted.
Expected<void> unpack_some(const BlockHeader& header, std::string_view text,
                           std::span<const int64_t> ids, std::vector<interp::LogEvent>& out);

}  // namespace hostir::traces
