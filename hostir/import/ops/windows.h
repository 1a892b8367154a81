// Windows that move over the dimensions of a tensor: convolution, reduce_window,
// select_and_scatter.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// The window over one dimension.
struct Window {
  int64_t width = 1;   // elements in the window
  int64_t apart = 1;   // distance between two of them
  int64_t stride = 1;  // distance between two places of the window
  int64_t low = 0;     // padding before the first element; a negative one removes elements
  int64_t high = 0;    // padding after the last element
  int64_t inside = 0;  // padding between two elements
  bool reversed = false;

  bool pads() const { return low != 0 || high != 0 || inside != 0; }
  bool is_trivial() const { return width == 1 && stride == 1 && !pads(); }
  /// The size of a dimension after padding; negative if there is none or a number is out of range.
  int64_t padded_size(int64_t size) const;
  /// The number of places over a dimension of `size` elements; 0 if the window does not fit.
  int64_t places(int64_t size) const;
};

/// The windows of these widths, from the attributes of an operation in any form. nullopt if a list
/// has another length or a number is out of range.
std::optional<std::vector<Window>> windows_of(const ModuleOp& op,
                                              const std::vector<int64_t>& widths);
/// Padding of each dimension by `value`, a scalar.
Expected<Known> padded(Emitter& e, const Known& x, const Known& value,
                       const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                       const std::vector<int64_t>& inside);
/// Padding as the windows say, one for each dimension.
Expected<Known> padded(Emitter& e, const Known& x, const Known& value,
                       const std::vector<Window>& windows);
/// Every `step`-th element of dimension `d` from `start`, `count` in all.
Expected<Known> every(Emitter& e, const Known& x, size_t d, int64_t start, int64_t count,
                      int64_t step);
/// The meaning of each dimension of a convolution's operands and result: b(atch), f(eature), i(n),
/// o(ut), or the number of a spatial one.
using Labels = std::vector<std::string>;
std::array<Labels, 3> convolution_labels(const ModuleOp& op);
/// Replaces dimension `d`, which is padded already, by two: the elements of a window, and its
/// places. Copies the elements.
Expected<Known> unfolded(Emitter& e, const Known& x, size_t d, const Window& w);

}  // namespace hostir::importer
