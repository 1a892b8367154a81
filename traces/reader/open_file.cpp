#include "traces/reader/open_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "traces/database/migrate.h"
#include "traces/database/schema.h"
#include "traces/reader/log_set.h"

namespace hostir::traces {
namespace fs = std::filesystem;

namespace {

Expected<void> check_header(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return fail(ErrorKind::kRuntime, "log_missing", fmt::format("no such file: \"{}\"", path));
  }
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, 16> head{};
  const bool is_file = fs::is_regular_file(path, error);
  if (is_file) std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (!is_file || std::string_view(head.data(), head.size()) != kMagic) {
    return fail(ErrorKind::kRuntime, "log_not_a_log",
                fmt::format("\"{}\" is not a log (no SQLite file)", path));
  }
  return {};
}

/// The schema version, after checking that this is a log that this program can read.
Expected<int64_t> check_version(Database& database, const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const std::optional<int64_t> id,
                          database.query_int("PRAGMA application_id"));
  if (id.value_or(0) != kApplicationId) {
    return fail(ErrorKind::kRuntime, "log_not_a_log",
                fmt::format("\"{}\" is an SQLite file, but not a log", path));
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::optional<int64_t> version,
                          database.query_int("PRAGMA user_version"));
  if (version.value_or(0) > kSchemaVersion) {
    return fail(ErrorKind::kRuntime, "log_newer",
                fmt::format("\"{}\" was written by a newer program: it has schema version {}, "
                            "this program reads up to {}",
                            path, *version, kSchemaVersion));
  }
  return version.value_or(0);
}

Expected<std::string> copy_into(const std::string& path, const TemporaryDirectory& directory) {
  const std::string target = directory.path() + "/log.db";
  for (const char* suffix : {"", "-wal", "-journal"}) {
    std::error_code error;
    if (!fs::exists(path + suffix, error)) continue;
    fs::copy_file(path + suffix, target + suffix, error);
    if (error) {
      return fail(ErrorKind::kRuntime, "log_io",
                  fmt::format("cannot copy \"{}{}\": {}", path, suffix, error.message()));
    }
    fs::permissions(target + suffix, fs::perms::owner_read | fs::perms::owner_write, error);
  }
  return target;
}

/// A writer killed while closing its log leaves a rollback journal. The first connection with write
/// access repairs the file; without write access, the repair is done on a copy.
Expected<void> roll_back(ReadableFile& file) {
  std::error_code error;
  const auto journal_bytes = fs::file_size(file.path + "-journal", error);
  if (error || journal_bytes == 0) return {};
  const auto recover = [](const std::string& path) -> Expected<void> {
    HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Mode::kReadWrite));
    return database.execute("BEGIN IMMEDIATE; COMMIT");
  };
  if (recover(file.path)) return {};
  HOSTIR_ASSIGN_OR_RETURN(file.copy, TemporaryDirectory::create());
  HOSTIR_ASSIGN_OR_RETURN(file.path, copy_into(file.path, *file.copy));
  return recover(file.path);
}

Expected<void> migrate_copy(ReadableFile& file) {
  if (file.copy == nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(file.copy, TemporaryDirectory::create());
    HOSTIR_ASSIGN_OR_RETURN(file.path, copy_into(file.path, *file.copy));
  }
  HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(file.path, Database::Mode::kReadWrite));
  return migrate(database, migration_steps(), kSchemaVersion);
}

/// A folder is a set: the logs of one run, one per process.
Expected<void> merge_folder(ReadableFile& file) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::string> paths, logs_in(file.path));
  if (paths.size() == 1) {
    file.path = paths.front();
    return {};
  }
  HOSTIR_ASSIGN_OR_RETURN(file.copy, TemporaryDirectory::create());
  file.path = file.copy->path() + "/log.db";
  return merge_logs(paths, file.path);
}

}  // namespace

Expected<std::unique_ptr<TemporaryDirectory>> TemporaryDirectory::create() {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "hostir-log-XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return fail(ErrorKind::kRuntime, "log_io", "cannot make a temporary directory");
  }
  return std::unique_ptr<TemporaryDirectory>(new TemporaryDirectory(std::move(path)));
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

Expected<Database> ReadableFile::connect() const {
  HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(path, mode));
  HOSTIR_TRY(
      database.execute("PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; "
                       "PRAGMA cache_size = -8192"));
  return database;
}

Expected<void> ReadableFile::copy_to(const std::string& target) const {
  std::error_code error;
  if (fs::exists(target, error)) {
    return fail(ErrorKind::kRuntime, "log_exists",
                fmt::format("\"{}\" exists; name a new file for the log", target));
  }
  HOSTIR_ASSIGN_OR_RETURN(Database database, connect());
  HOSTIR_ASSIGN_OR_RETURN(Statement vacuum, database.prepare("VACUUM INTO ?"));
  vacuum.bind_text(1, target);
  return vacuum.run();
}

Expected<ReadableFile> open_file(const std::string& path) {
  ReadableFile file;
  file.path = path;
  std::error_code no_folder;
  if (fs::is_directory(path, no_folder)) HOSTIR_TRY(merge_folder(file));
  HOSTIR_TRY(check_header(file.path));
  HOSTIR_TRY(roll_back(file));
  auto database = file.connect();
  auto version = database ? check_version(*database, path)
                          : Expected<int64_t>(tl::unexpected(database.error()));
  if (!version && version.error().diagnostics[0].id == "log_io") {
    // A file left behind by a writer needs a shared memory file beside it, which cannot be created
    // here.
    std::error_code error;
    if (file.copy == nullptr && fs::exists(path + "-wal", error)) {
      HOSTIR_ASSIGN_OR_RETURN(file.copy, TemporaryDirectory::create());
      HOSTIR_ASSIGN_OR_RETURN(file.path, copy_into(path, *file.copy));
    } else {
      file.mode = Database::Mode::kImmutable;
    }
    HOSTIR_ASSIGN_OR_RETURN(Database again, file.connect());
    version = check_version(again, path);
  }
  if (!version) return tl::unexpected(version.error());
  if (*version < kReadableVersion) HOSTIR_TRY(migrate_copy(file));
  return file;
}

}  // namespace hostir::traces
