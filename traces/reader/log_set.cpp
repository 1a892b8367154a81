// 1. Copy the first file.
// 2. For each further file: check that its program is the same, align its clock, add its rows.
// 3. Renumber events in the order of issue over all files.

#include "traces/reader/log_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "traces/database/log_file.h"
#include "traces/database/schema.h"
#include "traces/reader/open_file.h"

namespace hostir::traces {

namespace fs = std::filesystem;

namespace {

std::string sql_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

/// The columns of `event` that are times.
constexpr std::string_view kShiftedEvent =
    "id, rank, instruction, CASE WHEN loop_path > 0 THEN (loop_path - 1) * {files} + {file} + 1 "
    "ELSE 0 END, host_start_ns + {offset}, host_end_ns + {offset}, bytes, waited_ns, stream, task, "
    "queued_ns + {offset}, start_ns + {offset}, finish_ns + {offset}, live_bytes, waited_for";

class Merger {
 public:
  Merger(Database& database, size_t files) : database_(database), files_(files) {}

  Expected<void> begin() {
    HOSTIR_TRY(database_.execute(
        "CREATE TEMP TABLE all_event (file, old, rank, instruction, loop_path, host_start_ns, "
        "host_end_ns, bytes, waited_ns, stream, task, queued_ns, start_ns, finish_ns, live_bytes, "
        "waited_for);"
        "CREATE TEMP TABLE all_collective (file, old, rank, instruction, communicator, sequence, "
        "peer, bytes, arrival_ns, start_ns, finish_ns);"
        "CREATE TEMP TABLE all_call (file, old, instruction, rank, root, total_elems, row_elems, "
        "shape, fingerprint);"
        "CREATE TEMP TABLE all_untimed (file, old, state);"
        "CREATE TEMP TABLE all_value (file, old, rank, tensor, allocation, operand, digest, min, "
        "max, mean, nan_count, inf_count, data);"
        "CREATE TEMP TABLE all_path (id, parent, instruction, iteration);"));
    HOSTIR_TRY(take_rows("main", 0, 0));
    return database_.execute(
        "DELETE FROM rank_state WHERE rank NOT IN (SELECT rank FROM rank WHERE local = 1);"
        "UPDATE rank_state SET decision = NULL, branch = NULL, loop_path = CASE WHEN loop_path > 0 "
        "THEN (loop_path - 1) * " +
        std::to_string(files_) + " + 1 ELSE 0 END");
  }

  Expected<void> add(const std::string& path, size_t file) {
    HOSTIR_TRY(database_.execute("ATTACH DATABASE " + sql_quoted(path) + " AS s"));
    HOSTIR_TRY(check_program(path));
    HOSTIR_ASSIGN_OR_RETURN(const int64_t offset, clock_offset(path, file));
    HOSTIR_TRY(take_rows("s", file, offset));
    const std::string place = fmt::format(
        "CASE WHEN loop_path > 0 THEN (loop_path - 1) * {} + {} + 1 ELSE 0 END", files_, file);
    HOSTIR_TRY(database_.execute(fmt::format(
        "UPDATE main.rank SET local = 1 WHERE rank IN (SELECT rank FROM s.rank WHERE local = 1);"
        "INSERT OR REPLACE INTO main.rank_state (rank, state, record, instruction, loop_path, "
        "waits_for, host_ns, computer, process, found_by) SELECT rank, state, record, instruction, "
        "{}, waits_for, host_ns + {}, computer, process, found_by FROM s.rank_state WHERE rank IN "
        "(SELECT rank FROM s.rank WHERE local = 1);"
        "INSERT INTO main.fault (kind, sentence, ranks, instructions, notes, event_count) SELECT "
        "kind, sentence, ranks, instructions, notes, NULL FROM s.fault f WHERE NOT EXISTS (SELECT "
        "1 FROM main.fault m WHERE m.kind = f.kind AND m.sentence = f.sentence);"
        "INSERT INTO main.gap (kind, rank, communicator, group_index, sequence, text) SELECT kind, "
        "rank, communicator, group_index, sequence, text FROM s.gap;"
        "INSERT OR IGNORE INTO main.tensor_data SELECT * FROM s.tensor_data;"
        "INSERT INTO main.string SELECT (SELECT COALESCE(MAX(id), 0) FROM main.string) + "
        "ROW_NUMBER() OVER (), text FROM (SELECT DISTINCT text FROM s.string WHERE text NOT IN "
        "(SELECT text FROM main.string));"
        "INSERT OR IGNORE INTO main.kernel SELECT k.instruction, k.rank, k.name, (SELECT m.id FROM "
        "main.string m JOIN s.string t ON m.text = t.text WHERE t.id = k.fused_ops), (SELECT m.id "
        "FROM main.string m JOIN s.string t ON m.text = t.text WHERE t.id = k.implementation), "
        "k.flops, k.read_bytes, k.write_bytes, k.limit_ns FROM s.kernel k;"
        "UPDATE main.run SET complete = MIN(complete, (SELECT complete FROM s.run)), "
        "dropped_events = dropped_events + (SELECT dropped_events FROM s.run), outcome = CASE WHEN "
        "COALESCE(outcome, 'ok') = 'ok' THEN (SELECT outcome FROM s.run) ELSE outcome END, "
        "ended_unix_ns = ended_unix_ns + (SELECT ended_unix_ns FROM s.run) - ended_unix_ns",
        place, offset)));
    return database_.execute("DETACH DATABASE s");
  }

