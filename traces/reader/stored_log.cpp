#include "traces/reader/stored_log.h"

#include <nlohmann/json.hpp>

#include "hostir/support/hash.h"
#include "traces/database/log_file.h"

namespace hostir::traces {
namespace {

/// True if the chunk can be shown as it is; false if its events have to be read.
bool is_shown(const Statement& row, const interp::Lineage& lineage) {
  const auto branch = static_cast<uint32_t>(row.integer(2));
  return !row.is_null(2) && lineage.contains(branch, static_cast<uint64_t>(row.integer(3))) &&
         lineage.contains(branch, static_cast<uint64_t>(row.integer(4)));
}

bool read_open(std::string_view text, int64_t end, std::vector<int64_t>& open) {
  open.clear();
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return false;
  for (const nlohmann::json& item : list) {
    if (!item.is_number_integer()) return false;
    const auto id = item.get<int64_t>();
    if (id < 0 || id >= end) return false;
    open.push_back(id);
  }
  return true;
}

bool take_in(const Statement& row, const LogTables& tables, StoredLog& log) {
  const std::span<const std::byte> bytes = row.blob(7);
  if (hash_of(bytes) != static_cast<uint64_t>(row.integer(6))) return false;
  auto summary = decode_summary(bytes, chunk_limits(tables));
  if (!summary) return false;
  const int64_t chunk = row.integer(0);
  for (TrackSummary& track : summary->tracks) {
    log.tracks[track.track].add(track_row(chunk, track.track), std::move(track));
  }
  for (MemorySummary& memory : summary->memory) {
    const auto rank = static_cast<size_t>(memory.rank);
    log.memory[rank].add(track_row(chunk, tables.tracks.size() + rank), std::move(memory));
  }
  return true;
}

}  // namespace

ChunkLimits chunk_limits(const LogTables& tables) {
  return {tables.tracks.size(), static_cast<size_t>(tables.limits().rank_count),
          tables.instructions.size()};
}

Expected<StoredLog> load_stored(Database& database, const LogTables& tables,
                                const interp::Lineage& lineage, int64_t last_id) {
  constexpr int64_t kMaxChunks = int64_t{1} << 32;
  HOSTIR_ASSIGN_OR_RETURN(const bool has_chunks, has_table(database, "timeline_chunk"));
  StoredLog log;
  if (!has_chunks) return log;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare("SELECT id, next_id, branch, first_decision, last_decision, open, checksum, "
                       "summary FROM timeline_chunk ORDER BY id"));
  for (int64_t chunk = 0; chunk < kMaxChunks; ++chunk) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    if (chunk == 0) {
      log.tracks.resize(tables.tracks.size());
      log.memory.resize(static_cast<size_t>(tables.limits().rank_count));
    }
    const int64_t next_id = rows.integer(1);
    const bool good = rows.integer(0) == chunk && next_id >= log.next_id &&
                      next_id <= last_id + 1 && is_shown(rows, lineage) &&
                      read_open(rows.text_view(5), next_id, log.open) && take_in(rows, tables, log);
    if (!good) return StoredLog{};
    log.next_id = next_id;
  }
  for (StoredTrack& track : log.tracks) track.build();
  return log;
}

}  // namespace hostir::traces
