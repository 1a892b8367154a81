#include "gui/files/png.h"

#include <fmt/core.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cstdlib>

namespace hostir::gui {

Image Image::part(float min_x, float min_y, float max_x, float max_y) const {
  const int left = std::clamp(static_cast<int>(min_x), 0, width);
  const int top = std::clamp(static_cast<int>(min_y), 0, height);
  Image out;
  out.width = std::clamp(static_cast<int>(max_x), left, width) - left;
  out.height = std::clamp(static_cast<int>(max_y), top, height) - top;
  for (int y = top; y < top + out.height; ++y) {
    const auto begin = rgb.begin() + (static_cast<std::ptrdiff_t>(y) * width + left) * 3;
    out.rgb.insert(out.rgb.end(), begin, begin + static_cast<std::ptrdiff_t>(out.width) * 3);
  }
  return out;
}

void Image::flip_rows() {
  const auto row = static_cast<size_t>(width) * 3;
  for (int y = 0; y < height / 2; ++y) {
    std::swap_ranges(
        rgb.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(y) * row),
        rgb.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(y + 1) * row),
        rgb.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(height - 1 - y) * row));
  }
}

Expected<void> write_png(const std::string& path, const Image& image) {
  if (stbi_write_png(path.c_str(), image.width, image.height, 3, image.rgb.data(),
                     image.width * 3) == 0) {
    return fail(ErrorKind::kRuntime, "file_write", "could not write " + path);
  }
  return {};
}

Expected<Image> read_png(const std::string& path) {
  Image image;
  int channels = 0;
  unsigned char* pixels = stbi_load(path.c_str(), &image.width, &image.height, &channels, 3);
  if (!pixels) return fail(ErrorKind::kRuntime, "file_read", "could not read " + path);
  image.rgb.assign(
      pixels, pixels + static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
  stbi_image_free(pixels);
  return image;
}

namespace {

// `i` is the index of the pixel's first byte in both images.
bool pixel_differs(const Image& a, const Image& b, size_t i, int threshold) {
  for (size_t c = 0; c < 3; ++c) {
    if (std::abs(a.rgb[i + c] - b.rgb[i + c]) > threshold) return true;
  }
  return false;
}

bool same_size(const Image& a, const Image& b) {
  return a.width == b.width && a.height == b.height && a.rgb.size() == b.rgb.size();
}

}  // namespace

PictureTile worst_tile(const Image& a, const Image& b, int threshold) {
  constexpr int kStep = kPictureTile / 2;
  // Count differing pixels in squares of half a tile; four squares form one tile.
  const int columns = (a.width + kStep - 1) / kStep;
  const int rows = (a.height + kStep - 1) / kStep;
  std::vector<int> counts(static_cast<size_t>(columns + 1) * static_cast<size_t>(rows + 1), 0);
  const auto count = [&](int column, int row) -> int& {
    return counts[static_cast<size_t>(row) * static_cast<size_t>(columns + 1) +
                  static_cast<size_t>(column)];
  };
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      const size_t pixel =
          static_cast<size_t>(y) * static_cast<size_t>(a.width) + static_cast<size_t>(x);
      count(x / kStep, y / kStep) += pixel_differs(a, b, pixel * 3, threshold) ? 1 : 0;
    }
  }
  PictureTile worst;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int pixels = count(column, row) + count(column + 1, row) + count(column, row + 1) +
                         count(column + 1, row + 1);
      if (pixels > worst.pixels) worst = {column * kStep, row * kStep, pixels};
    }
  }
  return worst;
}

std::string why_not_same(const Image& shown, const Image& wanted) {
  if (!same_size(shown, wanted))
    return fmt::format("is {} x {}, not {} x {}", shown.width, shown.height, wanted.width,
                       wanted.height);
  const PictureTile worst = worst_tile(shown, wanted, kSameThreshold);
  if (worst.pixels <= kSamePixels) return {};
  return fmt::format("{} pixels differ in the {} x {} at ({}, {})", worst.pixels, kPictureTile,
                     kPictureTile, worst.x, worst.y);
}

Image difference(const Image& a, const Image& b, int threshold) {
  Image out = a;
  if (!same_size(a, b)) return out;
  for (size_t i = 0; i + 2 < a.rgb.size(); i += 3) {
    const bool differs = pixel_differs(a, b, i, threshold);
    const auto grey = static_cast<unsigned char>(a.rgb[i] / 3);
    out.rgb[i] = differs ? 255 : grey;
    out.rgb[i + 1] = out.rgb[i + 2] = differs ? 0 : grey;
  }
  return out;
}

}  // namespace hostir::gui
