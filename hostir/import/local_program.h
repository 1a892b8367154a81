// What one device does, as steps: kernels and collectives on local tensors, in the order of issue.
//
// A manual computation of a module and a scheduled HLO module both become one of these;
// `write_host` makes the host function from it: buffers, streams, communicators, waits between
// streams, frees after the last use. Every value has the same local shape on all ranks.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir::importer {

using LocalValue = uint32_t;

struct LocalStep {
  enum class Kind : uint8_t {
    kLaunch,      // `kernel` on inputs, into outputs
    kCollective,  // `op` over `groups`
    kWait,        // computing goes on when the collective that wrote the input has completed
    kDevice,      // the output is this rank's number
    kLoop,        // `body` a known number of times
  };
  Kind kind = Kind::kLaunch;
  std::string kernel;
  OpKind op = OpKind::all_reduce;
  Attributes attributes;
  std::vector<std::vector<int64_t>> groups;
  std::vector<LocalValue> inputs;
  std::vector<LocalValue> outputs;
  // kLoop: outputs[i] begins as inputs[i] and is carried; body_arguments[i] is it in the body, and
  // body_results[i] its next value. `index` counts passes from `first` on.
  int64_t first = 0;
  int64_t passes = 0;
  std::vector<LocalStep> body;
  std::vector<LocalValue> body_arguments;
  std::vector<LocalValue> body_results;
  std::string label;  // where it stands in the module's source
};

struct LocalPort {
  std::string name;
  LocalValue value = 0;
  ShardType type;
  std::optional<size_t> alias;  // of a result: the parameter that it updates
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

/// Appends the host function `name` on `world` to the program; the kernels that steps name must be
/// there. Errors: `import_c8` for what host functions cannot say.
Expected<void> write_host(const LocalProgram& local, const std::string& name, const Mesh& world,
                          Program& program);

}  // namespace hostir::importer
