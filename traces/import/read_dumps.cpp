#include "traces/import/read_dumps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "hostir/io/files.h"
#include "hostir/io/pickle.h"
#include "hostir/support/lists.h"
#include "hostir/support/usable_cores.h"
#include "traces/database/schema.h"
#include "traces/import/formats/clog.h"
#include "traces/import/formats/file_name.h"
#include "traces/import/formats/flight_recorder.h"
#include "traces/import/formats/gzip.h"
#include "traces/import/formats/inspector.h"
#include "traces/import/formats/json_text.h"
#include "traces/import/formats/nccl_debug.h"
#include "traces/import/formats/nccl_ring.h"
#include "traces/import/formats/ras.h"
#include "traces/import/formats/ras_text.h"

namespace hostir::traces::import {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{4} << 30;
constexpr size_t kHeadBytes = 4096;
constexpr std::string_view kFileName = "its file's name";
constexpr std::string_view kUnknownFormat = "is not a dump of a known recorder";

tl::unexpected<Error> other_format(const std::string& path, std::string_view what) {
  return fail(ErrorKind::kInvalid, "import_format", fmt::format("{}: {}", path, what));
}

constexpr std::string_view kSqlite = "SQLite format 3";

/// A profile in Chrome's trace format, or another tool's SQLite file; not one of our logs.
bool looks_like_profile(std::string_view head) {
  if (head.starts_with(kSqlite)) return head.size() > 72 && !is_log_head(head);
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  return has("\"traceEvents\"") || has("\"deviceProperties\"") || has("\"distributedInfo\"") ||
         (has("\"ph\"") && has("\"ts\""));
}

bool is_our_log(const std::string& path) {
  const auto head = io::read_file_head(path, kHeadBytes);
  return head && is_log_head(*head);
}

bool is_profile(const std::string& path) {
  const auto head = io::read_file_head(path, kHeadBytes);
  if (!head || !looks_like_gzip(*head)) return head && looks_like_profile(*head);
  size_t given = 0;
  GzipReader unpacked([&](std::span<char> out) {
    const size_t size = std::min(out.size(), head->size() - given);
    std::copy_n(head->data() + given, size, out.data());
    given += size;
    return size;
  });
  std::string start(kHeadBytes, '\0');
  // The head is cut, so the end of the text may be missing: reads one byte at a time.
  size_t size = 0;
  while (size < start.size()) {
    const auto more = unpacked.read(std::span(start).subspan(size, 1));
    if (!more || *more == 0) break;
    ++size;
  }
  return looks_like_profile(std::string_view(start).substr(0, size));
}

Expected<DumpFile> read_tree(const io::PlainTree& tree, const std::string& path) {
  const io::PlainView root(tree);
  if (looks_like_flight_recorder(root)) {
    HOSTIR_ASSIGN_OR_RETURN(ProcessDump dump, read_flight_recorder(root));
    DumpFile file{DumpFormat::kFlightRecorder, {}, {}};
    file.dumps.push_back(std::move(dump));
    return file;
  }
  if (looks_like_ras(root)) return DumpFile{DumpFormat::kRas, read_ras(root), {}};
  return other_format(path, "holds plain data, but no dump of a known recorder");
}

Expected<DumpFile> read_text(std::string_view bytes, const std::string& path) {
  const std::string_view head = bytes.substr(0, kHeadBytes);
  if (looks_like_clog(head)) {
    HOSTIR_ASSIGN_OR_RETURN(ProcessDump dump, read_clog(bytes));
    DumpFile file{DumpFormat::kClog, {}, {}};
    file.dumps.push_back(std::move(dump));
    return file;
  }
  if (looks_like_inspector(head)) {
    return DumpFile{DumpFormat::kInspector, read_inspector(bytes), {}};
  }
  if (looks_like_nccl_debug(head)) {
    return DumpFile{DumpFormat::kNcclDebug, read_nccl_debug(bytes), {}};
  }
  if (looks_like_ras_text(head)) {
    DumpFile file{DumpFormat::kRas, {}, {}};
    HOSTIR_ASSIGN_OR_RETURN(const io::PlainTree tree, read_ras_text(bytes, file.notes));
    file.dumps = read_ras(io::PlainView(tree));
    return file;
  }
  if (looks_like_profile(head)) return other_format(path, "is a profile, not a dump");
  // Logs begin like JSON too: `[rank3]: Warning`, or an object per line.
  if (!begins_like_object(head)) return other_format(path, kUnknownFormat);
  const auto tree = read_json(bytes);
  if (tree) return read_tree(*tree, path);
  const auto line = read_json(bytes.substr(0, bytes.find('\n')));
  if (line && !read_tree(*line, path)) return other_format(path, kUnknownFormat);
  return tl::unexpected(tree.error());
}

std::optional<int64_t> written_ns(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

/// Regular files, sorted by name; does not follow links out of the folder.
void list_folder(const fs::path& folder, int depth, std::vector<std::string>& out) {
  std::error_code error;
  std::vector<fs::path> inside;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    inside.push_back(entry.path());
  }
  std::sort(inside.begin(), inside.end());
  for (const fs::path& path : inside) {
    const fs::file_status status = fs::status(path, error);
    if (error) continue;
    if (fs::is_regular_file(status)) out.push_back(path.string());
    if (fs::is_directory(status) && depth > 0 && !fs::is_symlink(path)) {
      list_folder(path, depth - 1, out);
    }
  }
}

Expected<DumpFile> read_file_of(const std::string& path) {
  std::error_code error;
  if (path != "-" && fs::file_size(path, error) > kMostBytes && !error) {
    return other_format(path, "is larger than 4 GiB");
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::string bytes, io::read_file(path));
  HOSTIR_ASSIGN_OR_RETURN(DumpFile file, read_dump(bytes, path));
  if (path != "-") {
    for (ProcessDump& dump : file.dumps) {
      if (!dump.written_ns) dump.written_ns = written_ns(path);
    }
  }
  return file;
}

/// True if the first bytes could be those of a dump, so that large arrays and logs are not read
/// completely.
bool may_be_dump(const std::string& path) {
  const auto head = io::read_file_head(path, kHeadBytes);
  if (head && head->empty()) return rank_in_name(path).has_value();  // its process was killed
  if (!head) return false;
  if (io::looks_like_pickle(*head) || looks_like_gzip(*head) || looks_like_nccl_ring(*head))
    return true;
  return head->find('\0') == std::string::npos;
}

/// A file to read, and the result.
struct Candidate {
  std::string path;
  bool given = false;  // by name
  bool our_log = false;
  bool profile = false;
  bool binary = false;  // certainly not a dump; not read
  std::optional<Expected<DumpFile>> read;
};

std::vector<Candidate> candidates(const std::vector<std::string>& paths) {
  std::vector<Candidate> out;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      out.push_back({.path = path, .given = true, .read = {}});
      continue;
    }
    std::vector<std::string> inside;
    list_folder(path, 2, inside);
    for (std::string& file : inside) out.push_back({.path = std::move(file), .read = {}});
  }
  return out;
}

