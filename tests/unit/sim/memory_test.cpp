// Buffers: sharing, copy on write, undefined contents, reductions, iteration over layouts.
#include "interp/sim/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hostir/ir/tensor.h"
#include "hostir/support/float16.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/sim/fold.h"

namespace hostir::sim {
namespace {

BufferRef ref_of(uint32_t id, int64_t offset, int64_t size) {
  BufferRef ref;
  ref.allocation = AllocationId(id);
  ref.offset_bytes = offset;
  ref.size_bytes = size;
  return ref;
}

void fill(SimMemory& memory, Rank rank, const BufferRef& ref, int value) {
  std::byte* to = memory.writable(rank, ref, SimMemory::Keep::kNothingInRange);
  std::memset(to, value, static_cast<size_t>(ref.size_bytes));
}

int byte_at(SimMemory& memory, Rank rank, const BufferRef& ref, int64_t at) {
  return std::to_integer<int>(memory.chunk(rank, ref)->data()[at]);
}

TEST(SimMemory, SharedUntilWritten) {
  SimMemory memory(2);
  const BufferRef a = ref_of(0, 0, 64);
  for (const Rank r : {0, 1}) memory.allocate(r, a.allocation, 64);
  fill(memory, 0, a, 7);
  memory.assign(1, a, memory.chunk(0, a), 0);
  EXPECT_EQ(memory.chunk(0, a).get(), memory.chunk(1, a).get());
  memory.writable(1, ref_of(0, 8, 8), SimMemory::Keep::kEverything)[0] = std::byte{9};
  EXPECT_NE(memory.chunk(0, a).get(), memory.chunk(1, a).get());
  EXPECT_EQ(byte_at(memory, 0, a, 8), 7);
  EXPECT_EQ(byte_at(memory, 1, a, 8), 9);
  EXPECT_EQ(byte_at(memory, 1, a, 9), 7);
}

TEST(SimMemory, CopyIsACheckpoint) {
  SimMemory memory(1);
  const BufferRef a = ref_of(3, 0, 16);
  memory.allocate(0, a.allocation, 16);
  fill(memory, 0, a, 1);
  SimMemory saved = memory;
  EXPECT_EQ(saved.exclusive_bytes(), 0);
  fill(memory, 0, a, 2);
  EXPECT_EQ(byte_at(saved, 0, a, 0), 1);
  EXPECT_EQ(byte_at(memory, 0, a, 0), 2);
  EXPECT_EQ(saved.exclusive_bytes(), 16);
}

TEST(SimMemory, UndefinedContentsShowWhenRead) {
  SimMemory memory(1);
  const BufferRef a = ref_of(0, 0, 16);
  memory.allocate(0, a.allocation, 16);
  EXPECT_FALSE(memory.look(0, a.allocation));
  EXPECT_EQ(byte_at(memory, 0, a, 15), 0xFF);
  fill(memory, 0, a, 1);
  memory.poison(0, ref_of(0, 4, 4));
  EXPECT_EQ(byte_at(memory, 0, a, 3), 1);
  EXPECT_EQ(byte_at(memory, 0, a, 4), 0xFF);
  memory.poison(0, a);
  EXPECT_FALSE(memory.look(0, a.allocation));
  fill(memory, 0, ref_of(0, 0, 4), 5);
  EXPECT_EQ(byte_at(memory, 0, a, 0), 5);
  EXPECT_EQ(byte_at(memory, 0, a, 4), 0xFF);
}

TEST(Fold, EveryTypeAndReductionInGroupOrder) {
  for (const DType dtype : kAllDTypes) {
    const int64_t n = 5001;
    std::vector<Tensor> inputs;
    std::vector<const std::byte*> data;
    for (int k = 0; k < 3; ++k) {
      inputs.push_back(Tensor::zeros(dtype, {n}));
      for (int64_t i = 0; i < n; ++i)
        inputs.back().set_double(i, static_cast<double>((i * (k + 3)) % 5));
    }
    for (const Tensor& t : inputs) data.push_back(t.data.data());
    for (int kind = 0; kind < 5; ++kind) {
      const auto reduction = static_cast<Reduction>(kind);
      Tensor out = Tensor::zeros(dtype, {n});
      fold(reduction, dtype, data, out.data.data(), n);
      for (const int64_t i : {int64_t{0}, int64_t{7}, int64_t{2048}, n - 1}) {
        const double a = inputs[0].get_double(i);
        const double b = inputs[1].get_double(i);
        const double c = inputs[2].get_double(i);
        double expected = a + b + c;
        if (reduction == Reduction::kAvg)
          expected = is_float(dtype) ? static_cast<double>(static_cast<float>(expected) / 3)
                                     : std::floor(expected / 3);
        if (dtype == DType::kF64 && reduction == Reduction::kAvg) expected = (a + b + c) / 3;
        if (reduction == Reduction::kProd) expected = a * b * c;
        if (reduction == Reduction::kMin) expected = std::min({a, b, c});
        if (reduction == Reduction::kMax) expected = std::max({a, b, c});
        if (dtype == DType::kI1)
          expected = reduction == Reduction::kProd || reduction == Reduction::kMin
                         ? std::min({a, b, c})
                         : std::max({a, b, c});
        Tensor rounded = Tensor::zeros(dtype, {1});
        rounded.set_double(0, expected);
        EXPECT_EQ(out.get_double(i), rounded.get_double(0))
            << name(dtype) << " " << name(reduction) << " element " << i;
      }
    }
  }
}

TEST(Fold, ManyInputsAreFoldedInOrder) {
  // More inputs than fit one pass over a tile. The order shows in the last bits and in the sign of
  // zero.
  constexpr int64_t kElems = 4500;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    std::vector<Tensor> inputs;
    std::vector<const std::byte*> data;
    for (int k = 0; k < 45; ++k) {
      inputs.push_back(Tensor::zeros(dtype, {kElems}));
      for (int64_t i = 0; i < kElems; ++i) {
        const auto x = static_cast<double>((i * 7919 + k * 104729) % 1009 - 504);
        inputs.back().set_double(i, i % 11 == 0 ? (k % 2 == 0 ? 0.0 : -0.0) : 1 + x * 1e-4);
      }
    }
    for (const Tensor& t : inputs) data.push_back(t.data.data());
    for (const Reduction reduction :
         {Reduction::kSum, Reduction::kAvg, Reduction::kProd, Reduction::kMin, Reduction::kMax}) {
      Tensor out = Tensor::zeros(dtype, {kElems});
      fold(reduction, dtype, data, out.data.data(), kElems);
      Tensor expected = Tensor::zeros(dtype, {kElems});
      for (int64_t i = 0; i < kElems; ++i) {
        auto acc = static_cast<float>(inputs[0].get_double(i));
        for (size_t k = 1; k < inputs.size(); ++k) {
          const auto x = static_cast<float>(inputs[k].get_double(i));
          if (reduction == Reduction::kSum || reduction == Reduction::kAvg) acc += x;
          if (reduction == Reduction::kProd) acc *= x;
          if (reduction == Reduction::kMin) acc = x < acc ? x : acc;
          if (reduction == Reduction::kMax) acc = acc < x ? x : acc;
        }
        if (reduction == Reduction::kAvg) acc /= static_cast<float>(inputs.size());
        expected.set_double(i, static_cast<double>(acc));
      }
      EXPECT_TRUE(out == expected) << name(dtype) << " " << name(reduction);
    }
  }
}

TEST(Fold, HalfPrecisionIsRoundedOnce) {
  // In bf16, 256 + 1 + 1 is 256 if rounded after every step and 258 if rounded once at the end.
  const uint16_t big = float_to_bf16(256.0F);
  const uint16_t one = float_to_bf16(1.0F);
  const std::vector<const std::byte*> data = {reinterpret_cast<const std::byte*>(&big),
                                              reinterpret_cast<const std::byte*>(&one),
                                              reinterpret_cast<const std::byte*>(&one)};
  uint16_t out = 0;
  fold(Reduction::kSum, DType::kBF16, data, reinterpret_cast<std::byte*>(&out), 1);
  EXPECT_EQ(bf16_to_float(out), 258.0F);
}

TEST(Fold, NanWins) {
  const float values[2] = {std::nanf(""), 1.0F};
  for (const int first : {0, 1}) {
    const std::vector<const std::byte*> data = {
        reinterpret_cast<const std::byte*>(&values[first]),
        reinterpret_cast<const std::byte*>(&values[1 - first])};
    for (const Reduction kind : {Reduction::kMin, Reduction::kMax, Reduction::kSum}) {
      float out = 0;
      fold(kind, DType::kF32, data, reinterpret_cast<std::byte*>(&out), 1);
      EXPECT_TRUE(std::isnan(out));
    }
  }
}

TEST(Layout, PackedBlocksAndStridedViews) {
  Placement packed;
  packed.dtype = DType::kI32;
  packed.global = {2, 5};
  packed.box = Box::whole(packed.global);
  packed.blocks = {{{0, 0}, {2, 3}}, {{0, 3}, {2, 5}}};
  // Stored order: columns 0..2 of both rows, then columns 3..4 of both rows.
  const std::vector<int32_t> stored = {0, 1, 2, 10, 11, 12, 3, 4, 13, 14};
  std::vector<int32_t> dense(10);
  interp::gather({}, packed, packed.box, reinterpret_cast<const std::byte*>(stored.data()),
                 reinterpret_cast<std::byte*>(dense.data()));
  EXPECT_EQ(dense, (std::vector<int32_t>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14}));
  std::vector<int32_t> back(10);
  interp::scatter({}, packed, packed.box, reinterpret_cast<std::byte*>(back.data()),
                  reinterpret_cast<const std::byte*>(dense.data()));
  EXPECT_EQ(back, stored);

  Placement view;
  view.dtype = DType::kI32;
  view.global = {2, 2};
  view.box = Box::whole(view.global);
  BufferRef ref;
  ref.strides_elems = {5, 1};
  std::vector<int32_t> part(4);
  interp::gather(ref, view, view.box, reinterpret_cast<const std::byte*>(dense.data()),
                 reinterpret_cast<std::byte*>(part.data()));
  EXPECT_EQ(part, (std::vector<int32_t>{0, 1, 10, 11}));
  EXPECT_FALSE(interp::is_dense(ref, view));
  EXPECT_FALSE(interp::is_dense({}, packed));
}

}  // namespace
}  // namespace hostir::sim
