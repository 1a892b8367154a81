// The available backends, and the factory for sessions and replays.
//
// Only this file maps names to backends. All other code tests traits and capabilities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

struct BackendEntry {
  std::string_view name;
  interp::BackendTraits traits;
  std::string (*kernel_set)();  // nullptr: none
  Expected<std::unique_ptr<interp::Backend>> (*make)(const interp::BackendRequest& request);
  bool several_processes = false;  // true: each process of a launcher runs a part of the ranks
};

/// The names of all backends, in display order.
std::vector<std::string> backend_names();
/// The backend with this name, or nullptr.
const BackendEntry* find_backend(std::string_view name);
/// Sets the name and traits of a request.
void name_backend(interp::BackendRequest& request, std::string_view name);

/// Errors of the factory: `no_backend` (lists the available ones), and those of the backend's
/// creation.
interp::BackendFactory make_backend_factory();

/// The CUDA C++ of a program's kernels (interp/cuda/kernel_listing.h); needs neither GPU nor
/// toolkit.
Expected<std::string> list_cuda_kernels(const interp::Code& code);

}  // namespace hostir::api
