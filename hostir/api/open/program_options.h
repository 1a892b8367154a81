// The options of a run: the program, its mesh, its inputs and the backend.
//
// The members have the text form of the command line, which declares its options on these structs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/api/open/program_file.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

/// What a run of a function is prepared from.
struct RunArguments {
  const Program* program = nullptr;  // of the file
  std::vector<interp::NamedInput> inputs;
  interp::PrepareOptions options;
};

/// Whether inputs have data, or only shapes (for backends that read no values).
enum class InputData : uint8_t { kValues, kShapes };

struct ProgramOptions {
  std::string path;
  std::string function;  // `@f` or empty
  std::vector<std::string> mesh;
  std::optional<int64_t> ranks;
  std::vector<std::string> sizes;
  std::vector<std::string> inputs;
  std::vector<interp::NamedInput> tensors;  // inputs given as tensors, in addition to `inputs`
  std::vector<std::string> keep;
  std::string overlap = "none";  // collectives with kernels: none, collectives, ring or auto
  Alternatives alternatives = Alternatives::kOmitted;  // in explanations
  std::string machine;           // `overlap` decides for it; empty: the file's, or the default
  bool grad = false;             // use the gradient of the fusion instead
  std::vector<std::string> wrt;  // parameters to differentiate for; empty: all
  InputData input_data = InputData::kValues;

  /// With --grad, adds the gradient of the chosen fusion to the file as `@f.grad` and chooses that.
  /// Call once, right after loading.
  Expected<void> differentiate(LoadedFile& file);
  /// Options for interp::prepare. Errors: kUsage.
  Expected<interp::PrepareOptions> prepare_options() const;
  /// Parses `x=@x.npy`, `x=4xf32=[..]`, `x=normal(1)`, `@all.npz`, `@all.safetensors` or `@all.pt`
  /// (all members, by name). Errors: kUsage; those of reading files.
  Expected<std::vector<interp::NamedInput>> named_inputs() const;
  /// Integers of one element among the inputs, for loops that they bound. Reads the inputs when the
  /// import first asks; refers to this object.
  importer::ArgumentValues argument_values() const;
  /// Chooses the function and finds its inputs. If `notice` is not null, adds missing inputs
  /// (example_inputs.h) and describes them in `*notice`.
  Expected<RunArguments> arguments(const LoadedFile& file, std::string* notice = nullptr) const;
  /// Chooses the function and prepares it. `file` must outlive the result's diagnostics. If
  /// `notice` is not null, adds missing inputs (example_inputs.h) and describes them in `*notice`.
  Expected<std::shared_ptr<const interp::Prepared>> prepare(
      const LoadedFile& file, std::string* notice = nullptr,
      const interp::PrepareProgress& watch = {}) const;
};

/// Options on how to run: backend, machine, schedule, limits.
struct BackendOptions {
  std::string backend = "sim";
  std::string machine;
  std::string host_cost = "prepared";  // or eager, graph: which of the machine's costs applies
  std::optional<int64_t> p2p_buffer;   // bytes, instead of the machine's
  std::string kernels = "fast";
  int64_t seed = 0;
  int64_t max_memory_mib = 0;
  int64_t max_steps = 0;
  int64_t threads = 0;
  std::string devices;
  std::string place;
  std::string transport = "auto";
  std::optional<double> timeout_s;
  bool stepwise = false;
  bool graphs = false;

  /// Which input data the backend needs.
  InputData input_data() const;
  /// The machine may be declared in the program. Errors: kUsage (unknown machine).
  Expected<interp::BackendRequest> request(const Program& program) const;
};

/// Prepares a run whose inputs have no data. Generators stay in the description of the inputs.
Expected<std::shared_ptr<const interp::Prepared>> prepare_shapes(
    const Program& program, std::vector<interp::NamedInput> inputs,
    const interp::PrepareOptions& options);

/// The position given by a name that is a number, as in `0=@x.npy`; nullopt for other names.
std::optional<size_t> position_of(const std::string& name);

/// Parses the value of `NAME=VALUE`: a file, an inline value or a generator. Errors: kUsage, with
/// the option, the name and the valid forms.
Expected<ValueSpec> parse_bound_value(const std::pair<std::string, std::string>& binding,
                                      const std::string& option);

/// Errors: kUsage if `--size` names a size that the function does not have.
Expected<void> check_sizes(const Function& function,
                           const std::vector<std::pair<std::string, int64_t>>& sizes);

/// Splits `NAME=REST` at the first '='. Errors: kUsage, with the option.
Expected<std::pair<std::string, std::string>> split_binding(const std::string& text,
                                                            const std::string& option);

}  // namespace hostir::api
