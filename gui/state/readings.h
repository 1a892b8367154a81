// A cache of values that were read, for panels that show them every frame.
//
// A reading is shared and never copied. When the readings exceed their budget, the least recently
// used ones are dropped; readings shown in the last frame stay. Single-threaded.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/session/values/value_query.h"

namespace hostir::gui {

using ReadingPtr = std::shared_ptr<const interp::ValueReading>;

/// A value that was read, or the reason why it could not be.
struct ReadingSlot {
  interp::Position position;
  ReadingPtr reading;
  uint64_t serial = 0;  // identifies `reading`, never reused: a key for derived data
  std::string error;
  bool pending = true;
};

class Readings {
 public:
  static constexpr int64_t kBudgetBytes = int64_t{64} << 20;
  explicit Readings(int64_t budget_bytes = kBudgetBytes) : budget_bytes_(budget_bytes) {}

  struct Entry {
    interp::ValueQuery query;
    ReadingSlot slot;
    uint64_t key = 0;    // identifies the entry to the worker; never reused
    bool asked = false;  // the worker was asked to read it
    // For `before`: what `slot` held before move number `move`, if that is the latest move.
    ReadingPtr previous;
    uint64_t move = 0;
    uint64_t frame = 0;  // the last frame that used it
  };

  /// The entry of a query, created if there is none. Marks it as used in this frame. Valid until
  /// the next `begin_frame`.
  Entry& use(const interp::ValueQuery& query);
  /// Stores an answer; ignored if the entry was dropped in the meantime.
  void put(uint64_t key, const interp::Position& position, ReadingPtr reading, std::string error);
  /// The position changed: current readings become the previous ones. O(1).
  void moved() { ++moves_; }
  /// The reading before the last move; may be null.
  ReadingPtr before(const interp::ValueQuery& query) const;

  /// Drops entries that exceed the budget. Returns the keys of entries that were dropped before
  /// they were answered.
  std::vector<uint64_t> begin_frame();
  void clear();

  int64_t bytes() const { return bytes_; }  // approximate total of all entries
  size_t count() const { return entries_.size(); }

 private:
  struct Less {
    bool operator()(const interp::ValueQuery& a, const interp::ValueQuery& b) const;
  };
  using List = std::list<Entry>;  // most recently used first
  static int64_t bytes_of(const Entry& entry);

  int64_t budget_bytes_;
  int64_t bytes_ = 0;
  List entries_;
  std::map<interp::ValueQuery, List::iterator, Less> by_query_;
  std::unordered_map<uint64_t, List::iterator> by_key_;
  uint64_t last_key_ = 0;
  uint64_t last_serial_ = 0;
  uint64_t moves_ = 0;
  uint64_t frame_ = 1;
};

}  // namespace hostir::gui
