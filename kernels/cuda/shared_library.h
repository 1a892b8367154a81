// A library that is opened when it is needed and stays open until the program ends.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::cuda {

class SharedLibrary {
 public:
  /// Tries the loader's own search, then `lib64` and `lib` under $CUDA_HOME, $CUDA_PATH and
  /// /usr/local/cuda. Errors: `cuda_missing` with all names that were tried.
  static Expected<SharedLibrary> open(const std::vector<std::string>& names);

  /// Sets a function pointer; remembers the name where the library has no such function.
  template <class F>
  void bind(F*& function, const char* name) {
    function = reinterpret_cast<F*>(symbol(name));
  }
  /// Errors: `cuda_missing` naming the first function that was not there.
  Expected<void> check() const;

 private:
  void* symbol(const char* name);

  void* handle_ = nullptr;
  std::string path_;
  std::string missing_;
};

}  // namespace hostir::cuda
