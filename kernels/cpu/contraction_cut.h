// How a product is prepared and cut into pieces.
#pragma once

#include "kernels/cpu/contraction_step.h"

namespace hostir::cpu {

/// Joins the batch dimensions with the rows where the right operand is one matrix and every view
/// walks through them evenly: one tall product instead of many.
void join_batch_with_rows(ContractionPlan& plan);

/// A cut of the rows or columns: all parts of `size` but the last.
struct PieceCut {
  int64_t total = 0;
  int64_t size = 1;
  int64_t pieces() const { return total == 0 ? 0 : (total + size - 1) / size; }
  int64_t begin(int64_t i) const { return i * size; }
  int64_t count(int64_t i) const { return i + 1 == pieces() ? total - begin(i) : size; }
};
struct ContractionCut {
  PieceCut rows;
  PieceCut columns;
  int64_t batches = 1;
};
ContractionCut cut_contraction(const ContractionPlan& plan);

/// True if a view's last two strides are those of a matrix that a library takes: one of them 1, the
/// other no less than the row or column is long. Strides of extents of one are set to fit.
bool normalise_matrix(StridedView& view, int64_t rows, int64_t columns);

}  // namespace hostir::cpu
