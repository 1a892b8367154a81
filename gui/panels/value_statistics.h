// Smallest, largest, mean, NaN, Inf and the histogram of what the Values panel shows.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/panel.h"
#include "hostir/ir/tensor.h"

namespace hostir::gui {

struct Statistics {  // of the finite elements
  double min = 0;
  double max = 0;
  double mean = 0;
  int64_t nans = 0;
  int64_t infs = 0;
  std::vector<float> histogram;  // 32 bins from min to max; empty where nothing is finite
};
Statistics statistics_of(const Tensor& tensor);

class ValueStatistics {
 public:
  /// Made once per reading. `part`: the reading is a part of the tensor, which is said, so that no
  /// number is taken for one of the whole.
  void draw(Frame& frame, const ReadingSlot& slot, bool part);
  /// Of the reading that was drawn last.
  const Statistics& shown() const { return shown_; }

 private:
  Statistics shown_;
  uint64_t of_ = 0;  // serial of the reading
};

}  // namespace hostir::gui
