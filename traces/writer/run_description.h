// The data written about a run before its first event: enough to run it again from the log alone.
//
// Plain data. `describe()` fills it from a prepared program; importers and tests fill in what they
// know. Everything except the number of ranks may be empty; empty fields become NULL, never a
// guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/core/ids.h"
#include "interp/model/instruction.h"
#include "interp/session/log/log_records.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::interp {
class Interpreter;
struct Code;
struct BackendRequest;
struct Prepared;
}  // namespace hostir::interp

namespace hostir::traces {

struct InputDescription {
  std::string name;        // parameter, without '%'
  std::string expression;  // a generator (`normal(7)`) or the path of a file; else empty
  enum class Kind : uint8_t { kData, kGenerator, kFile } kind = Kind::kData;
  Tensor tensor;  // global; its bytes are logged unless a generator recreates them
};

/// The launch of a kernel, as executed by one rank.
struct KernelDescription {
  interp::CodeIndex code = 0;
  interp::Rank rank = 0;
  std::string implementation;  // library, grid or tile; may be empty
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  double limit_ns = 0;  // 0: unknown
};

/// A row of `instruction`; its id is its index.
struct InstructionDescription {
  uint64_t content_key = 0;
  std::string address;   // `@f#9`
  std::string mnemonic;  // empty: unknown
  OpClass op_class = OpClass::kHost;
  std::string text;       // one line
  uint32_t line = 0;      // in the program text; 0: unknown
  std::string kernel;     // of a launch, without '@'
  std::string fused_ops;  // of that kernel, in order
  std::string from;       // `@mlp#1, @mlp#2`
  int32_t stream = -1;
  int32_t communicator = -1;
  std::vector<model::StackFrame> frames;  // innermost first
  // Indices into ProgramDescription::tensors: the tensors it writes, with their layouts afterwards,
  // and the first that it reads; -1: unknown.
  std::vector<int64_t> written;
  int64_t read = -1;
};

struct MeshDescription {
  std::string name;
  std::string axes;  // `dp=2, tp=4`
  std::vector<int64_t> device_ids;
  bool world = false;
};

struct TensorDescription {
  uint64_t content_key = 0;
  std::string function;
  std::string name;
  std::string role;  // `parameter`, `buffer`, `view`
  DType dtype = DType::kF32;
  std::optional<std::vector<int64_t>> extents;  // global
  std::optional<std::string> sharding;
  std::vector<Box> boxes;            // by rank; empty: unknown
  std::vector<int64_t> local_bytes;  // by rank
};

/// The constant part of a communication instruction on one rank.
struct CollectiveSite {
  interp::CodeIndex instruction = 0;
  interp::Rank rank = 0;
  std::string kind;  // mnemonic
  std::optional<Reduction> reduction;
  std::optional<DType> dtype;
  std::string root;  // root or peer as in the text
  int64_t send_tensor = -1;
  int64_t recv_tensor = -1;
  int32_t group = 0;
  int64_t members = 0;
  int64_t count_parts = 1;
  double bus_factor = 0;
  int64_t group_instruction = -1;  // of the `group` that it is a member of
};

/// The program as data, independent of the Code it was made from.
struct ProgramDescription {
  std::string entry;  // host function, without '@'
  interp::Rank rank_count = 0;
  std::vector<int64_t> positions;  // by rank, in the world mesh; empty: the identity
  std::vector<MeshDescription> meshes;
  std::vector<std::pair<std::string, int64_t>> sizes;  // ?B -> 8
  std::vector<std::string> streams;
  std::vector<interp::LogCommunicator> communicators;
  std::vector<InstructionDescription> instructions;
  std::vector<TensorDescription> tensors;
  std::vector<CollectiveSite> sites;

  /// Index of the n-th tensor that the instruction writes; -1: unknown.
  int64_t tensor_written(interp::CodeIndex instruction, size_t n) const {
    if (instruction >= instructions.size()) return -1;
    const std::vector<int64_t>& written = instructions[instruction].written;
    return n < written.size() ? written[n] : -1;
  }
  /// Empty for -1.
  std::string_view tensor_name(int64_t tensor) const {
    const auto index = static_cast<size_t>(tensor);
    return tensor >= 0 && index < tensors.size() ? std::string_view(tensors[index].name)
                                                 : std::string_view();
  }
};

struct RunDescription {
  ProgramDescription program;
  std::string command_line;
  std::string backend;
  std::string function;  // the requested one, without '@'
  uint64_t seed = 0;
  uint64_t schedule = 0;
  std::string machine;
  std::string machine_text;
  bool virtual_time = false;
  std::string kernel_set;
  std::string source_name;
  std::string source_text;                // as given by the user, if `given` has no texts
  interp::GivenPlaces given;              // the texts that the user gave, and what is where in them
  std::string program_text;               // the program that ran, canonical; its host function is
                                          // `program.entry`
  std::vector<interp::Rank> local_ranks;  // empty: all
  std::vector<interp::Rank> started_ranks;  // empty: all
  std::vector<interp::PhaseText> phases;
  std::vector<interp::LogExplain> explanations;
  interp::HeldValues held;
  std::vector<InputDescription> inputs;
  std::vector<KernelDescription> kernels;
  std::vector<std::pair<std::string, std::string>> properties;  // "max_steps" -> "1000"
};

/// Describes a program compiled for interpretation; the caller adds lines and texts of
/// instructions.
ProgramDescription describe_program(const interp::Code& code);

/// Describes everything in `prepared` and the backend request; the caller adds the rest (command
/// line, source, explain records, started ranks).
RunDescription describe(const interp::Prepared& prepared, const interp::BackendRequest& backend);

/// The launches of a run as its backend compiled them. `interpreter`: before the run's first
/// decision (RunOptions::attach).
std::vector<KernelDescription> describe_kernels(const interp::Interpreter& interpreter);

}  // namespace hostir::traces
