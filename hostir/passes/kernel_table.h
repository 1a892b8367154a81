// The kernels that a lowering makes: equal ones are shared, names are free in the program.
//
// Two kernels are equal if they differ in names and comments only. Found by a hash of what cannot
// differ, then compared, so that a program of thousands of kernels is lowered in linear time.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/ir/unique_names.h"

namespace hostir {

class KernelTable {
 public:
  /// `program`: whose functions, meshes and machines have names that are taken. `kernels`: those
  /// made so far.
  explicit KernelTable(const Program& program, std::vector<Function> kernels = {});

  /// The name of an equal kernel, or adds it under a free name.
  std::string share(Function kernel);
  const std::vector<Function>& kernels() const { return kernels_; }
  std::vector<Function> take() { return std::move(kernels_); }

 private:
  void add(Function kernel, Function anonymous, size_t hash);

  std::vector<Function> kernels_;
  std::vector<Function> anonymous_;                  // as kernels_, without names
  std::unordered_multimap<size_t, size_t> by_hash_;  // of the anonymous kernel -> its index
  UniqueNames names_;
};

}  // namespace hostir
