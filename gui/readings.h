// Values that were read, for panels that show them every frame.
//
// A reading is shared and never copied. What nobody has looked at for longest is forgotten where
// the readings need more than their budget; what the last frame showed stays. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/session/value_query.h"

namespace hostir::gui {

using ReadingPtr = std::shared_ptr<const interp::ValueReading>;

/// A value as it was read, or why it could not be.
struct ReadingSlot {
  interp::Position position;
  ReadingPtr reading;
  uint64_t serial = 0;  // of `reading`, never given twice: what is made from it is kept by this
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
    uint64_t key = 0;    // names it to the worker; never given twice
    bool asked = false;  // the worker was asked for it
    // For `before`: what `slot` held at the move `move`, while nothing newer has moved.
    ReadingPtr previous;
    uint64_t move = 0;
    uint64_t frame = 0;  // that used it last
  };

  /// What is known of a query, made where nothing is; it counts as used in this frame. Valid until
  /// the next `begin_frame`.
  Entry& use(const interp::ValueQuery& query);
  /// An answer; one that was forgotten meanwhile is dropped.
  void put(uint64_t key, const interp::Position& position, ReadingPtr reading, std::string error);
  /// The position has changed: what is known now is what was there before. Costs nothing.
  void moved() { ++moves_; }
  /// What was known before the last move; may be null.
  ReadingPtr before(const interp::ValueQuery& query) const;

  /// Forgets what is too much. Returns the keys of what was forgotten before it was answered.
  std::vector<uint64_t> begin_frame();
  void clear();

  int64_t bytes() const { return bytes_; }  // of all that is kept, about
  size_t count() const { return entries_.size(); }

 private:
  struct Less {
    bool operator()(const interp::ValueQuery& a, const interp::ValueQuery& b) const;
  };
  using List = std::list<Entry>;  // used last comes first
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
