// Edit proposals for a stop. Each kind of mistake has its own file. Proposals are not judged here:
// all of them are tried.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "interp/session/what_if/what_if.h"
#include "interp/session/what_if/what_if_stop.h"

namespace hostir::interp::what_if_parts {

/// How many enclosing regions of a call are considered.
inline constexpr int kMostLevels = 3;

/// Collects proposals, without duplicates and without the unchanged text.
class Proposals {
 public:
  Proposals(const EditableProgram& edited, const StopPicture& picture)
      : program(edited), stop(picture) {}

  const EditableProgram& program;
  const StopPicture& stop;

  LineEdit begin() const { return LineEdit(program.lines()); }
  /// `penalty`: extra lines of weight for edits that remove communication.
  void add(std::string sentence, const LineEdit& edit, size_t penalty = 0);
  std::vector<WhatIfEdit> take() { return std::move(edits_); }

 private:
  static constexpr size_t kMost = 600;
  static constexpr size_t kMostBytes = size_t{64} << 20;
  std::vector<WhatIfEdit> edits_;
  std::set<std::string> seen_;
};

/// Reorders two calls, groups them, or makes their order depend on the rank.
void propose_orders(Proposals& out);
/// Adds a call on ranks that miss it, or removes it on ranks that make it; adds the other half of a
/// send or recv.
void propose_missing(Proposals& out);
/// Changes a word of a call to match the others, or a rank-dependent number to match the majority.
void propose_fields(Proposals& out);
/// Removes or moves a wait; moves a call to another stream.
void propose_waits(Proposals& out);

/// Lets the second access of a race wait for the first, or moves it to the other stream.
void propose_races(Proposals& out);

/// `rank == 2`, `rank >= 4 && rank <= 7`: a condition that is true for exactly these ranks; empty
/// if it would need more than a few words.
std::string condition_of(const std::vector<Rank>& ranks, Rank rank_count);

}  // namespace hostir::interp::what_if_parts
