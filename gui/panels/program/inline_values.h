// The value last written by an instruction, as short text beside its line: `%y = 0.12 .. 3.4`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gui/tree/panel.h"

namespace hostir::gui {

class InlineValues {
 public:
  /// Describes the contents, on the focus rank, of the buffer that this instruction last wrote.
  /// Empty if it wrote none, or if another instruction has written the buffer since. Large tensors
  /// show only their shape.
  std::string text(Frame& frame, interp::CodeIndex code);
  int64_t summaries() const { return summaries_; }  // number of summaries made: one per reading

 private:
  struct Summary {
    uint64_t of = 0;  // serial of the reading
    std::string text;
  };
  void index(const Frame& frame);

  uint64_t generation_ = ~uint64_t{0};
  std::map<std::string, const interp::AllocationSnapshot*> by_writer_;  // address -> allocation
  std::map<interp::CodeIndex, Summary> known_;
  int64_t summaries_ = 0;
};

}  // namespace hostir::gui
