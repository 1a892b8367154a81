// From a program and inputs to a run: shared by run, test, debug, replay and the GUI.
//
// `prepare` works in these steps: bind symbolic sizes from the inputs' extents; resize meshes;
// lower the function if it is a fusion, keeping the text of every phase; compile the host function;
// create the input tensors (generators need the final shapes). `run` then takes an immutable
// `Prepared` and starts any number of runs from it. A factory function creates the backends,
// because this layer does not depend on any of them.
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
#include "hostir/ops/unroll_loops.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/host/lower_host.h"
#include "hostir/passes/overlap/overlap.h"
#include "hostir/support/expected.h"
#include "interp/core/backend.h"
#include "interp/core/code/code.h"
#include "interp/core/fault.h"
#include "interp/core/trace_sink.h"
#include "interp/session/prepare/prepare_progress.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::interp {

class Interpreter;

/// Properties of a kind of backend that are needed before one is created. The code that registers
/// the backends fills them in.
struct BackendTraits {
  ClockDomain clock = ClockDomain::kVirtual;
  bool reads_values = true;  // it computes the program's values
  bool models_time = true;   // its times are predictions for the requested machine
  std::string kernel_set;    // the set that computes the values, for the log: "avx512_core"
};

/// This process among the processes of the run. Ranks are distributed evenly, in order.
struct ProcessPlace {
  int index = 0;
  int count = 1;
  int local_index = 0;  // among the processes of this machine
  int local_count = 1;
  std::string meeting_host;  // where process 0, or the launcher, listens
  int meeting_port = 0;
  bool launcher_listens = false;  // true: the launcher listens, not process 0
};

/// The parameters of a backend. `name` is one of the backends that the command offers.
struct BackendRequest {
  std::string name = "sim";
  BackendTraits traits;
  Machine machine;
  uint64_t schedule = 0;  // 0: the default; k > 0: durations scaled by a factor seeded with k
  uint64_t seed = 0;
  std::vector<StartDelay> delays;
  bool reference_kernels = false;
  int64_t max_memory_bytes = 0;         // all ranks together; 0: the capacity of the machine
  int64_t timeout_ns = 60'000'000'000;  // maximum wait without a completion
  // For backends with devices.
  std::vector<int> devices;        // visible to this process and allowed; empty: all visible
  std::string place;               // devices of the ranks, `0,0,1,1`; empty: the default rule
  std::string transport = "auto";  // between devices: auto, nccl, copies
  ProcessPlace process;
  bool stepwise = false;  // finish every instruction before the next starts
  bool graphs = false;    // replay repeated loop bodies as graphs of the device
  /// Measure kernels alone where the device can. This costs the host time.
  bool kernel_times = false;
};
using BackendFactory =
    std::function<Expected<std::unique_ptr<Backend>>(const BackendRequest& request)>;

/// An input for a named parameter: a tensor, or a generator that is given the parameter's shape and
/// dtype.
using InputValue = std::variant<Tensor, ValueSpec>;
struct NamedInput {
  std::string name;  // without '%'
  InputValue value;
};

struct PrepareOptions {
  std::string function;  // without '@'; empty: the main function
  std::vector<std::pair<std::string, int64_t>> mesh_sizes;
  std::optional<int64_t> ranks;                        // resizes the only axis of a one-axis mesh
  std::vector<std::pair<std::string, int64_t>> sizes;  // explicit symbolic sizes
  std::vector<std::string> keep;                       // values of a fusion to keep in buffers
  Overlap overlap = Overlap::kNone;                    // of collectives with kernels, in a fusion
  std::optional<Machine> overlap_machine;  // the one to lower for; unset: as without overlap
  Alternatives alternatives = Alternatives::kOmitted;  // in `Prepared::explanation`
  std::string base_directory;  // for `@x.npy` in generators; empty: the current one
  /// The files that the program's spans point into, so that faults can show the user's text; may be
  /// null. Used only during prepare().
  const SourceManager* sources = nullptr;
  /// What the log of a recorded program has besides the text that ran. Used only during prepare().
  const RecordedTexts* recorded = nullptr;
  PrepareProgress watch;  // is told when each part begins; can cancel
};

