#include "kernels/cuda/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

namespace hostir::cuda {

Expected<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0') {
      folders.push_back(std::string(home) + "/lib64/");
      folders.push_back(std::string(home) + "/lib/");
    }
  }
  folders.emplace_back("/usr/local/cuda/lib64/");
  SharedLibrary library;
  std::string reason;
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      library.handle_ = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      library.path_ = folder + name;
      if (library.handle_ != nullptr) return library;
      if (reason.empty()) reason = dlerror();
    }
  }
  return fail(
      ErrorKind::kRuntime, "cuda_missing",
      fmt::format("{} of the CUDA Toolkit cannot be opened ({}); install the toolkit or set "
                  "CUDA_HOME to its folder",
                  names.front(), reason));
}

Expected<void> SharedLibrary::check() const {
  if (missing_.empty()) return {};
  return fail(ErrorKind::kRuntime, "cuda_missing",
              fmt::format("{} has no function {}: it is another version", path_, missing_));
}

void* SharedLibrary::symbol(const char* name) {
  void* found = dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = name;
  return found;
}

}  // namespace hostir::cuda
