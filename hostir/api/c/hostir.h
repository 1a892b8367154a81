// The C interface of the Host-IR Workbench: open a program or a log, run it, step it, query it.
//
// A session takes commands as text, those of `hostir debug`, and answers with JSON; tensors come
// and go as DLPack. Everything here is C11 and stays compatible while HOSTIR_ABI_VERSION is the
// same: functions and JSON members may be added, but none is changed or removed.
//
// Status and answer. Functions that can fail return a status. If `answer` is not NULL, they set it
// to a JSON text: the answer, or if the status is not HOSTIR_OK {"error": {"status", "id",
// "message", "text", "diagnostics"}}, where `text` is what a terminal would print. The caller owns
// the text and frees it with hostir_free(). Pass NULL if it is not needed.
//
// Threads. Different sessions may be used from different threads at the same time; one session from
// one thread at a time, except for hostir_interrupt(). No function installs a signal handler, or
// calls back anything but the kernels of hostir_give_kernel().
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HOSTIR_ABI_VERSION 1

#define HOSTIR_API __attribute__((visibility("default")))

// DLPack 1.0 (https://dmlc.github.io/dlpack): to use DLPack's own header, include it before this.
#ifndef DLPACK_MAJOR_VERSION
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

typedef struct {
  uint32_t major;
  uint32_t minor;
} DLPackVersion;

enum { kDLCPU = 1, kDLCUDAHost = 3 };
typedef struct {
  int32_t device_type;  // kDLCPU
  int32_t device_id;
} DLDevice;

enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,  // from DLPack 1.1 on
  kDLFloat8_e5m2 = 12
};
typedef struct {
  uint8_t code;  // kDLInt, ...
  uint8_t bits;  // of one element
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;    // ndim numbers
  int64_t* strides;  // in elements; NULL: row-major without gaps
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The exit statuses of the command.
typedef enum {
  HOSTIR_OK = 0,
  HOSTIR_DIFFERS = 1,  // an expectation failed, or a comparison found differences
  HOSTIR_INVALID = 2,  // a program that does not parse or verify
  HOSTIR_RUNTIME = 3,  // a file, a shape, memory, a value that cannot be read
  HOSTIR_STUCK = 4,    // deadlock, or mismatched collectives
  HOSTIR_USAGE = 64    // a wrong argument, option or command
} hostir_status;

// An open program or log.
typedef struct hostir_session hostir_session;

// An input tensor by the name of its parameter, without '%'. Contents in host memory, any strides.
typedef struct {
  const char* name;
  const DLTensor* tensor;
} hostir_input;

// HOSTIR_ABI_VERSION of the library that is loaded; callers compare it with that of their header.
HOSTIR_API int32_t hostir_abi_version(void);

// The version of the program, as in "0.1.0". The library owns the text.
HOSTIR_API const char* hostir_version(void);

// Opens a program (.hir, StableHLO, HLO), a log, or a folder with the logs of one run's processes.
// A session begins at the program's first instruction, also for a log whose program can run again.
// Any other log is shown at its end and can only be inspected.
//
// options: NULL, or a JSON object with some of: "text" (the program's text instead of the file's),
//   "function", "mesh" {"tp": 4}, "ranks", "sizes" {"B": 8}, "inputs" {"x": "normal(1)",
//   "w": "@w.npy"}, "example_inputs" (true: make up missing inputs), "keep", "grad", "wrt",
//   "breakpoints", "log" (a path: keep the log), "log_values", "backend", "machine",
//   "host_cost", "kernels", "graphs", "seed", "max_memory_mib", "threads", "devices", "place",
//   "transport", "timeout_s", "stepwise".
// inputs: input_count tensors, copied before the function returns; they stay the caller's.
// session: set to the session, which the caller owns and ends with hostir_close(); NULL on failure.
// answer: {"function", "ranks", "mesh", "phases", "outputs" (by result, the value that is returned
//   for it), "position", "can_run", "why_not", "notice", "warning"}.
HOSTIR_API hostir_status hostir_open(const char* path, const char* options,
                                     const hostir_input* inputs, size_t input_count,
                                     hostir_session** session, char** answer);

// Carries out one command of `hostir debug`: "continue", "step 3", "reverse-step", "goto 0",
// "break all_reduce if rank == 1", "info ranks", "print %y global", "whatif", "help", ...
// A fault or a deadlock of the program is not an error: the answer says that it is why the run
// stopped.
//
// answer: {"text" (as the terminal prints it), "ran", "position" {"decision", "branch", "last",
//   "now_ns", "focus"}, "stop" {"kind", "sentence", "rank", "breakpoint", "value", "element",
//   "written_by"} or null, "moved" [{"rank", "steps"}], "logged" [{"rank", "at", "text"}],
//   "logged_dropped", "quit", "data"}. `data` holds what info, print, inside, backtrace, list and
//   whatif show; null for other commands. hostir/api/README.md lists it.
HOSTIR_API hostir_status hostir_command(hostir_session* session, const char* command,
                                        char** answer);

// Any read-only SQL on the session's log, whose tables `hostir trace schema` prints. What ran is in
// the log when the command that ran it returns.
//
// answer: {"columns": [...], "rows": [{column: cell}, ...]}, at most 100000 rows; blobs are
//   hexadecimal.
HOSTIR_API hostir_status hostir_query(hostir_session* session, const char* sql, char** answer);

// Reads one tensor: `value` is the argument of `print`: "%y" (of the focus rank), "%y rank 1",
// "%y global" (assembled from all ranks, partial values reduced), "%y[0:2, :] rank 1".
//
// tensor: set to a row-major copy in host memory, which the caller owns and ends with
//   tensor->deleter(tensor), from any thread, also after hostir_close(); NULL on failure.
// answer: {"value", "rank", "dtype", "shape", "type", "pytorch", "global_shape", "box", "version",
//   "written", "write_in_flight", "notes"}.
HOSTIR_API hostir_status hostir_tensor(hostir_session* session, const char* value,
                                       DLManagedTensorVersioned** tensor, char** answer);

// Stops the command that another thread is running on the session, soon and between two
// instructions; its answer says "interrupted". Stops a query too, which then fails. Does nothing if
// neither is running.
HOSTIR_API void hostir_interrupt(hostir_session* session);

// Closes a session and completes its log, if that is kept. NULL is allowed.
HOSTIR_API void hostir_close(hostir_session* session);

// Lowers a fusion to host IR without running it. path and options: as of hostir_open(); needs no
// inputs, but a number for every size.
//
// answer: {"function", "phases" [{"name", "text"}] after every pass, "text" (the last one),
//   "explanation" [{"value", "what", "sentence", "from", "pass"}]}.
HOSTIR_API hostir_status hostir_lower(const char* path, const char* options, char** answer);

// Converts StableHLO or HLO to our text. options: NULL, or {"text"}.
//
// answer: {"text", "notes"}.
HOSTIR_API hostir_status hostir_import(const char* path, const char* options, char** answer);

// Diagnoses a hanging job from other tools' dumps (PyTorch Flight Recorder, clog, NCCL Inspector,
// RAS, NCCL_DEBUG): path_count files or folders. The status is HOSTIR_OK also if the verdict names
// a culprit.
//
// answer: as `hostir open --json` prints it: {"fault", "kind", "sentence", "culprits", ...}.
HOSTIR_API hostir_status hostir_diagnose(const char* const* paths, size_t path_count,
                                         char** answer);

// Computes one result of an operation that is otherwise known only by its name and types
// (`opaque`). It is called while a command or hostir_open() runs, by any thread and by several at
// once, once for each result on each rank, and again where a session goes back: it must depend on
// nothing but its operands. It cannot fail. Tensors are row-major, in host memory, of the shape of
// the rank's part, and valid during the call. `result` counts from 0.
typedef void (*hostir_kernel)(void* context, int32_t result, const DLTensor* operands,
                              size_t operand_count, const DLTensor* out);

// Gives a kernel to the operation with this name, as in the notes of hostir_import() and in `name`
// of an `opaque`. It is used in all sessions on the simulator until the process ends, and replaces
// a kernel given before.
//
// on_parts: not 0 if a part of the result needs only the same part of each operand that has the
//   result's shape. The import assumes so, to predict communication; a kernel without the flag is
//   refused where that assumption has cut its operands.
// answer: {}.
HOSTIR_API hostir_status hostir_give_kernel(const char* operation, hostir_kernel kernel,
                                            void* context, int32_t on_parts, char** answer);

// Frees an answer. NULL is allowed.
HOSTIR_API void hostir_free(char* answer);

#ifdef __cplusplus
}
#endif
