// Plans attention as one call of a library.
#include <fmt/core.h>

#include "kernels/cuda/generate/emit_common.h"
#include "kernels/cuda/generate/planning.h"
#include "kernels/cuda/generate/products.h"

namespace hostir::cuda {

void Planner::find_attention() {
  if (options_.attention == CompilerOptions::Attention::kOps ||
      options_.epilogues == CompilerOptions::Epilogues::kExact) {
    return;
  }
  const AttentionFinder finder(kernel_, body_, readers_);
  for (const Instruction* instruction : body_) {
    if (!readers_.is_live(*instruction)) continue;
    auto found = finder.ending_with(*instruction);
    if (!found) continue;
    absorbed_.insert(found->inside.begin(), found->inside.end());
    attentions_.emplace(instruction, std::move(*found));
  }
}

// An operand with its batch and its heads as one dimension each; copied if strides cannot express
// that or if its innermost dimension is not dense.
Heads Planner::heads_of(uint32_t value, const AttentionDims& dims) {
  if (states_[value].at == ValueState::At::kLiteral) materialise(value);
  const Extents extents = dims.part.extents();
  const auto rows = static_cast<size_t>(dims.rows);
  const auto columns = static_cast<size_t>(dims.columns);
  Heads heads;
  heads.extents = {volume_of(extents, dims.batch), volume_of(extents, dims.heads), extents[rows],
                   extents[columns]};
  heads.buffer = root_buffer(value);
  const Walk walk = *walk_over(value, dims.part);
  const auto batch = joined_stride(walk, extents, dims.batch);
  const auto shared = joined_stride(walk, extents, dims.heads);
  if (batch && shared && (extents[columns] == 1 || walk.strides[columns] == 1)) {
    heads.offset = walk.offset;
    heads.strides = {*batch, *shared, walk.strides[rows], 1};
    return heads;
  }
  Extents strides;
  heads.buffer = copied_in_order(value, walk, extents,
                                 {dims.batch, dims.heads, {dims.rows}, {dims.columns}}, strides);
  const auto& [b, h, s, d] = heads.extents;
  heads.strides = {h * s * d, s * d, d, 1};
  return heads;
}

void Planner::add_attention(const Attention& attention) {
  AttentionStep step;
  const uint32_t result = attention.last->results[0].index;
  const Placement& out = placement(result);
  step.dtype = out.dtype;
  step.q = heads_of(attention.q, attention.q_dims);
  step.k = heads_of(attention.k, attention.k_dims);
  step.v = heads_of(attention.v, attention.v_dims);
  const Walk dense{0, kernels::dense_view(result, out).strides};
  const Extents extents = out.local();
  step.o.buffer = buffer_for(result);
  step.o.extents = {step.q.extents[0], step.q.extents[1], step.q.extents[2], step.v.extents[3]};
  step.o.strides = {*joined_stride(dense, extents, attention.o_dims.batch),
                    *joined_stride(dense, extents, attention.o_dims.heads),
                    dense.strides[static_cast<size_t>(attention.o_dims.rows)], 1};
  step.scale = attention.scale;
  step.is_causal = attention.is_causal;
  step.diagonal = attention.diagonal;
  set_memory(result, step.o.buffer);

  const auto bytes = [&](const Heads& h) {
    return static_cast<double>(h.extents[0] * h.extents[1] * h.extents[2] * h.extents[3] *
                               size_bytes(step.dtype));
  };
  GeneratedStep& shown = step.shown;
  shown.name = next_name(plan_);
  shown.read_bytes = bytes(step.q) + bytes(step.k) + bytes(step.v);
  shown.write_bytes = bytes(step.o);
  shown.flops = flops_of(*attention.last);
  for (const Instruction* instruction : attention.inside) shown.flops += flops_of(*instruction);
  shown.summary =
      fmt::format("{} {}attention of {}x{} heads, {}x{} and {}x{}", name(step.dtype),
                  step.is_causal ? "causal " : "", step.q.extents[0], step.q.extents[1],
                  step.q.extents[2], step.q.extents[3], step.v.extents[2], step.v.extents[3]);
  plan_.steps.emplace_back(std::move(step));
}

}  // namespace hostir::cuda