/// A program ready to run. Immutable; shared by all runs.
struct Prepared {
  // As given, meshes resized, sizes bound; a fusion that is lowered without loops.
  std::shared_ptr<const Program> source;
  std::shared_ptr<const Program> program;  // the program that runs, with the lowered functions
  std::string function;                    // the requested function
  bool lowered = false;                    // it was a fusion
  bool recorded = false;                   // it is a log's, with the sizes that it ran with
  std::shared_ptr<const Code> code;
  std::shared_ptr<const ProgramView> view;
  ValueNames value_names;                                        // by Origin, if it was lowered
  std::vector<LoopValue> loop_values;                            // of a fusion that has loops
  Explanation explanation;                                       // of shardings and collectives
  std::vector<std::pair<std::string, Tensor>> inputs;            // global, by parameter, in order
  std::vector<std::pair<std::string, std::string>> input_texts;  // generators as expressions
  /// The options it was prepared with, for preparing an edited text the same way; without sources,
  /// recorded texts and watch.
  PrepareOptions options;
};

/// The program with the options' `mesh_sizes` and `ranks` applied to the meshes of a function.
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
  bool watch_values =
      false;  // find the first differing replica and the first NaN, also on a real device
  std::vector<Rank> ranks;                       // ranks that start; empty: all
  bool first_for_all = false;                    // InterpreterOptions::States::kFirst
  uint64_t max_steps = 0;                        // host instructions over all ranks; 0: no limit
  std::function<void(uint64_t steps)> progress;  // called from time to time; may be empty
  /// Called once with the interpreter before the first decision, for sinks that need it.
  std::function<void(Interpreter&)> attach;
  /// Called once after the last decision, before outputs are read, also if the run ended with a
  /// fault.
  std::function<void(const Interpreter&)> ended;
  /// Polled from time to time; returning true ends the run with the error `given_up`. May be empty.
  std::function<bool()> give_up;
  bool keep_parts = false;  // also return every rank's part of every output
};

/// One collective of one group, as listed in the run summary. Those of one kind that a `group`
/// issues on one communicator are one.
struct CollectiveCount {
  std::string kind;
  std::optional<Reduction> reduction;
  std::string over;     // `{tp}` or `groups [[0, 1]]`
  int64_t bytes = 0;    // per rank
  int64_t count = 0;    // per rank
  int64_t tensors = 1;  // in one call
};

struct NamedOutput {
  std::string name;
  Tensor global;  // assembled from boxes, partial values reduced in group order
  Type type;
  std::vector<Extents> local;  // by rank
  std::vector<Box> boxes;      // by rank
  std::vector<Tensor> parts;   // by rank, as stored; only with RunOptions::keep_parts
  std::vector<std::string> notes;
};

struct RunResult {
  std::vector<NamedOutput> outputs;
  std::vector<CollectiveCount> collectives;  // ordered by first use on the lowest rank
  std::vector<int64_t> peak_bytes;           // by rank
  std::vector<Fault> faults;                 // the run completed if none is an error
  uint64_t steps = 0;                        // host instructions, all ranks
  int64_t finished_ns = 0;
  /// The fault that determines how the run ended; null if it completed, possibly with warnings
  /// (leaks).
  const Fault* worst() const;
};

/// Runs to the end. A fault of the program (deadlock, mismatch, race) is part of the result, not an
/// error; an error means that the run could not take place.
Expected<RunResult> run(const Prepared& prepared, const BackendFactory& make_backend,
                        const RunOptions& options);

/// The machine's cost of a host instruction in whole ns; at least 1, because virtual time must
/// advance.
int64_t issue_ns(const Machine& machine);
/// The limit on live bytes of all ranks: the requested limit, or else the capacity of the machine.
int64_t memory_limit_bytes(const BackendRequest& request, Rank ranks);

}  // namespace hostir::interp
