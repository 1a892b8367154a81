// LogReader: contents of tensors and inputs, and the check of the whole file.

#include <fmt/core.h>

#include <algorithm>

#include "traces/compression.h"
#include "traces/log_file.h"
#include "traces/log_reader.h"
#include "traces/static_rows.h"

namespace hostir::traces {

using interp::LogValue;

namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 40;

/// Bytes of a dense tensor; nullopt where that is not a sensible number.
std::optional<int64_t> dense_bytes(DType dtype, const Extents& extents) {
  for (const int64_t n : extents) {
    if (n < 0) return std::nullopt;
  }
  const auto count = element_count(extents);
  if (!count || *count > kMaxTensorBytes / size_bytes(dtype)) return std::nullopt;
  return *count * size_bytes(dtype);
}

bool holds(const Box& box, const std::vector<int64_t>& element) {
  if (box.lo.size() != element.size()) return false;
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i] < box.lo[i] || element[i] >= box.hi[i]) return false;
  }
  return true;
}

std::string element_text(DType dtype, const Box& box, const std::vector<int64_t>& element,
                         std::span<const std::byte> data) {
  int64_t index = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    index = index * (box.hi[i] - box.lo[i]) + (element[i] - box.lo[i]);
  }
  const int64_t offset = index * size_bytes(dtype);
  if (offset < 0 || offset + size_bytes(dtype) > static_cast<int64_t>(data.size())) return {};
  const std::byte* at = data.data() + offset;
  return is_float(dtype) ? fmt::format("{:.9g}", load_double(dtype, at))
                         : fmt::format("{}", load_int(dtype, at));
}

/// What the log says about the writing events; `values` are in order of event.
Expected<void> add_events(Database& database, const EventLimits& limits,
                          std::vector<LogValue>& values) {
  std::vector<int64_t> ids;
  for (const LogValue& value : values) {
    if (value.event >= 0 && (ids.empty() || ids.back() != value.event)) ids.push_back(value.event);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto events, find_events(database, limits, ids));
  auto event = events.begin();
  for (LogValue& value : values) {
    while (event != events.end() && event->id < value.event) ++event;
    if (event == events.end() || event->id != value.event) continue;
    value.instruction = event->instruction;
    value.loop_path = event->loop_path;
    value.time_ns = event->finish_ns;
  }
  return {};
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

Expected<std::vector<LogValue>> LogReader::writes(
    int64_t tensor, interp::Rank rank, const std::optional<std::vector<int64_t>>& element,
    std::stop_token stop) const {
  if (tensor < 0 || tensor >= static_cast<int64_t>(tables_.tensors.size())) {
    return fail(ErrorKind::kRuntime, "log_no_tensor",
                fmt::format("the log has no tensor {}", tensor));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  // All layouts of the name.
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      connection->prepare(
          "SELECT v.event, v.rank, v.tensor, v.digest, v.min, v.max, v.mean, v.nan_count, "
          "v.inf_count, v.data FROM tensor t JOIN tensor same ON same.name = t.name AND "
          "same.function = t.function JOIN value v ON v.tensor = same.id "
          "WHERE t.id = ? AND (? < 0 OR v.rank = ?)"));
  s.bind_int(1, tensor);
  s.bind_int(2, rank);
  s.bind_int(3, rank);
  std::vector<LogValue> found;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) break;
    LogValue value;
    value.event = s.integer_or(0, -1);
    value.rank = static_cast<interp::Rank>(s.integer(1));
    value.tensor = s.integer(2);
    value.digest = static_cast<uint64_t>(s.integer(3));
    value.has_stats = !s.is_null(6);
    value.min = s.real(4);
    value.max = s.real(5);
    value.mean = s.real(6);
    value.nan_count = s.integer(7);
    value.inf_count = s.integer(8);
    value.has_data = !s.is_null(9);
    if (value.tensor < 0 || value.tensor >= static_cast<int64_t>(tables_.tensors.size())) continue;
    const interp::LogTensor& version = tables_.tensors[static_cast<size_t>(value.tensor)];
    if (element) {
      const auto index = static_cast<size_t>(value.rank);
      if (index >= version.boxes.size() || !holds(version.boxes[index], *element)) continue;
      if (value.has_data) {
        HOSTIR_ASSIGN_OR_RETURN(const auto bytes, data(static_cast<uint64_t>(s.integer(9))));
        value.element = element_text(version.dtype, version.boxes[index], *element, bytes);
      }
    }
    found.push_back(std::move(value));
  }
  // Sorted here: the rows come by rank, and SQLite would sort them on disk.
  std::stable_sort(found.begin(), found.end(), [](const LogValue& a, const LogValue& b) {
    return a.event != b.event ? a.event < b.event : a.rank < b.rank;
  });
  HOSTIR_TRY(add_events(*connection, tables_.limits(), found));
  return found;
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
  if (digest_of(tensor.data) != static_cast<uint64_t>(s.integer(3))) {
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
    problems.push_back(
        fmt::format("{} events were logged, {} are there", expected_events.value_or(0), events));
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
      problems.push_back(fmt::format("the table \"{}\" is not what was written: {} rows, were {}",
                                     digest.name, digest.row_count, s.integer(0)));
    }
    s.reset();
  }
  return problems;
}

}  // namespace hostir::traces
