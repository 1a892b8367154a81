// Sharded values: a rank's result on its box equals that box of the unsharded result.
#include <fmt/format.h>

#include "kernel_case.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {
namespace {

Bytes cut_out(const Placement& whole, const Bytes& bytes, const Box& box) {
  const int64_t size = size_bytes(whole.dtype);
  Bytes part(static_cast<size_t>(box.volume() * size));
  copy_box(whole.box, bytes.data(), box, part.data(), size);
  return part;
}

Box random_box(std::mt19937_64& random, const Extents& extents) {
  Box box = Box::whole(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto n = static_cast<uint64_t>(extents[d]) + 1;
    const auto a = static_cast<int64_t>(random() % n);
    const auto b = static_cast<int64_t>(random() % n);
    box.lo[d] = std::min(a, b);
    box.hi[d] = std::max(a, b);
  }
  return box;
}

struct BoxedValue {
  std::string_view name;
  std::vector<int> dims;  // by dimension: its index in the shared box; -1: not cut
};

/// Runs the kernel on the whole tensors and on random boxes of `extents`, with both kernel sets.
void expect_box_of_whole(const std::string& text, const Extents& extents,
                         const std::vector<BoxedValue>& cut, std::mt19937_64& random) {
  KernelCase whole(text);
  if (whole.bound.function == nullptr) return;
  const auto inputs = whole.random_inputs(random);
  const auto wanted = whole.run(KernelSet::kReference, inputs);
  for (int round = 0; round < 12; ++round) {
    const Box box = random_box(random, extents);
    KernelCase part(text);
    for (const BoxedValue& value : cut) {
      Placement& placement = part.at(value.name);
      for (size_t d = 0; d < value.dims.size(); ++d) {
        if (value.dims[d] < 0) continue;
        placement.box.lo[d] = box.lo[static_cast<size_t>(value.dims[d])];
        placement.box.hi[d] = box.hi[static_cast<size_t>(value.dims[d])];
      }
    }
    std::vector<Bytes> local;
    for (size_t p = 0; p < inputs.size(); ++p) {
      const uint32_t value = part.bound.function->params[p].value.index;
      local.push_back(cut_out(whole.bound.values[value], inputs[p], part.bound.values[value].box));
    }
    for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
      const auto got = part.run(set, local);
      const auto results = part.results();
      for (size_t r = 0; r < got.size(); ++r) {
        const Placement& placement = part.bound.values[results[r].index];
        expect_close(placement, got[r],
                     cut_out(whole.bound.values[results[r].index], wanted[r], placement.box), text);
      }
    }
  }
}

TEST(Boxes, SourcesAndRandomNumbersKnowWhereTheyAre) {
  std::mt19937_64 random(1);
  for (const char* dtype : {"f32", "bf16", "f64"}) {
    expect_box_of_whole(
        fmt::format(
            R"(kernel @k(%x: tensor<13x37x{0}>) -> (%d: tensor<13x37x{0}>, %u: tensor<13x37x{0}>, %i: tensor<13x37x{0}>) {{
  %d = dropout %x {{rate = 0.3, seed = 11, offset = 5}}
  %u = uniform {{seed = 3, lo = -1.0, hi = 2.0}} : tensor<13x37x{0}>
  %i = iota {{dim = 1}} : tensor<13x37x{0}>
  return %d, %u, %i
}})",
            dtype),
        {13, 37}, {{"x", {0, 1}}, {"d", {0, 1}}, {"u", {0, 1}}, {"i", {0, 1}}}, random);
  }
}

TEST(Boxes, MovesAndFolds) {
  std::mt19937_64 random(2);
  expect_box_of_whole(R"(kernel @k(%x: tensor<12x9x7xf32>, %b: tensor<9xf32>)
      -> (%t: tensor<7x12x9xf32>, %y: tensor<12x9x7xf32>, %s: tensor<12x9xf32>, %r: tensor<12x63xf32>) {
  %t = transpose %x {permutation = [2, 0, 1]}
  %c = broadcast_in_dim %b {dims = [1], shape = [12, 9, 7]}
  %y = add %x, %c
  %s = reduce_sum %y {dims = [2]}
  %r = reshape %x {shape = [12, 63]}
  return %t, %y, %s, %r
})",
                      {12},
                      {{"x", {0, -1, -1}},
                       {"c", {0, -1, -1}},
                       {"t", {-1, 0, -1}},
                       {"y", {0, -1, -1}},
                       {"s", {0, -1}},
                       {"r", {0, -1}}},
                      random);
  // Another dimension is cut, and the bias with it; heads are split off a cut dimension.
  expect_box_of_whole(R"(kernel @k(%x: tensor<5x9x4xf32>, %b: tensor<9xf32>)
      -> (%y: tensor<5x9x4xf32>, %h: tensor<5x36xf32>) {
  %c = broadcast_in_dim %b {dims = [1], shape = [5, 9, 4]}
  %y = mul %x, %c
  %n = neg %y
  %z = slice %n {start = [0, 0, 0], limit = [5, 9, 4]}
  %g = concat %z, %x {dim = 2}
  %w = reduce_max %g {dims = [2], keep_dims = true}
  %v = broadcast_in_dim %w {dims = [0, 1, 2], shape = [5, 9, 4]}
  %q = sub %v, %x
  %h = reshape %q {shape = [5, 36]}
  return %y, %h
})",
                      {5},
                      {{"x", {0, -1, -1}},
                       {"c", {0, -1, -1}},
                       {"y", {0, -1, -1}},
                       {"n", {0, -1, -1}},
                       {"z", {0, -1, -1}},
                       {"g", {0, -1, -1}},
                       {"w", {0, -1, -1}},
                       {"v", {0, -1, -1}},
                       {"q", {0, -1, -1}},
                       {"h", {0, -1}}},
                      random);
}

