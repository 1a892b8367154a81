// Runs compute groups on a CUDA device.
//
// A bound kernel (kernels/common) becomes a few launches: generated CUDA C++ for the fused ops,
// compiled by NVRTC, cuBLASLt matrix products with fused epilogues, and cuDNN's attention. One
// compiler per device. This header includes no CUDA header, so that generating source code needs no
// toolkit; CUDA, NVRTC and cuBLASLt are loaded when the first compiler is created, cuDNN with the
// first attention.
//
// Precision is that of kernels/cpu: 16-bit floats are computed in f32 and rounded after every op,
// integers wrap, sums of 16-bit floats accumulate in f32 and those of f32 in f64. Only a cuBLASLt
// epilogue and cuDNN's attention may skip the rounding between a 16-bit product and the next op
// (`Epilogues::kExact` forbids that).
// Absent: streams, memory, collectives, time. The caller owns all device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/bound_kernel.h"

struct CUstream_st;

namespace hostir::cuda {

using Stream = CUstream_st*;  // cudaStream_t

struct CompilerOptions {
  /// Where compiled code and product algorithms are cached between runs. Empty: `hostir/cuda` in
  /// the user's cache folder ($XDG_CACHE_HOME, else ~/.cache). "none": nowhere.
  std::string cache_folder;
  /// How to choose the algorithm of a matrix product: cuBLASLt's first proposal, or the fastest of
  /// its first proposals, timed on the device once and cached.
  enum class Search : uint8_t { kHeuristic, kTimed } search = Search::kHeuristic;
  enum class Epilogues : uint8_t { kFused, kExact } epilogues = Epilogues::kFused;
  /// How attention in 16-bit floats is computed: by one call of cuDNN that never stores the scores
  /// and does not round them, or op by op. kExact epilogues imply kOps.
  enum class Attention : uint8_t { kLibrary, kOps } attention = Attention::kLibrary;
  bool allow_tf32 = false;  // f32 products on tensor cores with 10 bits of mantissa
};

/// One launch of a compiled kernel, for the log.
struct LaunchDescription {
  std::string name;          // of the generated function, or "cublasLt" or "cudnn"
  std::string text;          // "row 4096 cols, 128 threads" or "bf16 128x4096x16384 bias gelu"
  unsigned grid = 0;         // blocks; 0 if cuBLASLt decides
  unsigned block = 0;        // threads
  int registers = 0;         // per thread
  int64_t shared_bytes = 0;  // per block
  double occupancy = 0;      // resident warps relative to the maximum per multiprocessor
  double read_bytes = 0;     // minimum traffic: each element once
  double write_bytes = 0;
  double flops = 0;
};

/// The source code of a generated kernel.
struct KernelSource {
  std::string name;
  std::string text;  // CUDA C++ without the prelude; for library calls a comment
};

/// A kernel ready to launch. Immutable and thread-safe. Independent of its compiler's lifetime and
/// of the bound kernel it was made from.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;

  /// Enqueues the kernel. Does not allocate or block; can be captured in a graph. The kernel's
  /// device must be current. `in`: parameters in order; `out`: results in order, row-major over
  /// their boxes (or in block order); each aligned to its element. An output may share memory with
  /// an input only if it is the same range (`rw`). `workspace`: workspace_bytes() bytes aligned to
  /// 256, not used otherwise until the launch has finished; may be null if 0. Returns 0
  /// (cudaSuccess) or the cudaError_t of the first call that failed.
  virtual int launch(Stream stream, std::span<const void* const> in, std::span<void* const> out,
                     void* workspace) const = 0;

  /// `kYes`: some output is also an input.
  enum class InPlace : uint8_t { kNo, kYes };
  virtual int64_t workspace_bytes(InPlace in_place) const = 0;

  /// One line for the log: "linear+gelu cublasLt, row 4096 cols".
  virtual std::string summary() const = 0;
  virtual std::vector<LaunchDescription> describe() const = 0;
  virtual std::vector<KernelSource> sources() const = 0;
};

class KernelCompiler {
 public:
  /// For a device of this process.
  /// Errors: `cuda_missing`, naming the missing library or driver; `cuda_device` for a device that
  /// does not exist.
  static Expected<std::shared_ptr<KernelCompiler>> create(int device,
                                                          const CompilerOptions& options = {});
  virtual ~KernelCompiler() = default;

  /// Thread-safe. Equal kernels (by content, ignoring names) are compiled once.
  /// Errors: `kernel_invalid`, `kernel_unsupported` with the op and the reason, `cuda_compile` with
  /// NVRTC's log, `cuda_memory`.
  virtual Expected<std::shared_ptr<const CompiledKernel>> compile(
      const kernels::BoundKernel& kernel) = 0;

  /// "NVIDIA H200, sm_90, CUDA 13.0, cuBLASLt 13.1".
  virtual std::string description() const = 0;
};

/// The error that launch() returned, as text.
std::string launch_error(int status);

/// The generated source code of a kernel for an architecture like "sm_90"; needs neither GPU nor
/// toolkit.
Expected<std::vector<KernelSource>> generate_sources(const kernels::BoundKernel& kernel,
                                                     const CompilerOptions& options = {});
/// The code that every generated kernel includes.
std::string_view kernel_prelude();

/// Compiles generated source code for an architecture with NVRTC; needs no GPU.
/// Errors: `cuda_missing` if NVRTC is not found, `cuda_compile`.
Expected<void> check_sources(const std::vector<KernelSource>& sources, const std::string& arch);

}  // namespace hostir::cuda
