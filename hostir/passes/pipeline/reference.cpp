#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/compact.h"
#include "hostir/ir/unique_names.h"
#include "hostir/ops/builder.h"
#include "hostir/ops/differentiate.h"
#include "hostir/ops/loops.h"
#include "hostir/ops/unroll_loops.h"
#include "hostir/passes/pipeline/pipeline.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/passes/prepare/example_inputs.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir::pipeline {

namespace {

// All stages in one fusion, one micro-batch after another.
class WholeModel {
 public:
  WholeModel(const Program& program, const PipelineRequest& request, std::string name)
      : program_(program),
        request_(request),
        names_(out_),
        builder_(out_, out_.body, [this](std::string_view stem) { return names_.fresh(stem); }) {
    out_.kind = FunctionKind::kFusion;
    out_.name = std::move(name);
    out_.body = out_.add_region();
    builder_.set_region(out_.body);
  }

  Expected<Function> run(const std::vector<std::vector<Role>>& roles) {
    add_parameters(roles);
    ValueId sum;
    for (int64_t m = 0; m < request_.micro_batches; ++m) {
      const ValueId loss = one_micro_batch(m, roles);
      builder_.begin(Instruction(), "sum");
      sum = sum.valid() ? builder_.add(sum, loss) : loss;
    }
    builder_.begin(Instruction(), "loss");
    if (request_.batch == Batch::kMean) {
      sum = builder_.scaled(sum, 1.0 / static_cast<double>(request_.micro_batches));
    }
    if (builder_.error()) return tl::unexpected(*builder_.error());
    Instruction ret;
    ret.kind = OpKind::return_;
    ret.operands.push_back(Operand{.value = sum});
    out_.results.push_back({"loss", out_.value(sum).type, std::nullopt, {}});
    out_.add_instruction(out_.body, std::move(ret));
    return compacted(out_);
  }

  const std::vector<std::string>& weights() const { return weights_; }

 private:
  const Function& stage(size_t s) const { return *program_.find_function(request_.stages[s]); }

  void add_parameters(const std::vector<std::vector<Role>>& roles) {
    for (size_t s = 0; s < roles.size(); ++s) {
      std::vector<ValueId>& mine = parameters_.emplace_back(roles[s].size());
      for (size_t p = 0; p < roles[s].size(); ++p) {
        if (roles[s][p] == Role::kActivation) continue;
        const Value& value = stage(s).value(stage(s).params[p].value);
        auto type = std::get<TensorType>(without_sharding(value.type));
        const std::string name = names_.fresh(fmt::format("s{}.{}", s, value.name));
        const bool data = roles[s][p] == Role::kData;
        if (!data && is_float(type.dtype)) weights_.push_back(name);
        if (data) type.shape.insert(type.shape.begin(), IndexExpr(request_.micro_batches));
        mine[p] = out_.add_value(name, type);
        out_.params.push_back({mine[p], false});
      }
    }
  }

  ValueId one_micro_batch(int64_t m, const std::vector<std::vector<Role>>& roles) {
    std::vector<ValueId> handed;
    for (size_t s = 0; s < roles.size(); ++s) {
      const Function& f = stage(s);
      std::vector<ValueId> now(f.values.size());
      for (size_t p = 0; p < roles[s].size(); ++p) {
        ValueId value = roles[s][p] == Role::kActivation ? handed[p] : parameters_[s][p];
        if (roles[s][p] == Role::kData) value = micro_batch_of(value, m);
        now[f.params[p].value.index] = value;
      }
      handed = copy_body(f, now, fmt::format("s{}.", s), fmt::format(".{}", m));
    }
    return handed.front();
  }

  ValueId micro_batch_of(ValueId data, int64_t m) {
    builder_.begin(Instruction(), out_.value(data).name);
    const ValueId slice = builder_.slice_dim(data, 0, IndexExpr(m), IndexExpr(m + 1));
    Shape shape = builder_.shape(data);
    shape.erase(shape.begin());
    return builder_.reshape(slice, shape);
  }

  std::vector<ValueId> copy_body(const Function& f, std::vector<ValueId>& now,
                                 const std::string& prefix, const std::string& suffix) {
    std::vector<ValueId> returned;
    for (const InstrId id : body_of(f)) {
      Instruction i = f.instr(id);
      i.comments = {};
      i.from.clear();
      for (Operand& o : i.operands) {
        if (o.value.valid()) o.value = now[o.value.index];
      }
      if (is_terminator(i)) {
        for (const Operand& o : i.operands) returned.push_back(o.value);
        continue;
      }
      if (record(i.kind).shape == OpShape::kLayout) {  // a reshard: the same value
        now[i.results.front().index] = i.operands.front().value;
        continue;
      }
      for (ValueId& r : i.results) {
        const Value& value = f.value(r);
        r = now[r.index] = out_.add_value(names_.fresh(prefix + value.name + suffix),
                                          without_sharding(value.type));
      }
      out_.add_instruction(out_.body, std::move(i));
    }
    return returned;
  }

