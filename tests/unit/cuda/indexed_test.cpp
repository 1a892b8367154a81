// Ops that find elements by position or content, and dot_general: every dtype, views and boxes.
#include <fmt/format.h>

#include "cuda_case.h"

namespace hostir::cuda {
namespace {

/// Lines and results of one kernel with the parameters x[5, 6, 7], u[5, 2, 7], i[4, 2], p[5, 3, 7],
/// and scalars a, b, c.
struct IndexedLines {
  std::string dtype;
  std::string index;
  std::string body;
  std::string results;
  std::string names;

  void add(const std::string& line, const std::string& shape, const std::string& element = {}) {
    const std::string name = fmt::format("%y{}", count_++);
    body += fmt::format("  {} = {}\n", name, line);
    returned(name, shape, element.empty() ? dtype : element);
  }
  void returned(const std::string& name, const std::string& shape, const std::string& element) {
    results += fmt::format("{}{}: tensor<{}{}>", results.empty() ? "" : ", ", name, shape, element);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  std::string text() const {
    return fmt::format(
        "kernel @k(%x: tensor<5x6x7x{0}>, %u: tensor<5x2x7x{0}>, %r: tensor<5x4x2x7x{0}>, "
        "%i: tensor<4x2x{1}>, %p: tensor<5x3x7x{1}>, %q: tensor<5x3x7x{0}>, "
        "%a: tensor<{1}>, %b: tensor<{1}>, %c: tensor<{1}>) -> ({2}) {{\n{3}  return {4}\n}}",
        dtype, index, results, body, names);
  }

 private:
  int count_ = 0;
};

IndexedLines every_op(DType dtype, const std::string& index) {
  const bool is_bool = dtype == DType::kI1;
  IndexedLines lines;
  lines.dtype = name(dtype);
  lines.index = index;
  lines.add("reverse %x {dims = [0, 2]}", "5x6x7x");
  lines.add("pad %x {low = [0, 1, 2], high = [0, 3, 1], interior = [0, 2, 0], value = 1}",
            "5x20x10x");
  lines.add("pad %x {low = [0, -1, 2], high = [-2, 3, -1], interior = [0, 1, 0], value = 1}",
            "3x13x8x");
  lines.add("roll %x {shift = 4, dim = 1}", "5x6x7x");
  lines.add("roll %x {shift = -9, dim = 2}", "5x6x7x");
  lines.add("dynamic_slice %x, %a, %b, %c {sizes = [2, 6, 3]}", "2x6x3x");
  lines.add("dynamic_update_slice %x, %u, %a, %b, %c", "5x6x7x");
  lines.add("take %x, %i {dim = 1}", "5x4x2x7x");
  lines.add("take_along %x, %p {dim = 1}", "5x3x7x");
  lines.add("put %r, %i {dim = 1, size = 6, mode = set}", "5x6x7x");
  lines.add("put_along %q, %p {dim = 1, size = 6, mode = set}", "5x6x7x");
  if (!is_bool) {
    lines.add("put %r, %i {dim = 1, size = 6}", "5x6x7x");
    lines.add("put_along %q, %p {dim = 1, size = 6}", "5x6x7x");
    lines.add("cumsum %x {dim = 1}", "5x6x7x");
    lines.add("cumsum %x {dim = 2, reverse = true}", "5x6x7x");
  }
  // Operands that are views of memory.
  lines.body += fmt::format("  %t = transpose %x {{permutation = [2, 0, 1]}}\n");
  lines.add("reverse %t {dims = [1]}", "7x5x6x");
  lines.add("take %t, %i {dim = 2}", "7x5x4x2x");
  for (const bool descending : {false, true}) {
    const char* n = descending ? "d" : "e";
    lines.body +=
        fmt::format("  %s{0}, %o{0} = sort %t {{dim = 1, descending = {1}}}\n", n, descending);
    lines.returned(fmt::format("%s{}", n), "7x5x6x", lines.dtype);
    lines.returned(fmt::format("%o{}", n), "7x5x6x", "i32");
  }
  return lines;
}

TEST(CudaIndexed, EveryOpOfEveryDType) {
  std::mt19937_64 random(21);
  for (const DType dtype : tested_dtypes()) {
    for (const char* index : {"i32", "i64"}) {
      if (compiler() == nullptr && dtype != DType::kF32 && index[1] == '6') continue;
      const KernelCase test(every_op(dtype, index).text());
      expect_agrees(test, random, fmt::format("indexed ops of {} by {}", name(dtype), index), 2);
    }
  }
}

// Each rank uses only its own part of the dimension.
TEST(CudaIndexed, PartsOfADimension) {
  std::mt19937_64 random(22);
  const std::string text =
      R"(kernel @k(%x: tensor<9x8xf32>, %i: tensor<20xi32>, %r: tensor<20x8xf32>)
    -> (%y: tensor<20x8xf32>, %z: tensor<9x8xf32>, %c: tensor<9x8xf32>) {
  %y = take %x, %i {dim = 0}
  %z = put %r, %i {dim = 0, size = 9}
  %c = cumsum %x {dim = 1}
  return %y, %z, %c
})";
  const auto cut = [](KernelCase& test, const char* value, size_t dim, int64_t lo, int64_t hi) {
    Box& box = test.at(value).box;
    box.lo[dim] = lo;
    box.hi[dim] = hi;
  };
  for (const auto& [lo, hi] : {std::pair<int64_t, int64_t>{1, 4}, {4, 9}}) {
    KernelCase test(text);
    for (const char* value : {"x", "z", "c"}) cut(test, value, 0, lo, hi);
    expect_agrees(test, random, "rows");
    KernelCase columns(text);
    for (const char* value : {"x", "r", "y", "z"}) cut(columns, value, 1, lo, hi - 1);
    columns.at("c").box.lo = {0, 0};
    columns.at("c").box.hi = {0, 8};
    expect_agrees(columns, random, "columns");
  }
}

// Longer than a block's shared memory, shorter than a warp, and of one element.
TEST(CudaIndexed, SortsAndSumsOfAnyLength) {
  std::mt19937_64 random(23);
  std::vector<int64_t> lengths = {1, 2, 31, 33, 1000, 20000};
  if (compiler() == nullptr) lengths = {1, 1000, 20000};
  for (const int64_t length : lengths) {
    for (const char* dtype : {"f32", "bf16", "i8"}) {
      const KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<3x{0}x{1}>) -> (%y: tensor<3x{0}x{1}>, %i: tensor<3x{0}xi32>, %s: tensor<3x{0}x{1}>) {{
  %y, %i = sort %x
  %s = cumsum %x
  return %y, %i, %s
}})",
          length, dtype));
      expect_agrees(test, random, fmt::format("rows of {} {}", length, dtype), 2);
    }
  }
}

