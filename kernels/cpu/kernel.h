// Runs compute groups on the CPU.
//
// A *kernel function* (the body of a `launch`) is bound once per rank layout into a `BoundKernel`:
// every value has its global extents and this rank's box. `compile()` turns that into code that
// runs on memory. There are two kernel sets. `kReference` runs op by op through plain loops, which
// define the semantics of every op and are bitwise identical on every machine. `kFast` fuses
// pointwise chains and reductions into cache-sized tiles and uses oneDNN for matrix products. Both
// see only local memory, and both take their global position from the boxes (iota, dropout, masks).
// Absent here: streams, time, ranks other than the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/common/bound_kernel.h"

namespace hostir::cpu {

using kernels::BoundKernel;

/// Memory of an operand, row-major over the placement's box (or in its block order).
struct Memory {
  std::byte* data = nullptr;
  int64_t bytes = 0;
};
struct ConstMemory {
  const std::byte* data = nullptr;
  int64_t bytes = 0;
  /// Identity of the contents: never reused for other bytes at `data`. 0: unknown, never packed.
  uint64_t version = 0;
};

/// The arguments of the reference loop of one op.
struct ReferenceCall {
  const Instruction& instruction;
  const Function* function;  // has the types of operands and results
  std::span<const Placement* const> in;
  std::span<const ConstMemory> in_data;
  std::span<const Placement* const> out;
  std::span<const Memory> out_data;
  bool identity_only = false;  // for the result of a reshard; see BoundKernel
};
/// `reference_<mnemonic>` in kernels/cpu/<mnemonic>.cpp, one per compute op (a missing one is a
/// link error). Arithmetic: f64 in f64; f32, bf16, f16 in f32 and rounded once; integers wrap.
using ReferenceKernel = void (*)(const ReferenceCall&);
ReferenceKernel reference_kernel(OpKind kind);

enum class KernelSet : uint8_t { kReference, kFast };

/// A kernel ready to run. Thread-safe: `run` may be called from several threads at once; each call
/// has its own scratch. Owns packed copies of prepacked operands; the caller owns the operands.
class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;
  /// `in`: parameters in order; `out`: results in order. An output may alias the input it updates
  /// (`rw`). Never fails: compile() has checked everything that can fail.
  virtual void run(std::span<const ConstMemory> in, std::span<const Memory> out) = 0;
  /// Packs an operand that stays the same over many runs (weights), e.g. into oneDNN's blocked
  /// layout; run() uses the packed copy when given the same `data` and nonzero `version`. Several
  /// contents of one parameter may be packed (ranks that share a kernel); packing newer contents at
  /// the same address replaces the older. Must not be called during run(). Optional.
  virtual void prepack(size_t parameter, ConstMemory data);
  /// Bytes held by packed copies.
  virtual int64_t packed_bytes() const { return 0; }
  /// One line for the log: "matmul+gelu onednn f32 256x512x2048" or "pointwise x6, tile 16384".
  virtual std::string description() const = 0;
};

/// Errors: `kernel_unsupported`, naming an op that the kernel set does not have (never for
/// kReference).
Expected<std::unique_ptr<CompiledKernel>> compile(const BoundKernel& kernel, KernelSet set);

/// Threads used inside one kernel (1..n). Default: usable_cores().
void set_thread_count(int threads);
int thread_count();

/// The instruction set in use ("avx512_core", "avx2"), for the log; honours DNNL_MAX_CPU_ISA.
std::string isa_name();

}  // namespace hostir::cpu
