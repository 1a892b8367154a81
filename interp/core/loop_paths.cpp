#include "interp/core/loop_paths.h"

#include "interp/core/code/code.h"

namespace hostir::interp {

LoopPathId LoopPathTable::enter(LoopPathId parent, CodeIndex loop, int64_t iteration) {
  for (LoopPathId id = entries_[parent].first_child; id != 0; id = entries_[id].next_sibling) {
    if (entries_[id].loop == loop && entries_[id].iteration == iteration) return id;
  }
  const auto id = static_cast<LoopPathId>(entries_.size());
  entries_.push_back({parent, loop, iteration, 0, 0, entries_[parent].first_child});
  entries_[parent].first_child = id;
  return id;
}

LoopPathId LoopPathTable::add_next(LoopPathId path) {
  const auto id = static_cast<LoopPathId>(entries_.size());
  const Entry& from = entries_[path];
  entries_.push_back({from.parent, from.loop, from.iteration + 1, 0, 0, 0});
  entries_[path].next = id;
  return id;
}

std::string LoopPathTable::to_string(const Code& code, LoopPathId id) const {
  if (id == 0) return "";
  const Entry& e = entries_[id];
  std::string out = to_string(code, e.parent);
  if (!out.empty()) out += ", ";
  return out + code.register_name(code.instructions[e.loop].index_register) + "=" +
         std::to_string(e.iteration);
}

}  // namespace hostir::interp
