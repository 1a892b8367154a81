#include "kernels/cuda/generate/attention.h"

#include "hostir/ops/builder.h"
#include "hostir/ops/dot_general.h"
#include "hostir/support/lists.h"

namespace hostir::cuda {
namespace {

/// Scores as low as this get no weight. cuDNN masks a score with the lowest number of f32.
constexpr double kHidden = -1e30;

/// The dimensions of a product's operands, in the order of its result: batch, left, right.
struct ProductDims {
  IntList left_batch;
  IntList right_batch;
  IntList left_free;
  int64_t left_contracted = 0;
  int64_t right_contracted = 0;
  int64_t right_free = 0;
};

std::optional<ProductDims> dims_of(const Instruction& product, size_t left, size_t right) {
  const CudaOp& op = cuda_op(product.kind);
  if (op.has_any_dims) {
    const ops::DotDims d = ops::dot_dims(product.attributes, left, right);
    if (d.lhs_contract.size() != 1 || d.lhs_free.empty() || d.rhs_free.size() != 1) {
      return std::nullopt;
    }
    return ProductDims{
        d.lhs_batch,       d.rhs_batch, d.lhs_free, d.lhs_contract.front(), d.rhs_contract.front(),
        d.rhs_free.front()};
  }
  if (!op.right_rows_are_k || left < 2 || left != right || product.operands.size() != 2) {
    return std::nullopt;
  }
  ProductDims dims;
  const auto rank = static_cast<int64_t>(left);
  for (int64_t d = 0; d + 2 < rank; ++d) dims.left_batch.push_back(d);
  dims.right_batch = dims.left_batch;
  dims.left_free = {rank - 2};
  dims.left_contracted = rank - 1;
  dims.right_contracted = rank - 2;
  dims.right_free = rank - 1;
  return dims;
}

Range range(const Box& box, int64_t dim) {
  return {box.lo[static_cast<size_t>(dim)], box.hi[static_cast<size_t>(dim)]};
}

/// Narrows a dimension of `part`. False if the range is not inside.
bool narrow(Box& part, int64_t dim, const Range& to) {
  const auto d = static_cast<size_t>(dim);
  if (to.lo < part.lo[d] || to.hi > part.hi[d]) return false;
  part.lo[d] = to.lo;
  part.hi[d] = to.hi;
  return true;
}

/// Narrows the dimensions `dims` to those of `like` from dimension `first` on.
bool narrow_all(Box& part, const IntList& dims, const Box& like, size_t first) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!narrow(part, dims[i], range(like, static_cast<int64_t>(first + i)))) return false;
  }
  return true;
}

/// Splits the batch dimensions of a product into those of the batch and the heads.
void split_heads(const IntList& batch, AttentionDims& dims) {
  dims.batch = batch;
  if (batch.empty()) return;
  dims.heads = {batch.back()};
  dims.batch.pop_back();
}

}  // namespace

AttentionFinder::AttentionFinder(const kernels::BoundKernel& kernel,
                                 const std::vector<const Instruction*>& body,
                                 const Readers& readers)
    : kernel_(kernel), readers_(readers) {
  for (const Instruction* instruction : body) {
    for (const ValueId result : instruction->results) makers_[result.index] = instruction;
  }
}

const Instruction* AttentionFinder::maker(ValueId value, OpKind kind) const {
  const auto at = makers_.find(value.index);
  return at != makers_.end() && at->second->kind == kind ? at->second : nullptr;
}

