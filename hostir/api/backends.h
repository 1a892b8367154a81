// The backends that this command has, behind the factory that sessions and replays are given.
//
// The only place where a name means a backend: everybody else asks traits and capabilities.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/session/engine.h"

namespace hostir::api {

struct BackendEntry {
  std::string_view name;
  interp::BackendTraits traits;
  std::string (*kernel_set)();  // nullptr: none
  Expected<std::unique_ptr<interp::Backend>> (*make)(const interp::BackendRequest& request);
};

/// In the order in which they are offered.
std::vector<std::string> backend_names();
/// nullptr: none is called so.
const BackendEntry* find_backend(std::string_view name);
/// Sets name and traits.
void name_backend(interp::BackendRequest& request, std::string_view name);

/// Errors: `no_backend` names what this command has; those of making it.
interp::BackendFactory make_backend_factory();

/// The CUDA C++ of a program's kernels (interp/cuda/kernel_listing.h); needs neither GPU nor
/// toolkit.
Expected<std::string> list_cuda_kernels(const interp::Code& code);

}  // namespace hostir::api
