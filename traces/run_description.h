// What is written about a run before its first event: enough to run it again from the log alone.
//
// Plain data. `describe()` fills it from a prepared program; imported logs and tests fill in what
// they know: everything but `code` may be empty, and what is empty becomes NULL, never a guess.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/core/code.h"
#include "interp/session/log_records.h"

namespace hostir::interp {
class Interpreter;
struct BackendRequest;
struct Prepared;
}  // namespace hostir::interp

namespace hostir::traces {

struct InputDescription {
  std::string name;        // parameter, without '%'
  std::string expression;  // of a generator (`normal(7)`) or the path of a file; else empty
  enum class Kind : uint8_t { kData, kGenerator, kFile } kind = Kind::kData;
  Tensor tensor;  // global; its bytes go into the log unless a generator makes them
};

/// The launch of a kernel as one rank executes it.
struct KernelDescription {
  interp::CodeIndex code = 0;
  interp::Rank rank = 0;
  std::string implementation;  // library, grid or tile; may be empty
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  double limit_ns = 0;  // 0: unknown
};

struct RunDescription {
  std::shared_ptr<const interp::Code> code;
  std::string command_line;
  std::string backend;
  std::string function;  // that was asked for, without '@'
  uint64_t seed = 0;
  uint64_t schedule = 0;
  std::string machine;
  std::string machine_text;
  bool virtual_time = false;
  std::string kernel_set;
  std::string source_name;
  std::string source_text;      // as it was given
  std::string program_text;     // what ran, canonical; its host function is `code->entry`
  std::vector<uint32_t> lines;  // by CodeIndex, in program_text; 0: none
  std::vector<std::string> instruction_texts;  // by CodeIndex; one line each
  std::vector<interp::Rank> local_ranks;       // empty: all
  std::vector<interp::Rank> started_ranks;     // empty: all
  std::vector<interp::LogPhase> phases;
  std::vector<interp::LogExplain> explanations;
  std::vector<InputDescription> inputs;
  std::vector<KernelDescription> kernels;
  std::vector<std::pair<std::string, std::string>> properties;  // "max_steps" -> "1000"
};

/// Everything that `prepared` and the backend request say; the rest (command line, source, explain
/// records, started ranks) is the caller's to add.
RunDescription describe(const interp::Prepared& prepared, const interp::BackendRequest& backend);

/// The launches of a run as its backend compiled them. `interpreter` is a run's before its first
/// decision (RunOptions::attach).
std::vector<KernelDescription> describe_kernels(const interp::Interpreter& interpreter);

}  // namespace hostir::traces
