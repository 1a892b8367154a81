#include "hostir/import/emit/reducer.h"

#include <algorithm>
#include <map>
#include <set>

#include "hostir/import/emit/handlers.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

std::optional<ReducerKind> kind_of(std::string_view name) {
  if (name == "stablehlo.add") return ReducerKind::kSum;
  if (name == "stablehlo.multiply") return ReducerKind::kProd;
  if (name == "stablehlo.maximum") return ReducerKind::kMax;
  if (name == "stablehlo.minimum") return ReducerKind::kMin;
  if (name == "stablehlo.and") return ReducerKind::kAnd;
  if (name == "stablehlo.or") return ReducerKind::kOr;
  return std::nullopt;
}

constexpr int kMostReducerCalls = 8;
constexpr int64_t kMostReducerOps = 10'000;  // including those of called functions

const ModuleFunction* callee_of(const Module& module, const ModuleOp& op) {
  const Attr* callee = op.find("callee");
  return op.name == "func.call" && callee != nullptr ? module.find(callee->text) : nullptr;
}

bool ends_region(const ModuleOp& op) { return op.name.ends_with(".return"); }

// A uniform value follows from constants alone, and may have any shape until it is combined.
bool is_uniform(const ModuleOp& op, const std::set<ValueNumber>& uniform) {
  if (op.name == "stablehlo.constant") return true;
  return !ends_region(op) && op.regions.empty() && !op.operands.empty() &&
         op.name.starts_with("stablehlo.") &&
         std::all_of(op.operands.begin(), op.operands.end(),
                     [&](ValueNumber v) { return uniform.contains(v); });
}

bool is_elementwise(const Module& module, const ModuleBlock& block, int depth, int64_t& ops_left) {
  std::set<ValueNumber> uniform;
  return std::all_of(block.ops.begin(), block.ops.end(), [&](const ModuleOp& op) {
    if (--ops_left < 0) return false;
    if (is_uniform(op, uniform)) {
      uniform.insert(op.results.begin(), op.results.end());
      return true;
    }
    if (const ModuleFunction* callee = callee_of(module, op))
      return depth < kMostReducerCalls && is_elementwise(module, callee->body, depth + 1, ops_left);
    return ends_region(op) || op.name == "sdy.sharding_constraint" ||
           (is_pointwise(op.name) && op.regions.empty());
  });
}

// A walk over a region whose scalars stand for tensors of `dims`.
struct Widened {
  const OpSite& site;
  std::vector<int64_t> dims;
  int depth = 0;

  using Values = std::map<ValueNumber, Known>;

  // A value from outside the region must be a scalar, which is broadcast.
  Expected<Known> value(const Values& at, ValueNumber number) const {
    if (const auto found = at.find(number); found != at.end()) return found->second;
    if (depth > 0 || !site.frame[number])
      return site.fail("import_c3", "its region uses a value that it is not given");
    if (!site.frame[number]->type.dims.empty())
      return site.fail("import_c3", "its region uses a value from outside that is not a scalar");
    return site.emitter.broadcast(*site.frame[number], {}, dims);
  }

  Expected<std::vector<Known>> block(const ModuleFunction& function, const ModuleBlock& block,
                                     std::vector<Known> arguments) const {
    if (block.arguments.size() != arguments.size())
      return site.fail("import_c5", "its region takes a different number of values");
    Values at;
    std::set<ValueNumber> uniform;
    for (size_t i = 0; i < arguments.size(); ++i)
      at.emplace(block.arguments[i], std::move(arguments[i]));
    for (const ModuleOp& op : block.ops) {
      const bool narrow = is_uniform(op, uniform);
      if (narrow) uniform.insert(op.results.begin(), op.results.end());
      std::vector<Known> operands;
      for (const ValueNumber operand : op.operands) {
        HOSTIR_ASSIGN_OR_RETURN(Known x, value(at, operand));
        if (!narrow && uniform.contains(operand)) {
          if (!x.type.dims.empty())
            return site.fail("import_c3", "its region combines a scalar and " + x.type.to_string());
          HOSTIR_ASSIGN_OR_RETURN(x, site.emitter.broadcast(x, {}, dims));
        }
        operands.push_back(std::move(x));
      }
      if (ends_region(op)) return operands;
      HOSTIR_ASSIGN_OR_RETURN(std::vector<Known> results,
                              operation(function, op, std::move(operands), narrow));
      for (size_t i = 0; i < op.results.size() && i < results.size(); ++i)
        at.insert_or_assign(op.results[i], std::move(results[i]));
    }
    return site.fail("import_c5", "its region does not end with a return");
  }

