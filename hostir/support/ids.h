// Strong ids: one index type per arena, so indices into different arenas cannot be confused.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace hostir {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace hostir

template <class Tag>
struct std::hash<hostir::Id<Tag>> {
  size_t operator()(hostir::Id<Tag> id) const noexcept { return id.index; }
};
