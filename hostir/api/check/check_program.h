// What is wrong with the host functions of a program, without inputs: what `verify` reports.
//
// 1. Each function is compiled, as for a run: recursion, groups, layout claims.
// 2. Each function that no other one calls is run on all ranks without values, up to the first
//    value that the host reads: calls must meet and agree, buffers must exist, and nothing may
//    race.
//
// Symbolic sizes come from the function's run in the file's tests. If there is none, small sizes
// are taken, and only errors that do not depend on sizes are reported.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

struct ProgramFinding {
  Error error;
  std::shared_ptr<const interp::Prepared> run;  // positions are in its text; null: in the file's
};

/// `directory`: of the file, where its tests find their inputs. `sources`: the file's.
std::vector<ProgramFinding> check_program(const Program& program, const std::string& directory,
                                          const SourceManager& sources);

}  // namespace hostir::api
