// Inputs: their bytes if they are small enough, else how to recreate them.

#include <fmt/core.h>

#include <charconv>

#include "hostir/support/hash.h"
#include "traces/database/compression.h"
#include "traces/database/static_rows.h"

namespace hostir::traces {

std::string extents_text(const std::vector<int64_t>& extents) {
  std::string out;
  for (const int64_t n : extents) out += fmt::format("{}{}", out.empty() ? "" : "x", n);
  return out;
}

Expected<std::vector<int64_t>> parse_extents(std::string_view text) {
  std::vector<int64_t> extents;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const bool separated = next == end || (*next == 'x' && next + 1 != end);
    if (error != std::errc() || value < 0 || !separated) {
      return fail(ErrorKind::kRuntime, "log_damaged", fmt::format("bad extents \"{}\"", text));
    }
    extents.push_back(value);
    at = next == end ? next : next + 1;
  }
  return extents;
}

Expected<void> write_input_rows(Database& database, const RunDescription& run,
                                int64_t inputs_max_bytes) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database.prepare("INSERT INTO input (name, kind, expression, dtype, shape, "
                                    "digest, data) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  int64_t left = inputs_max_bytes;
  for (const InputDescription& input : run.inputs) {
    const bool generated = input.kind == InputDescription::Kind::kGenerator;
    std::vector<std::byte> data;
    bool stored = false;
    // Compress only if the result could fit, assuming at best a hundredfold reduction.
    // A run without values has shapes only.
    const bool has_data = !input.tensor.data.empty() || input.tensor.element_count() == 0;
    if (!generated && has_data && static_cast<int64_t>(input.tensor.data.size() / 100) <= left) {
      data = compressed(input.tensor.data);
      stored = static_cast<int64_t>(data.size()) <= left;
    }
    if (stored) left -= static_cast<int64_t>(data.size());
    const bool file = input.kind == InputDescription::Kind::kFile;
    const std::string_view kind = generated ? "generator"
                                  : stored  ? "data"
                                  : file    ? "file"
                                            : "missing";
    const std::string shape = extents_text(input.tensor.extents);
    s.bind_text(1, input.name);
    s.bind_text(2, kind);
    if (input.expression.empty()) {
      s.bind_null(3);
    } else {
      s.bind_text(3, input.expression);
    }
    s.bind_text(4, name(input.tensor.dtype));
    s.bind_text(5, shape);
    s.bind_int(6, static_cast<int64_t>(hash_of(input.tensor.data)));
    if (stored) {
      s.bind_blob(7, data);
    } else {
      s.bind_null(7);
    }
    HOSTIR_TRY(s.run());
  }
  return {};
}

}  // namespace hostir::traces
