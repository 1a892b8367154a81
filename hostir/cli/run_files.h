// What `run` writes (--output) and what it compares with (--expect): looked at before the run, so
// that a wrong name or a folder that is not there does not cost one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/cli/terminal.h"
#include "hostir/ir/script.h"
#include "interp/session/engine.h"

namespace hostir::cli {

/// `y=@y.npy`, or `@all.npz` for all outputs.
class OutputFiles {
 public:
  /// Errors: kUsage where the text is none of these or the program has no such output; `file_open`
  /// where the file cannot be written.
  static Expected<OutputFiles> parse(const std::vector<std::string>& texts,
                                     const interp::Prepared& prepared);
  Expected<void> write(const interp::RunResult& result) const;

 private:
  struct File {
    std::string path;
    std::optional<size_t> output;  // none: all, as .npz
  };
  std::vector<File> files_;
};

/// `y=@y.npy`, `y=4xf32=[1 2 3 4]`, `y=full(1)`.
class ExpectedOutputs {
 public:
  /// Errors: as above; those of reading the values.
  static Expected<ExpectedOutputs> parse(const std::vector<std::string>& texts,
                                         const interp::Prepared& prepared);
  enum class Report : uint8_t { kAll, kDifferences };
  /// Prints what differs; true: nothing does.
  Expected<bool> check(Terminal& terminal, const interp::RunResult& result,
                       const Tolerance& tolerance, Report report) const;

 private:
  struct Item {
    size_t output = 0;
    ValueSpec spec;
    std::optional<Tensor> value;  // none: a generator, made in the shape of the output
  };
  std::vector<Item> items_;
};

}  // namespace hostir::cli
