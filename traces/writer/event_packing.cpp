#include "traces/writer/event_packing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "hostir/support/hash.h"
#include "traces/writer/row_inserter.h"

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogEvent;

int64_t task_cell(interp::TaskId task) {
  return task == interp::kNoTask ? kNull : static_cast<int64_t>(interp::task_number(task));
}

namespace {

constexpr size_t kCells = 16;
constexpr size_t kMaxRowChars = kCells * 21 + 8;
static_assert(kNull == kUnknownNs);

// Subtracts in two's complement: a damaged log may contain any numbers.
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

bool BlockPacker::accepts(const LogEvent& event) const {
  return empty() ||
         (header_.branch == static_cast<int64_t>(event.branch) && event.id > header_.last_id);
}

void BlockPacker::put_cell(int64_t value, int64_t base) {
  if (value == kNull) {
    ++pending_nulls_;
    return;
  }
  for (; pending_nulls_ > 0; --pending_nulls_) {
    for (const char c : {'n', 'u', 'l', 'l', ','}) put(c);
  }
  const int64_t number = minus(value, base);
  if (number >= 0 && number < 10) {  // most cells; faster than to_chars
    put(static_cast<char>('0' + number));
  } else if (number >= 0 && number < 100) {
    put(static_cast<char>('0' + number / 10));
    put(static_cast<char>('0' + number % 10));
  } else {
    char* begin = text_.data() + size_;
    size_ += static_cast<size_t>(std::to_chars(begin, begin + 21, number).ptr - begin);
  }
  put(',');
}

void BlockPacker::add(const LogEvent& event) {
  if (text_.size() < size_ + kMaxRowChars) text_.resize(2 * text_.size() + 4 * kMaxRowChars);
  const int64_t task = task_cell(event.task);
  const auto decision = static_cast<int64_t>(event.decision);
  if (empty()) {
    size_ = 0;
    put('[');
    header_.first_id = event.id;
    header_.branch = event.branch;
    header_.base_decision = decision;
    header_.base_task = task == kNull ? 0 : task;
    header_.base_ns = event.host_start_ns == kNull ? 0 : event.host_start_ns;
    header_.begin_ns = header_.base_ns;
    header_.end_ns = header_.base_ns;
  } else {
    put(',');
  }
  put('[');
  put_cell(event.id, header_.first_id);
  put_cell(decision, header_.base_decision);
  put_cell(event.rank, 0);
  put_cell(event.instruction, 0);
  put_cell(event.loop_path, 0);
  put_cell(event.host_start_ns, header_.base_ns);
  put_cell(event.host_end_ns, header_.base_ns);
  put_cell(event.bytes == 0 ? kNull : event.bytes, 0);
  put_cell(event.waited_ns == 0 ? kNull : event.waited_ns, 0);
  put_cell(event.stream < 0 ? kNull : event.stream, 0);
  put_cell(task, header_.base_task);
  put_cell(event.queued_ns, header_.base_ns);
  put_cell(event.start_ns, header_.base_ns);
  put_cell(event.finish_ns, header_.base_ns);
  put_cell(event.live_bytes < 0 ? kNull : event.live_bytes, 0);
  put_cell(task_cell(event.waited_for), header_.base_task);
  pending_nulls_ = 0;
  text_[size_ - 1] = ']';  // replaces the last comma

  header_.last_id = event.id;
  ++header_.row_count;
  if (event.host_start_ns != kNull)
    header_.begin_ns = std::min(header_.begin_ns, event.host_start_ns);
  if (event.host_end_ns != kNull) header_.end_ns = std::max(header_.end_ns, event.host_end_ns);
  if (event.finish_ns != kNull) header_.end_ns = std::max(header_.end_ns, event.finish_ns);
}

const BlockHeader& BlockPacker::finish() {
  put(']');
  header_.checksum = hash_of(text());
  return header_;
}

void BlockPacker::clear() {
  header_ = {};
  size_ = 0;
}

namespace {

/// Reads a number or `null`; nullptr for anything else. Most numbers are short: parsing them here
/// takes a third of the time of from_chars.
const char* parse_cell(const char* at, const char* end, int64_t& cell) {
  constexpr std::ptrdiff_t kSafeDigits = 18;
  if (end - at >= 4 && *at == 'n') {
    cell = kNull;
    return std::string_view(at, 4) == "null" ? at + 4 : nullptr;
  }
  const bool negative = at != end && *at == '-';
  const char* first = at + (negative ? 1 : 0);
  const char* digit = first;
  int64_t value = 0;
  while (digit != end && *digit >= '0' && *digit <= '9' && digit - first < kSafeDigits) {
    value = value * 10 + (*digit++ - '0');
  }
  if (digit == first) return nullptr;
  if (digit - first == kSafeDigits) {
    const auto [next, error] = std::from_chars(at, end, cell);
    return error == std::errc() ? next : nullptr;
  }
  cell = negative ? -value : value;
  return digit;
}

/// Reads `[n,n,null,...]` from `at`; false for anything else.
bool parse_row(const char*& at, const char* end, std::array<int64_t, kCells>& cells) {
  if (at == end || *at++ != '[') return false;
  for (size_t i = 0; i < kCells; ++i) {
    const char* next = parse_cell(at, end, cells[i]);
    if (next == nullptr || next == end) return false;
    at = next + 1;
    if (*next == ']') {
      std::fill(cells.begin() + static_cast<std::ptrdiff_t>(i) + 1, cells.end(), kNull);
      return true;
    }
    if (*next != ',') return false;
  }
  return false;
}

int64_t based(int64_t cell, int64_t base) { return cell == kNull ? kNull : plus(cell, base); }

bool fits_32(int64_t value) { return value >= 0 && value <= 0x7fffffff; }

/// False if a number is out of range for its field.
bool to_event(const BlockHeader& header, const std::array<int64_t, kCells>& c, LogEvent& event) {
  if (c[0] == kNull || c[1] == kNull || !fits_32(c[2]) || !fits_32(c[3]) || !fits_32(c[4])) {
    return false;
  }
  if (c[9] != kNull && !fits_32(c[9])) return false;
  event.id = plus(header.first_id, c[0]);
  event.branch = static_cast<uint32_t>(header.branch);
  event.decision = static_cast<uint64_t>(plus(header.base_decision, c[1]));
  event.rank = static_cast<interp::Rank>(c[2]);
  event.instruction = static_cast<interp::CodeIndex>(c[3]);
  event.loop_path = static_cast<interp::LoopPathId>(c[4]);
  event.host_start_ns = based(c[5], header.base_ns);
  event.host_end_ns = based(c[6], header.base_ns);
  event.bytes = c[7] == kNull ? 0 : c[7];
  event.waited_ns = c[8] == kNull ? 0 : c[8];
  event.stream = c[9] == kNull ? -1 : static_cast<int32_t>(c[9]);
  const auto task = [&](int64_t cell) {
    return cell == kNull ? interp::kNoTask
                         : interp::make_task_id(
                               event.rank, static_cast<uint64_t>(plus(cell, header.base_task)));
  };
  event.task = task(c[10]);
  event.queued_ns = based(c[11], header.base_ns);
  event.start_ns = based(c[12], header.base_ns);
  event.finish_ns = based(c[13], header.base_ns);
  event.live_bytes = c[14] == kNull ? -1 : c[14];
  event.waited_for = task(c[15]);
  return true;
}

}  // namespace

namespace {

tl::unexpected<Error> damaged_block(const BlockHeader& header) {
  return fail(
      ErrorKind::kRuntime, "log_damaged",
      fmt::format("the block of events {} to {} is damaged", header.first_id, header.last_id));
}

}  // namespace

Expected<void> unpack_some(const BlockHeader& header, std::string_view text,
                           std::span<const int64_t> ids, std::vector<LogEvent>& out) {
  if (hash_of(text) != header.checksum) return damaged_block(header);
  const char* at = text.data();
  const char* end = at + text.size();
  std::array<int64_t, kCells> cells;
  auto wanted = ids.begin();
  while (end - at > 2 && wanted != ids.end()) {
    ++at;  // the opening bracket, or the comma after a row
    const char* row = at;
    int64_t offset = 0;
    if (*at != '[' || parse_cell(at + 1, end, offset) == nullptr) return damaged_block(header);
    const int64_t id = plus(header.first_id, offset);
    while (wanted != ids.end() && *wanted < id) ++wanted;
    if (wanted == ids.end() || *wanted != id) {
      const auto left = static_cast<size_t>(end - at);
      const void* close = std::memchr(at, ']', left);
      if (close == nullptr) return damaged_block(header);
      at = static_cast<const char*>(close) + 1;
      continue;
    }
    LogEvent event;
    if (!parse_row(row, end, cells) || !to_event(header, cells, event)) {
      return damaged_block(header);
    }
    at = row;
    out.push_back(event);
  }
  return {};
}

Expected<void> unpack_block(const BlockHeader& header, std::string_view text,
                            std::vector<LogEvent>& out) {
  const auto damaged = [&] { return damaged_block(header); };
  if (hash_of(text) != header.checksum) return damaged();
  const char* at = text.data();
  const char* end = at + text.size();
  if (at == end || *at++ != '[') return damaged();
  int64_t count = 0;
  std::array<int64_t, kCells> cells;
  // A row takes at least four characters: this bounds the reservation if the count is damaged.
  const int64_t most = static_cast<int64_t>(text.size()) / 4;
  out.reserve(out.size() + static_cast<size_t>(std::clamp<int64_t>(header.row_count, 0, most)));
  while (true) {
    LogEvent event;
    if (!parse_row(at, end, cells) || !to_event(header, cells, event)) return damaged();
    out.push_back(event);
    ++count;
    if (at == end) return damaged();
    const char c = *at++;
    if (c == ']') break;
    if (c != ',') return damaged();
  }
  if (count != header.row_count || at != end) return damaged();
  return {};
}

}  // namespace hostir::traces
