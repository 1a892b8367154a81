#include "hostir/import/ops/fourier.h"

#include <cmath>
#include <numbers>

namespace hostir::importer {

namespace {

constexpr int64_t kMostLength = 4096;

}  // namespace

std::optional<std::vector<FourierStep>> fourier_steps(const ModuleOp& op,
                                                      const std::vector<int64_t>& dims) {
  std::string_view kind = op.word("fft_type");
  if (kind.empty()) kind = op.word("type");
  auto lengths = op.integers("fft_length");
  if (lengths.empty()) lengths = op.integers("length");
  if (lengths.empty() || lengths.size() > dims.size()) return std::nullopt;
  const bool inverse = kind == "IFFT" || kind == "IRFFT";
  const bool from_real = kind == "RFFT";
  const bool to_real = kind == "IRFFT";
  if (kind != "FFT" && !inverse && !from_real) return std::nullopt;
  const size_t first = dims.size() - lengths.size();
  std::vector<FourierStep> out;
  for (size_t i = lengths.size(); i-- > 0;) {  // the last dimension first
    FourierStep step;
    step.dim = first + i;
    step.length = lengths[i];
    if (step.length < 1 || step.length > kMostLength) return std::nullopt;
    const bool last = i + 1 == lengths.size();
    const int64_t half = step.length / 2 + 1;
    step.from = last && to_real ? half : step.length;
    step.to = last && from_real ? half : step.length;
    step.inverse = inverse;
    step.gives_real = last && to_real;
    if (dims[step.dim] != step.from) return std::nullopt;
    out.push_back(step);
  }
  // The first forward step halves the spectrum of real numbers; the last inverse step restores it.
  if (to_real && out.size() > 1) {
    out.push_back(out.front());
    out.erase(out.begin());
  }
  return out;
}

// exp(-2 pi i n k / length), and its conjugate divided by the length for the inverse. In half a
// spectrum, every element but the first and the middle one stands for two.
Literal fourier_matrix(const FourierStep& step, const std::string& element, bool sines) {
  Literal out;
  out.type = tensor_type(element, {step.from, step.to});
  out.data = Tensor::zeros(*out.type.dtype(), out.type.dims);
  for (int64_t n = 0; n < step.from; ++n) {
    const bool alone = n == 0 || 2 * n == step.length;
    double scale = step.inverse ? 1.0 / static_cast<double>(step.length) : 1.0;
    if (step.gives_real && !alone) scale *= 2;
    for (int64_t k = 0; k < step.to; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(n * k % step.length) /
                           static_cast<double>(step.length);
      const double value =
          sines ? (step.inverse ? std::sin(angle) : -std::sin(angle)) : std::cos(angle);
      out.data->set_double(n * step.to + k, scale * value);
    }
  }
  return out;
}

}  // namespace hostir::importer
