// The kernels that overlapped sites launch: chunks of other kernels, and single ops on chunks.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/host/attribute_ids.h"
#include "hostir/passes/overlap/overlap_sites.h"

namespace hostir {

/// Makes the kernels of chunks, once for each number of rows. The program must outlive this.
class ChunkKernels {
 public:
  explicit ChunkKernels(const Program& program);

  /// `rows`: the global number, or for a local kernel the number of each rank. Null: there is no
  /// kernel for this number of rows.
  const Function* of(const ChunkedLaunch& launch, int64_t rows, bool local);
  /// A kernel with one op on operands of one type.
  const Function& of_op(OpKind kind, const std::string& stem, const TensorType& type,
                        size_t operands, Attributes attributes = {});
  /// The kernels that `used` names, in the order in which they were made.
  std::vector<Function> take(const std::set<std::string>& used) const;
  const std::vector<std::string>& order() const { return order_; }
  const Function& at(const std::string& key) const { return made_.at(key); }

 private:
  const Function& keep(std::string key, const std::string& stem, Function kernel);

  const Program& program_;
  UniqueNames names_;
  AttributeIds attributes_;
  std::map<std::string, Function> made_;
  std::vector<std::string> order_;  // keys
};

}  // namespace hostir