  const Program& program_;
  const PipelineRequest& request_;
  Function out_;
  UniqueNames names_;
  ops::Builder builder_;
  std::vector<std::vector<ValueId>> parameters_;  // by stage
  std::vector<std::string> weights_;
};

// Returns the sum of the gradients of a tied weight in place of each of them. The results of
// `gradient` are the loss and the gradients of `weights`, in order.
Expected<void> add_ties(Function& gradient, const std::vector<std::string>& weights,
                        const PipelineRequest& request, const std::vector<Tie>& ties,
                        const Program& program) {
  UniqueNames names(gradient);
  std::vector<InstrId>& body = gradient.region(gradient.body).instructions;
  const InstrId ret = body.back();
  body.pop_back();
  ops::Builder b(gradient, gradient.body, [&](std::string_view s) { return names.fresh(s); });
  for (const Tie& tie : ties) {
    std::vector<size_t> results;
    for (const auto& [s, p] : tie.members) {
      const Function& f = *program.find_function(request.stages[s]);
      const std::string name = fmt::format("s{}.{}", s, f.value(f.params[p].value).name);
      results.push_back(static_cast<size_t>(std::ranges::find(weights, name) - weights.begin()) +
                        1);
    }
    ValueId sum;
    b.begin(Instruction(), "d_" + tie.name);
    for (const size_t r : results) {
      const ValueId own = gradient.instr(ret).operands[r].value;
      sum = sum.valid() ? b.add(sum, own) : own;
    }
    for (const size_t r : results) gradient.instr(ret).operands[r].value = sum;
  }
  if (b.error()) return tl::unexpected(*b.error());
  gradient.region(gradient.body).instructions.push_back(ret);
  return {};
}

TestPiece test_against(const Function& host, const std::string& reference,
                       const ExampleInputs& input, const PipelineRequest& request) {
  TestPiece test;
  test.title = "@" + host.name + " and the same stages without a pipeline";
  RunStatement run;
  run.function = host.name;
  run.against = reference;
  run.schedules = 3;
  for (size_t p = 0; p < host.params.size(); ++p) run.arguments.push_back(input(p, p + 1));
  ExpectSameAsUnsharded same;
  same.tolerance.kind = Tolerance::Kind::kAbsRel;
  same.tolerance.atol = 1e-5;
  same.tolerance.rtol = static_cast<double>(request.micro_batches) / 1e5;
  const auto add = [&](auto body) { test.statements.emplace_back().body = std::move(body); };
  add(std::move(run));
  add(std::move(same));
  add(ExpectNoLeaks{});
  return test;
}

}  // namespace

Expected<void> add_reference(Pipeline& pipeline, const PipelineRequest& request) {
  Program& program = pipeline.program;
  HOSTIR_ASSIGN_OR_RETURN(const auto roles, find_roles(program, request));
  const std::string name = free_symbol(program, pipeline.function + ".whole");
  // The pipeline has numbers for sizes, so this fusion has too.
  Program bound = program;
  for (const std::string& stage : request.stages) {
    HOSTIR_ASSIGN_OR_RETURN(bound, bind_sizes(bound, stage, request.sizes));
    HOSTIR_ASSIGN_OR_RETURN(Unrolled unrolled, unroll_loops(*bound.find_function(stage)));
    *bound.find_function(stage) = std::move(unrolled.function);
  }
  WholeModel whole(bound, request, name);
  HOSTIR_ASSIGN_OR_RETURN(Function model, whole.run(roles));
  const std::string gradient_name = free_symbol(program, name + ".gradient");
  HOSTIR_ASSIGN_OR_RETURN(Function gradient,
                          differentiate(program, model, gradient_name, whole.weights()));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Tie> ties, find_ties(program, request, roles));
  HOSTIR_TRY(add_ties(gradient, whole.weights(), request, ties, program));
  const auto unknown = [](const IndexExpr&) { return std::optional<int64_t>(); };
  const ExampleInputs input(program, model, unknown);
  TestPiece test =
      test_against(*program.find_function(pipeline.function), gradient_name, input, request);
  program.add_function(std::move(model));
  program.add_function(std::move(gradient));
  program.add_test(std::move(test));
  return {};
}

}  // namespace hostir::pipeline
