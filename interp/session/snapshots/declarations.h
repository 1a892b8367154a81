// Maps communicators of the model to declarations of the program.
//
// `comm over {tp}` declares one group per position of the other axes. Each group is a communicator
// of the model; together they are one `CommIndex` of the program and of the log.
#pragma once

#include <vector>

#include "interp/core/ids.h"
#include "interp/model/run.h"

namespace hostir::interp {

class Declarations {
 public:
  explicit Declarations(const model::Run& run) {
    CommIndex next = 0;
    for (const model::Communicator& c : run.communicators) {
      // The groups of one declaration are in order; a new declaration starts at group 0.
      if (c.group.value_or(0) == 0) ++next;
      index_.push_back(next == 0 ? 0 : next - 1);
    }
  }
  CommIndex index_of(model::CommunicatorId id) const { return index_[id.index]; }
  /// Not valid() if there is no such communicator.
  model::CommunicatorId id_of(CommIndex comm, uint32_t group) const {
    for (size_t i = 0; i < index_.size(); ++i) {
      if (index_[i] == comm && i + group < index_.size() && index_[i + group] == comm)
        return model::CommunicatorId(i + group);
    }
    return {};
  }

 private:
  std::vector<CommIndex> index_;
};

}  // namespace hostir::interp
