#include "hostir/ir/box_text.h"

namespace hostir {

std::string to_string(const Box& box) {
  std::string out = "[";
  for (size_t d = 0; d < box.lo.size(); ++d) {
    out += (d == 0 ? "" : ", ") + std::to_string(box.lo[d]) + ":" + std::to_string(box.hi[d]);
  }
  return out + "]";
}

}  // namespace hostir
