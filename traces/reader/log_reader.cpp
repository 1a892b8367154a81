#include "traces/reader/log_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "traces/database/log_file.h"

namespace hostir::traces {

using interp::LogEvent;
using interp::LogExtent;

namespace {

tl::unexpected<Error> cancelled() {
  return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
}

bool earlier(const interp::LogMemoryPoint& a, const interp::LogMemoryPoint& b) {
  return a.time_ns < b.time_ns;
}

// Appends points that are almost in order.
void append(std::vector<interp::LogMemoryPoint>& to, std::vector<interp::LogMemoryPoint> more) {
  if (more.empty()) return;
  std::stable_sort(more.begin(), more.end(), earlier);
  const auto middle = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), more.begin(), more.end());
  const auto first = std::upper_bound(to.begin(), to.begin() + middle, more.front(), earlier);
  std::inplace_merge(first, to.begin() + middle, to.end(), earlier);
}

}  // namespace

Expected<std::unique_ptr<LogReader>> open_log(const std::string& path,
                                              std::unique_ptr<TemporaryDirectory> home) {
  HOSTIR_ASSIGN_OR_RETURN(ReadableFile file, open_file(path));
  if (home) file.copy = std::move(home);
  HOSTIR_ASSIGN_OR_RETURN(Database database, file.connect());
  auto tables = load_tables(database);
  if (!tables && tables.error().diagnostics[0].id == "log_sql") {
    // A table or column that every log has is missing.
    return fail(ErrorKind::kRuntime, "log_damaged",
                fmt::format("\"{}\" is damaged: {}", path, tables.error().message()));
  }
  if (!tables) return tl::unexpected(tables.error());
  return std::make_unique<LogReader>(std::move(file), std::move(*tables));
}

LogReader::LogReader(ReadableFile file, LogTables tables)
    : tables_(std::move(tables)),
      pool_(std::move(file)),
      ending_(tables_.run.ending),
      blocks_([this](int64_t row) { return fetch_block(row); }) {
  loaded_.timelines.resize(tables_.tracks.size());
  loaded_.memory.resize(static_cast<size_t>(tables_.limits().rank_count));
}

LogReader::~LogReader() {
  const bool live = tables_.run.ending == interp::LogEnding::kRunning;
  const std::string path = pool_.file().path;
  loader_.reset();
  pool_.close_all();
  if (!live) return;
  // A writer that closed while we were reading left it to us to turn the log into a single file.
  auto database = Database::open(path, Database::Mode::kReadWrite);
  if (!database) return;
  const auto ended = database->query_int("SELECT ended_unix_ns IS NOT NULL FROM run");
  if (ended && ended->value_or(0) == 1) (void)settle_log_file(*database);
}

LogExtent LogReader::extent() const {
  const std::shared_lock lock(mutex_);
  return loaded_.extent;
}

Expected<LogExtent> LogReader::refresh(std::stop_token stop) {
  const std::scoped_lock refreshing(refresh_mutex_);
  struct Reading {
    std::atomic<bool>& flag;
    ~Reading() { flag = false; }
  } const reading{reading_};
  if (loader_ == nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(Database database, pool_.file().connect());
    loader_ = std::make_unique<Database>(std::move(database));
  }
  loader_->set_cancel([&stop] { return stop.stop_requested(); });
  struct Uncancel {
    Database& database;
    ~Uncancel() { database.set_cancel({}); }
  } const uncancel{*loader_};

  // Check first whether the writer has ended: everything it wrote before is then read below.
  HOSTIR_ASSIGN_OR_RETURN(const interp::LogEnding ending, ending_now());
  HOSTIR_TRY(read_newest(stop));
  ending_ = ending;
  return extent();
}

// Sessions ask often, so the file is checked at most five times a second.
Expected<interp::LogEnding> LogReader::ending_now() {
  constexpr auto kEvery = std::chrono::milliseconds(200);
  const auto now = std::chrono::steady_clock::now();
  if (ending_ != interp::LogEnding::kRunning || now - looked_at_ending_ < kEvery)
    return ending_.load();
  looked_at_ending_ = now;
  return read_ending(*loader_);
}

Expected<void> LogReader::read_newest(const std::stop_token& stop) {
  HOSTIR_ASSIGN_OR_RETURN(const auto version, loader_->query_int("PRAGMA data_version"));
  if (version.value_or(0) == data_version_) return {};
  HOSTIR_ASSIGN_OR_RETURN(interp::Lineage lineage, load_lineage(*loader_));

  // New events only come after those already read. If the branch changes, older events may be shown
  // differently, so everything is read again.
  bool again = data_version_ < 0 || !(lineage == loaded_.lineage);
  if (!again) {
    HOSTIR_ASSIGN_OR_RETURN(const NewRows news, read_news(*loader_, loaded_));
    const std::unique_lock lock(mutex_);
    merge_news(loaded_, news);
  }
  if (!again) {
    HOSTIR_ASSIGN_OR_RETURN(const bool whole, is_whole(*loader_, loaded_));
    again = !whole;
  }
  if (again) HOSTIR_TRY(load_all(std::move(lineage), stop));
  if (stop.stop_requested()) return cancelled();
  data_version_ = version.value_or(0);
  return {};
}

