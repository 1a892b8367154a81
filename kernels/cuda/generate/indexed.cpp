#include "kernels/cuda/generate/indexed.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/elements.h"
#include "kernels/cuda/generate/emit_common.h"

namespace hostir::cuda {

size_t IndexedCall::dim(size_t rank) const {
  const auto dim = instruction.attributes.get_or<int64_t>("dim", -1);
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}

std::string IndexedCall::element(size_t operand, const Names& index) const {
  const Operand& o = in[operand];
  std::string at = fmt::format("{}", o.walk.offset);
  for (size_t d = 0; d < o.walk.strides.size(); ++d) {
    if (o.walk.strides[d] == 0) continue;
    const int64_t lo = o.placement->box.lo[d];
    at += lo == 0 ? fmt::format(" + {} * {}", index[d], o.walk.strides[d])
                  : fmt::format(" + ({} - {}) * {}", index[d], lo, o.walk.strides[d]);
  }
  return fmt::format("in<{}>(a.p[{}])[{}]", name(o.placement->dtype), operand, at);
}

std::string IndexedCall::value(size_t operand, const Names& index) const {
  return fmt::format("item<{}>(&{})", name(in[operand].placement->dtype), element(operand, index));
}

std::string IndexedCall::holds(size_t operand, const Names& index) const {
  const Box& box = in[operand].placement->box;
  std::string text;
  for (size_t d = 0; d < box.lo.size(); ++d) {
    text += fmt::format("{}{} >= {} && {} < {}", d == 0 ? "" : " && ", index[d], box.lo[d],
                        index[d], box.hi[d]);
  }
  return text.empty() ? "true" : text;
}

std::string IndexedCall::result_memory(size_t result) const {
  return fmt::format("out<{}>(a.p[{}])", name(out[result]->dtype), in.size() + result);
}

std::string IndexedCall::scratch() const { return fmt::format("a.p[{}]", in.size() + out.size()); }

std::string IndexedCall::for_each(int64_t count) {
  return fmt::format(
      "  const i64t t = (i64t)block * kThreads + threadIdx.x;\n  if (t >= {}) return;\n", count);
}

namespace {

// Decomposes `linear` into global indices of the dimensions selected by `wanted`, the last fastest.
std::string global_indices(const Box& box, const std::string& linear,
                           const std::vector<bool>& wanted) {
  std::string text;
  int64_t scale = 1;
  for (size_t d = box.lo.size(); d > 0; --d) {
    if (!wanted[d - 1]) continue;
    const int64_t extent = box.hi[d - 1] - box.lo[d - 1];
    text += fmt::format("  const i64t g{} = {} / {} % {} + {};\n", d - 1, linear, scale, extent,
                        box.lo[d - 1]);
    scale *= extent;
  }
  return text;
}

}  // namespace

std::string IndexedCall::for_each_element() const {
  const Box& box = result().box;
  return for_each(box.volume()) + global_indices(box, "t", std::vector<bool>(box.lo.size(), true));
}

int64_t IndexedCall::row_step(size_t dim) const {
  return kernels::strides_of(result().local())[dim];
}

int64_t IndexedCall::row_count(size_t dim) const {
  return result().box.volume() / result().local()[dim];
}

std::string IndexedCall::row_indices(size_t dim) const {
  const Box& box = result().box;
  std::vector<bool> wanted(box.lo.size(), true);
  wanted[dim] = false;
  const int64_t step = row_step(dim);
  return global_indices(box, "row", wanted) +
         fmt::format("  const i64t first = row / {} * {} + row % {};\n", step,
                     step * result().local()[dim], step);
}

IndexedCall::Names IndexedCall::names(std::string_view prefix, size_t count) {
  Names out;
  for (size_t d = 0; d < count; ++d) out.push_back(fmt::format("{}{}", prefix, d));
  return out;
}

IndexedKernel IndexedCall::per_element(std::string body) const {
  return {for_each_element() + std::move(body), ceil_div(result().box.volume(), kThreads),
          kThreads};
}

std::string start_lines(const IndexedCall& call, size_t first, const Extents& extents,
                        const Extents& box) {
  std::string text;
  for (size_t d = 0; d < extents.size(); ++d) {
    text += fmt::format("  const i64t s{} = clamped((i64t){}, {});\n", d, call.value(first + d, {}),
                        extents[d] - box[d]);
  }
  return text;
}

// Each thread owns every `parts`-th element of a row of the result and goes through all updates of
// the row in order, so that sums have the bits of the reference and threads do not conflict. Floats
// accumulate in f64, in memory beside the result.
IndexedKernel put_kernel(const IndexedCall& call, size_t dim, const std::string& target,
                         const std::vector<int>& columns) {
  constexpr int64_t kManyThreads = 1 << 16;
  const Placement& out = call.result();
  const auto* mode = call.instruction.attributes.get<Keyword>("mode");
  const bool adds = mode == nullptr || mode->word == "add";
  const bool is_wide = adds && is_float(out.dtype) && out.dtype != DType::kF64;
  const std::string type(is_wide ? "f64" : name(out.dtype));
  const int64_t extent = out.local()[dim];
  const int64_t rows = call.row_count(dim);
  const int64_t parts = std::clamp<int64_t>(kManyThreads / rows, 1, extent);
  const int64_t step = call.row_step(dim);
  const int64_t lo = out.box.lo[dim];

  std::string body = IndexedCall::for_each(rows * parts);
  body += fmt::format("  const i64t part = t / {0}, row = t % {0};\n", rows);
  body += call.row_indices(dim);
  body += fmt::format("  {0}::mem* sums = out<{0}>({1});\n", type,
                      is_wide ? call.scratch() : fmt::format("a.p[{}]", call.in.size()));
  const std::string mine =
      fmt::format("  for (i64t i = part; i < {}; i += {}) {{\n", extent, parts);
  const std::string place = fmt::format("first + i * {}", step);
  IndexedCall::Names index = IndexedCall::names("g", out.global.size());
  index[dim] = fmt::format("(i + {})", lo);
  // In place, a base is there already.
  if (call.in.size() > 2 && !is_wide)
    body += fmt::format("  if (a.p[{}] != a.p[2])\n", call.in.size());
  body += mine;
  if (call.in.size() > 2) {
    body += fmt::format("    set_item<{}>(sums + {}, {} ? {} : 0);\n  }}\n", type, place,
                        call.holds(2, index), call.value(2, index));
  } else {
    body += fmt::format("    set_item<{}>(sums + {}, 0);\n  }}\n", type, place);
  }
  // All updates of the row.
  const Box& updates = call.in[0].placement->box;
  std::string indent = "  ";
  std::string here;
  for (size_t d = 0; d < columns.size(); ++d) {
    if (columns[d] >= 0) {
      body += fmt::format("{}const i64t at{} = g{};\n", indent, d, columns[d]);
      here += fmt::format(" && at{} >= {} && at{} < {}", d, updates.lo[d], d, updates.hi[d]);
    }
  }
  if (!here.empty()) {
    body += fmt::format("{}if ({}) {{\n", indent, here.substr(4));
    indent += "  ";
  }
  int braces = here.empty() ? 0 : 1;
  for (size_t d = 0; d < columns.size(); ++d) {
    if (columns[d] >= 0) continue;
    body += fmt::format("{0}for (i64t at{1} = {2}; at{1} < {3}; ++at{1}) {{\n", indent, d,
                        updates.lo[d], updates.hi[d]);
    indent += "  ";
    ++braces;
  }
  const IndexedCall::Names update = IndexedCall::names("at", columns.size());
  body += fmt::format("{}const i64t i = (i64t){} - {};\n", indent, target, lo);
  const std::string x = call.value(0, update);
  body += fmt::format("{}if (i >= 0 && i < {} && i % {} == part)\n", indent, extent, parts);
  body += adds ? fmt::format(
                     "{0}  set_item<{1}>(sums + {2}, op_add(item<{1}>(sums + {2}), "
                     "({1}::reg){3}));\n",
                     indent, type, place, x)
               : fmt::format("{}  set_item<{}>(sums + {}, {});\n", indent, type, place, x);
  body += "  " + std::string(static_cast<size_t>(braces), '}') + "\n";
  if (is_wide) {
    body += mine + fmt::format("    set_item<{0}>({1} + {2}, ({0}::reg)sums[{2}]);\n  }}\n",
                               name(out.dtype), call.result_memory(), place);
  }
  IndexedKernel kernel{std::move(body), ceil_div(rows * parts, IndexedCall::kThreads),
                       IndexedCall::kThreads};
  if (is_wide) kernel.scratch_bytes = out.box.volume() * 8;
  return kernel;
}

}  // namespace hostir::cuda
