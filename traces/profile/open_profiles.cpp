#include "traces/profile/open_profiles.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "hostir/io/files.h"
#include "traces/profile/kineto.h"
#include "traces/profile/nsys.h"

namespace hostir::traces::profile {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Expected<ProcessProfile> read_kineto_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return fail(ErrorKind::kRuntime, "file_open", path + ": cannot be read");
  return read_kineto(
      [&](std::span<char> out) { return std::fread(out.data(), 1, out.size(), file.get()); }, path);
}

Expected<std::vector<ProcessProfile>> read_profile(const std::string& path) {
  const auto head = io::read_file_head(path, 16);
  if (head && head->starts_with("SQLite format 3")) return read_nsys(path);
  HOSTIR_ASSIGN_OR_RETURN(ProcessProfile profile, read_kineto_file(path));
  std::vector<ProcessProfile> out;
  out.push_back(std::move(profile));
  return out;
}

}  // namespace

Expected<JobProfile> open_profiles(const std::vector<std::string>& paths,
                                   import::SkippedFiles& skipped) {
  std::vector<ProcessProfile> processes;
  std::optional<Error> first;
  for (const std::string& path : paths) {
    auto read = read_profile(path);
    if (read) {
      std::move(read->begin(), read->end(), std::back_inserter(processes));
      continue;
    }
    skipped.add(path, read.error());
    if (!first) first = std::move(read.error());
  }
  if (processes.empty() && first) return tl::unexpected(*std::move(first));
  return join(std::move(processes));
}

}  // namespace hostir::traces::profile