void LogReader::begin(interp::Lineage lineage, std::vector<EventRange> undone, StoredLog stored) {
  const uint64_t generation = loaded_.extent.generation;
  loaded_ = Loaded();
  loaded_.stored = std::move(stored);
  loaded_.timelines.resize(tables_.tracks.size());
  loaded_.memory.resize(static_cast<size_t>(tables_.limits().rank_count));
  loaded_.lineage = std::move(lineage);
  loaded_.undone = std::move(undone);
  loaded_.next_id = loaded_.row_count = loaded_.stored.next_id;
  loaded_.open.insert(loaded_.stored.open.begin(), loaded_.stored.open.end());
  loaded_.extent.generation = generation + 1;
}

Expected<void> LogReader::load_all(interp::Lineage lineage, const std::stop_token& stop) {
  HOSTIR_ASSIGN_OR_RETURN(const int64_t last_id, last_event_id(*loader_));
  reading_ = true;
  data_version_ = -1;  // until everything is loaded
  read_ = 0;
  total_ = last_id + 1;
  HOSTIR_ASSIGN_OR_RETURN(StoredLog stored, load_stored(*loader_, tables_, lineage, last_id));
  HOSTIR_ASSIGN_OR_RETURN(std::vector<EventRange> undone,
                          find_undone(*loader_, tables_.limits(), lineage, last_id));
  const int64_t next_id = stored.next_id;
  const interp::Lineage shown = lineage;
  // Keeps showing the old contents until there is something to replace them.
  bool first = true;
  const auto take = [&](const EventPart& part) {
    const std::unique_lock lock(mutex_);
    if (first) begin(std::move(lineage), std::move(undone), std::move(stored));
    first = false;
    take_in(loaded_, part);
    read_ = loaded_.next_id;
  };
  if (next_id > 0 || last_id < 0) take(EventPart(tables_));
  HOSTIR_TRY(load_events(pool_, tables_, shown, next_id, last_id, stop, take));
  // Events that were in flight when the last chunk was written have finished since, or never will.
  HOSTIR_ASSIGN_OR_RETURN(const NewRows late, read_open(*loader_, loaded_));
  const std::unique_lock lock(mutex_);
  merge_news(loaded_, late);
  return {};
}

interp::LogProgress LogReader::progress() const { return {read_, total_, reading_}; }

bool LogReader::shows(int64_t event) const {
  const std::shared_lock lock(mutex_);
  const auto behind =
      std::upper_bound(loaded_.undone.begin(), loaded_.undone.end(), event,
                       [](int64_t id, const EventRange& range) { return id < range.end; });
  return behind == loaded_.undone.end() || event < behind->first;
}

void LogReader::merge_news(Loaded& loaded, const NewRows& news) const {
  for (const int64_t id : news.finished) loaded.open.erase(id);
  take_in(loaded, news.part);
}

Expected<LogReader::NewRows> LogReader::read_open(Database& database, const Loaded& loaded) const {
  NewRows news{EventPart(tables_), {}};
  // There may be many: hosts run ahead of their streams.
  const std::vector<int64_t> ids(loaded.open.begin(), loaded.open.end());
  HOSTIR_ASSIGN_OR_RETURN(const auto events, find_events(database, tables_.limits(), ids));
  for (const LogEvent& event : events) {
    if (is_open(event)) continue;
    news.finished.push_back(event.id);
    news.part.show(tables_, loaded.lineage, tables_.on_stream(event));
  }
  return news;
}

Expected<LogReader::NewRows> LogReader::read_news(Database& database, const Loaded& loaded) const {
  HOSTIR_ASSIGN_OR_RETURN(NewRows news, read_open(database, loaded));
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner, EventScanner::create(database, tables_.limits(),
                                                                     {.first_id = loaded.next_id}));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
    if (event == nullptr) return news;
    news.part.add(tables_, loaded.lineage, *event);
  }
}

void LogReader::take_in(Loaded& loaded, const EventPart& part) const {
  loaded.next_id = std::max(loaded.next_id, part.next_id);
  loaded.row_count += part.row_count;
  loaded.open.insert(part.open.begin(), part.open.end());
  for (size_t rank = 0; rank < part.memory.size(); ++rank) {
    append(loaded.memory[rank], part.memory[rank]);
  }
  LogExtent& extent = loaded.extent;
  extent.event_count = loaded.row_count;
  ++extent.generation;
  bool first = true;
  const auto widen = [&](int64_t begin_ns, int64_t end_ns) {
    extent.begin_ns = first ? begin_ns : std::min(extent.begin_ns, begin_ns);
    extent.end_ns = first ? end_ns : std::max(extent.end_ns, end_ns);
    first = false;
  };
  for (size_t track = 0; track < loaded.timelines.size(); ++track) {
    Timeline& timeline = loaded.timelines[track];
    timeline.add(part.tracks[track]);
    timeline.build();
    if (timeline.size() != 0) widen(timeline.begin_ns(), timeline.end_ns());
    if (track >= loaded.stored.tracks.size()) continue;
    const StoredTrack& stored = loaded.stored.tracks[track];
    if (!stored.empty()) widen(stored.begin_ns(), stored.end_ns());
  }
}

Expected<bool> LogReader::is_whole(Database& database, const Loaded& loaded) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto count,
                          database.query_int("SELECT (SELECT COUNT(*) FROM event_row) + (SELECT "
                                             "COALESCE(SUM(row_count), 0) FROM event_block)"));
  return count.value_or(0) == loaded.row_count;
}

}  // namespace hostir::traces
