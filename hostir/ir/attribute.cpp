#include "hostir/ir/attribute.h"

#include <algorithm>

#include "hostir/support/same_number.h"

namespace hostir {

Attributes::Attributes() = default;
Attributes::Attributes(const Attributes&) = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(const Attributes&) = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

bool operator==(const Attributes& a, const Attributes& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const auto& x, const auto& y) {
                      if (x.first != y.first) return false;
                      const auto* number = std::get_if<double>(&x.second);
                      const auto* other = std::get_if<double>(&y.second);
                      return number && other ? same_number(*number, *other) : x.second == y.second;
                    });
}

const Attribute* Attributes::find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (key == name) return &value;
  }
  return nullptr;
}

void Attributes::set(std::string_view name, Attribute value) {
  for (auto& [key, existing] : entries_) {
    if (key == name) {
      existing = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::string(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](const auto& entry) { return entry.first == name; }),
                 entries_.end());
}

}  // namespace hostir
