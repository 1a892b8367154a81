// The loop iterations in which an instruction was executed: interned paths of (loop, iteration).
//
// Ids never change, so that logs and saved states can store them; path 0 is "in no loop". Advancing
// to the next iteration follows a link and allocates only the first time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct Code;

class LoopPathTable {
 public:
  struct Entry {
    LoopPathId parent = 0;
    CodeIndex loop = 0;
    int64_t iteration = 0;
    LoopPathId next = 0;         // the same loop's next iteration; 0: not created yet
    LoopPathId first_child = 0;  // first paths of inner loops, linked by next_sibling
    LoopPathId next_sibling = 0;
  };

  LoopPathTable() : entries_(1) {}

  /// The path of a loop's first iteration, under `parent`.
  LoopPathId enter(LoopPathId parent, CodeIndex loop, int64_t iteration);
  /// The path of the following iteration.
  LoopPathId next(LoopPathId path) {
    const LoopPathId known = entries_[path].next;
    return known != 0 ? known : add_next(path);
  }

  const Entry& entry(LoopPathId id) const { return entries_[id]; }
  size_t size() const { return entries_.size(); }
  /// `%i=3, %j=0`, outermost first; empty for path 0.
  std::string to_string(const Code& code, LoopPathId id) const;

 private:
  LoopPathId add_next(LoopPathId path);
  std::vector<Entry> entries_;
};

}  // namespace hostir::interp