  Expected<void> finish() {
    HOSTIR_TRY(database_.execute(
        "CREATE TEMP TABLE number AS SELECT file, old, ROW_NUMBER() OVER (ORDER BY "
        "COALESCE(host_start_ns, start_ns, finish_ns, 0), file, old) - 1 AS id FROM all_event;"
        "CREATE INDEX temp.number_by_old ON number (file, old);"
        "DELETE FROM event_row; DELETE FROM event_block; DELETE FROM timeline_chunk; "
        "DELETE FROM timeline_track; DELETE FROM collective_row; DELETE FROM call; "
        "DELETE FROM untimed_state; DELETE FROM value; DELETE FROM loop_path; "
        "DELETE FROM decision; DELETE FROM table_digest;"
        "INSERT INTO event_row (id, branch, decision, rank, instruction, loop_path, host_start_ns, "
        "host_end_ns, bytes, waited_ns, stream, task, queued_ns, start_ns, finish_ns, live_bytes, "
        "waited_for) SELECT n.id, 0, n.id, e.rank, e.instruction, e.loop_path, e.host_start_ns, "
        "e.host_end_ns, e.bytes, e.waited_ns, e.stream, e.task, e.queued_ns, e.start_ns, "
        "e.finish_ns, e.live_bytes, e.waited_for FROM all_event e JOIN number n USING (file, old);"
        "INSERT INTO collective_row (event, branch, rank, instruction, communicator, sequence, "
        "peer, bytes, arrival_ns, start_ns, finish_ns) SELECT n.id, 0, c.rank, c.instruction, "
        "c.communicator, c.sequence, c.peer, c.bytes, c.arrival_ns, c.start_ns, c.finish_ns FROM "
        "all_collective c JOIN number n USING (file, old);"
        "INSERT INTO call SELECT n.id, c.instruction, c.rank, c.root, c.total_elems, c.row_elems, "
        "c.shape, c.fingerprint FROM all_call c JOIN number n USING (file, old);"
        "INSERT INTO untimed_state SELECT n.id, u.state FROM all_untimed u JOIN number n USING "
        "(file, old);"
        "INSERT INTO value (event, branch, rank, tensor, allocation, operand, digest, min, max, "
        "mean, nan_count, inf_count, data) SELECT n.id, 0, v.rank, v.tensor, v.allocation, "
        "v.operand, v.digest, v.min, v.max, v.mean, v.nan_count, v.inf_count, v.data FROM "
        "all_value v JOIN number n USING (file, old) ORDER BY n.id;"
        "INSERT OR IGNORE INTO loop_path SELECT id, parent, instruction, iteration FROM "
        "all_path;"));
    HOSTIR_TRY(database_.execute(
        fmt::format("UPDATE run SET process_count = {}, event_count = (SELECT COUNT(*) FROM "
                    "event_row); INSERT OR REPLACE INTO property VALUES ('merged_files', '{}')",
                    files_, files_)));
    return write_table_digests(database_);
  }

 private:
  Expected<void> take_rows(std::string_view schema, size_t file, int64_t offset) {
    const std::string columns = fmt::format(fmt::runtime(kShiftedEvent), fmt::arg("files", files_),
                                            fmt::arg("file", file), fmt::arg("offset", offset));
    // The view `event` reads the tables of its own schema.
    return database_.execute(fmt::format(
        "INSERT INTO all_event SELECT {1}, {2} FROM {0}.event WHERE rank IN (SELECT rank FROM "
        "{0}.rank WHERE local = 1);"
        "INSERT INTO all_collective SELECT {1}, event, rank, instruction, communicator, sequence, "
        "peer, bytes, arrival_ns + {3}, start_ns + {3}, finish_ns + {3} FROM {0}.collective_row;"
        "INSERT INTO all_call SELECT {1}, event, instruction, rank, root, total_elems, row_elems, "
        "shape, fingerprint FROM {0}.call;"
        "INSERT INTO all_untimed SELECT {1}, event, state FROM {0}.untimed_state;"
        "INSERT INTO all_value SELECT {1}, event, rank, tensor, allocation, operand, digest, min, "
        "max, mean, nan_count, inf_count, data FROM {0}.value;"
        "INSERT INTO all_path SELECT (id - 1) * {4} + {1} + 1, CASE WHEN parent > 0 THEN (parent - "
        "1) * {4} + {1} + 1 ELSE 0 END, instruction, iteration FROM {0}.loop_path WHERE id > 0",
        schema, file, columns, offset, files_));
  }

