// Explains shardings and collectives for `lower --explain %v`.
//
// Passes append a record for each decision. No pass bases a decision on these records.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct ExplainRecord {
  std::string value;     // a value in the fusion, without '%'
  std::string what;      // `{tp} on dimension 1`, `unreduced {tp}`, `all_reduce over {tp}`
  std::string sentence;  // the reason, without a final full stop
  std::string from;      // the value, annotation or instruction that caused it: `%w1`, `@mlp#3`
  std::string pass;      // `propagate`, `reshard`, `overlap`, `combine`
  friend bool operator==(const ExplainRecord&, const ExplainRecord&) = default;
};

using Explanation = std::vector<ExplainRecord>;

/// The records about one value, in the order of the decisions.
Explanation about(const Explanation& all, std::string_view value);
/// One line per record: `propagate: %h {tp} on dimension 2: ... (from %w1)`.
std::string to_string(const Explanation& records);

}  // namespace hostir
