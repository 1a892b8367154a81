// Numbers for texts: equal texts have equal numbers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace hostir {

class TextNumbers {
 public:
  /// 1, 2, ... in the order in which different texts are seen.
  uint32_t of(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

/// Appends the bytes of a number to a key.
template <class T>
void append_number(T number, std::string& key) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace hostir
