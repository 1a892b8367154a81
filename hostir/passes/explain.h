// Explains shardings and collectives for `lower --explain %v`.
//
// Passes append a record for each decision. No pass bases a decision on these records. On request,
// a decision by cost also says what it did not choose: that takes about as long as deciding.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

enum class Alternatives : uint8_t { kOmitted, kExplained };

/// A choice that lost.
struct Alternative {
  std::string what;
  double cost_ns = 0;
  double bytes = 0;  // over one rank's links
  std::string cost;  // in words: `12.3 us, 2 collectives, 64 KiB`
  std::string why;   // why it lost although it is cheaper; else empty
  friend bool operator==(const Alternative&, const Alternative&) = default;
};

struct ExplainRecord {
  std::string value;     // a value in the fusion, without '%'; empty: the whole fusion
  std::string what;      // `{tp} on dimension 1`, `unreduced {tp}`, `all_reduce over {tp}`
  std::string sentence;  // the reason, without a final full stop
  std::string from;      // the value, annotation or instruction that caused it: `%w1`, `@mlp#3`
  std::string pass;      // `propagate`, `homes`, `cut`, `reshard`, `regather`, `overlap`, `combine`
  std::vector<Alternative> lost = {};  // the cheapest ones first
  Origin id = {};                      // of the value
  friend bool operator==(const ExplainRecord&, const ExplainRecord&) = default;
};

using Explanation = std::vector<ExplainRecord>;

/// A value of the fusion as an explanation refers to it.
struct ExplainedValue {
  std::string name;
  Origin id = {};
};
using ValueNamer = std::function<ExplainedValue(const Instruction&)>;

/// `12.3 us, 2 collectives, 64 KiB`.
std::string cost_text(double ns, size_t collectives, double bytes);
/// ` on @h200x8`, and by how much a small program's sizes are scaled up (redistribute_cost.h).
std::string costed_on(std::string_view machine, double scale);

/// Sorts by cost, and keeps the first few that differ in their text from each other and `chosen`.
std::vector<Alternative> cheapest_few(std::vector<Alternative> lost, std::string_view chosen);

/// The records about one value, those `from` the instruction that makes it (`@mlp#3`; may be
/// empty), and those about the whole fusion, in the order of the decisions.
Explanation about(const Explanation& all, std::string_view value, std::string_view made_by = {});
/// `{tp} on dimension 2: ... (from %w1)`, and a line for each alternative.
std::string sentence(const ExplainRecord& record);
/// What `with 12 times the data` means, as a line, if the text says so; else empty.
std::string costed_note(std::string_view text);
/// One line per record, `propagate: %h {tp} on dimension 2: ... (from %w1)`, and its alternatives.
std::string to_string(const Explanation& records);

}  // namespace hostir
