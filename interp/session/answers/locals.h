// What is alive on the focus rank, like gdb's `info locals` for the variables of a frame.
#pragma once

#include <string>
#include <vector>

#include "interp/session/session.h"

namespace hostir::interp {

/// A loop variable, or the result of a `read`.
struct LocalInteger {
  std::string name;  // without '%'
  std::string text;
};
/// The integers of the function that the rank is in, without those that have no value yet.
std::vector<LocalInteger> local_integers(Session& session, Rank rank);

/// A short form of a tensor's value on a rank: its elements if they are few, else their range.
/// Errors: those of Session::read.
Expected<std::string> value_in_short(Session& session, const std::string& name, Rank rank);

/// One line per integer of the function that the rank is in, then one per tensor that it holds,
/// with its type and the range of its values.
std::string locals_text(Session& session);

}  // namespace hostir::interp