  Expected<std::vector<Known>> operation(const ModuleFunction& function, const ModuleOp& op,
                                         std::vector<Known> operands, bool narrow) const {
    if (op.name == "sdy.sharding_constraint") return operands;
    if (const ModuleFunction* callee = callee_of(site.emitter.module(), op))
      return Widened{site, dims, depth + 1}.block(*callee, callee->body, std::move(operands));
    // A function of this operation alone, on the wide types.
    ModuleFunction wide;
    Frame frame;
    ModuleOp copy = op;
    copy.operands.clear();
    copy.results.clear();
    for (Known& operand : operands) {
      copy.operands.push_back(static_cast<ValueNumber>(frame.size()));
      wide.values.push_back({"", operand.type, op.span, 1});
      frame.emplace_back(std::move(operand));
    }
    for (const ValueNumber result : op.results) {
      copy.results.push_back(static_cast<ValueNumber>(frame.size()));
      wide.values.push_back(function.values[result]);
      if (!narrow) wide.values.back().type.dims = dims;
      frame.emplace_back();
    }
    HOSTIR_TRY(site.emitter.operation(wide, copy, frame));
    std::vector<Known> out;
    for (const ValueNumber result : copy.results) {
      out.push_back(std::move(*frame[result]));
    }
    return out;
  }
};

}  // namespace

ElementwiseRegion::ElementwiseRegion(const OpSite& site, size_t index)
    : site_(site), index_(index) {
  int64_t ops_left = kMostReducerOps;
  valid_ = index < site.op.regions.size() &&
           is_elementwise(site.emitter.module(), site.op.regions[index], 0, ops_left);
}

Expected<std::vector<Known>> ElementwiseRegion::operator()(std::vector<Known> arguments) const {
  const Widened widened{site_, arguments.front().type.dims};
  return widened.block(site_.function, site_.op.regions[index_], std::move(arguments));
}

bool is_identity_of(ReducerKind kind, const Known& init) {
  if (!init.is_number()) return false;
  const Tensor& number = *init.number;
  const double value = number.get_double(0);
  const DType dtype = number.dtype;
  if (kind == ReducerKind::kSum || kind == ReducerKind::kOr) return value == 0;
  if (kind == ReducerKind::kProd || kind == ReducerKind::kAnd)
    return value == 1 || (kind == ReducerKind::kAnd && number.get_int(0) == -1);  // i1
  const bool is_max = kind == ReducerKind::kMax;
  if (is_float(dtype)) {
    const double top = facts_of(dtype).top;
    return value == (is_max ? -top : top);
  }
  return number.get_int(0) == (is_max ? least(dtype) : greatest(dtype));
}

