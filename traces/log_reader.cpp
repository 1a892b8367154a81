#include "traces/log_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "traces/log_file.h"

namespace hostir::traces {

using interp::LogEvent;
using interp::LogExtent;

namespace {

tl::unexpected<Error> cancelled() {
  return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
}

bool is_open(const LogEvent& event) {
  return event.task != interp::kNoTask && event.finish_ns == interp::kUnknownNs;
}

}  // namespace

Expected<std::unique_ptr<LogReader>> open_log(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(ReadableFile file, open_file(path));
  HOSTIR_ASSIGN_OR_RETURN(Database database, file.connect());
  auto tables = load_tables(database);
  if (!tables && tables.error().diagnostics[0].id == "log_sql") {
    // A table or column that every log has is not there.
    return fail(ErrorKind::kRuntime, "log_damaged",
                fmt::format("\"{}\" is damaged: {}", path, tables.error().message()));
  }
  if (!tables) return tl::unexpected(tables.error());
  return std::make_unique<LogReader>(std::move(file), std::move(*tables));
}

LogReader::LogReader(ReadableFile file, LogTables tables)
    : tables_(std::move(tables)), pool_(std::move(file)) {
  loaded_.timelines.resize(tables_.tracks.size());
}

LogReader::~LogReader() {
  const bool live = tables_.run.ending == interp::LogEnding::kRunning;
  const std::string path = pool_.file().path;
  loader_.reset();
  pool_.close_all();
  if (!live) return;
  // A writer that closed while we were reading left turning the file into a single one to us.
  auto database = Database::open(path, Database::Mode::kReadWrite);
  if (!database) return;
  const auto ended = database->query_int("SELECT ended_unix_ns IS NOT NULL FROM run");
  if (ended && ended->value_or(0) == 1) (void)settle_log_file(*database);
}

LogExtent LogReader::extent() const {
  const std::scoped_lock lock(mutex_);
  return loaded_.extent;
}

std::vector<interp::TimelineSlice> LogReader::timeline(
    const interp::TimelineRequest& request) const {
  const std::scoped_lock lock(mutex_);
  if (request.track >= loaded_.timelines.size()) return {};
  return loaded_.timelines[request.track].view(request.from_ns, request.to_ns, request.columns);
}

Expected<LogExtent> LogReader::refresh(std::stop_token stop) {
  const std::scoped_lock refreshing(refresh_mutex_);
  if (loader_ == nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(Database database, pool_.file().connect());
    loader_ = std::make_unique<Database>(std::move(database));
  }
  loader_->set_cancel([&stop] { return stop.stop_requested(); });
  struct Uncancel {
    Database& database;
    ~Uncancel() { database.set_cancel({}); }
  } const uncancel{*loader_};

  HOSTIR_ASSIGN_OR_RETURN(const auto version, loader_->query_int("PRAGMA data_version"));
  if (version.value_or(0) == data_version_) return extent();
  HOSTIR_ASSIGN_OR_RETURN(Lineage lineage, Lineage::load(*loader_));

  // New events only come after what was read. Another branch changes what is shown of the old ones:
  // then everything is read again.
  bool again = data_version_ < 0 || !(lineage == loaded_.lineage);
  if (!again) {
    HOSTIR_ASSIGN_OR_RETURN(const News news, read_news(*loader_, loaded_));
    const std::scoped_lock lock(mutex_);
    take_in(loaded_, news);
  }
  if (!again) {
    HOSTIR_ASSIGN_OR_RETURN(const bool whole, is_whole(*loader_, loaded_));
    again = !whole;
  }
  if (again) {
    Loaded fresh;
    fresh.timelines.resize(tables_.tracks.size());
    fresh.lineage = std::move(lineage);
    fresh.extent.generation = loaded_.extent.generation;
    HOSTIR_ASSIGN_OR_RETURN(const News news, read_news(*loader_, fresh));
    take_in(fresh, news);
    const std::scoped_lock lock(mutex_);
    loaded_ = std::move(fresh);
  }
  if (stop.stop_requested()) return cancelled();
  data_version_ = version.value_or(0);
  return extent();
}

Expected<LogReader::News> LogReader::read_news(Database& database, const Loaded& loaded) const {
  News news;
  for (const int64_t id : loaded.open) {
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent event, find_event(database, tables_.limits(), id));
    if (!is_open(event)) news.finished.push_back(event);
  }
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner, EventScanner::create(database, tables_.limits(),
                                                                     {.first_id = loaded.next_id}));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
    if (event == nullptr) return news;
    news.issued.push_back(*event);
  }
}

void LogReader::take_in(Loaded& loaded, const News& news) const {
  for (const LogEvent& event : news.finished) {
    loaded.open.erase(event.id);
    if (!loaded.lineage.contains(event.branch, event.decision)) continue;
    loaded.timelines[tables_.track_of(event)].add(event);
  }
  for (const LogEvent& event : news.issued) {
    loaded.next_id = std::max(loaded.next_id, event.id + 1);
    if (is_open(event)) loaded.open.insert(event.id);
    if (!loaded.lineage.contains(event.branch, event.decision)) continue;
    loaded.timelines[tables_.track_of(event)].add(event);
    // An asynchronous instruction is on its host's line as well, while it was being issued.
    if (event.stream < 0) continue;
    LogEvent issue = event;
    issue.stream = -1;
    loaded.timelines[tables_.track_of(issue)].add(issue);
  }
  loaded.row_count += static_cast<int64_t>(news.issued.size());

  LogExtent& extent = loaded.extent;
  extent.event_count = loaded.row_count;
  ++extent.generation;
  bool first = true;
  for (Timeline& timeline : loaded.timelines) {
    timeline.build();
    if (timeline.size() == 0) continue;
    extent.begin_ns = first ? timeline.begin_ns() : std::min(extent.begin_ns, timeline.begin_ns());
    extent.end_ns = first ? timeline.end_ns() : std::max(extent.end_ns, timeline.end_ns());
    first = false;
  }
}

Expected<bool> LogReader::is_whole(Database& database, const Loaded& loaded) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto count,
                          database.query_int("SELECT (SELECT COUNT(*) FROM event_row) + (SELECT "
                                             "COALESCE(SUM(row_count), 0) FROM event_block)"));
  return count.value_or(0) == loaded.row_count;
}

}  // namespace hostir::traces
