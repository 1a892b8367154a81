#include "hostir/ir/shared_sharding.h"

namespace hostir {

std::shared_ptr<Sharding> SharedSharding::shared(const Sharding& s) {
  return std::make_shared<Sharding>(s);
}

std::shared_ptr<Sharding> SharedSharding::shared(Sharding&& s) {
  return std::make_shared<Sharding>(std::move(s));
}

Sharding& SharedSharding::own() {
  if (held_ == nullptr) {
    held_ = std::make_shared<Sharding>();
  } else if (held_.use_count() > 1) {
    held_ = std::make_shared<Sharding>(*held_);
  }
  return *held_;
}

}  // namespace hostir