  Expected<void> check_program(const std::string& path) {
    HOSTIR_ASSIGN_OR_RETURN(const auto version, database_.query_int("PRAGMA s.user_version"));
    if (version.value_or(0) > kSchemaVersion) {
      return fail(ErrorKind::kRuntime, "log_newer",
                  fmt::format("\"{}\" was written by a newer program: it has schema version {}, "
                              "this program reads up to {}",
                              path, *version, kSchemaVersion));
    }
    if (version.value_or(0) < kMergeableVersion) {
      return fail(ErrorKind::kRuntime, "log_set_version",
                  fmt::format("\"{}\" has schema version {}; a set needs version {} or later", path,
                              version.value_or(0), kMergeableVersion));
    }
    for (const std::string_view table : {"instruction", "communicator"}) {
      HOSTIR_ASSIGN_OR_RETURN(
          const auto differ,
          database_.query_int(fmt::format(
              "SELECT (SELECT COUNT(*) FROM (SELECT id, content_key FROM main.{0} EXCEPT SELECT "
              "id, content_key FROM s.{0})) + (SELECT COUNT(*) FROM (SELECT id, content_key FROM "
              "s.{0} EXCEPT SELECT id, content_key FROM main.{0}))",
              table)));
      if (differ.value_or(0) == 0) continue;
      return fail(
          ErrorKind::kRuntime, "log_set_differs",
          fmt::format("\"{}\" is not of the same run as the files before it: {} rows of the "
                      "table \"{}\" differ",
                      path, *differ, table));
    }
    return {};
  }

  /// The offset to add to the file's times. Collectives end at the same moment on all members:
  /// takes the median over the collectives in both files.
  Expected<int64_t> clock_offset(const std::string& path, size_t file) {
    const std::string pairs =
        "FROM (SELECT communicator, sequence, group_index, MAX(c.finish_ns) AS a FROM "
        "all_collective c JOIN main.collective_site t ON t.instruction = c.instruction AND t.rank "
        "= c.rank WHERE peer IS NULL AND c.finish_ns IS NOT NULL GROUP BY 1, 2, 3) x JOIN (SELECT "
        "communicator, sequence, group_index, MAX(c.finish_ns) AS b FROM s.collective_row c JOIN "
        "s.collective_site t ON t.instruction = c.instruction AND t.rank = c.rank WHERE peer IS "
        "NULL AND c.finish_ns IS NOT NULL GROUP BY 1, 2, 3) y USING (communicator, sequence, "
        "group_index)";
    HOSTIR_ASSIGN_OR_RETURN(const auto count, database_.query_int("SELECT COUNT(*) " + pairs));
    if (count.value_or(0) == 0) {
      HOSTIR_TRY(database_.execute(fmt::format(
          "INSERT INTO main.gap (kind, text) SELECT 'contradiction', {} WHERE (SELECT virtual_time "
          "FROM main.run) = 0",
          sql_quoted(fmt::format("the clock of {} is not aligned with the others: they share no "
                                 "collective that ended",
                                 fs::path(path).filename().string())))));
      return 0;
    }
    HOSTIR_ASSIGN_OR_RETURN(
        const auto median,
        database_.query_int(
            fmt::format("SELECT a - b {} ORDER BY a - b LIMIT 1 OFFSET {}", pairs, *count / 2)));
    HOSTIR_TRY(database_.execute(
        fmt::format("INSERT OR REPLACE INTO main.property VALUES ('clock_offset_ns_{}', '{}')",
                    file, median.value_or(0))));
    return median.value_or(0);
  }

  Database& database_;
  const size_t files_;
};

}  // namespace

Expected<std::vector<std::string>> logs_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".db") out.push_back(entry.path().string());
  }
  if (out.empty()) {
    return fail(ErrorKind::kRuntime, "log_missing",
                fmt::format("\"{0}\" holds no log (no file *.db); `hostir open {0} --trace "
                            "job.db` makes one of dumps",
                            folder));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Expected<void> merge_logs(const std::vector<std::string>& paths, const std::string& target) {
  std::vector<ReadableFile> files;  // keeps copies until the end
  for (const std::string& path : paths) {
    HOSTIR_ASSIGN_OR_RETURN(ReadableFile file, open_file(path));
    files.push_back(std::move(file));
  }
  if (files.empty()) return fail(ErrorKind::kRuntime, "log_missing", "no log was named");
  HOSTIR_TRY(files.front().copy_to(target));
  HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(target, Database::Mode::kReadWrite));
  Merger merger(database, files.size());
  HOSTIR_TRY(merger.begin());
  for (size_t i = 1; i < files.size(); ++i) HOSTIR_TRY(merger.add(files[i].path, i));
  return merger.finish();
}

}  // namespace hostir::traces
