// An optional sharding that copies share.
//
// Most values of a program have one of few shardings, and every pass copies types. A copy here is a
// pointer, and equal pointers compare without looking. It behaves like std::optional<Sharding>:
// writing through the non-const `*` and `->` first makes the sharding this object's own. A
// reference obtained that way must therefore not be kept while the object is copied.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "hostir/ir/sharding.h"

namespace hostir {

class SharedSharding {
 public:
  SharedSharding() = default;
  SharedSharding(std::nullopt_t) {}                              // NOLINT: as std::optional
  SharedSharding(const Sharding& s) : held_(shared(s)) {}        // NOLINT
  SharedSharding(Sharding&& s) : held_(shared(std::move(s))) {}  // NOLINT
  SharedSharding(std::optional<Sharding> s) {                    // NOLINT
    if (s) held_ = shared(std::move(*s));
  }

  explicit operator bool() const { return held_ != nullptr; }
  const Sharding& operator*() const { return *held_; }
  const Sharding* operator->() const { return held_.get(); }
  Sharding& operator*() { return own(); }
  Sharding* operator->() { return &own(); }
  Sharding value_or(Sharding fallback) const { return held_ ? *held_ : std::move(fallback); }
  void reset() { held_.reset(); }

  friend bool operator==(const SharedSharding& a, const SharedSharding& b) {
    return a.held_ == b.held_ || (a.held_ && b.held_ && *a.held_ == *b.held_);
  }

 private:
  // Out of line: instantiating these would cost every includer compile time.
  static std::shared_ptr<const Sharding> shared(const Sharding& s);
  static std::shared_ptr<const Sharding> shared(Sharding&& s);
  Sharding& own();

  std::shared_ptr<const Sharding> held_;
};

}  // namespace hostir
