#include "kernels/cpu/plan/plan_contraction.h"

#include <array>
#include <utility>

#include "hostir/ops/dot_general.h"
#include "kernels/cpu/plan/contraction.h"

namespace hostir::cpu {
namespace {

struct Product {
  OpKind kind;
  RightLayout layout;
};
constexpr std::array<Product, 2> kProducts = {
    {{OpKind::matmul, RightLayout::kRowsAreK}, {OpKind::linear, RightLayout::kRowsAreN}}};

const Product* find_product(OpKind kind) {
  for (const Product& product : kProducts) {
    if (product.kind == kind) return &product;
  }
  return nullptr;
}

bool same_range(const Placement& p, size_t d, const Placement& q, size_t e) {
  return p.box.lo[d] == q.box.lo[e] && p.box.hi[d] == q.box.hi[e];
}

/// True if every dimension of the result, and k, has the same range in the operands.
bool boxes_correspond(const Placement& a, const Placement& b, const Placement& out,
                      RightLayout layout) {
  const size_t rank = out.global.size();
  const size_t b_rank = b.global.size();
  const size_t k_dim = layout == RightLayout::kRowsAreK ? b_rank - 2 : b_rank - 1;
  const size_t n_dim = layout == RightLayout::kRowsAreK ? b_rank - 1 : b_rank - 2;
  bool same = same_range(a, rank - 1, b, k_dim) && same_range(out, rank - 1, b, n_dim);
  for (size_t d = 0; d + 1 < rank; ++d) same = same && same_range(out, d, a, d);
  for (size_t d = 0; b_rank > 2 && d + 2 < rank; ++d) same = same && same_range(out, d, b, d);
  return same;
}

// A dimension of both operands: extent and strides.
struct SharedDim {
  int64_t extent;
  int64_t a;
  int64_t b;
};

// Merges the contracted dimensions into one; nullopt if strides do not allow it.
std::optional<SharedDim> joined_dims(const std::vector<SharedDim>& dims) {
  SharedDim out{1, 1, 1};
  bool first = true;
  for (size_t n = dims.size(); n-- > 0;) {
    const SharedDim& d = dims[n];
    if (d.extent == 1) continue;
    if (first) {
      out = d;
      first = false;
      continue;
    }
    if (d.a != out.a * out.extent || d.b != out.b * out.extent) return std::nullopt;
    out.extent *= d.extent;
  }
  for (const SharedDim& d : dims) {
    if (d.extent == 0) return SharedDim{0, 1, 1};
  }
  return out;
}

// Plans dot_general as [batch.., m, k] times [batch.., k, n]: one free dimension on the right; all
// but the last on the left count as batch.
std::unique_ptr<ContractionPlan> plan_dot_general(const BoundKernel& kernel,
                                                  const Instruction& instruction,
                                                  const ViewOf& view_of) {
  const uint32_t left = instruction.operands[0].value.index;
  const uint32_t right = instruction.operands[1].value.index;
  const Placement& a = kernel.values[left];
  const Placement& b = kernel.values[right];
  const Placement& out = kernel.values[instruction.results[0].index];
  const auto d = ops::dot_dims(instruction.attributes, a.global.size(), b.global.size());
  if (d.lhs_free.empty() || d.rhs_free.size() != 1) return nullptr;
  const StridedView a_view = view_of(left);
  const StridedView b_view = view_of(right);
  auto plan = std::make_unique<ContractionPlan>();
  plan->a = {{a_view.value, a_view.offset, {}}, a.dtype};
  plan->b = {{b_view.value, b_view.offset, {}}, b.dtype};
  plan->result = instruction.results[0].index;
  const Extents a_local = a.local();
  size_t at = 0;  // in the result
  for (size_t i = 0; i < d.lhs_batch.size(); ++i, ++at) {
    const auto l = static_cast<size_t>(d.lhs_batch[i]);
    const auto r = static_cast<size_t>(d.rhs_batch[i]);
    if (!same_range(a, l, out, at) || !same_range(b, r, out, at)) return nullptr;
    plan->batch.push_back(a_local[l]);
    plan->a.view.strides.push_back(a_view.strides[l]);
    plan->b.view.strides.push_back(b_view.strides[r]);
  }
  for (size_t i = 0; i < d.lhs_free.size(); ++i, ++at) {
    const auto l = static_cast<size_t>(d.lhs_free[i]);
    if (!same_range(a, l, out, at)) return nullptr;
    plan->a.view.strides.push_back(a_view.strides[l]);
    if (i + 1 == d.lhs_free.size()) {
      plan->m = a_local[l];
    } else {
      plan->batch.push_back(a_local[l]);
      plan->b.view.strides.push_back(0);
    }
  }
  const auto n_dim = static_cast<size_t>(d.rhs_free.front());
  if (!same_range(b, n_dim, out, at)) return nullptr;
  std::vector<SharedDim> contracted;
  for (size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const auto l = static_cast<size_t>(d.lhs_contract[i]);
    const auto r = static_cast<size_t>(d.rhs_contract[i]);
    if (!same_range(a, l, b, r)) return nullptr;
    contracted.push_back({a_local[l], a_view.strides[l], b_view.strides[r]});
  }
  const auto k = joined_dims(contracted);
  if (!k) return nullptr;
  plan->a.view.strides.push_back(k->a);
  plan->b.view.strides.push_back(k->b);
  plan->b.view.strides.push_back(b_view.strides[n_dim]);
  plan->k = k->extent;
  plan->n = b.local()[n_dim];
  return plan;
}

}  // namespace

bool is_product(const BoundKernel& kernel, const Instruction& instruction) {
  const bool product =
      find_product(instruction.kind) != nullptr || instruction.kind == OpKind::dot_general;
  return product && is_float(kernel.values[instruction.results[0].index].dtype);
}

std::unique_ptr<ContractionPlan> plan_contraction(const BoundKernel& kernel,
                                                  const Instruction& instruction,
                                                  const ViewOf& view_of) {
  if (instruction.kind == OpKind::dot_general) {
    const DType dtype = kernel.values[instruction.results[0].index].dtype;
    for (const Operand& o : instruction.operands) {
      if (kernel.values[o.value.index].dtype != dtype) return nullptr;
    }
    return plan_dot_general(kernel, instruction, view_of);
  }
  const RightLayout layout = find_product(instruction.kind)->layout;
  const uint32_t left = instruction.operands[0].value.index;
  const uint32_t right = instruction.operands[1].value.index;
  const Placement& a = kernel.values[left];
  const Placement& b = kernel.values[right];
  const Placement& out = kernel.values[instruction.results[0].index];
  if (a.dtype != out.dtype || b.dtype != out.dtype) return nullptr;
  if (!boxes_correspond(a, b, out, layout)) return nullptr;
  if (instruction.operands.size() > 2) {
    const Box& bias = kernel.values[instruction.operands[2].value.index].box;
    if (bias.lo[0] > out.box.lo.back() || bias.hi[0] < out.box.hi.back()) return nullptr;
  }
  auto plan = std::make_unique<ContractionPlan>();
  plan->a = {view_of(left), a.dtype};
  plan->b = {view_of(right), b.dtype};
  plan->result = instruction.results[0].index;
  Extents& b_strides = plan->b.view.strides;
  if (layout == RightLayout::kRowsAreN) std::swap(b_strides[0], b_strides[1]);
  const size_t rank = out.global.size();
  if (rank > 2 && b_strides.size() == 2) b_strides.insert(b_strides.begin(), rank - 2, 0);
  if (rank == 1) plan->a.view.strides.insert(plan->a.view.strides.begin(), 0);
  const Extents local = out.local();
  plan->n = local.back();
  plan->m = rank == 1 ? 1 : local[rank - 2];
  plan->k = a.local().back();
  if (rank > 2) plan->batch.assign(local.begin(), local.end() - 2);
  return plan;
}

std::optional<StridedView> plan_bias(const BoundKernel& kernel, const Instruction& instruction,
                                     const ViewOf& view_of) {
  if (instruction.operands.size() < 3) return std::nullopt;
  const uint32_t bias = instruction.operands[2].value.index;
  const Box& box = kernel.values[instruction.results[0].index].box;
  StridedView view = view_of(bias);
  view.offset += (box.lo.back() - kernel.values[bias].box.lo[0]) * view.strides[0];
  view.strides.insert(view.strides.begin(), box.lo.size() - 1, 0);
  return view;
}

}  // namespace hostir::cpu
