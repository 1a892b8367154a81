#include "kernels/cpu/plan/contraction_cut.h"

#include <unistd.h>

#include <algorithm>

namespace hostir::cpu {
namespace {

constexpr int64_t kColumnPieces = 8;
constexpr int64_t kLeastColumns = 128;
constexpr int64_t kColumnMultiple = 64;
constexpr int64_t kLeastRows = 32;
constexpr int64_t kWantedPieces = 4;
/// Products with fewer multiplications are not worth a second thread.
constexpr int64_t kSmallProduct = int64_t{1} << 19;

/// Bytes of a core's own cache.
int64_t second_level_cache() {
  static const int64_t bytes = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 1 << 19);
  return bytes;
}

/// True if dimensions [0, count] can be walked with a single stride.
bool is_even(const Extents& strides, const Extents& extents, size_t count) {
  int64_t wanted = -1;  // for the next outer dimension of more than one element
  for (size_t d = count + 1; d > 0; --d) {
    if (extents[d - 1] == 1) continue;
    if (wanted >= 0 && strides[d - 1] != wanted) return false;
    wanted = strides[d - 1] * extents[d - 1];
  }
  return true;
}

void erase_leading(Extents& values, size_t count) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

template <class F>
void for_each_view(ContractionPlan& plan, F f) {
  f(plan.a.view);
  for (TileLoad& load : plan.epilogue.loads) f(load.view);
  for (TileStore& store : plan.epilogue.stores) f(store.view);
}

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

void join_batch_with_rows(ContractionPlan& plan) {
  const size_t count = plan.batch.size();
  const Extents& b = plan.b.view.strides;
  if (!std::all_of(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(count),
                   [](int64_t stride) { return stride == 0; })) {
    return;
  }
  Extents extents = plan.batch;
  extents.push_back(plan.m);
  bool even = true;
  for_each_view(plan, [&](StridedView& view) { even &= is_even(view.strides, extents, count); });
  if (!even) return;
  // If the rows have extent 1, the joined dimension takes its stride from an outer dimension.
  for_each_view(plan, [&](StridedView& view) {
    for (size_t d = count; d > 0 && extents[d] == 1; --d) {
      if (extents[d - 1] != 1) view.strides[count] = view.strides[d - 1];
    }
    erase_leading(view.strides, count);
  });
  erase_leading(plan.b.view.strides, count);
  for (const int64_t extent : plan.batch) plan.m *= extent;
  plan.batch.clear();
  plan.epilogue.extents = {plan.m, plan.n};
}

ContractionCut cut_contraction(const ContractionPlan& plan) {
  ContractionCut cut;
  for (const int64_t extent : plan.batch) cut.batches *= extent;
  cut.rows = {plan.m, std::max<int64_t>(plan.m, 1)};
  cut.columns = {plan.n, std::max<int64_t>(plan.n, 1)};
  if (cut.batches >= kWantedPieces || plan.m * plan.n * plan.k < kSmallProduct) return cut;
  // With columns each thread reads a part of the weights. Rows make fewer pieces, which is faster
  // where every core's cache holds all weights beside the rest.
  const int64_t weights = plan.k * plan.n * size_bytes(DType::kF32);
  const bool by_rows = plan.m >= 2 * kLeastRows && weights <= second_level_cache() / 3;
  const int64_t columns =
      by_rows ? 1 : std::clamp<int64_t>(plan.n / kLeastColumns, 1, kColumnPieces);
  cut.columns.size =
      std::max<int64_t>(round_up((plan.n + columns - 1) / columns, kColumnMultiple), 1);
  if (columns * cut.batches < kWantedPieces) {
    const int64_t rows =
        std::clamp<int64_t>(plan.m / kLeastRows, 1, kWantedPieces / (columns * cut.batches));
    cut.rows.size = std::max<int64_t>((plan.m + rows - 1) / rows, 1);
  }
  return cut;
}

bool normalise_matrix(StridedView& view, int64_t rows, int64_t columns) {
  int64_t& row = view.strides[view.strides.size() - 2];
  int64_t& column = view.strides.back();
  if (columns == 1) column = 1;
  if (rows == 1) row = column == 1 ? columns : 1;
  if (rows == 1 && columns == 1) row = 1;
  if (column == 1) return row >= columns;
  return row == 1 && column >= rows;
}

}  // namespace hostir::cpu
