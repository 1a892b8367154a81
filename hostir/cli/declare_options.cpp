#include "hostir/cli/declare_options.h"

#include "hostir/api/open/backends.h"

namespace hostir::cli {

void declare_program(api::ProgramOptions& options, Arguments& arguments,
                     const std::string& mesh_help) {
  declare_file(options, arguments, mesh_help);
  arguments.option("--ranks", options.ranks, "resize the axis of a mesh that has one",
                   {.least = 1, .most = Mesh::kMaxPositions});
}

void declare_file(api::ProgramOptions& options, Arguments& arguments,
                  const std::string& mesh_help) {
  arguments.positional("file", options.path, "a `.hir` file, or - for standard input");
  arguments.positional("function", options.function,
                       "@f; without it the first fusion or host function", Presence::kOptional);
  arguments.repeated("--mesh", options.mesh, mesh_help);
  arguments.repeated("--size", options.sizes, "bind a symbolic size, e.g. B=8");
  arguments.repeated("--keep", options.keep, "a value of the fusion to keep in a buffer");
  arguments.choice("--overlap", options.overlap, {"none", "collectives", "ring", "auto"},
                   "cut collectives and the kernels beside them into chunks that run at the same "
                   "time; auto: where the predicted time is shorter");
}

void declare_gradient(api::ProgramOptions& options, Arguments& arguments) {
  arguments.flag("--grad", options.grad,
                 "the gradient of the fusion: its results, then d_<parameter> for each of --wrt");
  arguments.repeated("--wrt", options.wrt, "a parameter to differentiate for; all if not given");
}

void declare_inputs(api::ProgramOptions& options, Arguments& arguments) {
  arguments.repeated(
      "--input", options.inputs,
      "x=@x.npy, x=@all.npz#x, x=4xf32=[1 2 3 4], x=normal(1, 4x8xf32), or @all.npz, "
      "@all.safetensors or @all.pt for every input by name");
}

void declare_backend(api::BackendOptions& options, Arguments& arguments) {
  arguments.choice("--backend", options.backend, api::backend_names(),
                   "the backend that executes the tasks");
  arguments.option("--machine", options.machine,
                   "a machine of the file or built in; see `hostir machines`");
  arguments.choice(
      "--host-cost", options.host_cost, {"prepared", "eager", "graph"},
      "sim: how the host issues work: as this program does (the machine's issue_ns), op "
      "by op as a framework (at least 6 us), or as a captured graph (at most 0.3 us)");
  arguments.option("--p2p-buffer", options.p2p_buffer,
                   "sim, null, cuda between ranks of one device: bytes that a connection buffers "
                   "between a send and its recv; 0: every send waits for its recv",
                   {.least = 0, .most = int64_t{1} << 50});
  arguments.choice(
      "--kernels", options.kernels, {"fast", "reference"},
      "fast: oneDNN and fused loops; reference: plain loops, the same bits everywhere");
  arguments.option("--seed", options.seed, "of the schedules");
  arguments.option("--max-memory", options.max_memory_mib,
                   "memory limit in MiB, over all ranks; 0: the machine's memory",
                   {.least = 0, .most = INT64_MAX >> 20});
  arguments.option("--max-steps", options.max_steps,
                   "limit on host instructions, over all ranks; 0: none");
  arguments.option("--devices", options.devices,
                   "cuda: which devices of this computer, as in 0,1; default: all, or the first "
                   "one if there are more ranks than devices");
  arguments.option("--place", options.place,
                   "cuda: the device of every rank, as in 0,0,1,1; default: evenly and in order");
  arguments.choice(
      "--transport", options.transport, {"auto", "nccl", "copies"},
      "cuda, one process with several devices: communicate through NCCL, or by copies "
      "between devices; auto: NCCL, unless ranks share a device with some members of a "
      "communicator and not with others");
  arguments.option("--timeout", options.timeout_s,
                   "cuda: give up after this many seconds (60) without a completion");
  arguments.flag("--stepwise", options.stepwise,
                 "cuda: finish every instruction before starting the next");
  arguments.flag("--graphs", options.graphs,
                 "cuda: capture repeated loop bodies as CUDA graphs and replay them");
  arguments.option("--threads", options.threads, "threads used inside kernels; 0: all cores",
                   {.least = 0, .most = 4096});
}

void declare_loop_passes(std::optional<int64_t>& passes, Arguments& arguments) {
  arguments.option("--loop-passes", passes,
                   "how many passes to unroll of an imported loop whose end depends on data; "
                   "without it, up to 1024 where the condition has a counter, else 128",
                   {.least = 1});
}

void declare_log(api::LogOptions& options, Arguments& arguments) {
  arguments.option("--trace", options.path,
                   "write a log, for `hostir replay`, `diff`, `trace`, `debug` and `gui`");
  arguments.option("--trace-values", options.values,
                   "what to keep of written tensors: none, digest (default), stats, or data=GLOB");
  arguments.option("--trace-inputs-max", options.inputs_max_mib,
                   "limit on the inputs kept in the log, in MiB compressed (64)",
                   {.least = 0, .most = INT64_MAX >> 20});
}

}  // namespace hostir::cli
