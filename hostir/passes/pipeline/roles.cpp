#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/passes/pipeline/pipeline.h"
#include "hostir/support/lists.h"

namespace hostir::pipeline {

namespace {

std::string fusions_of(const Program& program) {
  std::string out;
  for (const Function& f : program.functions) {
    if (f.kind == FunctionKind::kFusion) out += (out.empty() ? "@" : ", @") + f.name;
  }
  return out;
}

// The parameters of the stages that are not results of the previous stage.
std::string given_parameters(const Program& program, const PipelineRequest& request) {
  std::string out;
  std::set<std::string> known;
  size_t activations = 0;
  for (const std::string& name : request.stages) {
    const Function& f = *program.find_function(name);
    for (size_t p = activations; p < f.params.size(); ++p) {
      const std::string& parameter = f.value(f.params[p].value).name;
      if (known.insert(parameter).second) out += (out.empty() ? "%" : ", %") + parameter;
    }
    activations = f.results.size();
  }
  return out;
}

// An integer or boolean parameter that is the same for all micro-batches.
Expected<void> check_constant(const Function& f, size_t stage, const Value& value,
                              const PipelineRequest& request) {
  if (is_float(dtype_of(value.type)) || contains(request.constants, value.name)) return {};
  return fail_at(
      ErrorKind::kInvalid, "pipeline_c7",
      fmt::format("%{} of @{} (stage{}) is {}, and no weight: all micro-batches would get the same "
                  "numbers. Name it in --data if each has its own, or in --constants if not",
                  value.name, f.name, stage,
                  shape_to_string(shape_of(value.type), dtype_of(value.type))),
      value.span);
}

}  // namespace

Expected<std::vector<std::vector<Role>>> find_roles(const Program& program,
                                                    const PipelineRequest& request) {
  if (request.stages.empty()) {
    return fail(ErrorKind::kUsage, "pipeline_c2",
                "a pipeline needs at least one stage, the name of a fusion");
  }
  std::vector<std::vector<Role>> out;
  std::vector<bool> found(request.data.size(), false);
  size_t activations = 0;  // results of the previous stage
  for (const std::string& name : request.stages) {
    const Function* f = program.find_function(name);
    if (f == nullptr || f->kind != FunctionKind::kFusion) {
      return fail(ErrorKind::kUsage, "pipeline_c2",
                  fmt::format("stage {} is to be @{}, which is not a fusion of the program; its "
                              "fusions are {}",
                              out.size(), name, fusions_of(program)));
    }
    if (activations > f->params.size()) {
      return fail_at(ErrorKind::kInvalid, "pipeline_c3",
                     fmt::format("@{} has {} parameters, the previous stage returns {} values",
                                 name, f->params.size(), activations),
                     f->name_span);
    }
    std::vector<Role>& roles = out.emplace_back();
    for (size_t p = 0; p < f->params.size(); ++p) {
      const auto at =
          std::find(request.data.begin(), request.data.end(), f->value(f->params[p].value).name);
      if (p < activations) {
        roles.push_back(Role::kActivation);
      } else if (at != request.data.end()) {
        roles.push_back(Role::kData);
        found[static_cast<size_t>(at - request.data.begin())] = true;
      } else {
        HOSTIR_TRY(check_constant(*f, out.size() - 1, f->value(f->params[p].value), request));
        roles.push_back(Role::kWeight);
      }
    }
    activations = f->results.size();
  }
  for (const std::string& constant : request.constants) {
    const bool is_given = std::ranges::any_of(request.stages, [&](const std::string& stage) {
      return program.find_function(stage)->find_value(constant).has_value();
    });
    if (is_given) continue;
    return fail(ErrorKind::kUsage, "pipeline_c2",
                fmt::format("constant %{} is not a parameter of any stage; parameters that can be "
                            "given are {}",
                            constant, given_parameters(program, request)));
  }
  for (size_t d = 0; d < found.size(); ++d) {
    if (found[d]) continue;
    return fail(
        ErrorKind::kUsage, "pipeline_c2",
        fmt::format("data %{}: no stage has a parameter of that name, or the previous stage "
                    "provides it; parameters that can be given are {}",
                    request.data[d], given_parameters(program, request)));
  }
  return out;
}

Expected<std::vector<Tie>> find_ties(const Program& program, const PipelineRequest& request,
                                     const std::vector<std::vector<Role>>& roles) {
  std::vector<Tie> out;
  for (const std::string& name : request.tied) {
    Tie& tie = out.emplace_back();
    tie.name = name;
    for (size_t s = 0; s < roles.size(); ++s) {
      const Function& f = *program.find_function(request.stages[s]);
      for (size_t p = 0; p < roles[s].size(); ++p) {
        if (f.value(f.params[p].value).name != name) continue;
        if (roles[s][p] != Role::kWeight) {
          return fail_at(ErrorKind::kInvalid, "pipeline_c8",
                         fmt::format("%{} is tied, but in @{} (stage{}) it is no weight: it is {}",
                                     name, f.name, s,
                                     roles[s][p] == Role::kData ? "given per micro-batch"
                                                                : "a result of the previous stage"),
                         f.value(f.params[p].value).span);
        }
        tie.members.push_back({s, p});
      }
    }
    if (tie.members.size() > 1) continue;
    return fail(
        ErrorKind::kUsage, "pipeline_c2",
        fmt::format("tied %{} is a parameter of {}, but a tied weight is one that several "
                    "stages have; parameters that can be given are {}",
                    name,
                    tie.members.empty() ? "no stage"
                                        : fmt::format("stage{} only", tie.members.front().first),
                    given_parameters(program, request)));
  }
  return out;
}

}  // namespace hostir::pipeline
