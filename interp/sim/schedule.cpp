#include "interp/sim/schedule.h"

#include <algorithm>
#include <array>

#include "hostir/support/philox.h"

namespace hostir::sim {

int64_t scaled(const Schedule& schedule, const ScheduleKey& key, int64_t duration_ns) {
  const int64_t duration = std::max<int64_t>(1, duration_ns);
  if (schedule.number == 0) return duration;
  const std::array<uint32_t, 4> counter = {
      static_cast<uint32_t>(key.a), static_cast<uint32_t>(key.a >> 32),
      static_cast<uint32_t>(key.b),
      static_cast<uint32_t>(key.b >> 32) ^ static_cast<uint32_t>(key.space << 31)};
  const uint64_t mixed = schedule.seed * 0x9E3779B97F4A7C15u + schedule.number;
  const auto words =
      philox4x32(counter, {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)});
  // 2^(octave - 3) * (1 + part/256), octaves 0..5: from 1/8 to just under 8.
  const auto octave = static_cast<int64_t>(words[0] % 6);
  const auto part = static_cast<int64_t>(words[1] % 256);
  // Divide first if the duration is so long that the product could overflow.
  const int64_t numerator = (256 + part) << octave;
  if (duration > (int64_t{1} << 46)) return duration / (256 * 8) * numerator;
  return std::max<int64_t>(1, duration * numerator / (256 * 8));
}

}  // namespace hostir::sim
