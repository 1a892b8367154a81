// Fourier transforms as products with matrices.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// The transform of one dimension.
struct FourierStep {
  size_t dim = 0;
  int64_t from = 1;  // elements before
  int64_t to = 1;    // and after
  int64_t length = 1;
  bool inverse = false;
  bool gives_real = false;  // `from` is half of a symmetric spectrum
};

/// The steps of `stablehlo.fft`; nullopt if its kind or lengths are not known, or a length is above
/// 4096, where a matrix would be too large.
std::optional<std::vector<FourierStep>> fourier_steps(const ModuleOp& op,
                                                      const std::vector<int64_t>& dims);
/// The matrix [from, to] of cosines or sines of a step.
Literal fourier_matrix(const FourierStep& step, const std::string& element, bool sines);

}  // namespace hostir::importer
