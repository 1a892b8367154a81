// A kernel with random operands on a CUDA device, compared with the reference set of kernels/cpu.
//
// Without a device, the generated text is only compiled for sm_90; without NVRTC, the test is
// skipped.
#pragma once

#include <cuda_runtime_api.h>

#include "../cpu/kernel_case.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

using cpu::Bytes;
using cpu::KernelCase;

/// The first device's compiler, or null.
inline KernelCompiler* compiler() {
  static const auto made = KernelCompiler::create(0, {.cache_folder = "none"});
  return made ? made->get() : nullptr;
}
inline KernelCompiler* exact_compiler() {
  static const auto made = KernelCompiler::create(
      0, {.cache_folder = "none", .epilogues = CompilerOptions::Epilogues::kExact});
  return made ? made->get() : nullptr;
}

class OnDevice {
 public:
  /// Memory `shift` bytes past an aligned address, filled with garbage.
  explicit OnDevice(size_t bytes, size_t shift = 0) : shift_(shift) {
    EXPECT_EQ(cudaMalloc(&base_, bytes + shift + 1), cudaSuccess);
    EXPECT_EQ(cudaMemset(base_, 0xcd, bytes + shift + 1), cudaSuccess);
  }
  explicit OnDevice(const Bytes& bytes, size_t shift = 0) : OnDevice(bytes.size(), shift) {
    EXPECT_EQ(cudaMemcpy(data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(base_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  void* data() const { return static_cast<std::byte*>(base_) + shift_; }
  Bytes read(size_t bytes) const {
    Bytes out(bytes);
    EXPECT_EQ(cudaMemcpy(out.data(), data(), bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }

 private:
  void* base_ = nullptr;
  size_t shift_ = 0;
};

struct RunOptions {
  bool unaligned = false;
  int in_place = -1;  // parameter whose memory the first result shares; -1: none
  bool exact_epilogues = false;
  int launches = 1;  // with the same pointers; each starts from the inputs and garbage
};

inline std::vector<Bytes> run_on_device(const KernelCase& test, const std::vector<Bytes>& inputs,
                                        const RunOptions& options = {}) {
  KernelCompiler* with = options.exact_epilogues ? exact_compiler() : compiler();
  auto kernel = with->compile(test.bound);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message();
    return {};
  }
  std::vector<std::unique_ptr<OnDevice>> memory;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<size_t> out_bytes;
  const auto shift_of = [&](const Placement& p) {
    return options.unaligned ? static_cast<size_t>(size_bytes(p.dtype)) : size_t{0};
  };
  for (size_t p = 0; p < inputs.size(); ++p) {
    const Placement& placement = test.bound.values[test.bound.function->params[p].value.index];
    memory.push_back(std::make_unique<OnDevice>(inputs[p], shift_of(placement)));
    in.push_back(memory.back()->data());
  }
  const auto results = test.results();
  for (size_t r = 0; r < results.size(); ++r) {
    const Placement& placement = test.bound.values[results[r].index];
    if (r == 0 && options.in_place >= 0) {
      out.push_back(const_cast<void*>(in[static_cast<size_t>(options.in_place)]));
      continue;
    }
    out_bytes.push_back(static_cast<size_t>(placement.local_bytes()));
    memory.push_back(std::make_unique<OnDevice>(out_bytes.back(), shift_of(placement)));
    out.push_back(memory.back()->data());
  }
  using InPlace = CompiledKernel::InPlace;
  const OnDevice workspace(static_cast<size_t>(
      (*kernel)->workspace_bytes(options.in_place >= 0 ? InPlace::kYes : InPlace::kNo)));
  for (int i = 0; i < options.launches; ++i) {
    for (size_t m = 0; i > 0 && m < memory.size(); ++m) {
      const size_t bytes = m < inputs.size() ? inputs[m].size() : out_bytes[m - inputs.size()];
      const cudaError_t filled = m < inputs.size() ? cudaMemcpy(memory[m]->data(), inputs[m].data(),
                                                                bytes, cudaMemcpyHostToDevice)
                                                   : cudaMemset(memory[m]->data(), 0xcd, bytes);
      EXPECT_EQ(filled, cudaSuccess);
    }
    const int status = (*kernel)->launch(nullptr, in, out, workspace.data());
    EXPECT_EQ(status, 0) << launch_error(status);
  }
  const cudaError_t done = cudaDeviceSynchronize();
  EXPECT_EQ(done, cudaSuccess) << cudaGetErrorString(done) << "\n" << (*kernel)->summary();
  std::vector<Bytes> outputs;
  for (size_t r = 0; r < results.size(); ++r) {
    Bytes bytes(static_cast<size_t>(test.bound.values[results[r].index].local_bytes()));
    EXPECT_EQ(cudaMemcpy(bytes.data(), out[r], bytes.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    outputs.push_back(std::move(bytes));
  }
  return outputs;
}

/// The dtypes to test. Without a device all but the 8-bit floats, which NVRTC takes longest to
/// compile; the test of casts has them.
inline std::vector<DType> tested_dtypes() {
  std::vector<DType> out(kAllDTypes.begin(), kAllDTypes.end());
  if (compiler() == nullptr) {
    std::erase_if(out, [](DType d) { return is_float(d) && size_bytes(d) == 1; });
  }
  return out;
}

/// Compiles the generated text for sm_90. Skips the test if NVRTC is missing. A sanitizer build
/// only generates the text, because NVRTC is slow and not instrumented.
inline void expect_text_compiles(const KernelCase& test, const std::string& what) {
  using Attention = CompilerOptions::Attention;
  for (const Attention attention : {Attention::kLibrary, Attention::kOps}) {
    auto sources = generate_sources(test.bound, {.attention = attention});
    ASSERT_TRUE(sources) << what << ": " << sources.error().message();
#ifndef HOSTIR_SANITIZED
    std::string text;
    for (const KernelSource& source : *sources) text += source.text;
    const auto checked = check_sources(*sources, "sm_90");
    if (!checked && checked.error().diagnostics.front().id == "cuda_missing") {
      GTEST_SKIP() << checked.error().message();
    }
    ASSERT_TRUE(checked) << what << ": " << checked.error().message() << "\n" << text;
    if (text.find("One call of cuDNN") == std::string::npos) return;  // the same without it
#endif
  }
}

/// Runs a kernel on random operands and compares every result with the reference set's.
inline void expect_agrees(const KernelCase& test, std::mt19937_64& random, const std::string& what,
                          double slack = 1, double lo = -2, double hi = 2,
                          const RunOptions& options = {}) {
  if (test.bound.function == nullptr) return;
  if (compiler() == nullptr) return expect_text_compiles(test, what);
  const std::vector<Bytes> inputs = test.random_inputs(random, lo, hi);
  const auto wanted = test.run(cpu::KernelSet::kReference, inputs);
  const auto got = run_on_device(test, inputs, options);
  ASSERT_EQ(got.size(), wanted.size()) << what;
  const auto results = test.results();
  for (size_t r = 0; r < got.size(); ++r) {
    cpu::expect_close(test.bound.values[results[r].index], got[r], wanted[r],
                      what + " result " + std::to_string(r), slack);
  }
}

}  // namespace hostir::cuda
