#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/cpu/reference/reference_rows.h"

namespace hostir::cpu {
namespace {

bool is_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool is_less(int64_t a, int64_t b) { return a < b; }
bool is_less(uint64_t a, uint64_t b) { return a < b; }

template <class T>
void sort_rows(const ReferenceCall& call, const std::byte* in, const std::vector<T>& values) {
  const bool descending = call.instruction.attributes.get_or<bool>("descending", false);
  const auto element = static_cast<size_t>(size_bytes(call.out[0]->dtype));
  std::vector<int64_t> order;
  for_each_row(call, [&](int64_t first, int64_t step, int64_t length) {
    const auto value = [&](int64_t i) { return values[static_cast<size_t>(first + i * step)]; };
    order.resize(static_cast<size_t>(length));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return descending ? is_less(value(b), value(a)) : is_less(value(a), value(b));
    });
    for (int64_t i = 0; i < length; ++i) {
      const auto to = static_cast<size_t>(first + i * step);
      const auto from = static_cast<size_t>(first + order[static_cast<size_t>(i)] * step);
      std::memcpy(call.out_data[0].data + to * element, in + from * element, element);
      if (call.out.size() < 2) continue;
      store_ints(call.out[1]->dtype, call.out_data[1].data, static_cast<int64_t>(to), 1,
                 &order[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

void reference_sort(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const AlignedOperand in(*call.in[0], call.in_data[0], out.box);
  const ConstMemory memory{in.data(), 0};
  const int64_t count = out.box.volume();
  if (is_float(out.dtype)) {
    sort_rows(call, in.data(), all_reals(out.dtype, memory, count));
  } else if (is_unsigned(out.dtype)) {
    const std::vector<int64_t> bits = all_ints(out.dtype, memory, count);
    sort_rows(call, in.data(), std::vector<uint64_t>(bits.begin(), bits.end()));
  } else {
    sort_rows(call, in.data(), all_ints(out.dtype, memory, count));
  }
}

}  // namespace hostir::cpu
