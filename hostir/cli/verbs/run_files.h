// The files that `run` writes (--output) and compares with (--expect). They are checked before the
// run, so that a wrong name or a missing folder does not waste a run.
//
// A complex output of an imported module is a pair of outputs; `complex_results` has the places of
// the real parts. It has one file and one expected value, under the name without `_re` or the
// module's position.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/cli/terminal.h"
#include "hostir/ir/script.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::cli {

/// Outputs to write: `y=@y.npy`, or `@all.npz` or `@all.safetensors` for all outputs.
class OutputFiles {
 public:
  /// Errors: kUsage if the text has another form or the program has no such output; `file_open` if
  /// the file cannot be written.
  static Expected<OutputFiles> parse(const std::vector<std::string>& texts,
                                     const interp::Prepared& prepared,
                                     const std::vector<size_t>& complex_results);
  Expected<void> write(const interp::RunResult& result) const;

 private:
  struct File {
    std::string path;
    std::optional<size_t> output;  // none: all, in one file
    bool is_pair = false;          // the real part of a complex output; the next is the imaginary
  };
  std::vector<File> files_;
};

/// Outputs to compare with: `y=@y.npy`, `y=4xf32=[1 2 3 4]`, `y=full(1)`, or `@all.npz` or
/// `@all.safetensors` for every output that the file names.
class ExpectedOutputs {
 public:
  /// Errors: kUsage as for OutputFiles; those of reading the values.
  static Expected<ExpectedOutputs> parse(const std::vector<std::string>& texts,
                                         const interp::Prepared& prepared,
                                         const std::vector<size_t>& complex_results);
  /// The shape of the value given for output number `index` of the module; nullopt if that output
  /// has no value of its own, or if the value cannot be read (`parse` reports that).
  static std::optional<std::vector<int64_t>> shape(const std::vector<std::string>& texts,
                                                   size_t index);
  enum class Report : uint8_t { kAll, kDifferences };
  /// Prints the differences. True if there are none.
  Expected<bool> check(Terminal& terminal, const interp::RunResult& result,
                       const Tolerance& tolerance, Report report) const;

 private:
  struct Item {
    size_t output = 0;
    ValueSpec spec;
    std::optional<Tensor> value;  // nullopt: a generator, which takes the shape of the output
  };
  std::vector<Item> items_;
};

}  // namespace hostir::cli
