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

/// Pixels of a square of two pictures that differ.
struct PictureTile {
  int x = 0;  // of its upper left corner
  int y = 0;
  int pixels = 0;
};
constexpr int kPictureTile = 50;
/// Of all squares of `kPictureTile` pixels, the one in which most pixels of two pictures of the
/// same size differ in a channel by more than `threshold` (of 255). Squares overlap by half: a
/// letter is wholly in one.
PictureTile worst_tile(const Image& a, const Image& b, int threshold);
/// Nothing where two pictures look the same: of the same size, and in no tile more than
/// `kSamePixels` pixels differ by more than `kSameThreshold`. One changed digit is more than that
/// (a test says so); else what differs and where.
std::string why_not_same(const Image& shown, const Image& wanted);
constexpr int kSameThreshold = 8;
constexpr int kSamePixels = 6;
/// `a` in dim grey with the pixels that differ in red; `a` itself where the sizes differ.
Image difference(const Image& a, const Image& b, int threshold);

}  // namespace hostir::gui
