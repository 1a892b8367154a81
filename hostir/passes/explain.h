// Why a value is sharded as it is and why a collective is there: what `lower --explain %v` prints.
//
// Passes append records while they decide; nothing reads them back to decide anything.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct ExplainRecord {
  std::string value;     // of the fusion, without '%'
  std::string what;      // `{tp} on dimension 1`, `unreduced {tp}`, `all_reduce over {tp}`
  std::string sentence;  // why, without a final dot
  std::string from;      // the value, annotation or instruction it came from: `%w1`, `@mlp#3`
  std::string pass;      // `propagate`, `reshard`
  friend bool operator==(const ExplainRecord&, const ExplainRecord&) = default;
};

using Explanation = std::vector<ExplainRecord>;

/// The records about one value, in order of decision.
Explanation about(const Explanation& all, std::string_view value);
/// One line per record: `propagate: %h {tp} on dimension 2: ... (from %w1)`.
std::string to_string(const Explanation& records);

}  // namespace hostir