TEST(CudaIndexed, ShiftsAndRemainders) {
  std::mt19937_64 random(24);
  for (const DType dtype : tested_dtypes()) {
    if (dtype == DType::kI1) continue;
    const std::string t = fmt::format("tensor<77x{}>", name(dtype));
    const bool real = is_float(dtype);
    const KernelCase test(fmt::format(
        "kernel @k(%a: {0}, %b: {0}) -> (%r: {0}{1}) {{\n  %r = rem %a, %b\n{2}  return %r{3}\n}}",
        t, real ? "" : fmt::format(", %l: {0}, %h: {0}", t),
        real ? "" : "  %l = shift_left %a, %b\n  %h = shift_right %a, %b\n",
        real ? "" : ", %l, %h"));
    expect_agrees(test, random, fmt::format("shifts of {}", name(dtype)));
  }
}

struct Dot {
  const char* lhs;
  const char* rhs;
  const char* out;
  const char* attributes;
};

TEST(CudaDots, AnyDimensions) {
  const Dot dots[] = {
      {"4x5", "5x6", "4x6", "lhs_contracting = [1], rhs_contracting = [0]"},
      {"5x4", "6x5", "4x6", "lhs_contracting = [0], rhs_contracting = [1]"},
      {"3x4x5", "5x3x6", "3x4x6",
       "lhs_batch = [0], rhs_batch = [1], lhs_contracting = [2], rhs_contracting = [0]"},
      {"2x3x4x5", "5x3x7", "2x4x7", "lhs_contracting = [1, 3], rhs_contracting = [1, 0]"},
      {"2x3x4", "5x6", "2x3x4x5x6", ""},
      {"7", "7", "", "lhs_contracting = [0], rhs_contracting = [0]"},
      {"4x2x8x3", "4x8x2x5", "4x8x3x5",
       "lhs_batch = [0, 2], rhs_batch = [0, 1], lhs_contracting = [1], rhs_contracting = [2]"},
      {"8x1", "1x3", "8x3", "lhs_contracting = [1], rhs_contracting = [0]"},
  };
  std::mt19937_64 random(25);
  for (const Dot& dot : dots) {
    for (const char* dtype : {"f32", "bf16", "f64", "i32"}) {
      if (compiler() == nullptr && (dtype[0] == 'b' || dtype[1] == '6')) continue;
      const std::string_view out = dot.out;
      const KernelCase test(fmt::format(
          "kernel @k(%a: tensor<{0}x{3}>, %b: tensor<{1}x{3}>) -> (%y: tensor<{2}{3}>) {{\n"
          "  %y = dot_general %a, %b {{{4}}}\n  return %y\n}}",
          dot.lhs, dot.rhs, out.empty() ? "" : fmt::format("{}x", out), dtype, dot.attributes));
      expect_agrees(test, random, fmt::format("{} {} . {}", dtype, dot.lhs, dot.rhs), 4);
    }
  }
}

}  // namespace
}  // namespace hostir::cuda
