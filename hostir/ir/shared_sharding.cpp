#include "hostir/ir/shared_sharding.h"

namespace hostir {

std::shared_ptr<const Sharding> SharedSharding::shared(const Sharding& s) {
  return std::make_shared<Sharding>(s);
}

std::shared_ptr<const Sharding> SharedSharding::shared(Sharding&& s) {
  return std::make_shared<Sharding>(std::move(s));
}

Sharding& SharedSharding::own() {
  if (held_ == nullptr || held_.use_count() > 1) {
    auto mine = std::make_shared<Sharding>(held_ == nullptr ? Sharding() : *held_);
    Sharding& out = *mine;
    held_ = std::move(mine);
    return out;
  }
  // The object was created non-const, and this is its only owner.
  return const_cast<Sharding&>(*held_);
}

}  // namespace hostir
