#include <array>
#include <functional>
#include <string_view>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

namespace {

struct Direction {
  std::string_view word;
  bool (*real)(double, double);
  bool (*integer)(int64_t, int64_t);
  bool (*natural)(uint64_t, uint64_t);
};

template <class Compare>
constexpr Direction direction(std::string_view word, Compare) {
  return {word, [](double a, double b) { return Compare{}(a, b); },
          [](int64_t a, int64_t b) { return Compare{}(a, b); },
          [](uint64_t a, uint64_t b) { return Compare{}(a, b); }};
}

constexpr std::array<Direction, 6> kDirections = {
    direction("eq", std::equal_to<>()), direction("ne", std::not_equal_to<>()),
    direction("lt", std::less<>()),     direction("le", std::less_equal<>()),
    direction("gt", std::greater<>()),  direction("ge", std::greater_equal<>())};

}  // namespace

void reference_compare(const ReferenceCall& call) {
  const Keyword* wanted = call.instruction.attributes.get<Keyword>("direction");
  for (const Direction& candidate : kDirections) {
    if (wanted && candidate.word == wanted->word) {
      return map_compare(call, candidate.real, candidate.integer, candidate.natural);
    }
  }
}

}  // namespace hostir::cpu
