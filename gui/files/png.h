// PNG files, and comparison of screenshots.
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
  /// The pixels inside a rectangle, as far as they are inside the image.
  Image part(float min_x, float min_y, float max_x, float max_y) const;
};

Expected<void> write_png(const std::string& path, const Image& image);
Expected<Image> read_png(const std::string& path);

/// A square region of two pictures, and the number of pixels that differ in it.
struct PictureTile {
  int x = 0;  // upper left corner
  int y = 0;
  int pixels = 0;
};
constexpr int kPictureTile = 50;
/// Of all squares with sides of `kPictureTile` pixels, returns the one with most pixels whose
/// difference in some channel exceeds `threshold` (of 255). The pictures must have the same size.
/// Squares overlap by half, so that each letter is entirely inside one of them.
PictureTile worst_tile(const Image& a, const Image& b, int threshold);
/// Empty if two pictures look the same: they have the same size, and no tile has more than
/// `kSamePixels` pixels that differ by more than `kSameThreshold`. Otherwise says what differs and
/// where. A single changed digit exceeds the limit (a test checks this).
std::string why_not_same(const Image& shown, const Image& wanted);
constexpr int kSameThreshold = 8;
constexpr int kSamePixels = 6;
/// `a` in dim grey, with differing pixels in red; `a` unchanged if the sizes differ.
Image difference(const Image& a, const Image& b, int threshold);

}  // namespace hostir::gui
