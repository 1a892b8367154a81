// A kernel with random operands, run through both kernel sets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/ops/record.h"
#include "hostir/text/parse/parser.h"
#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

using Bytes = std::vector<std::byte>;

/// The pointwise ops with this many operands that take the dtype and need no attribute, so that a
/// new op is tested with the others.
inline std::vector<std::string> pointwise_ops(size_t operands, DType dtype) {
  std::vector<std::string> out;
  const std::vector<Type> types(operands, TensorType{dtype, {IndexExpr(4)}, std::nullopt});
  const Attributes none;
  for (size_t k = 0; k < kOpCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const OpRecord& op = record(kind);
    if (op.shape != OpShape::kPointwise || op.operands.size() != operands) continue;
    const OpCall call = {.kind = kind, .operands = types, .attributes = none};
    const auto is_violated = [&](const Constraint& c) {
      return c.check != nullptr && c.check(call).has_value();
    };
    const auto is_missing = [](const AttributeSpec& a) { return a.required; };
    if (std::none_of(op.constraints.begin(), op.constraints.end(), is_violated) &&
        std::none_of(op.attributes.begin(), op.attributes.end(), is_missing))
      out.emplace_back(op.mnemonic);
  }
  return out;
}

/// One kernel function from a text; every value is placed whole until `place` changes that.
struct KernelCase {
  Program program;
  BoundKernel bound;

  explicit KernelCase(const std::string& text) {
    auto parsed = text::parse_program(text);
    if (!parsed) {
      ADD_FAILURE() << parsed.error().message() << "\n" << text;
      return;
    }
    program = std::move(*parsed);
    bound.function = kernels::borrowed(program.functions.at(0));
    for (const Value& value : bound.function->values) {
      Placement placement;
      placement.dtype = dtype_of(value.type);
      placement.global = constant_extents(shape_of(value.type)).value();
      placement.box = Box::whole(placement.global);
      bound.values.push_back(std::move(placement));
    }
  }

  Placement& at(std::string_view name) {
    return bound.values[bound.function->find_value(name)->index];
  }

  std::vector<Bytes> random_inputs(std::mt19937_64& random, double lo = -2, double hi = 2) const {
    std::vector<Bytes> inputs;
    std::uniform_real_distribution<double> draw(lo, hi);
    for (const Parameter& parameter : bound.function->params) {
      const Placement& placement = bound.values[parameter.value.index];
      Bytes bytes(static_cast<size_t>(placement.local_bytes()));
      const int64_t size = size_bytes(placement.dtype);
      for (int64_t i = 0; i < placement.box.volume(); ++i) {
        const double value =
            is_float(placement.dtype)
                ? draw(random)
                : static_cast<double>(random() % 7) - (placement.dtype == DType::kU8 ? 0.0 : 3.0);
        store_double(placement.dtype, bytes.data() + i * size, value);
      }
      inputs.push_back(std::move(bytes));
    }
    return inputs;
  }

  std::vector<ValueId> results() const {
    std::vector<ValueId> values;
    const Function& f = *bound.function;
    for (const Operand& o : f.instr(f.region(f.body).instructions.back()).operands) {
      values.push_back(o.value);
    }
    return values;
  }

  std::vector<Bytes> run(CompiledKernel& kernel, const std::vector<Bytes>& inputs,
                         uint64_t version = 0) const {
    std::vector<Bytes> outputs;
    std::vector<ConstMemory> in;
    std::vector<Memory> out;
    for (const Bytes& bytes : inputs) {
      in.push_back({bytes.data(), static_cast<int64_t>(bytes.size()), version});
    }
    for (const ValueId value : results()) {
      outputs.emplace_back(static_cast<size_t>(bound.values[value.index].local_bytes()),
                           std::byte{0xcd});
    }
    for (Bytes& bytes : outputs) out.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    kernel.run(in, out);
    return outputs;
  }

  std::vector<Bytes> run(KernelSet set, const std::vector<Bytes>& inputs) const {
    auto kernel = compile(bound, set);
    if (!kernel) {
      ADD_FAILURE() << kernel.error().message();
      return {};
    }
    return run(**kernel, inputs);
  }
};

/// Relative tolerance of one op by dtype, as a fraction of the largest magnitude in the result.
inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 1e-13;
    case DType::kF32:
      return 2e-6;
    case DType::kBF16:
      return 1.0 / 64;
    case DType::kF16:
      return 1.0 / 512;
    default:
      return is_float(dtype) ? std::ldexp(1, -facts_of(dtype).mantissa_bits) : 0;
  }
}

/// Compares two buffers of a placement element by element, relative to the largest magnitude.
inline void expect_close(const Placement& placement, const Bytes& got, const Bytes& wanted,
                         const std::string& what, double slack = 1) {
  const int64_t size = size_bytes(placement.dtype);
  double largest = 1e-3;
  for (int64_t i = 0; i < placement.box.volume(); ++i) {
    const double w = load_double(placement.dtype, wanted.data() + i * size);
    if (std::isfinite(w)) largest = std::max(largest, std::fabs(w));
  }
  for (int64_t i = 0; i < placement.box.volume(); ++i) {
    const double g = load_double(placement.dtype, got.data() + i * size);
    const double w = load_double(placement.dtype, wanted.data() + i * size);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    ASSERT_LE(std::fabs(g - w), slack * tolerance_of(placement.dtype) * largest)
        << what << " element " << i << ": " << g << " instead of " << w;
  }
}

/// Compares both kernel sets on random operands.
inline void expect_sets_agree(const KernelCase& test, std::mt19937_64& random,
                              const std::string& what, double slack = 1, double lo = -2,
                              double hi = 2) {
  if (test.bound.function == nullptr) return;
  const std::vector<Bytes> inputs = test.random_inputs(random, lo, hi);
  const auto wanted = test.run(KernelSet::kReference, inputs);
  const auto got = test.run(KernelSet::kFast, inputs);
  ASSERT_EQ(got.size(), wanted.size());
  const auto results = test.results();
  for (size_t r = 0; r < got.size(); ++r) {
    expect_close(test.bound.values[results[r].index], got[r], wanted[r], what, slack);
  }
}

}  // namespace hostir::cpu
