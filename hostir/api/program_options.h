// What to run and how: which program, on which mesh, with which inputs, on which backend.
//
// Texts as a person types them; the command line declares its options on these structs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/api/program_file.h"
#include "interp/session/engine.h"

namespace hostir::api {

struct ProgramOptions {
  std::string path;
  std::string function;  // `@f` or empty
  std::vector<std::string> mesh;
  std::optional<int64_t> ranks;
  std::vector<std::string> sizes;
  std::vector<std::string> inputs;
  std::vector<interp::NamedInput> tensors;  // inputs that are there already, beside the texts
  std::vector<std::string> keep;
  bool grad = false;             // take the gradient of the fusion instead
  std::vector<std::string> wrt;  // its parameters to differentiate for; empty: all

  /// With --grad: adds the gradient of the chosen fusion to the file, as `@f.grad`, and chooses
  /// that. Once, right after loading.
  Expected<void> differentiate(LoadedFile& file);
  /// Options for interp::prepare. Errors: kUsage.
  Expected<interp::PrepareOptions> prepare_options() const;
  /// `x=@x.npy`, `x=4xf32=[..]`, `x=normal(1)`, `@all.npz` (each member by name). Errors: kUsage,
  /// io.
  Expected<std::vector<interp::NamedInput>> named_inputs() const;
  /// Chooses and prepares. `file` must outlive the result's diagnostics. With `notice` inputs that
  /// are missing are made up (example_inputs.h) and it is told which.
  Expected<std::shared_ptr<const interp::Prepared>> prepare(
      const LoadedFile& file, std::string* notice = nullptr,
      const interp::Preparing& watch = {}) const;
};

/// How it runs: backend, machine, schedule, limits.
struct BackendOptions {
  std::string backend = "sim";
  std::string machine;
  std::string kernels = "fast";
  int64_t seed = 0;
  int64_t max_memory_mib = 0;
  int64_t max_steps = 0;
  int64_t threads = 0;
  std::string devices;
  std::string place;
  std::optional<double> timeout_s;
  bool stepwise = false;

  /// Errors: kUsage (unknown machine). The machine may be declared in the program.
  Expected<interp::BackendRequest> request(const Program& program) const;
};

/// The number that a name of an input or output is, if it is one: its position.
std::optional<size_t> position_of(const std::string& name);

/// The value of a `NAME=VALUE`: a file, an inline value, a generator. Errors: kUsage, with the
/// option, the name and the forms that there are.
Expected<ValueSpec> parse_bound_value(const std::pair<std::string, std::string>& binding,
                                      const std::string& option);

/// Errors: kUsage where `--size` names a size that the function does not have.
Expected<void> check_sizes(const Function& function,
                           const std::vector<std::pair<std::string, int64_t>>& sizes);

/// `NAME=REST` split at the first '='. Errors: kUsage, naming the option.
Expected<std::pair<std::string, std::string>> split_binding(const std::string& text,
                                                            const std::string& option);

}  // namespace hostir::api
