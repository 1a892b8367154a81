#include "gui/state/readings.h"

#include <tuple>
#include <utility>

namespace hostir::gui {

namespace {

constexpr int64_t kEntryBytes = 512;  // approximate, including its map entries

int64_t bytes_of_reading(const ReadingPtr& reading) {
  return reading ? static_cast<int64_t>(reading->tensor.data.size() + sizeof(*reading)) : 0;
}

}  // namespace

// A whole value is the same whichever rank reads it.
bool Readings::Less::operator()(const interp::ValueQuery& a, const interp::ValueQuery& b) const {
  const auto rank = [](const interp::ValueQuery& q) {
    return q.from == interp::ValueQuery::From::kRank ? q.rank : interp::kNoRank;
  };
  const auto head = [&](const interp::ValueQuery& q) {
    return std::tuple(q.from, rank(q), q.partial, q.box.has_value());
  };
  if (a.value != b.value) return a.value < b.value;
  if (head(a) != head(b)) return head(a) < head(b);
  if (!a.box) return false;
  return std::tie(a.box->lo, a.box->hi) < std::tie(b.box->lo, b.box->hi);
}

int64_t Readings::bytes_of(const Entry& entry) {
  return kEntryBytes + bytes_of_reading(entry.slot.reading) + bytes_of_reading(entry.previous);
}

Readings::Entry& Readings::use(const interp::ValueQuery& query) {
  const auto known = by_query_.find(query);
  if (known != by_query_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
  } else {
    entries_.emplace_front();
    Entry& entry = entries_.front();
    entry.query = query;
    entry.key = ++last_key_;
    entry.move = moves_;
    by_query_.emplace(query, entries_.begin());
    by_key_.emplace(entry.key, entries_.begin());
    bytes_ += bytes_of(entry);
  }
  entries_.front().frame = frame_;
  return entries_.front();
}

void Readings::put(uint64_t key, const interp::Position& position, ReadingPtr reading,
                   std::string error) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return;
  Entry& entry = *known->second;
  bytes_ -= bytes_of(entry);
  if (std::exchange(entry.move, moves_) != moves_) entry.previous = std::move(entry.slot.reading);
  entry.slot.position = position;
  entry.slot.reading = std::move(reading);
  entry.slot.serial = ++last_serial_;
  entry.slot.error = std::move(error);
  entry.slot.pending = false;
  bytes_ += bytes_of(entry);
}

ReadingPtr Readings::before(const interp::ValueQuery& query) const {
  const auto known = by_query_.find(query);
  if (known == by_query_.end()) return nullptr;
  const Entry& entry = *known->second;
  return entry.move == moves_ ? entry.previous : entry.slot.reading;
}

std::vector<uint64_t> Readings::begin_frame() {
  std::vector<uint64_t> unanswered;
  const uint64_t last = frame_++;
  while (bytes_ > budget_bytes_ && !entries_.empty() && entries_.back().frame < last) {
    const Entry& entry = entries_.back();
    if (entry.asked && entry.slot.pending) unanswered.push_back(entry.key);
    bytes_ -= bytes_of(entry);
    by_query_.erase(entry.query);
    by_key_.erase(entry.key);
    entries_.pop_back();
  }
  return unanswered;
}

void Readings::clear() {
  by_query_.clear();
  by_key_.clear();
  entries_.clear();
  bytes_ = 0;
}

}  // namespace hostir::gui