void read_one(Candidate& file) {
  if (file.path != "-") {
    file.our_log = is_our_log(file.path);
    if (file.our_log) return;
    file.profile = is_profile(file.path);
    file.binary = !file.profile && !file.given && !may_be_dump(file.path);
    if (file.profile || file.binary) return;
  }
  file.read = read_file_of(file.path);
}

/// Finds the ranks that only the files' names give, also those of damaged files.
void name_ranks(DumpFiles& files, const std::vector<std::string>& unreadable) {
  std::vector<ProcessDump*> dumps;
  std::vector<std::string> paths;
  std::vector<model::Rank> world;  // the members of the largest group
  for (DumpFile& file : files.files) {
    for (ProcessDump& dump : file.dumps) {
      for (const DumpGroup& group : dump.groups) {
        if (group.members && group.members->size() > world.size()) world = *group.members;
      }
      if (file.dumps.size() > 1 || (dump.rank && dump.rank_found_by != kFileName)) continue;
      dumps.push_back(&dump);
      paths.push_back(dump.file);
    }
  }
  std::ranges::sort(world);
  paths.insert(paths.end(), unreadable.begin(), unreadable.end());
  const auto ranks = ranks_in_names(paths, [&](size_t file, model::Rank rank) {
    if (!world.empty() && !std::ranges::binary_search(world, rank)) return false;
    if (file >= dumps.size()) return true;
    bool some = false;
    for (const DumpGroup& group : dumps[file]->groups) {
      if (!group.members) continue;
      if (contains(*group.members, rank)) return true;
      some = true;
    }
    return !some;
  });
  for (size_t i = 0; i < dumps.size(); ++i) {
    dumps[i]->rank = ranks[i];
    if (ranks[i]) dumps[i]->rank_found_by = kFileName;
  }
  for (size_t i = 0; i < unreadable.size(); ++i) {
    const auto& rank = ranks[dumps.size() + i];
    if (rank) files.unreadable.emplace_back(*rank, fs::path(unreadable[i]).filename().string());
  }
}

/// One thread per core: a job of thousands of ranks leaves gigabytes.
std::vector<Candidate> read_all(std::vector<Candidate> files) {
  const auto cores = static_cast<size_t>(usable_cores());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) read_one(files[i]);
  };
  std::vector<std::jthread> threads;
  for (size_t t = 1; t < std::min(cores, files.size()); ++t) threads.emplace_back(work);
  work();
  threads.clear();
  return files;
}

}  // namespace