namespace {

// Removes the conversions around the operations of a reducer that XLA computes in a wider type
// (bf16 in f32). Each result is rounded to the type of the arguments with and without them.
void without_widening(const ModuleFunction& function, ModuleBlock& block) {
  std::map<ValueNumber, ValueNumber> same;
  std::vector<ModuleOp> kept;
  const auto origin = [&](ValueNumber v) {
    const auto found = same.find(v);
    return found == same.end() ? v : found->second;
  };
  for (ModuleOp& op : block.ops) {
    if (op.name == "stablehlo.convert" && op.operands.size() == 1 && op.results.size() == 1) {
      const auto from = function.type(op.operands[0]).dtype();
      const auto to = function.type(op.results[0]).dtype();
      const bool argument = contains(block.arguments, op.operands[0]);
      const auto wide = [](const auto& type) { return type == DType::kF32 || type == DType::kF64; };
      const auto half = [](const auto& type) {
        return type == DType::kBF16 || type == DType::kF16;
      };
      if (argument ? half(from) && wide(to) : wide(from) && half(to)) {
        same[op.results[0]] = origin(op.operands[0]);
        continue;
      }
    }
    for (ValueNumber& v : op.operands) v = origin(v);
    kept.push_back(std::move(op));
  }
  block.ops = std::move(kept);
}

// The name of the single operation of a reducer; empty if it has several.
std::string name_of_reducer(const ModuleFunction& function, const ModuleOp& op, size_t region) {
  if (const Attr* applies = op.find("applies")) return std::string(applies->text);
  if (region >= op.regions.size()) return {};
  ModuleBlock block = op.regions[region];
  without_widening(function, block);
  if (block.ops.size() == 3 && block.ops[1].name == "sdy.sharding_constraint" &&
      block.ops[1].operands == block.ops[0].results &&
      block.ops[2].operands == block.ops[1].results) {
    block.ops[2].operands = block.ops[0].results;  // on a scalar it has no effect
    block.ops.erase(block.ops.begin() + 1);
  }
  if (block.ops.size() != 2 || block.arguments.size() != 2) return {};
  const ModuleOp& body = block.ops.front();
  const bool both = body.operands.size() == 2 && body.results.size() == 1 &&
                    contains(body.operands, block.arguments[0]) &&
                    contains(body.operands, block.arguments[1]);
  if (!both || block.ops[1].operands != body.results) return {};
  return body.name;
}

// `and`, `or` and `xor` of integers work bit by bit; only those of i1 are a minimum, a maximum and
// a comparison.
bool is_logical(const ModuleFunction& function, const ModuleOp& op) {
  return !op.operands.empty() && function.type(op.operands[0]).element == "i1";
}

std::optional<OpKind> bitwise_of(const ModuleFunction& function, const ModuleOp& op,
                                 size_t region) {
  const std::string name = name_of_reducer(function, op, region);
  if (is_logical(function, op))
    return name == "stablehlo.xor" ? std::optional(OpKind::compare) : std::nullopt;
  if (name == "stablehlo.and") return OpKind::bit_and;
  if (name == "stablehlo.or") return OpKind::bit_or;
  if (name == "stablehlo.xor") return OpKind::bit_xor;
  return std::nullopt;
}

}  // namespace

std::optional<ReducerKind> reducer_of(const ModuleFunction& function, const ModuleOp& op,
                                      size_t region) {
  const auto kind = kind_of(name_of_reducer(function, op, region));
  const bool logical = kind == ReducerKind::kAnd || kind == ReducerKind::kOr;
  return logical && !is_logical(function, op) ? std::nullopt : kind;
}

Combiner::Combiner(const OpSite& site, size_t index)
    : site_(site),
      kind_(reducer_of(site.function, site.op, index)),
      bitwise_(bitwise_of(site.function, site.op, index)),
      region_(site, index) {}

Expected<std::vector<Known>> Combiner::operator()(std::vector<Known> left,
                                                  std::vector<Known> right) const {
  if (bitwise_ == OpKind::compare && left.size() == 1) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, site_.emitter.compared(left.front(), right.front(), "ne"));
    return std::vector<Known>{std::move(y)};
  }
  if ((kind_ || bitwise_) && left.size() == 1) {
    const OpKind op =
        bitwise_ ? *bitwise_ : combining_op(*kind_, left.front().type.element == "i1");
    HOSTIR_ASSIGN_OR_RETURN(Known y, site_.emitter.apply(op, {left.front(), right.front()}));
    return std::vector<Known>{std::move(y)};
  }
  const size_t count = left.size();
  std::move(right.begin(), right.end(), std::back_inserter(left));
  HOSTIR_ASSIGN_OR_RETURN(std::vector<Known> out, region_(std::move(left)));
  if (out.size() != count)
    return site_.fail("import_c5",
                      "its region gives a different number of values than it combines");
  return out;
}

OpKind combining_op(ReducerKind kind, bool is_bool) {
  switch (kind) {
    case ReducerKind::kSum:
      return is_bool ? OpKind::logical_or : OpKind::add;
    case ReducerKind::kProd:
      return is_bool ? OpKind::logical_and : OpKind::mul;
    case ReducerKind::kMax:
      return is_bool ? OpKind::logical_or : OpKind::maximum;
    case ReducerKind::kMin:
      return is_bool ? OpKind::logical_and : OpKind::minimum;
    case ReducerKind::kAnd:
      return OpKind::logical_and;
    case ReducerKind::kOr:
      return OpKind::logical_or;
  }
  return OpKind::add;
}

}  // namespace hostir::importer
