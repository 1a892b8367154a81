#include "gui/png.h"

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cstdlib>

namespace hostir::gui {

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

// `i` is the pixel's first byte in both.
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

double differing_share(const Image& a, const Image& b, int threshold) {
  if (!same_size(a, b) || a.rgb.empty()) return 1;
  size_t differing = 0;
  for (size_t i = 0; i + 2 < a.rgb.size(); i += 3)
    differing += static_cast<size_t>(pixel_differs(a, b, i, threshold));
  return static_cast<double>(differing) / (static_cast<double>(a.rgb.size()) / 3);
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
