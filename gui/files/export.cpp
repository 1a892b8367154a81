#include "gui/files/export.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/io/files.h"
#include "hostir/io/npy.h"

namespace hostir::gui {

std::string csv_of(const Tensor& tensor) {
  const int64_t n = tensor.element_count();
  const int64_t columns = tensor.extents.empty() ? 1 : std::max<int64_t>(1, tensor.extents.back());
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    if (!is_float(tensor.dtype))
      out += std::to_string(tensor.get_int(i));
    else if (tensor.dtype == DType::kF64)
      out += fmt::format("{}", tensor.get_double(i));
    else  // 16-bit types are exact in f32
      out += fmt::format("{}", static_cast<float>(tensor.get_double(i)));
    out += (i + 1) % columns == 0 ? "\n" : ",";
  }
  return out;
}

Expected<void> write_tensor(const std::string& path, const Tensor& tensor) {
  return path.ends_with(".csv") ? io::write_file(path, csv_of(tensor))
                                : io::write_npy(path, tensor);
}

}  // namespace hostir::gui
