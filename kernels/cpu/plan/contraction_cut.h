// Prepares a product and cuts it into pieces.
#pragma once

#include "kernels/cpu/plan/contraction_step.h"

namespace hostir::cpu {

/// Merges the batch dimensions into the rows if the right operand is one matrix and every view has
/// even strides there: one tall product instead of many small ones.
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

/// True if a view's last two strides are those of a matrix that a library accepts: one is 1, the
/// other at least the length of the row or column. Adjusts strides of extents of one to fit.
bool normalise_matrix(StridedView& view, int64_t rows, int64_t columns);

}  // namespace hostir::cpu
