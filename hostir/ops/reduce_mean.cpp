#include "hostir/ops/expand.h"
#include "hostir/ops/reduction.h"

namespace hostir {

namespace {

Expected<int64_t> reduced_count(const Shape& shape, const IntList& dims) {
  Shape reduced;
  for (const int64_t d : dims) reduced.push_back(shape[static_cast<size_t>(d)]);
  return ops::product(reduced).evaluate({});
}

Type with_dtype(Type type, DType dtype) { return ops::tensor(dtype, shape_of(type)); }

// Sum, reduce, divide: the division happens once, on whole sums. 16-bit types go through f32, where
// counts are exact and rounding happens once.
Expected<ValueId> expand_reduce_mean(Function& function, RegionId region, const Instruction& call,
                                     std::string_view name) {
  ValueId x = call.operands[0].value;
  const Type from = function.value(x).type;
  const DType dtype = dtype_of(from);
  const DType wide = is_16_bit_float(dtype) ? DType::kF32 : dtype;
  const IntList dims = call.attributes.get_or<IntList>("dims", {});
  HOSTIR_ASSIGN_OR_RETURN(const int64_t count, reduced_count(shape_of(from), dims));
  const std::vector<Type> operands = {from};
  const OpCall sum_call = {
      .kind = OpKind::reduce_sum, .operands = operands, .attributes = call.attributes};
  HOSTIR_ASSIGN_OR_RETURN(const auto types, ops::infer_reduction(sum_call));
  const Type type = with_dtype(types[0], wide);
  const auto fresh = [&](std::string_view suffix) {
    return function.unique_name(std::string(name) + std::string(suffix));
  };
  if (wide != dtype) {
    Attributes to;
    to.set("to", wide);
    x = ops::append(function, region, call,
                    {OpKind::cast, {x}, std::move(to), with_dtype(from, wide), fresh("_wide")});
  }
  const ValueId sum = ops::append(function, region, call,
                                  {OpKind::reduce_sum, {x}, call.attributes, type, fresh("_sum")});
  Attributes value;
  value.set("value", static_cast<double>(count));
  const ValueId n = ops::append(function, region, call,
                                {OpKind::constant, {}, std::move(value), type, fresh("_count")});
  const bool last = wide == dtype;
  const ValueId mean =
      ops::append(function, region, call,
                  {OpKind::div, {sum, n}, {}, type, last ? std::string(name) : fresh("_mean")});
  if (last) return mean;
  Attributes back;
  back.set("to", dtype);
  return ops::append(function, region, call,
                     {OpKind::cast, {mean}, std::move(back), types[0], std::string(name)});
}

bool reduce_mean_needs_expand(const OpCall&) { return true; }

}  // namespace

OpRecord op_reduce_mean() {
  return {
      .mnemonic = "reduce_mean",
      .shape = OpShape::kReduction,
      .summary = "The mean of the elements along some dimensions.",
      .doc = {.shapes = ops::kReductionShapes,
              .sharding =
                  "Linear: a partial sum stays partial. A cut dimension that goes makes it sum, "
                  "reduce, divide (by the global count).",
              .dtypes = "f64 f32 bf16 f16; 16-bit types are accumulated in f32 and rounded once.",
              .errors = "reduce_mean_c1: dims that are not there; reduce_mean_c2: no float.",
              .cost = ops::kReductionCost},
      .operands = {{.name = "x", .doc = "the operand", .partial = ops::kLinear}},
      .attributes = ops::reduction_attributes(),
      .results = {{.name = "y", .doc = "the means; NaN over no elements"}},
      .constraints = {{"reduce_mean_c1", ops::kReducedDims, ops::check_reduced_dims},
                      {"reduce_mean_c2", ops::kFloat, ops::check_float}},
      .infer = ops::infer_reduction,
      .rule = ops::reduction_rule<Reduction::kSum>,
      .expand = expand_reduce_mean,
      .needs_expand = reduce_mean_needs_expand,
      .cost = ops::reduction_cost,
      .gradient = "dx = dy / n broadcast over dims, n = the elements that go into one",
      .example = R"(fusion @f(%x: tensor<2x4xf32>) -> (%y: tensor<2xf32>) {
  %y = reduce_mean %x {dims = [1]}
  return %y
})",
      .source = "torch.mean; the uneven case after PyTorch issue 162692",
  };
}

}  // namespace hostir
