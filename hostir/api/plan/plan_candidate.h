// A candidate of `hostir plan`, and the program that it stands for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hostir/api/plan/plan.h"

namespace hostir::api {

/// A variant of the program to predict: with these cuts on this mesh, or as the file has it.
struct Candidate {
  MeshAxes axes;
  std::vector<PlanCut> cuts = {};
  bool as_written = false;
};

/// What a search knows about parameters and results, by name.
struct CandidateNames {
  std::function<bool(const std::string&)> is_fixed;            // keeps the file's sharding
  std::function<const std::string&(const std::string&)> role;  // the parameter whose cuts it shares
};

/// The program with the candidate's mesh in place of `mesh`, and its cuts instead of the shardings
/// of `fusion`. Propagation may cut every dimension that is not fixed.
Program with_candidate(Program program, const std::string& fusion, const Mesh& mesh,
                       const Candidate& candidate, const CandidateNames& names);

/// Equal for candidates that cut the same, in whatever order.
std::string key_of(const Candidate& candidate);

}  // namespace hostir::api
