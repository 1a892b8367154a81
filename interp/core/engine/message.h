// Serializes numbers and strings for messages between the processes of a run.
//
// All processes run the same program on the same architecture, so bytes are in native
// representation. Reading past the end returns zeros and clears `ok()`: a message may come from a
// process that died.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace hostir::interp {

class MessageWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <class T>
  void list(const std::vector<T>& values) {
    put(static_cast<uint64_t>(values.size()));
    for (const T& value : values) put(value);
  }
  void text(const char* data, size_t size) {
    put(static_cast<uint64_t>(size));
    bytes_.append(data, size);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      at_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> out;
    for (auto n = get<uint64_t>(); n > 0 && ok_; --n) out.push_back(get<T>());
    return out;
  }
  std::string text() {
    const auto size = get<uint64_t>();
    if (bytes_.size() - at_ < size) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    std::string out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  bool ok() const { return ok_; }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace hostir::interp
