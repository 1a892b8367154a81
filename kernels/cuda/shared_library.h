// A library that is loaded on first use and stays loaded until the program ends.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::cuda {

class SharedLibrary {
 public:
  /// The first of the names that opens. Each is tried in the loader's search path, then in `lib64`,
  /// `lib` and CUPTI's folder under $CUDA_HOME, $CUDA_PATH and /usr/local/cuda.
  /// Errors: `cuda_missing`, with the first name and the loader's reason.
  static Expected<SharedLibrary> open(const std::vector<std::string>& names);

  /// Sets a function pointer; remembers the name if the library does not have the function.
  template <class F>
  void bind(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
  }
  /// Errors: `cuda_missing`, naming the first missing function.
  Expected<void> check() const;

 private:
  void* symbol(const char* name);

  void* handle_ = nullptr;
  std::string path_;
  std::string missing_;
};

}  // namespace hostir::cuda
