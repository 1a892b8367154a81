// What the Inside panel asks: which instruction, which element, and the answer while it is current.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model.h"
#include "interp/session/inside.h"

namespace hostir::gui {

/// The instruction is the one selected since the last move, else where the focus rank stands. The
/// element is the shared selection where the instruction writes it; what is selected beside that
/// (an operand that was clicked) leaves the element as it was.
class InsideFetch {
 public:
  /// Each frame. Null until the first answer; an older answer stays while a newer is computed.
  const interp::Inside* get(Model& model);
  const std::string& error() const { return slot_->error; }
  bool pending() const { return slot_->pending; }
  /// Whether the instruction is the selected one, not where the rank stands.
  bool follows_selection() const { return pinned_.has_value(); }

 private:
  interp::InsideQuery query_of(const Model& model);

  struct Key {
    interp::InsideQuery query;
    uint64_t generation = 0;
    uint64_t opened = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Slot {
    std::optional<Key> asked;
    bool pending = false;
    std::optional<interp::Inside> answer;
    std::string error;
  };
  std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
  uint64_t opened_ = 0;
  interp::Position position_;
  interp::Rank focus_ = interp::kNoRank;
  std::optional<interp::CodeIndex> seen_;    // the last frame's selection
  std::optional<interp::CodeIndex> pinned_;  // the selected instruction, if it is shown
  interp::CodeIndex chosen_for_ = interp::kAtRank;
  std::string value_;  // chosen, of `chosen_for_`
  std::vector<int64_t> element_;
};

}  // namespace hostir::gui
