// Checks that the sharded program computes the same values as the unsharded one.
//
// 1. Run the lowered fusion and record every version of its buffers.
// 2. Run the same fusion without shardings on one rank, keeping the values that the sharded run had
//    in buffers.
// 3. Compare, in the order of the fusion's instructions, every value that exists on both sides.
//    The Origin of an operand that the host function writes says which value that is.
// Partial values are reduced first; replicas must agree. The first difference names op, rank and
// element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/checks/compare.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

struct UnshardedDifference {
  std::string value;           // of the fusion, without '%'
  OpRef op;                    // the fusion instruction that computes it
  std::string instruction;     // `@mlp.host#9`: where the sharded run wrote it
  Rank rank = kNoRank;         // the rank that holds the element
  std::vector<int64_t> index;  // global
  std::string sentence;        // the complete message
};

struct UnshardedReport {
  std::vector<std::string> compared;  // values of the fusion, in order
  double largest_relative = 0;        // over the outputs: max |a - b| / max |b|
  std::optional<UnshardedDifference> difference;
};

/// Runs the prepared program again with recording, regardless of earlier runs.
/// Errors: those of prepare and run; `check_fusion` if the function is not a fusion; a fault of
/// either run.
Expected<UnshardedReport> check_unsharded(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& run_options,
                                          const Tolerance& tolerance);

/// The outputs of a fusion without shardings on one rank: the reference for every distributed
/// version.
Expected<std::vector<NamedOutput>> unsharded_outputs(
    const Program& program, const std::string& fusion,
    const std::vector<std::pair<std::string, Tensor>>& inputs, const BackendFactory& make_backend,
    const RunOptions& run_options);

struct UnshardedValues {
  std::vector<NamedOutput> outputs;
  std::vector<std::optional<Tensor>> values;  // by ValueId; unset: it was not in a buffer
};

/// Like unsharded_outputs(), but also returns the values on the way to the outputs.
Expected<UnshardedValues> unsharded_values(
    const Program& program, const std::string& fusion,
    const std::vector<std::pair<std::string, Tensor>>& inputs, const BackendFactory& make_backend,
    const RunOptions& run_options);

}  // namespace hostir::interp
