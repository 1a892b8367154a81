// Pictures of the window.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::gui {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<unsigned char> rgb;  // rows from the top

  void flip_rows();
};

Expected<void> write_png(const std::string& path, const Image& image);
Expected<Image> read_png(const std::string& path);

/// How much two pictures of the same size differ: the share of pixels of which a channel differs by
/// more than `threshold` (of 255). 1 where the sizes differ.
double differing_share(const Image& a, const Image& b, int threshold);
/// `a` in dim grey with the pixels that differ in red; `a` itself where the sizes differ.
Image difference(const Image& a, const Image& b, int threshold);

}  // namespace hostir::gui
