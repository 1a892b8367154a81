// Proposals of edits for a stop. Each kind of mistake has a file of its own; none knows whether its
// proposals help: they are all tried.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "interp/session/what_if.h"
#include "interp/session/what_if_stop.h"

namespace hostir::interp::what_if_parts {

/// Regions around a call that are gone out of.
inline constexpr int kMostLevels = 3;

/// Collects proposals; the same text is proposed once, the text itself never.
class Proposals {
 public:
  Proposals(const EditableProgram& edited, const StopPicture& picture)
      : program(edited), stop(picture) {}

  const EditableProgram& program;
  const StopPicture& stop;

  LineEdit begin() const { return LineEdit(program.lines()); }
  /// `penalty`: lines that it counts more than it is, for what takes communication away.
  void add(std::string sentence, const LineEdit& edit, size_t penalty = 0);
  std::vector<WhatIfEdit> take() { return std::move(edits_); }

 private:
  static constexpr size_t kMost = 600;
  static constexpr size_t kMostBytes = size_t{64} << 20;
  std::vector<WhatIfEdit> edits_;
  std::set<std::string> seen_;
};

/// Another order of two calls, one group around them, an order that depends on the rank.
void propose_orders(Proposals& out);
/// A call for those who miss it, or none for those who make it; the other half of a send or recv.
void propose_missing(Proposals& out);
/// A word of a call as others have it; a number that depends on the rank as most have it.
void propose_fields(Proposals& out);
/// A wait less, or later; another stream for a call.
void propose_waits(Proposals& out);

/// `rank == 2`, `rank >= 4 && rank <= 7`: a condition that holds for these ranks; empty where that
/// takes more than a few words.
std::string condition_of(const std::vector<Rank>& ranks, Rank rank_count);

}  // namespace hostir::interp::what_if_parts
