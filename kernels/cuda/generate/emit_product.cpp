// Products: the cuBLASLt call, and plain loops with one result per thread. The loops run where
// cuBLASLt has no algorithm: integers, 8-bit floats, f64 with a bias, odd strides.
#include <fmt/format.h>

#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/emit_common.h"

namespace hostir::cuda {
namespace {

constexpr int kProductThreads = 256;

std::string at(const Matrix& matrix, std::string_view row, std::string_view column) {
  std::string text = fmt::format("{}", matrix.offset);
  for (size_t d = 0; d < matrix.batch_strides.size(); ++d) {
    if (matrix.batch_strides[d] != 0)
      text += fmt::format(" + b{} * {}", d, matrix.batch_strides[d]);
  }
  return fmt::format("{} + {} * {} + {} * {}", text, row, matrix.row_stride, column,
                     matrix.column_stride);
}

std::string product_summary(const ProductStep& step) {
  std::string text = fmt::format("{} ", name(step.dtype));
  for (const int64_t b : step.batch) text += fmt::format("{} x ", b);
  text += fmt::format("{}x{}x{}", step.m, step.n, step.k);
  if (step.bias >= 0) text += " +bias";
  if (step.c.buffer >= 0) text += " +c";
  if (step.activation == ProductStep::Activation::kRelu) text += " relu";
  if (step.activation == ProductStep::Activation::kGelu) text += " gelu";
  return text;
}

// The accumulation type of products.
std::string sum_type(DType dtype) {
  if (!is_float(dtype)) return "i64t";
  return is_narrow_float(dtype) ? "float" : "double";
}

std::string plain_body(const ProductStep& step) {
  const std::string_view type = name(step.dtype);
  const std::string sum = sum_type(step.dtype);
  int64_t results = step.m * step.n;
  for (const int64_t b : step.batch) results *= b;
  std::string body = "  const index t = (index)block * kThreads + threadIdx.x;\n";
  body += fmt::format("  if (t >= {}) return;\n", results);
  Extents extents = step.batch;
  extents.push_back(step.m);
  extents.push_back(step.n);
  std::string linear = "t";
  for (size_t d = extents.size(); d > 0; --d) {
    const std::string variable = d == extents.size()       ? "n"
                                 : d + 1 == extents.size() ? "m"
                                                           : fmt::format("b{}", d - 1);
    body += fmt::format("  const index {} = {} % {};\n", variable, linear, extents[d - 1]);
    linear = fmt::format("({} / {})", linear, extents[d - 1]);
  }
  body += fmt::format("  {} sum = 0;\n  vec<{}, 1> x, y;\n  for (index k = 0; k < {}; ++k) {{\n",
                      sum, type, step.k);
  body += fmt::format("    load<1>(x, in<{}>(a.p[0]) + ({}));\n", type, at(step.a, "m", "k"));
  body += fmt::format("    load<1>(y, in<{}>(a.p[1]) + ({}));\n", type, at(step.b, "k", "n"));
  body += fmt::format("    sum = op_add(sum, op_mul(({0})x[0], ({0})y[0]));\n  }}\n", sum);
  int argument = 2;
  if (step.c.buffer >= 0) {
    body += fmt::format("  load<1>(x, in<{}>(a.p[{}]) + ({}));\n  sum = op_add(sum, ({})x[0]);\n",
                        type, argument++, at(step.c, "m", "n"), sum);
  }
  if (step.bias >= 0) {
    body +=
        fmt::format("  load<1>(x, in<{}>(a.p[{}]) + (n + {}));\n  sum = op_add(sum, ({})x[0]);\n",
                    type, argument++, step.bias_offset, sum);
  }
  if (step.activation == ProductStep::Activation::kRelu) body += "  sum = op_relu(sum);\n";
  if (step.activation == ProductStep::Activation::kGelu) body += "  sum = op_gelu_tanh(sum);\n";
  body += fmt::format(
      "  store<1>(map<{0}, 1>([&](int) {{ return sum; }}), out<{0}>(a.p[{1}]) + ({2}));\n", type,
      argument, at(step.d, "m", "n"));
  return body;
}

}  // namespace

void emit_product(ProductStep step, double flops, Plan& plan) {
  // f64 has no epilogue with a bias: copy the bias to the matrix that the product is added to.
  if (step.dtype == DType::kF64 && step.bias >= 0 && step.c.buffer < 0) {
    Placement space;
    space.dtype = step.dtype;
    space.global = step.batch;
    space.global.push_back(step.m);
    space.global.push_back(step.n);
    space.box = Box::whole(space.global);
    Walk bias{step.bias_offset, Extents(space.global.size(), 0)};
    bias.strides.back() = 1;
    std::vector<Group> parts;
    Group& group = parts.emplace_back(space);
    group.store(group.load(step.bias, step.dtype, bias, false), step.d.buffer, group.full_walk());
    emit_parts(parts, plan);
    step.bias = -1;
    step.c = step.d;
  }
  GeneratedStep& plain = step.plain;
  plain.name = next_name(plan);
  plain.buffers = {step.a.buffer, step.b.buffer};
  if (step.c.buffer >= 0) plain.buffers.push_back(step.c.buffer);
  if (step.bias >= 0) plain.buffers.push_back(step.bias);
  plain.buffers.push_back(step.d.buffer);
  int64_t batch = 1;
  for (const int64_t b : step.batch) batch *= b;
  const auto size = static_cast<double>(size_bytes(step.dtype));
  const auto elems = [&](int64_t rows, int64_t columns) {
    return static_cast<double>(batch * rows * columns) * size;
  };
  plain.read_bytes = elems(step.m, step.k) + elems(step.k, step.n);
  plain.write_bytes = elems(step.m, step.n);
  plain.flops = flops;
  plain.summary = product_summary(step);
  plain.block = kProductThreads;
  plain.grid = static_cast<unsigned>(ceil_div(batch * step.m * step.n, kProductThreads));
  plain.text = body_function(plain.name + "_0", plain.buffers.size(), "u64t", kProductThreads,
                             plain_body(step)) +
               entries(plain.name, plain.buffers.size(), kProductThreads,
                       fmt::format("  {}_0<true>(a, blockIdx.x);\n", plain.name),
                       fmt::format("  {}_0<false>(a, blockIdx.x);\n", plain.name));
  plan.steps.emplace_back(std::move(step));
}

void emit_reshape(const Placement& from, int from_buffer, const Placement& to, int to_buffer,
                  Plan& plan) {
  const std::string_view type = name(to.dtype);
  const int64_t elems = to.box.volume();
  std::string body = "  const index t = (index)block * kThreads + threadIdx.x;\n";
  body += fmt::format("  if (t >= {}) return;\n  index rest = t, global = 0, scale = 1;\n", elems);
  for (size_t d = to.global.size(); d > 0; --d) {
    const int64_t local = to.box.hi[d - 1] - to.box.lo[d - 1];
    body += fmt::format("  global += (rest % {} + {}) * scale;\n  rest /= {};\n  scale *= {};\n",
                        local, to.box.lo[d - 1], local, to.global[d - 1]);
  }
  body += "  index at = 0;\n  scale = 1;\n  bool here = true;\n";
  for (size_t d = from.global.size(); d > 0; --d) {
    const int64_t lo = from.box.lo[d - 1];
    const int64_t hi = from.box.hi[d - 1];
    body += fmt::format(
        "  {{\n    const index i = global % {0};\n    global /= {0};\n    here = here && i >= {1} "
        "&& i < {2};\n"
        "    at += (i - {1}) * scale;\n    scale *= {3};\n  }}\n",
        std::max<int64_t>(1, from.global[d - 1]), lo, hi, hi - lo);
  }
  body += fmt::format(
      "  vec<{0}, 1> x = splat<{0}, 1>(0);\n  if (here) load<1>(x, in<{0}>(a.p[0]) + at);\n"
      "  store<1>(x, out<{0}>(a.p[1]) + t);\n",
      type);
  GeneratedStep step;
  step.name = next_name(plan);
  step.buffers = {from_buffer, to_buffer};
  step.uses = {{from_buffer, false, ""}, {to_buffer, true, ""}};
  step.block = kProductThreads;
  step.grid = static_cast<unsigned>(ceil_div(elems, kProductThreads));
  step.read_bytes = step.write_bytes = static_cast<double>(to.local_bytes());
  step.summary = fmt::format("reshape by global index, {} elements", elems);
  step.text = body_function(step.name + "_0", 2, "i64t", kProductThreads, body) +
              entries(step.name, 2, kProductThreads,
                      fmt::format("  {}_0<true>(a, blockIdx.x);\n", step.name),
                      fmt::format("  {}_0<false>(a, blockIdx.x);\n", step.name));
  plan.steps.emplace_back(std::move(step));
}

}  // namespace hostir::cuda
