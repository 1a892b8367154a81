// After a mismatch: what each rank called, field by field, with the differing fields marked.
#pragma once

#include "gui/panels/waits/called.h"
#include "gui/tree/panel.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

class CalledTable {
 public:
  /// The height that draw() uses, in the current style.
  float wanted_height(const Frame& frame);
  /// Draws into the free space of the current window: Model::mismatch(), which must not be null.
  void draw(Frame& frame);

 private:
  void read(const Frame& frame);

  interp::SnapshotPtr shot_;  // `called_` points into it
  Called called_;
};

}  // namespace hostir::gui
