// The kernels created by a lowering: equal kernels are shared and names are unique in the program.
//
// Two kernels are equal if they differ only in names and comments. The lookup hashes parts that
// must be equal and then compares, so lowering thousands of kernels takes linear time.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/ir/unique_names.h"

namespace hostir {

class KernelTable {
 public:
  /// The names of functions, meshes and machines in `program` are reserved. `kernels` are the
  /// kernels created so far.
  explicit KernelTable(const Program& program, std::vector<Function> kernels = {});

  /// Returns the name of an equal kernel, or adds `kernel` under an unused name.
  std::string share(Function kernel);
  std::vector<Function> take() { return std::move(kernels_); }

 private:
  void add(Function kernel, Function anonymous, size_t hash);

  std::vector<Function> kernels_;
  std::vector<Function> anonymous_;                  // same order as kernels_, without names
  std::unordered_multimap<size_t, size_t> by_hash_;  // hash of the anonymous kernel -> its index
  UniqueNames names_;
};

}  // namespace hostir