std::string_view name(DumpFormat format) {
  switch (format) {
    case DumpFormat::kFlightRecorder:
      return "Flight Recorder";
    case DumpFormat::kClog:
      return "torchcomms clog";
    case DumpFormat::kNcclPlugin:
      return "libhostir_nccl";
    case DumpFormat::kNcclDebug:
      return "NCCL_DEBUG";
    case DumpFormat::kRas:
      return "NCCL RAS";
    case DumpFormat::kInspector:
      return "NCCL Inspector";
  }
  return "";
}

Expected<DumpFile> read_dump(std::string_view bytes, const std::string& path) {
  std::string unpacked;
  if (looks_like_gzip(bytes)) {
    HOSTIR_ASSIGN_OR_RETURN(unpacked, gunzip(bytes));
    bytes = unpacked;
  }
  Expected<DumpFile> file =
      other_format(path, "is empty: its process ended before it wrote anything");
  // Editors and PowerShell begin texts with a byte order mark.
  constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
  if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
  if (looks_like_nccl_ring(bytes)) {
    DumpFile ring;
    ring.format = DumpFormat::kNcclPlugin;
    HOSTIR_ASSIGN_OR_RETURN(ring.dumps, read_nccl_ring(bytes, ring.notes));
    file = std::move(ring);
  } else if (io::looks_like_pickle(bytes)) {
    HOSTIR_ASSIGN_OR_RETURN(const io::PlainTree tree, io::read_pickle(bytes));
    file = read_tree(tree, path);
  } else if (!bytes.empty()) {
    file = read_text(bytes, path);
  }
  if (!file) return file;
  for (ProcessDump& dump : file->dumps) {
    dump.file = path;
    if (dump.rank) continue;
    dump.rank = file->dumps.size() == 1 ? rank_in_name(path) : std::nullopt;
    if (dump.rank) dump.rank_found_by = kFileName;
  }
  return file;
}

Expected<DumpFiles> read_dumps(const std::vector<std::string>& paths) {
  DumpFiles out;
  std::optional<Error> first_given;
  std::vector<Candidate> all = read_all(candidates(paths));
  std::set<std::string> patterns;
  for (const Candidate& file : all) {
    if (file.read && *file.read && (*file.read)->dumps.size() == 1)
      patterns.insert(pattern_of_name(file.path));
  }
  std::vector<std::string> unreadable;
  bool our_logs = false;
  for (Candidate& file : all) {
    if (file.our_log && file.given) {
      return other_format(file.path,
                          "is a log of this program; hostir gui, debug and trace open it");
    }
    our_logs = our_logs || file.our_log;
    if (file.profile) out.profiles.push_back(file.path);
    const bool named_as_dump = patterns.contains(pattern_of_name(file.path));
    if (file.binary && named_as_dump) file.read = other_format(file.path, kUnknownFormat);
    if (!file.read) continue;
    if (*file.read) {
      out.files.push_back(std::move(**file.read));
      continue;
    }
    const Error& error = file.read->error();
    std::error_code ignored;
    if (file.given && !fs::exists(file.path, ignored)) return tl::unexpected(error);
    if (file.given && !first_given) first_given = error;
    // A log file beside the dumps is not a damaged dump.
    const bool damaged = named_as_dump || error.diagnostics.front().id != "import_format" ||
                         fs::is_empty(file.path, ignored);
    if (damaged && rank_in_name(file.path)) unreadable.push_back(file.path);
    out.skipped.add(file.path, error,
                    file.given ? SkippedFiles::Found::kByName : SkippedFiles::Found::kInFolder);
  }
  name_ranks(out, unreadable);
  if (out.files.empty() && out.profiles.empty()) {
    if (first_given) return tl::unexpected(*std::move(first_given));
    std::string where;
    for (const std::string& path : paths) where += (where.empty() ? "" : ", ") + path;
    if (our_logs) {
      return fail(ErrorKind::kInvalid, "import_files",
                  fmt::format("{}: holds logs of this program; hostir gui, debug and report open "
                              "the folder as one run",
                              where));
    }
    auto nothing =
        fail(ErrorKind::kInvalid, "import_files",
             fmt::format(
                 "{}: nothing readable here; supported are Flight Recorder dumps, "
                 "libhostir_nccl files, torchcomms clog, NCCL Inspector, RAS or NCCL_DEBUG lines, "
                 "profiles of PyTorch or Nsight Systems",
                 where));
    for (const std::string& note : out.skipped.notes()) {
      nothing.value().diagnostics.front().notes.push_back({note, {}});
    }
    return nothing;
  }
  return out;
}

}  // namespace hostir::traces::import