TEST(Boxes, ProductsByRowsColumnsAndBatch) {
  std::mt19937_64 random(3);
  for (const char* dtype : {"f32", "bf16"}) {
    expect_box_of_whole(
        fmt::format(R"(kernel @k(%x: tensor<3x20x16x{0}>, %w: tensor<30x16x{0}>, %b: tensor<30x{0}>)
        -> (%y: tensor<3x20x30x{0}>) {{
  %h = linear %x, %w, %b
  %y = gelu %h
  return %y
}})",
                    dtype),
        {3, 20, 30},
        {{"x", {0, 1, -1}}, {"w", {2, -1}}, {"b", {2}}, {"h", {0, 1, 2}}, {"y", {0, 1, 2}}},
        random);
  }
}

TEST(Boxes, PartialSumsOfACutContractionAddUp) {
  std::mt19937_64 random(4);
  const std::string text =
      R"(kernel @k(%a: tensor<6x20xf32>, %b: tensor<20x8xf32>) -> (%y: tensor<6x8xf32>) {
  %y = matmul %a, %b
  return %y
})";
  KernelCase whole(text);
  const auto inputs = whole.random_inputs(random);
  const auto wanted = whole.run(KernelSet::kReference, inputs)[0];
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    Tensor sum = Tensor::zeros(DType::kF32, {6, 8});
    for (int64_t rank = 0; rank < 8; ++rank) {  // 20 over 8: 3 3 3 3 3 3 2 0
      KernelCase part(text);
      const Range k = cut({0, 20}, 8, rank);
      part.at("a").box.lo[1] = part.at("b").box.lo[0] = k.lo;
      part.at("a").box.hi[1] = part.at("b").box.hi[0] = k.hi;
      const std::vector<Bytes> local = {cut_out(whole.at("a"), inputs[0], part.at("a").box),
                                        cut_out(whole.at("b"), inputs[1], part.at("b").box)};
      const auto got = part.run(set, local)[0];
      for (int64_t i = 0; i < 48; ++i) {
        sum.set_double(i, sum.get_double(i) + load_double(DType::kF32, got.data() + i * 4));
      }
    }
    expect_close(whole.at("y"), sum.data, wanted, "partial sums", 2);
  }
}

TEST(Boxes, PackAndUnpackAreInverse) {
  std::mt19937_64 random(5);
  KernelCase pack(R"(mesh @m = <x=3>
kernel @k(%x: tensor<5x7xf32>) -> (%y: tensor<5x7xf32>) {
  %y = pack %x {blocks = <@m, [{}, {x}]>}
  return %y
})");
  KernelCase unpack(R"(mesh @m = <x=3>
kernel @k(%x: tensor<5x7xf32>) -> (%y: tensor<5x7xf32>) {
  %y = unpack %x {blocks = <@m, [{}, {x}]>}
  return %y
})");
  std::vector<Box> blocks;
  for (int64_t r = 0; r < 3; ++r) {
    const Range columns = cut({0, 7}, 3, r);
    blocks.push_back({{0, columns.lo}, {5, columns.hi}});
  }
  pack.at("y").blocks = blocks;
  unpack.at("x").blocks = blocks;
  const auto inputs = pack.random_inputs(random);
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    const auto packed = pack.run(set, inputs);
    EXPECT_EQ(cut_out(pack.at("x"), inputs[0], blocks[0]),
              Bytes(packed[0].begin(), packed[0].begin() + blocks[0].volume() * 4));
    EXPECT_EQ(unpack.run(set, packed), inputs);
  }
}

TEST(Boxes, ReshardKeepsThePartAndMakesPartials) {
  std::mt19937_64 random(6);
  KernelCase test(R"(mesh @m = <x=2>
kernel @k(%x: tensor<4x6xf32> <@m, [{}, {}]>) -> (%y: tensor<4x6xf32> <@m, [{}, {}], unreduced=max{x}>) {
  %y = reshard %x {to = <@m, [{}, {}], unreduced=max{x}>}
  return %y
})");
  if (test.bound.function == nullptr) return;
  const auto inputs = test.random_inputs(random);
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    test.bound.identity_only = {};
    EXPECT_EQ(test.run(set, inputs), inputs);
    test.bound.identity_only = {false, true};
    const Bytes identity = test.run(set, inputs)[0];
    EXPECT_EQ(load_double(DType::kF32, identity.data() + 20),
              -std::numeric_limits<double>::infinity());
  }
}

}  // namespace
}  // namespace hostir::cpu
