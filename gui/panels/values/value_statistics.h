// Minimum, maximum, mean, NaN and Inf counts and histogram of the tensor shown in the Values panel.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/tree/panel.h"
#include "hostir/ir/tensor.h"

namespace hostir::gui {

struct Statistics {  // over the finite elements
  double min = 0;
  double max = 0;
  double mean = 0;
  int64_t nans = 0;
  int64_t infs = 0;
  std::vector<float> histogram;  // 32 bins from min to max; empty if no element is finite
};
Statistics statistics_of(const Tensor& tensor);

class ValueStatistics {
 public:
  /// Computes once per reading, and draws. `part`: the reading covers only part of the tensor, and
  /// the text says so.
  void draw(Frame& frame, const ReadingSlot& slot, bool part);
  /// Computes only.
  void take(const ReadingSlot& slot);
  /// Statistics of the reading drawn last.
  const Statistics& shown() const { return shown_; }

 private:
  Statistics shown_;
  uint64_t of_ = 0;  // serial of the reading
};

}  // namespace hostir::gui
