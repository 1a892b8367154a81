#include "hostir/passes/host/early_reshards.h"

#include <algorithm>
#include <utility>

#include "hostir/passes/redistribute/redistribute_cost.h"

namespace hostir {

namespace {

constexpr size_t kNoMaker = static_cast<size_t>(-1);

using SegmentItem = std::variant<KernelUse, InstrId>;

std::vector<ValueId> values_made_by(const Function& fusion, const SegmentItem& item) {
  const auto* use = std::get_if<KernelUse>(&item);
  return use != nullptr ? use->writes : fusion.instr(std::get<InstrId>(item)).results;
}

double largest_box_elems(const Program& program, const TensorType& type) {
  return largest_local_elems(*program.find_mesh(type.sharding->mesh), type.shape, *type.sharding);
}

class ReshardMover {
 public:
  ReshardMover(const Program& program, const Function& fusion, Segments& segments)
      : items_(segments.items), followers_(items_.size()), moves_(items_.size(), false) {
    const auto uses = uses_of(fusion);
    std::vector<size_t> maker(fusion.values.size(), kNoMaker);  // by value: index of the item
    std::vector<double> freed(fusion.values.size(), 0);  // by value: what its reshards freed so far
    for (size_t n = 0; n < items_.size(); ++n) {
      for (const ValueId made : values_made_by(fusion, items_[n])) maker[made.index] = n;
      const auto* id = std::get_if<InstrId>(&items_[n]);
      if (id == nullptr) continue;
      const Instruction& reshard = fusion.instr(*id);
      const ValueId from = reshard.operands.front().value;
      if (maker[from.index] == kNoMaker || uses[from.index].size() != 1) continue;
      const ValueId to = reshard.results.front();
      const double before =
          std::max(freed[from.index], largest_box_elems(program, tensor_type(fusion, from)));
      if (largest_box_elems(program, tensor_type(fusion, to)) > before) continue;
      freed[to.index] = before;
      followers_[maker[from.index]].push_back(n);
      moves_[n] = true;
    }
  }

  void run() {
    for (size_t n = 0; n < items_.size(); ++n) {
      if (!moves_[n]) place(n);
    }
    items_ = std::move(ordered_);
  }

 private:
  void place(size_t n) {
    ordered_.push_back(std::move(items_[n]));
    for (const size_t follower : followers_[n]) place(follower);
  }

  std::vector<SegmentItem>& items_;
  std::vector<SegmentItem> ordered_;
  std::vector<std::vector<size_t>> followers_;  // by item: the reshards that move behind it
  std::vector<bool> moves_;
};

}  // namespace

void move_reshards_up(const Program& program, const Function& fusion, Segments& segments) {
  ReshardMover(program, fusion, segments).run();
}

}  // namespace hostir
