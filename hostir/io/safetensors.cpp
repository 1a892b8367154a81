#include "hostir/io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "hostir/io/files.h"
#include "hostir/support/json_text.h"

namespace hostir::io {

namespace {

// The limit of the reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxDims = 32;

tl::unexpected<Error> bad_safetensors(const std::string& why) {
  return fail(ErrorKind::kRuntime, "safetensors_format", "not a readable .safetensors: " + why);
}

struct StoredDType {
  std::string_view name;
  DType dtype;
};
constexpr StoredDType kStoredDTypes[] = {
    {"F64", DType::kF64}, {"F32", DType::kF32},        {"BF16", DType::kBF16},
    {"F16", DType::kF16}, {"F8_E4M3", DType::kF8E4M3}, {"F8_E5M2", DType::kF8E5M2},
    {"I64", DType::kI64}, {"I32", DType::kI32},        {"I16", DType::kI16},
    {"I8", DType::kI8},   {"U64", DType::kU64},        {"U32", DType::kU32},
    {"U16", DType::kU16}, {"U8", DType::kU8},          {"BOOL", DType::kI1},
};

struct StoredTensor {
  std::string name;
  std::string dtype;
  Extents extents;
  std::vector<uint64_t> offsets;
};

// Parser events of the header: {name: {"dtype": text, "shape": [n...], "data_offsets": [b, e]}}.
// The generic JSON tree is not used because it would drop duplicate names.
class HeaderReader {
 public:
  std::vector<StoredTensor> tensors;
  std::string error;

  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a truth value"); }
  bool number_integer(int64_t number) {
    return number < 0 ? stop("it has the negative number " + std::to_string(number))
                      : number_unsigned(static_cast<uint64_t>(number));
  }
  bool number_unsigned(uint64_t number) {
    if (depth_ != 3 || metadata_) return refuse("a number");
    if (field_ == "data_offsets") {
      tensors.back().offsets.push_back(number);
      return tensors.back().offsets.size() <= 2 || stop(of_tensor() + " has more than 2 offsets");
    }
    if (number > static_cast<uint64_t>(INT64_MAX)) return stop(of_tensor() + " has a huge size");
    tensors.back().extents.push_back(static_cast<int64_t>(number));
    return tensors.back().extents.size() <= kMaxDims ||
           stop(of_tensor() + " has more than " + std::to_string(kMaxDims) + " dimensions");
  }
  bool number_float(double, const std::string&) { return refuse("a fraction"); }
  bool string(std::string& text) {
    if (depth_ != 2) return refuse("a text");
    if (metadata_) return true;
    if (field_ != "dtype") return refuse("a text");
    tensors.back().dtype = text;
    return true;
  }
  template <class Binary>
  bool binary(Binary&) {
    return refuse("binary data");
  }
  bool start_object(size_t) { return ++depth_ <= 2 || refuse("an object"); }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(size_t) {
    const bool list = field_ == "shape" || field_ == "data_offsets";
    return (++depth_ == 3 && !metadata_ && list) || refuse("a list");
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool key(std::string& name) {
    field_ = name;
    if (depth_ == 2) {
      if (metadata_) return true;
      if (name != "dtype" && name != "shape" && name != "data_offsets")
        return stop(of_tensor() + " has the unknown field \"" + name + "\"");
      return fields_.insert(name).second || stop(of_tensor() + " has \"" + name + "\" twice");
    }
    if (!names_.insert(name).second) return stop("the name \"" + name + "\" occurs twice");
    fields_.clear();
    metadata_ = name == "__metadata__";
    if (!metadata_) tensors.push_back({.name = name, .dtype = {}, .extents = {}, .offsets = {}});
    return true;
  }
  template <class Exception>
  bool parse_error(size_t place, const std::string&, const Exception&) {
    return stop("the header is not JSON at byte " + std::to_string(place));
  }

 private:
  bool stop(std::string why) {
    if (error.empty()) error = std::move(why);
    return false;
  }
  bool refuse(const std::string& what) {
    return stop("the header has " + what + " where it does not belong, after \"" + field_ + "\"");
  }
  std::string of_tensor() const { return "tensor \"" + tensors.back().name + "\""; }

  int depth_ = 0;
  bool metadata_ = false;
  std::string field_;
  std::set<std::string> names_;
  std::set<std::string> fields_;
};

const StoredDType* stored_dtype(std::string_view name) {
  for (const StoredDType& stored : kStoredDTypes) {
    if (stored.name == name) return &stored;
  }
  return nullptr;
}

std::string stored_name(DType dtype) {
  for (const StoredDType& stored : kStoredDTypes) {
    if (stored.dtype == dtype) return std::string(stored.name);
  }
  return {};
}

// `begin` is where the previous tensor ended, so that the ranges cover the data.
Expected<Tensor> take_tensor(const StoredTensor& stored, std::span<const std::byte> data,
                             uint64_t begin) {
  const std::string what = "tensor \"" + stored.name + "\" ";
  const StoredDType* dtype = stored_dtype(stored.dtype);
  if (!dtype) {
    return bad_safetensors(what + (stored.dtype.empty() ? "has no dtype"
                                                        : "has dtype \"" + stored.dtype +
                                                              "\", which is not supported"));
  }
  if (stored.offsets.size() != 2) return bad_safetensors(what + "has no data_offsets");
  const auto [from, to] = std::pair(stored.offsets[0], stored.offsets[1]);
  if (from != begin || to < from || to > data.size()) {
    return bad_safetensors(what + "is at bytes " + std::to_string(from) + " to " +
                           std::to_string(to) + ", expected " + std::to_string(begin) +
                           " up to at most " + std::to_string(data.size()));
  }
  const auto count = element_count(stored.extents);
  const auto size = static_cast<uint64_t>(size_bytes(dtype->dtype));
  if (!count || (to - from) % size != 0 || static_cast<uint64_t>(*count) != (to - from) / size) {
    return bad_safetensors(what + "has " + std::to_string(to - from) +
                           " bytes, which does not agree with its shape and dtype " + stored.dtype);
  }
  Tensor out;
  out.dtype = dtype->dtype;
  out.extents = stored.extents;
  const auto bytes = data.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from));
  out.data.assign(bytes.begin(), bytes.end());
  const bool bools = out.dtype == DType::kI1;
  if (bools &&
      std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; }))
    return bad_safetensors(what + "is BOOL but has bytes other than 0 and 1");
  return out;
}

}  // namespace

