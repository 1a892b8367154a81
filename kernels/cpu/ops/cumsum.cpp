#include "kernels/cpu/reference/reference_rows.h"

namespace hostir::cpu {
namespace {

template <class T, class Add>
void run_sums(const ReferenceCall& call, std::vector<T>& values, Add add) {
  const bool backwards = call.instruction.attributes.get_or<bool>("reverse", false);
  for_each_row(call, [&](int64_t first, int64_t step, int64_t length) {
    T sum{};
    for (int64_t i = 0; i < length; ++i) {
      const int64_t place = backwards ? length - 1 - i : i;
      T& value = values[static_cast<size_t>(first + place * step)];
      sum = add(sum, value);
      value = sum;
    }
  });
}

}  // namespace

void reference_cumsum(const ReferenceCall& call) {
  const Placement& out = *call.out[0];
  const AlignedOperand in(*call.in[0], call.in_data[0], out.box);
  const ConstMemory memory{in.data(), 0};
  const int64_t count = out.box.volume();
  if (is_float(out.dtype)) {
    std::vector<double> values = all_reals(out.dtype, memory, count);
    run_sums(call, values, [](double a, double b) { return a + b; });
    store_reals(out.dtype, call.out_data[0].data, 0, count, values.data());
  } else {
    std::vector<int64_t> values = all_ints(out.dtype, memory, count);
    run_sums(call, values, wrap_add);
    store_ints(out.dtype, call.out_data[0].data, 0, count, values.data());
  }
}

}  // namespace hostir::cpu
