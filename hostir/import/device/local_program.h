// The program of one device as steps: kernels and collectives on local tensors, in issue order.
//
// Manual computations and scheduled HLO modules are converted to this form. `write_host` builds the
// host function from it, with buffers, streams, communicators, waits between streams, and frees
// after the last use. Every value has the same local shape on all ranks.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir::importer {

using LocalValue = uint32_t;

struct LocalStep {
  enum class Kind : uint8_t {
    kLaunch,      // runs `kernel` on inputs, into outputs
    kCollective,  // runs `op` over `groups`
    kWait,        // the compute stream waits for the collective that wrote the input
    kDevice,      // the output is the device number of this rank
    kLoop,        // runs `body` as long as the last carried value, an i1, holds
  };
  Kind kind = Kind::kLaunch;
  std::string kernel;
  OpKind op = OpKind::all_reduce;
  Attributes attributes;
  std::vector<std::vector<int64_t>> groups;
  std::vector<LocalValue> inputs;
  std::vector<LocalValue> outputs;
  // kLoop: outputs[i] is a carried value that starts as inputs[i]; body_results[i] is its next
  // value.
  std::vector<LocalStep> body;
  std::vector<LocalValue> body_results;
  SourceSpan place;  // in the module
};

struct LocalPort {
  std::string name;
  LocalValue value = 0;
  ShardType type;
};

struct LocalProgram {
  struct Value {
    std::string name;
    TensorType type;  // local
  };
  std::vector<Value> values;
  std::vector<LocalPort> params;
  std::vector<LocalPort> results;
  std::vector<LocalStep> steps;

  LocalValue add(std::string name, TensorType type);
};

/// The axes, by position and ascending, whose groups are exactly these; nullopt if whole axes do
/// not form them. Empty if every group has one rank.
std::optional<std::vector<size_t>> axes_of_groups(const Mesh& mesh,
                                                  std::vector<std::vector<int64_t>> groups);

/// Appends the host function `name` on `world` to the program, which must have the kernels that the
/// steps use. Errors: `import_c8` if a host function cannot express a step.
Expected<void> write_host(const LocalProgram& local, const std::string& name, const Mesh& world,
                          Program& program);

}  // namespace hostir::importer
