// Shared by the reference kernels: chunked element conversion, indexing by boxes, and the loops of
// element-wise ops.
//
// Every float dtype is computed in f64 and, if narrower than f64, rounded to f32 first. For + - * /
// and sqrt that gives the same bits as f32 arithmetic; for the others it is a single rounding.
// Integers are computed in 64 bits and stored modulo their width; what depends on the order of
// unsigned values is computed on uint64_t. An operand whose box is larger
// than the result's is read at the result's elements; an operand of rank 0 is broadcast.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/common/elements.h"
#include "kernels/common/views.h"
#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Elements per chunk of the conversion loops.
inline constexpr int64_t kChunk = 1024;
using RealChunk = std::array<double, kChunk>;
using IntChunk = std::array<int64_t, kChunk>;

/// Elements [first, first + count) of row-major memory; count <= kChunk.
void load_reals(DType dtype, const std::byte* base, int64_t first, int64_t count, double* out);
void load_ints(DType dtype, const std::byte* base, int64_t first, int64_t count, int64_t* out);
void store_reals(DType dtype, std::byte* base, int64_t first, int64_t count, const double* in);
void store_ints(DType dtype, std::byte* base, int64_t first, int64_t count, const int64_t* in);

/// A whole buffer as f64 (floats) of `count` elements.
std::vector<double> all_reals(DType dtype, ConstMemory memory, int64_t count);
std::vector<int64_t> all_ints(DType dtype, ConstMemory memory, int64_t count);

using kernels::becomes_partial;
using kernels::global_linear_index;
using kernels::int_identity;
using kernels::real_identity;
using kernels::strides_of;

/// Positions of global indices in the memory of a box.
class BoxIndexer {
 public:
  explicit BoxIndexer(const Box& box);
  int64_t offset(std::span<const int64_t> global) const;
  bool contains(std::span<const int64_t> global) const;

 private:
  const Box& box_;
  Extents strides_;
};

/// Moves `index` to the next element of the box in row-major order; false after the last one.
bool next_index(const Box& box, std::vector<int64_t>& index);

/// Calls f(global index) for every element of the box in row-major order.
template <class F>
void for_each_index(const Box& box, F f) {
  if (box.empty()) return;
  std::vector<int64_t> index = box.lo;
  do {
    f(index);
  } while (next_index(box, index));
}

/// Copies the elements that two boxes share from one row-major memory to another.
void copy_box(const Box& from, const std::byte* source, const Box& to, std::byte* target,
              int64_t element_bytes);

/// An operand restricted to the elements of a result's box. Owns a copy only if the boxes differ.
class AlignedOperand {
 public:
  AlignedOperand(const Placement& value, ConstMemory memory, const Box& wanted);
  const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const std::byte* data_ = nullptr;
};

/// Element-wise loops. Floats go through `real`, integers and i1 through `integer`; if `integer` is
/// null, integers are computed as reals.
using RealUnary = double (*)(double);
using IntUnary = int64_t (*)(int64_t);
using RealBinary = double (*)(double, double);
using IntBinary = int64_t (*)(int64_t, int64_t);
using UintBinary = uint64_t (*)(uint64_t, uint64_t);
void map_unary(const ReferenceCall& call, RealUnary real, IntUnary integer = nullptr);
/// Unsigned integers go through `natural`, or through `integer` where the bits are the same.
void map_binary(const ReferenceCall& call, RealBinary real, IntBinary integer,
                UintBinary natural = nullptr);
/// Like map_binary, with a boolean result.
void map_compare(const ReferenceCall& call, bool (*real)(double, double),
                 bool (*integer)(int64_t, int64_t), bool (*natural)(uint64_t, uint64_t) = nullptr);

/// Wrapping arithmetic in 64 bits.
constexpr int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrap_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Truncates toward zero and saturates at the dtype's range; NaN gives 0; i1 is `value != 0`. The
/// result for u64 holds its 64 bits.
int64_t real_to_int(DType dtype, double value);

}  // namespace hostir::cpu
