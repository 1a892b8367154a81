#include "traces/profile/kineto_event.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "hostir/support/number_from.h"
#include "traces/profile/profile.h"

namespace hostir::traces::profile {

namespace {

using NumberField = std::pair<std::string_view, std::optional<int64_t> KinetoEvent::*>;
constexpr std::array kNumbers = std::to_array<NumberField>({
    {"External id", &KinetoEvent::external},
    {"external id", &KinetoEvent::external},
    {"stream", &KinetoEvent::stream},
    {"In msg nelems", &KinetoEvent::in_elems},
    {"Out msg nelems", &KinetoEvent::out_elems},
    {"Group size", &KinetoEvent::group_size},
    {"Rank", &KinetoEvent::rank},
    {"Src Rank", &KinetoEvent::source},
    {"Dst Rank", &KinetoEvent::target},
    {"Seq", &KinetoEvent::sequence},
});

using TextField = std::pair<std::string_view, std::string KinetoEvent::*>;
constexpr std::array kTexts = std::to_array<TextField>({
    {"Collective name", &KinetoEvent::collective},
    {"Process Group Name", &KinetoEvent::group_name},
    {"Process Group Description", &KinetoEvent::group_description},
    {"Process Group Ranks", &KinetoEvent::group_ranks},
    {"dtype", &KinetoEvent::dtype},
});

}  // namespace

std::optional<int64_t> microseconds(std::string_view text) {
  constexpr int64_t kMost = kMostNs / 1000;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const size_t point = text.find('.');
  const auto whole = number_from<int64_t>(text.substr(0, point));
  std::string_view rest = point == std::string_view::npos ? "" : text.substr(point + 1);
  rest = rest.substr(0, rest.find_last_not_of('0') + 1);
  const auto thousandths = rest.empty() ? 0 : number_from<int64_t>(rest.substr(0, 3));
  if (whole && thousandths && rest.find_first_not_of("0123456789") == std::string_view::npos) {
    if (*whole > kMost) return {};
    constexpr std::array<int64_t, 4> kScale = {1000, 100, 10, 1};
    const int64_t part = *thousandths * kScale[std::min<size_t>(rest.size(), 3)];
    const int64_t ns = *whole * 1000 + (rest.empty() ? 0 : part);
    return negative ? -ns : ns;
  }
  // A number with an exponent is rare, so it may lose digits.
  const double value = std::strtod(std::string(text.substr(0, 64)).c_str(), nullptr) * 1000;
  if (!std::isfinite(value) || value > static_cast<double>(kMost)) return {};
  return static_cast<int64_t>(negative ? -value : value);
}

void KinetoEvent::set_number(std::string_view key, std::string_view text, bool in_args) {
  if (!in_args) {
    if (key == "ts") at_ns = microseconds(text);
    if (key == "dur") duration_ns = microseconds(text);
    if (key == "pid") process = number_from<int64_t>(text);
    if (key == "tid") thread = number_from<int64_t>(text);
    return;
  }
  if (key == "correlation") {
    correlation = static_cast<uint64_t>(number_from<int64_t>(text).value_or(0));
    return;
  }
  for (const auto& [known, field] : kNumbers) {
    if (known == key) this->*field = number_from<int64_t>(text);
  }
}

void KinetoEvent::set_text(std::string_view key, std::string& text, bool in_args) {
  if (in_args) {
    for (const auto& [known, field] : kTexts) {
      if (known == key) this->*field = std::move(text);
    }
    return;
  }
  if (key == "ph") phase = std::move(text);
  if (key == "cat") category = std::move(text);
  if (key == "name") name = std::move(text);
  if (key == "ts" || key == "dur") set_number(key, text, false);
}

}  // namespace hostir::traces::profile
