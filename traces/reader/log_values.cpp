// LogReader: contents of tensors and inputs, and the check of the whole file.

#include <fmt/core.h>

#include "hostir/support/hash.h"
#include "traces/database/compression.h"
#include "traces/database/log_file.h"
#include "traces/database/static_rows.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

/// Bytes of a dense tensor; nullopt if the number is not plausible.
std::optional<int64_t> dense_bytes(DType dtype, const Extents& extents) {
  for (const int64_t n : extents) {
    if (n < 0) return std::nullopt;
  }
  const auto count = element_count(extents);
  if (!count || *count > kMaxTensorBytes / size_bytes(dtype)) return std::nullopt;
  return *count * size_bytes(dtype);
}

}  // namespace

Expected<std::vector<std::byte>> LogReader::data(uint64_t digest) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      connection->prepare("SELECT size_bytes, data FROM tensor_data WHERE digest = ?"));
  s.bind_int(1, static_cast<int64_t>(digest));
  HOSTIR_ASSIGN_OR_RETURN(const bool found, s.step());
  if (!found) return fail(ErrorKind::kRuntime, "log_no_data", "the log has no such contents");
  return decompressed(s.blob(1), s.integer(0));
}

Expected<Tensor> LogReader::input_data(size_t index) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      connection->prepare("SELECT name, dtype, shape, digest, data FROM input ORDER BY id LIMIT 1 "
                          "OFFSET ?"));
  s.bind_int(1, static_cast<int64_t>(index));
  HOSTIR_ASSIGN_OR_RETURN(const bool found, s.step());
  if (!found || s.is_null(4)) {
    return fail(ErrorKind::kRuntime, "log_no_input",
                fmt::format("the log does not hold the contents of input %{}",
                            found ? s.text(0) : std::to_string(index)));
  }
  Tensor tensor;
  const auto dtype = parse_dtype(s.text_view(1));
  HOSTIR_ASSIGN_OR_RETURN(tensor.extents, parse_extents(s.text_view(2)));
  const auto size = dtype ? dense_bytes(*dtype, tensor.extents) : std::nullopt;
  if (!size) return fail(ErrorKind::kRuntime, "log_damaged", "an input of the log is damaged");
  tensor.dtype = *dtype;
  HOSTIR_ASSIGN_OR_RETURN(tensor.data, decompressed(s.blob(4), *size));
  if (hash_of(tensor.data) != static_cast<uint64_t>(s.integer(3))) {
    return fail(ErrorKind::kRuntime, "log_damaged",
                fmt::format("input %{} of the log is damaged", s.text(0)));
  }
  return tensor;
}

Expected<std::vector<std::string>> LogReader::check(std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  std::vector<std::string> problems;
  {
    HOSTIR_ASSIGN_OR_RETURN(Statement s, connection->prepare("PRAGMA quick_check(20)"));
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
      if (!more) break;
      if (s.text_view(0) != "ok") problems.push_back(s.text(0));
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                          EventScanner::create(*connection, tables_.limits(), {}));
  int64_t events = 0;
  while (true) {
    auto event = scanner.next();
    if (!event) problems.push_back(event.error().message());
    if (!event || *event == nullptr) break;
    ++events;
  }
  if (tables_.run.ending != interp::LogEnding::kClosed) return problems;

  HOSTIR_ASSIGN_OR_RETURN(const auto expected_events,
                          connection->query_int("SELECT event_count FROM run"));
  if (events != expected_events.value_or(0)) {
    problems.push_back(fmt::format("{} events were logged, but {} are in the file",
                                   expected_events.value_or(0), events));
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<TableDigest> now, table_digests(*connection));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      connection->prepare("SELECT row_count, digest FROM table_digest WHERE name = ?"));
  for (const TableDigest& digest : now) {
    s.bind_text(1, digest.name);
    HOSTIR_ASSIGN_OR_RETURN(const bool found, s.step());
    if (!found) {
      problems.push_back(fmt::format("the table \"{}\" has no digest", digest.name));
    } else if (s.integer(0) != digest.row_count ||
               static_cast<uint64_t>(s.integer(1)) != digest.digest) {
      problems.push_back(
          fmt::format("the table \"{}\" was changed after it was written: {} rows, originally {}",
                      digest.name, digest.row_count, s.integer(0)));
    }
    s.reset();
  }
  return problems;
}

}  // namespace hostir::traces
