// The mesh of every value of a fusion.
//
//   1. An annotated value is on the mesh of its sharding; a reshard's result is annotated.
//   2. An op runs where its operands are. If they are on several meshes, it runs on the mesh
//      annotated on its result. Results without annotation are on the op's mesh.
//   3. A value without operands on a mesh (a parameter, a source, or computed from such
//      values) is on the mesh of its first user. Sources do not tie an op to a mesh, because
//      any rank can compute any part of them. The verifier reports the conflicts; the passes
//      insert reshards where a value is needed on another mesh
//      (hostir/passes/meshes/mesh_borders.h).
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

/// An op with operands on two meshes and no annotated result.
struct MeshConflict {
  InstrId instruction;
  ValueId first;   // an operand
  ValueId second;  // an operand on another mesh
};

struct ValueMeshes {
  std::vector<std::string> used;  // the meshes of the fusion, in order of first mention
  std::vector<std::string> of;    // by value; empty if the fusion uses no mesh
  std::vector<std::string> at;    // by instruction: the mesh on which it runs
  std::vector<MeshConflict> conflicts;
};

ValueMeshes value_meshes(const Function& fusion);

/// What is wrong and what to do.
std::string conflict_sentence(const Function& fusion, const ValueMeshes& meshes,
                              const MeshConflict& conflict);

}  // namespace hostir
