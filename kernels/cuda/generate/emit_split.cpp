// Folds through memory, in two stages: many blocks fold a part each, then one thread or warp per
// result folds the parts. The cut, and so the bits, depend only on the shape.
//
// Inner: the innermost dimension is folded; a block takes a part of one row.
// Outer: the innermost dimension stays; adjacent threads compute adjacent results.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/emit_common.h"

namespace hostir::cuda {

using From = Register::From;

namespace {

constexpr int kSplitThreads = 256;
constexpr int kLanesAcross = 32;  // outer: adjacent threads
constexpr int kLanesDown = kSplitThreads / kLanesAcross;
constexpr int64_t kBlocksWanted = 132 * 8;

struct Fold {
  int reg = -1;
  int partial = -1;  // buffer
};

std::vector<Fold> folds_of(const Group& group) {
  std::vector<Fold> folds;
  for (size_t r = 0; r < group.registers().size(); ++r) {
    if (group.registers()[r].from == From::kFold) folds.push_back({static_cast<int>(r), -1});
  }
  return folds;
}

int64_t size_of(const std::string& accumulator) { return accumulator == "float" ? 4 : 8; }

std::string accumulate_all(const GroupText& text, const std::vector<Fold>& folds, bool by_lane) {
  std::string out;
  for (size_t r = 0; r < text.group().registers().size(); ++r) {
    const int index = static_cast<int>(r);
    if (!text.group().at(index).is_row) out += text.define(index, "    ", "");
  }
  for (const Fold& fold : folds) {
    std::string line = text.accumulate(fold.reg, "    ", "");
    if (by_lane) {
      // One accumulator per lane.
      const std::string name = fmt::format("a{}", fold.reg);
      size_t at = 0;
      while ((at = line.find(name, at)) != std::string::npos) {
        line.replace(at, name.size(), name + "[i]");
        at += name.size() + 3;
      }
    }
    out += line;
  }
  for (size_t s = 0; s < text.group().stores().size(); ++s) {
    if (!text.group().at(text.group().stores()[s].reg).is_row) out += text.store(s, "    ", "");
  }
  return out;
}

/// Second stage: result `row` from partial[part * part_stride + row * row_stride].
GeneratedStep finish_step(const GroupText& text, const Group& group, const std::vector<Fold>& folds,
                          int64_t rows, int64_t parts, int64_t part_stride, int64_t row_stride,
                          const std::string& name) {
  GeneratedStep step;
  step.name = name;
  step.block = kSplitThreads;
  const bool by_warp = part_stride == 1;
  const int64_t per_block = by_warp ? kSplitThreads / 32 : kSplitThreads;
  step.grid = static_cast<unsigned>(ceil_div(rows, per_block));
  std::string body = fmt::format("  const index row = (index)block * {} + threadIdx.x{};\n",
                                 per_block, by_warp ? " / 32" : "");
  body += fmt::format("  if (row >= {}) return;\n", rows);
  for (const Fold& fold : folds) {
    const std::string type = text.accumulator_type(fold.reg);
    step.buffers.push_back(fold.partial);
    step.uses.push_back({fold.partial, false, ""});
    body += fmt::format(
        "  {0} a{1} = {2};\n  for (index p = {3}; p < {4}; p += {5})\n"
        "    a{1} = {6}()(a{1}, ((const {0}*)a.p[{7}])[p * {8} + row * {9}]);\n",
        type, fold.reg, text.accumulator_identity(fold.reg), by_warp ? "threadIdx.x % 32" : "0",
        parts, by_warp ? 32 : 1, text.fold_name(fold.reg), step.buffers.size() - 1, part_stride,
        row_stride);
    if (by_warp) {
      body += fmt::format("  a{0} = warp_fold(a{0}, {1}());\n", fold.reg, text.fold_name(fold.reg));
    }
    body += fmt::format("  const auto r{} = {};\n", fold.reg,
                        text.finished(fold.reg, fmt::format("a{}", fold.reg)));
  }
  for (const Store& store : group.stores()) {
    const Register& reg = group.at(store.reg);
    if (!reg.is_row) continue;
    step.buffers.push_back(store.buffer);
    step.uses.push_back({store.buffer, true, ""});
    body += fmt::format("  {}store<1>(r{}, out<{}>(a.p[{}]) + row);\n",
                        by_warp ? "if (threadIdx.x % 32 == 0) " : "", store.reg,
                        hostir::name(reg.dtype), step.buffers.size() - 1);
    step.write_bytes += static_cast<double>(rows * size_bytes(reg.dtype));
  }
  step.text = body_function(name + "_0", step.buffers.size(), "u64t", kSplitThreads, body) +
              entries(name, step.buffers.size(), kSplitThreads,
                      fmt::format("  {}_0<true>(a, blockIdx.x);\n", name),
                      fmt::format("  {}_0<false>(a, blockIdx.x);\n", name));
  step.summary = fmt::format("second stage, {} results of {} parts", rows, parts);
  return step;
}

/// Wraps the first stage's body in a step.
GeneratedStep first_step(const GroupText& text, const Group& group, const std::vector<Fold>& folds,
                         int64_t blocks, const std::string& body, std::string name,
                         std::string summary) {
  GeneratedStep step;
  step.name = std::move(name);
  step.block = kSplitThreads;
  step.grid = static_cast<unsigned>(blocks);
  step.buffers = text.buffers();
  step.text =
      body_function(step.name + "_0", step.buffers.size(), text.index(), kSplitThreads, body) +
      entries(step.name, step.buffers.size(), kSplitThreads,
              fmt::format("  {}_0<true>(a, blockIdx.x);\n", step.name),
              fmt::format("  {}_0<false>(a, blockIdx.x);\n", step.name));
  for (BufferUse& use : uses_of_group(group, false)) {
    bool is_row_store = false;
    for (const Store& store : group.stores()) {
      is_row_store = is_row_store ||
                     (use.is_write && store.buffer == use.buffer && group.at(store.reg).is_row);
    }
    if (!is_row_store) step.uses.push_back(std::move(use));
  }
  for (const Fold& fold : folds) step.uses.push_back({fold.partial, true, ""});
  step.read_bytes = text.read_bytes();
  step.write_bytes = text.write_bytes();
  step.flops = group.flops;
  step.summary = std::move(summary);
  return step;
}

void add_partials(std::vector<Fold>& folds, GroupText& text, int64_t elems, Plan& plan) {
  for (Fold& fold : folds) {
    fold.partial = plan.add_buffer({.kind = Buffer::Kind::kTemporary,
                                    .bytes = elems * size_of(text.accumulator_type(fold.reg))});
    text.add_argument(fold.partial);
  }
}

void emit_inner(const Group& group, Plan& plan) {
  const size_t rank = group.extents().size();
  Axes axes = join_axes(group, dims_where(group.folded(), false, rank),
                        dims_where(group.folded(), true, rank));
  const int vector = pick_vector(group, axes, false);
  const int64_t vectors = axes.inner_volume() / vector;
  const int64_t rows = group.rows();
  const int64_t most = std::max<int64_t>(1, vectors / (kSplitThreads * 4));
  const int64_t length =
      ceil_div(vectors, std::clamp<int64_t>(ceil_div(kBlocksWanted, rows), 1, most));
  const int64_t parts = ceil_div(vectors, length);
  GroupText text(group, std::move(axes), vector);
  std::vector<Fold> folds = folds_of(group);
  add_partials(folds, text, rows * parts, plan);
  std::string body = fmt::format("  const index row = block / {0}, part = block % {0};\n", parts);
  body += take_apart("row", text.axes().outer, 1, "row", "  ");
  body += fmt::format("  const index end = (part + 1) * {0} < {1} ? (part + 1) * {0} : {1};\n",
                      length, vectors);
  for (const Fold& fold : folds) {
    body += fmt::format("  {} a{} = {};\n", text.accumulator_type(fold.reg), fold.reg,
                        text.accumulator_identity(fold.reg));
  }
  body += fmt::format(
      "#pragma unroll 4\n  for (index c = part * {} + threadIdx.x; c < end; c += kThreads) {{\n",
      length);
  body += take_apart("c", text.axes().inner, vector, "c", "    ");
  body += accumulate_all(text, folds, false) + "  }\n";
  for (const Fold& fold : folds) {
    body += fmt::format(
        "  __shared__ {0} s{1}[32];\n  a{1} = block_fold<kThreads>(a{1}, {2}(), {3}, s{1});\n"
        "  if (threadIdx.x == 0) (({0}*){4})[row * {5} + part] = a{1};\n",
        text.accumulator_type(fold.reg), fold.reg, text.fold_name(fold.reg),
        text.accumulator_identity(fold.reg), text.argument(fold.partial), parts);
  }
  plan.steps.emplace_back(first_step(
      text, group, folds, rows * parts, body, next_name(plan),
      fmt::format("{}, {} rows of {} in {} parts", text.ops(), rows, group.columns(), parts)));
  plan.steps.emplace_back(finish_step(text, group, folds, rows, parts, 1, parts, next_name(plan)));
}

void emit_outer(const Group& group, Plan& plan) {
  const size_t rank = group.extents().size();
  // Here kept dimensions are the inner ones; folded ones are the rows that are summed.
  Axes axes = join_axes(group, dims_where(group.folded(), true, rank),
                        dims_where(group.folded(), false, rank));
  std::vector<Fold> folds = folds_of(group);
  // Partial sums of a block use at most 40 KiB of shared memory.
  int vector = pick_vector(group, axes, false);
  while (vector > 1 && static_cast<int64_t>(folds.size()) * kSplitThreads * vector * 8 > 40960) {
    vector /= 2;
  }
  const int64_t kept = group.rows();
  const int64_t folded = group.columns();
  const int64_t across = ceil_div(kept / vector, kLanesAcross);  // adjacent blocks
  const int64_t most = std::max<int64_t>(1, folded / (kLanesDown * 8));
  const int64_t length =
      ceil_div(folded, std::clamp<int64_t>(ceil_div(kBlocksWanted, across), 1, most));
  const int64_t parts = ceil_div(folded, length);
  GroupText text(group, std::move(axes), vector);
  add_partials(folds, text, kept * parts, plan);
  std::string body =
      fmt::format("  const index part = block / {0}, across = block % {0};\n", across);
  body += fmt::format("  const int lane = threadIdx.x % {0}, down = threadIdx.x / {0};\n",
                      kLanesAcross);
  body += fmt::format("  const index c = across * {} + lane;\n", kLanesAcross);
  body += fmt::format("  const index end = (part + 1) * {0} < {1} ? (part + 1) * {0} : {1};\n",
                      length, folded);
  for (const Fold& fold : folds) {
    body += fmt::format(
        "  {0} a{1}[{2}];\n#pragma unroll\n  for (int i = 0; i < {2}; ++i) a{1}[i] = {3};\n",
        text.accumulator_type(fold.reg), fold.reg, vector, text.accumulator_identity(fold.reg));
  }
  const int64_t kept_vectors = kept / vector;
  const std::string inside = fmt::format("c < {}", kept_vectors);
  body += fmt::format(
      "#pragma unroll 4\n  for (index row = part * {} + down; row < end && {}; row += {}) {{\n",
      length, inside, kLanesDown);
  body += take_apart("row", text.axes().outer, 1, "row", "    ");
  body += take_apart("c", text.axes().inner, vector, "c", "    ");
  body += accumulate_all(text, folds, true) + "  }\n";
  for (const Fold& fold : folds) {
    const std::string type = text.accumulator_type(fold.reg);
    body += fmt::format(
        "  __shared__ {0} s{1}[{2}][{3}];\n"
        "#pragma unroll\n  for (int i = 0; i < {4}; ++i) s{1}[down][i * {5} + lane] = a{1}[i];\n"
        "  __syncthreads();\n"
        "  for (int i = down; i < {4}; i += {2}) {{\n"
        "    {0} sum = s{1}[0][i * {5} + lane];\n"
        "    for (int d = 1; d < {2}; ++d) sum = {6}()(sum, s{1}[d][i * {5} + lane]);\n"
        "    if ({7}) (({0}*){8})[part * {9} + c * {4} + i] = sum;\n"
        "  }}\n",
        type, fold.reg, kLanesDown, kLanesAcross * vector, vector, kLanesAcross,
        text.fold_name(fold.reg), inside, text.argument(fold.partial), kept);
  }
  plan.steps.emplace_back(
      first_step(text, group, folds, across * parts, body, next_name(plan),
                 fmt::format("{}, {} columns of {} in {} parts", text.ops(), kept, folded, parts)));
  plan.steps.emplace_back(finish_step(text, group, folds, kept, parts, kept, 1, next_name(plan)));
}

}  // namespace

void emit_split(const Group& group, Plan& plan) {
  bool is_inner = true;
  for (size_t d = 0; d < group.extents().size(); ++d) {
    if (group.extents()[d] > 1) is_inner = group.folded()[d];
  }
  is_inner ? emit_inner(group, plan) : emit_outer(group, plan);
}

}  // namespace hostir::cuda