// The number that all elements of the value are equal to; nullopt if it is not known.
std::optional<double> AttentionFinder::number(ValueId value) const {
  while (const Instruction* wider = maker(value, OpKind::broadcast_in_dim)) {
    value = wider->operands[0].value;
  }
  const Instruction* constant = maker(value, OpKind::constant);
  if (constant == nullptr) return std::nullopt;
  const auto* number = constant->attributes.get<double>("value");
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

bool AttentionFinder::is_index(ValueId value, size_t dim) const {
  const Instruction* iota = maker(value, OpKind::iota);
  if (iota == nullptr) return false;
  // Narrower types round or wrap large indices.
  const DType dtype = placement(iota->results[0]).dtype;
  return (dtype == DType::kI32 || dtype == DType::kI64) &&
         iota->attributes.get_or<int64_t>("dim", 0) == static_cast<int64_t>(dim);
}

// The fold over the last dimension that the operand repeats along it; null if it is none.
const Instruction* AttentionFinder::fold(const Instruction& user, size_t operand,
                                         OpKind kind) const {
  const Instruction* wider = maker(user.operands[operand].value, OpKind::broadcast_in_dim);
  if (wider == nullptr) return nullptr;
  const Instruction* folded = maker(wider->operands[0].value, kind);
  if (folded == nullptr) return nullptr;
  const size_t rank = placement(folded->operands[0].value).global.size();
  const auto* dims = folded->attributes.get<IntList>("dims");
  const auto* repeated = wider->attributes.get<IntList>("dims");
  if (dims == nullptr || *dims != IntList{static_cast<int64_t>(rank) - 1}) return nullptr;
  return repeated != nullptr && *repeated == ops::all_dims(rank - 1) ? folded : nullptr;
}

// The scores before their causal mask, if they have one; null if they have another mask.
const Instruction* AttentionFinder::masked(const Instruction* scores, Attention& out) const {
  if (scores->kind != OpKind::select) return scores;
  const Placement& p = placement(scores->results[0]);
  const size_t rank = p.global.size();
  const Instruction* visible = maker(scores->operands[0].value, OpKind::compare);
  const auto hidden = number(scores->operands[2].value);
  if (visible == nullptr || !hidden || !(*hidden <= kHidden)) return nullptr;
  const auto* direction = visible->attributes.get<Keyword>("direction");
  if (direction == nullptr || direction->word != "ge") return nullptr;
  if (!is_index(visible->operands[0].value, rank - 2) ||
      !is_index(visible->operands[1].value, rank - 1)) {
    return nullptr;
  }
  out.is_causal = true;
  out.diagonal = p.box.lo[rank - 2] - p.box.lo[rank - 1];
  out.inside.push_back(scores);
  add_sources(scores->operands[0].value, out);
  add_sources(scores->operands[2].value, out);
  return maker(scores->operands[1].value, OpKind::mul);
}

std::optional<Attention> AttentionFinder::ending_with(const Instruction& last) const {
  if (cuda_op(last.kind).form != CudaOp::Form::kProduct) return std::nullopt;
  Attention out;
  out.last = &last;
  if (!is_16_bit_float(placement(last.results[0]).dtype)) return std::nullopt;
  const Instruction* narrowed = maker(last.operands[0].value, OpKind::cast);
  if (narrowed == nullptr) return std::nullopt;
  const Instruction* weights = maker(narrowed->operands[0].value, OpKind::div);
  if (weights == nullptr || placement(weights->results[0]).dtype != DType::kF32) {
    return std::nullopt;
  }
  const Instruction* powers = maker(weights->operands[0].value, OpKind::exp);
  const Instruction* sum = fold(*weights, 1, OpKind::reduce_sum);
  if (powers == nullptr || sum == nullptr || sum->operands[0].value != powers->results[0]) {
    return std::nullopt;
  }
  const Instruction* lowered = maker(powers->operands[0].value, OpKind::sub);
  if (lowered == nullptr) return std::nullopt;
  const Instruction* largest = fold(*lowered, 1, OpKind::reduce_max);
  if (largest == nullptr || largest->operands[0].value != lowered->operands[0].value) {
    return std::nullopt;
  }
  out.inside = {narrowed,
                weights,
                powers,
                sum,
                lowered,
                largest,
                makers_.at(weights->operands[1].value.index),
                makers_.at(lowered->operands[1].value.index)};
  const auto at = makers_.find(lowered->operands[0].value.index);
  if (at == makers_.end()) return std::nullopt;
  const Instruction* scaled = masked(at->second, out);
  if (scaled == nullptr || scaled->kind != OpKind::mul) return std::nullopt;
  const auto scale = number(scaled->operands[1].value);
  const Instruction* widened = maker(scaled->operands[0].value, OpKind::cast);
  if (!scale || widened == nullptr) return std::nullopt;
  add_sources(scaled->operands[1].value, out);
  const auto made = makers_.find(widened->operands[0].value.index);
  if (made == makers_.end()) return std::nullopt;
  const Instruction& scores = *made->second;
  if (cuda_op(scores.kind).form != CudaOp::Form::kProduct) return std::nullopt;
  out.scale = *scale;
  out.inside.insert(out.inside.end(), {scaled, widened, &scores});
  out.q = scores.operands[0].value.index;
  out.k = scores.operands[1].value.index;
  out.v = last.operands[1].value.index;
  const DType dtype = placement(last.results[0]).dtype;
  for (const uint32_t value : {out.q, out.k, out.v}) {
    if (kernel_.values[value].dtype != dtype) return std::nullopt;
  }
  // If v were also a value in between, nothing would compute it.
  const auto v_maker = makers_.find(out.v);
  if (v_maker != makers_.end() && contains(out.inside, v_maker->second)) return std::nullopt;
  if (!assign_dims(scores, last, out) || !is_only_read_inside(out)) return std::nullopt;
  return out;
}

// Constants and indices that only this attention reads are not computed.
void AttentionFinder::add_sources(ValueId value, Attention& found) const {
  const auto at = makers_.find(value.index);
  if (at == makers_.end()) return;
  const Instruction* instruction = at->second;
  if (contains(found.inside, instruction)) return;
  for (const ValueId result : instruction->results) {
    if (readers_.is_returned(result.index)) return;
    if (readers_.of(result.index).size() != 1) return;
  }
  found.inside.push_back(instruction);
  for (const Operand& operand : instruction->operands) add_sources(operand.value, found);
}

bool AttentionFinder::is_only_read_inside(const Attention& found) const {
  for (const Instruction* instruction : found.inside) {
    for (const ValueId result : instruction->results) {
      if (readers_.is_returned(result.index)) return false;
      for (const Instruction* reader : readers_.of(result.index)) {
        if (reader != found.last && !contains(found.inside, reader)) return false;
      }
    }
  }
  return true;
}

bool AttentionFinder::assign_dims(const Instruction& scores, const Instruction& last,
                                  Attention& out) const {
  const Box& s = placement(scores.results[0]).box;
  const Box& o = placement(last.results[0]).box;
  const size_t rank = s.lo.size();
  if (o.lo.size() != rank || s.empty() || o.empty()) return false;
  const auto first =
      dims_of(scores, kernel_.values[out.q].global.size(), kernel_.values[out.k].global.size());
  const auto second = dims_of(last, rank, kernel_.values[out.v].global.size());
  if (!first || !second) return false;
  const size_t batch = first->left_batch.size();
  // The weights are [batch.., (heads of a group), queries, keys], and are multiplied in this order.
  if (first->left_free.size() > 2 || second->left_batch.size() != batch ||
      second->left_free.size() != first->left_free.size() ||
      second->left_contracted != static_cast<int64_t>(rank) - 1) {
    return false;
  }
  for (size_t d = 0; d < batch; ++d) {
    if (second->left_batch[d] != static_cast<int64_t>(d)) return false;
  }
  out.q_dims.part = kernel_.values[out.q].box;
  out.k_dims.part = kernel_.values[out.k].box;
  out.v_dims.part = kernel_.values[out.v].box;
  out.o_dims.part = o;
  const Range keys = range(s, static_cast<int64_t>(rank) - 1);
  const Range size = range(out.q_dims.part, first->left_contracted);
  const Range k_size = range(out.k_dims.part, first->right_contracted);
  // The kernel needs all features and all keys on this rank. With a part of them, the scores would
  // be partial sums that ranks still have to add up.
  const auto is_whole = [](const Range& r, int64_t global) { return r.lo == 0 && r.hi == global; };
  const auto size_dim = static_cast<size_t>(first->left_contracted);
  if (!is_whole(size, kernel_.values[out.q].global[size_dim]) || k_size != size ||
      !is_whole(keys, placement(scores.results[0]).global.back())) {
    return false;
  }
  for (size_t d = 0; d + 1 < rank; ++d) {
    if (s.lo[d] != o.lo[d] || s.hi[d] != o.hi[d]) return false;
  }
  if (!narrow_all(out.q_dims.part, first->left_batch, s, 0) ||
      !narrow_all(out.q_dims.part, first->left_free, s, batch) ||
      !narrow_all(out.k_dims.part, first->right_batch, s, 0) ||
      !narrow(out.k_dims.part, first->right_free, keys) ||
      !narrow_all(out.v_dims.part, second->right_batch, s, 0) ||
      !narrow(out.v_dims.part, second->right_contracted, keys) ||
      !narrow(out.v_dims.part, second->right_free, range(o, static_cast<int64_t>(rank) - 1))) {
    return false;
  }
  split_heads(first->left_batch, out.q_dims);
  split_heads(first->right_batch, out.k_dims);
  split_heads(second->right_batch, out.v_dims);
  split_heads(second->left_batch, out.o_dims);  // o has the order of the weights
  if (first->left_free.size() == 2) {
    out.q_dims.heads.push_back(first->left_free.front());
    out.o_dims.heads.push_back(second->left_free.front());
  }
  out.q_dims.rows = first->left_free.back();
  out.q_dims.columns = first->left_contracted;
  out.k_dims.rows = first->right_free;
  out.k_dims.columns = first->right_contracted;
  out.v_dims.rows = second->right_contracted;
  out.v_dims.columns = second->right_free;
  out.o_dims.rows = static_cast<int64_t>(rank) - 2;
  out.o_dims.columns = static_cast<int64_t>(rank) - 1;
  return true;
}

}  // namespace hostir::cuda