Expected<NamedTensors> parse_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) return bad_safetensors("it is shorter than 8 bytes");
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  if (length > kMaxHeaderBytes || length > bytes.size() - kLengthBytes) {
    return bad_safetensors("the header claims " + std::to_string(length) + " bytes of a file of " +
                           std::to_string(bytes.size()));
  }
  const auto text = bytes.subspan(kLengthBytes, static_cast<size_t>(length));
  const auto data = bytes.subspan(kLengthBytes + text.size());
  HeaderReader header;
  const auto* begin = reinterpret_cast<const char*>(text.data());
  if (text.empty() || *begin != '{') return bad_safetensors("the header does not begin with {");
  if (!nlohmann::json::sax_parse(begin, begin + text.size(), &header))
    return bad_safetensors(header.error);
  // The names may be in any order. Empty tensors share their place with the next one.
  std::stable_sort(
      header.tensors.begin(), header.tensors.end(),
      [](const StoredTensor& a, const StoredTensor& b) { return a.offsets < b.offsets; });
  NamedTensors out;
  uint64_t end = 0;
  for (const StoredTensor& stored : header.tensors) {
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, take_tensor(stored, data, end));
    end = stored.offsets[1];
    out.emplace_back(stored.name, std::move(tensor));
  }
  if (end != data.size()) {
    return bad_safetensors("the last " + std::to_string(data.size() - end) +
                           " bytes belong to no tensor");
  }
  return out;
}

std::string format_safetensors(const NamedTensors& tensors) {
  auto header = nlohmann::ordered_json::object();
  uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t begin = end;
    end += tensor.data.size();
    header[name] = {{"dtype", stored_name(tensor.dtype)},
                    {"shape", tensor.extents},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = json_text(header);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string out;
  for (size_t i = 0; i < kLengthBytes; ++i)
    out += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  out += text;
  out.reserve(out.size() + static_cast<size_t>(end));
  for (const auto& [name, tensor] : tensors)
    out.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return out;
}

Expected<NamedTensors> read_safetensors(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  auto tensors = parse_safetensors(std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!tensors) tensors.error().diagnostics.front().message.insert(0, path + ": ");
  return tensors;
}

}  // namespace hostir::io
