#include "hostir/script/runner.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "hostir/script/test_file.h"

namespace hostir::script {

namespace fs = std::filesystem;

namespace {

bool is_script(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".hir" || ending == ".mlir" || ending == ".hlo";
}

}  // namespace

Expected<std::vector<std::string>> find_scripts(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code status;
    if (path == "-" || fs::is_regular_file(path, status)) {
      out.push_back(path);
      continue;
    }
    if (!fs::is_directory(path, status)) {
      return fail(ErrorKind::kRuntime, "file_open", path + ": no such file or folder");
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, status), end; !status && it != end;
         it.increment(status)) {
      if (is_script(it->path())) found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    out.insert(out.end(), found.begin(), found.end());
  }
  if (out.empty())
    return fail(ErrorKind::kUsage, "no_script",
                "no scripts found: their names end in .hir, .mlir or .hlo");
  return out;
}

Expected<TestReport> run_tests(const std::vector<std::string>& paths, const TestOptions& options,
                               const interp::BackendFactory& make_backend) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::string> files, find_scripts(paths));
  std::vector<FileResult> results(files.size());
  std::atomic<size_t> next = 0;
  const auto work = [&](bool reports) {
    for (size_t i = next++; i < files.size(); i = next++) {
      if (reports && options.progress) options.progress(i, files.size());
      results[i] = run_file(files[i], options, make_backend);
    }
  };
  {
    std::vector<std::jthread> threads;
    const size_t wanted = std::min(files.size(), static_cast<size_t>(std::max(1, options.jobs)));
    for (size_t t = 1; t < wanted; ++t) threads.emplace_back(work, false);
    work(true);
  }
  TestReport report;
  for (FileResult& result : results) {
    report.updated_files += result.rewritten ? 1 : 0;
    std::move(result.cases.begin(), result.cases.end(), std::back_inserter(report.cases));
  }
  return report;
}

}  // namespace hostir::script
