#include "kernels/common/elements.h"
#include "kernels/common/views/view_op.h"

namespace hostir::kernels {

namespace {

/// The global index of the first element, if the box's elements are consecutive in the global
/// tensor.
std::optional<int64_t> first_of_interval(const Placement& placement) {
  const Extents local = placement.local();
  size_t d = 0;
  while (d < local.size() && local[d] == 1) ++d;
  for (size_t inner = d + 1; inner < local.size(); ++inner) {
    if (local[inner] != placement.global[inner]) return std::nullopt;
  }
  return global_linear_index(placement.global, placement.box.lo);
}

/// True if dimensions [from_lo, from_hi) and [to_lo, to_hi) hold the same elements in the same
/// order on this rank.
bool same_part(const Placement& from, size_t from_lo, size_t from_hi, const Placement& to,
               size_t to_lo, size_t to_hi) {
  const auto part = [](const Placement& p, size_t lo, size_t hi) {
    Placement cut;
    for (size_t d = lo; d < hi; ++d) {
      cut.global.push_back(p.global[d]);
      cut.box.lo.push_back(p.box.lo[d]);
      cut.box.hi.push_back(p.box.hi[d]);
    }
    return cut;
  };
  const Placement a = part(from, from_lo, from_hi);
  const Placement b = part(to, to_lo, to_hi);
  const auto first_a = first_of_interval(a);
  const auto first_b = first_of_interval(b);
  return first_a && first_b && *first_a == *first_b && a.box.volume() == b.box.volume();
}

/// Splits both shapes into the smallest groups of equal size and compares the boxes group by group.
bool keeps_order(const Placement& from, const Placement& to) {
  if (element_count(from.global).value_or(0) == 0) return false;
  size_t i = 0;
  size_t j = 0;
  while (i < from.global.size() || j < to.global.size()) {
    const size_t from_lo = i;
    const size_t to_lo = j;
    int64_t a = i < from.global.size() ? from.global[i++] : 1;
    int64_t b = j < to.global.size() ? to.global[j++] : 1;
    while (a != b) {
      if (a < b) {
        if (i == from.global.size()) return false;
        a *= from.global[i++];
      } else {
        if (j == to.global.size()) return false;
        b *= to.global[j++];
      }
    }
    if (!same_part(from, from_lo, i, to, to_lo, j)) return false;
  }
  return true;
}

// The strides of `to` over the same elements in the same order as `from` with `strides`. Dimensions
// of `from` that follow each other in memory are one run, which dimensions of `to` split
// differently.
std::optional<Extents> reshaped_strides(const Extents& from, const Extents& strides,
                                        const Extents& to) {
  Extents out = strides_of(to);
  size_t next = to.size();  // dimensions of `to` from here on are done
  for (size_t end = from.size(); end > 0;) {
    const int64_t innermost = strides[end - 1];
    int64_t run = from[end - 1];
    for (--end; end > 0 && (from[end - 1] == 1 || strides[end - 1] == run * innermost); --end) {
      run *= from[end - 1];
    }
    int64_t split = 1;
    for (; next > 0 && (split < run || to[next - 1] == 1); --next) {
      out[next - 1] = split * innermost;
      split *= to[next - 1];
    }
    if (split != run) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<StridedView> view_reshape(const Move& move) {
  if (!keeps_order(move.in, move.out)) return std::nullopt;
  const Extents to = move.out.local();
  if (move.in.box.empty()) return StridedView{move.view.value, move.view.offset, strides_of(to)};
  auto strides = reshaped_strides(move.in.local(), move.view.strides, to);
  if (!strides) return std::nullopt;
  return StridedView{move.view.value, move.view.offset, std::move(*strides)};
}

}  // namespace hostir::kernels
