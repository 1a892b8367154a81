// One event of a Chrome trace, as far as Kineto's are used here; filled field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostir::traces::profile {

struct KinetoEvent {
  std::string phase;     // `X`
  std::string category;  // `kernel`
  std::string name;
  std::optional<int64_t> at_ns;
  std::optional<int64_t> duration_ns;
  std::optional<int64_t> process;
  std::optional<int64_t> thread;
  // args
  uint64_t correlation = 0;
  std::optional<int64_t> external;
  std::optional<int64_t> stream;
  std::string collective;  // `allreduce`
  std::string group_name;
  std::string group_description;
  std::string group_ranks;  // `[0, 1]`
  std::string dtype;
  std::optional<int64_t> in_elems;
  std::optional<int64_t> out_elems;
  std::optional<int64_t> group_size;
  std::optional<int64_t> rank;  // of a rooted collective: the root
  std::optional<int64_t> source;
  std::optional<int64_t> target;
  std::optional<int64_t> sequence;

  /// `text`: digits as written. Unknown keys are ignored.
  void set_number(std::string_view key, std::string_view text, bool in_args);
  void set_text(std::string_view key, std::string& text, bool in_args);
};

/// Decimal microseconds as nanoseconds, exactly; nullopt if it is not a number or too large.
std::optional<int64_t> microseconds(std::string_view text);

}  // namespace hostir::traces::profile
