// From a program and inputs to something that runs: shared by run, test, debug, replay and windows.
//
// Steps of `prepare`: bind symbolic sizes from the inputs' extents; resize meshes; lower if the
// function is a fusion, keeping the text of every phase; compile the host function; make the
// inputs' tensors (generators know the shapes only now). `Engine` then holds an immutable
// `Prepared` and makes any number of runs from it. Backends come from a factory function, because
// layers below the command know none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/lower_host.h"
#include "hostir/support/expected.h"
#include "interp/core/backend.h"
#include "interp/core/code.h"
#include "interp/core/fault.h"
#include "interp/core/trace_sink.h"
#include "interp/session/preparing.h"
#include "interp/session/program_view.h"

namespace hostir::interp {

class Interpreter;

/// What is known of a kind of backend before one is made; whoever knows the backends fills it in
/// with the name.
struct BackendTraits {
  ClockDomain clock = ClockDomain::kVirtual;
  bool reads_values = true;  // it computes what the program says
  bool models_time = true;   // its times are predictions for the request's machine
  std::string kernel_set;    // that computes the values, for the log: "avx512_core"
};

/// Which of the run's processes this one is. The ranks are dealt out evenly, in order.
struct ProcessPlace {
  int index = 0;
  int count = 1;
  int local_index = 0;  // among the processes of this computer
  int local_count = 1;
  std::string meeting_host;  // where process 0, or the launcher, listens
  int meeting_port = 0;
  bool launcher_listens = false;  // not process 0
};

/// What a backend is made from. `name` is one of those that the command offers.
struct BackendRequest {
  std::string name = "sim";
  BackendTraits traits;
  Machine machine;
  uint64_t schedule = 0;  // 0: the plain one; k > 0: durations scaled by a seeded factor
  uint64_t seed = 0;
  bool reference_kernels = false;
  int64_t max_memory_bytes = 0;         // all ranks together, 0: as much as the machine has
  int64_t timeout_ns = 60'000'000'000;  // of waiting while nothing completes
  // Backends with devices.
  std::vector<int> devices;  // that this process may use; empty: all it sees
  std::string place;         // ranks on devices, `0,0,1,1`; empty: the rule
  ProcessPlace process;
  bool stepwise = false;  // finish every instruction before the next
};
using BackendFactory =
    std::function<Expected<std::unique_ptr<Backend>>(const BackendRequest& request)>;

/// An input by parameter name: a tensor, or a generator that gets the parameter's shape and dtype.
using InputValue = std::variant<Tensor, ValueSpec>;
struct NamedInput {
  std::string name;  // without '%'
  InputValue value;
};

struct PrepareOptions {
  std::string function;  // without '@'; empty: the main function
  std::vector<std::pair<std::string, int64_t>> mesh_sizes;
  std::optional<int64_t> ranks;                        // resizes the only axis of a one-axis mesh
  std::vector<std::pair<std::string, int64_t>> sizes;  // symbolic sizes given by hand
  std::vector<std::string> keep;  // values of a fusion that must not be fused away
  std::string base_directory;     // for `@x.npy` in generators; empty: the current one
  /// What the program's positions point into, so that faults are shown in the user's text; may be
  /// null. Looked at during prepare() only.
  const SourceManager* sources = nullptr;
  Preparing watch;  // told of each part; may call it off
};

/// A program ready to run, immutable; runs share it.
struct Prepared {
  std::shared_ptr<const Program> source;   // as given, meshes resized and sizes bound
  std::shared_ptr<const Program> program;  // what runs, with the lowered functions
  std::string function;                    // what was asked for
  bool lowered = false;                    // it was a fusion
  std::shared_ptr<const Code> code;
  std::shared_ptr<const ProgramView> view;
  std::vector<Provenance> provenance;                  // of buffers, where it was lowered
  Explanation explanation;                             // why each sharding and collective is there
  std::vector<std::pair<std::string, Tensor>> inputs;  // global, by parameter, in order
  std::vector<std::pair<std::string, std::string>> input_texts;  // generators as expressions
  /// What it was prepared with, for preparing a changed text alike; without sources and watch.
  PrepareOptions options;
};

/// The program with `mesh_sizes` and `ranks` of the options applied to the meshes of a function.
/// Errors: `resize_c1`..`resize_c3`.
Expected<Program> resized_program(const Program& program, const std::string& function,
                                  const PrepareOptions& options);

Expected<std::shared_ptr<const Prepared>> prepare(const Program& program,
                                                  const std::vector<NamedInput>& inputs,
                                                  const PrepareOptions& options);

struct RunOptions {
  BackendRequest backend;
  TraceSink* trace = nullptr;  // not owned; outlives the run
  enum class Summary : uint8_t { kCollectives, kNone } summary = Summary::kCollectives;
  Backend::ValueMode value_mode = Backend::ValueMode::kNone;
  std::vector<Rank> ranks;  // that start; empty: all
  uint64_t max_steps = 0;   // host instructions of all ranks together, 0: no limit
  std::function<void(uint64_t steps)> progress;  // called now and then; may be empty
  /// Called once with the interpreter before the first decision, for sinks that look at it.
  std::function<void(Interpreter&)> attach;
  /// Called once behind the last decision, before outputs are read, also where a fault ended it.
  std::function<void(const Interpreter&)> ended;
  /// Asked now and then; true ends the run with the error `given_up`. May be empty.
  std::function<bool()> give_up;
  bool keep_parts = false;  // every rank's own part of every output
};

/// One collective of one group, as a run's summary lists them.
struct CollectiveCount {
  std::string kind;
  std::optional<Reduction> reduction;
  std::string over;   // `{tp}` or `groups [[0, 1]]`
  int64_t bytes = 0;  // per rank
  int64_t count = 0;  // per rank
};

struct NamedOutput {
  std::string name;
  Tensor global;  // assembled from boxes, partial values reduced in group order
  Type type;
  std::vector<Extents> local;  // by rank
  std::vector<Box> boxes;      // by rank
  std::vector<Tensor> parts;   // by rank, as they lie there: only with RunOptions::keep_parts
  std::vector<std::string> notes;
};

struct RunResult {
  std::vector<NamedOutput> outputs;
  std::vector<CollectiveCount> collectives;  // in order of the first use on the lowest rank
  std::vector<int64_t> peak_bytes;           // by rank
  std::vector<Fault> faults;                 // no error among them: the run completed
  uint64_t steps = 0;                        // host instructions, all ranks
  int64_t finished_ns = 0;
  /// The fault that decides how the run ended; null where it completed, maybe with warnings
  /// (leaks).
  const Fault* worst() const;
};

/// Runs to the end. A fault of the program (deadlock, mismatch, race) is in the result, not an
/// error; errors are what kept the run from happening.
Expected<RunResult> run(const Prepared& prepared, const BackendFactory& make_backend,
                        const RunOptions& options);

/// The machine's cost of a host instruction in whole ns, at least 1 as virtual time must advance.
int64_t issue_ns(const Machine& machine);
/// Live bytes of all ranks that a run may reach: what was asked for, else what the machine has.
int64_t memory_limit_bytes(const BackendRequest& request, Rank ranks);

}  // namespace hostir::interp
