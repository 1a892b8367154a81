#include "kernels/cuda/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

namespace hostir::cuda {

Expected<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  std::vector<std::string> folders = {""};
  const auto add_toolkit = [&](const std::string& home) {
    for (const char* folder : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"})
      folders.push_back(home + folder);
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      add_toolkit(home);
  }
  add_toolkit("/usr/local/cuda");
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
  return fail(ErrorKind::kRuntime, "cuda_missing",
              fmt::format("{} cannot be opened ({}); install it, or name its folder in "
                          "LD_LIBRARY_PATH",
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
