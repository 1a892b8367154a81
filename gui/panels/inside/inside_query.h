// The query behind the Inside panel: which instruction, which element, and the current answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/state/model.h"
#include "interp/session/inside/inside.h"

namespace hostir::gui {

/// The instruction is the one selected since the last move, otherwise the one where the focus rank
/// is. The element is the shared selection if the instruction writes it; selecting anything else (a
/// clicked operand) leaves the element unchanged.
class InsideFetch {
 public:
  /// Call each frame. Null until the first answer; an older answer stays while a newer one is
  /// computed.
  const interp::Inside* get(Model& model);
  const std::string& error() const { return slot_->error; }
  bool pending() const { return slot_->pending; }
  /// True if the instruction is the selected one, false if it is the rank's current one.
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
  std::optional<interp::CodeIndex> seen_;    // the selection in the last frame
  std::optional<interp::CodeIndex> pinned_;  // the selected instruction, if it is shown
  interp::CodeIndex chosen_for_ = interp::kAtRank;
  std::string value_;  // the tensor chosen for `chosen_for_`
  std::vector<int64_t> element_;
};

}  // namespace hostir::gui
