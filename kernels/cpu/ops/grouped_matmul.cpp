#include <algorithm>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {
namespace {

// The rows of each group; groups end at `rows`, even if the counts add up to more.
std::vector<Range> rows_of_groups(const std::vector<int64_t>& counts, int64_t rows) {
  std::vector<Range> out;
  int64_t next = 0;
  for (const int64_t count : counts) {
    const int64_t begin = next;
    next = std::clamp<int64_t>(count, 0, rows - begin) + begin;
    out.push_back({begin, next});
  }
  return out;
}

Range shared(Range a, Range b) {
  const int64_t lo = std::max(a.lo, b.lo);
  return {lo, std::max(lo, std::min(a.hi, b.hi))};
}

Range along(const Box& box, size_t dim) { return {box.lo[dim], box.hi[dim]}; }

}  // namespace

// Sums over the rows or columns that both operands hold on this rank, group by group.
void reference_grouped_matmul(const ReferenceCall& call) {
  const Placement& rows = *call.in[0];
  const Placement& other = *call.in[1];
  const Placement& out = *call.out[0];
  const std::vector<double> a = all_reals(rows.dtype, call.in_data[0], rows.box.volume());
  const std::vector<double> b = all_reals(other.dtype, call.in_data[1], other.box.volume());
  const std::vector<Range> groups = rows_of_groups(
      all_ints(call.in[2]->dtype, call.in_data[2], call.in[2]->box.volume()), rows.global[0]);
  const BoxIndexer a_at(rows.box), b_at(other.box), out_at(out.box);
  std::vector<double> y(static_cast<size_t>(out.box.volume()), 0);
  const bool matrices = other.global.size() == 3;
  const Range own = matrices ? along(other.box, 0) : along(out.box, 0);
  const Range inner = matrices ? shared(along(rows.box, 1), along(other.box, 1))
                               : shared(along(rows.box, 1), along(out.box, 1));
  const Range columns = along(out.box, matrices ? 1 : 2);
  for (int64_t e = own.lo; e < own.hi; ++e) {
    Range part = shared(groups[static_cast<size_t>(e)], along(rows.box, 0));
    part = shared(part, along(matrices ? out.box : other.box, 0));
    for (int64_t t = part.lo; t < part.hi; ++t) {
      for (int64_t k = inner.lo; k < inner.hi; ++k) {
        const double x = a[static_cast<size_t>(a_at.offset(std::array{t, k}))];
        for (int64_t n = columns.lo; n < columns.hi; ++n) {
          const int64_t from =
              matrices ? b_at.offset(std::array{e, k, n}) : b_at.offset(std::array{t, n});
          const int64_t to =
              matrices ? out_at.offset(std::array{t, n}) : out_at.offset(std::array{e, k, n});
          y[static_cast<size_t>(to)] += x * b[static_cast<size_t>(from)];
        }
      }
    }
  }
  for (int64_t at = 0; at < out.box.volume(); at += kChunk) {
    const int64_t count = std::min(kChunk, out.box.volume() - at);
    store_reals(out.dtype, call.out_data[0].data, at, count, y.data() + at);
  }
}

}  // namespace hostir::cpu
