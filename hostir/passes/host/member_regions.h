// Restricts the instructions on a mesh of some ranks of a host function to those ranks.
//
//   1. A launch or collective that not all ranks of the function run (members.h) goes into a region
//      `where in @mesh { }`, together with what follows it on the same ranks.
//   2. A wait moves with them if it waits for an event of the same region. Other instructions
//      end the region; allocations and frees stay outside, because ranks outside a buffer's mesh
//      hold nothing of it.
//   3. Events that are used outside are yielded; on the other ranks they are `none`.
// The ranks of two meshes get a mesh of their own if the program has none with those ranks.
#pragma once

#include <string>

#include "hostir/ir/program.h"

namespace hostir {

/// `host` names a straight-line host function of the program.
void only_on_members(Program& program, const std::string& host);

}  // namespace hostir
