#include "hostir/io/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "hostir/io/pickle.h"

namespace hostir::io {

namespace {

// Shared parts of a pickle are read under many names, so a small file can make many long ones.
constexpr size_t kMostNameBytes = size_t{64} << 10;
constexpr size_t kMostNamesBytes = size_t{256} << 20;  // of the tensors read
constexpr size_t kMostListedBytes = size_t{4} << 10;   // in an error

struct TorchDType {
  std::string_view storage;  // the class of typed storages; empty if there is none
  std::string_view name;
  DType dtype;
};
constexpr TorchDType kTorchDTypes[] = {
    {"torch.DoubleStorage", "torch.float64", DType::kF64},
    {"torch.FloatStorage", "torch.float32", DType::kF32},
    {"torch.HalfStorage", "torch.float16", DType::kF16},
    {"torch.BFloat16Storage", "torch.bfloat16", DType::kBF16},
    {"torch.LongStorage", "torch.int64", DType::kI64},
    {"torch.IntStorage", "torch.int32", DType::kI32},
    {"torch.ShortStorage", "torch.int16", DType::kI16},
    {"torch.CharStorage", "torch.int8", DType::kI8},
    {"torch.ByteStorage", "torch.uint8", DType::kU8},
    {"torch.BoolStorage", "torch.bool", DType::kI1},
    {"", "torch.float8_e4m3fn", DType::kF8E4M3},
    {"", "torch.float8_e5m2", DType::kF8E5M2},
    {"", "torch.uint16", DType::kU16},
    {"", "torch.uint32", DType::kU32},
    {"", "torch.uint64", DType::kU64},
};

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildTyped = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";

tl::unexpected<Error> bad_torch(const std::string& why) {
  return fail(ErrorKind::kRuntime, "torch_format", "not a readable .pt: " + why);
}

std::optional<DType> dtype_of(std::string_view name) {
  for (const TorchDType& known : kTorchDTypes) {
    if (name == known.name || (!known.storage.empty() && name == known.storage)) return known.dtype;
  }
  return std::nullopt;
}

class TorchReader {
 public:
  /// Reads the tensor `wanted`, or all if it is null.
  TorchReader(const ZipReader& archive, const std::string* wanted)
      : archive_(archive), wanted_(wanted) {}

  Expected<NamedTensors> read() {
    const auto& names = archive_.names();
    std::optional<size_t> pickle;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "data.pkl" || names[i].ends_with("/data.pkl")) pickle = i;
      if (!names[i].ends_with("byteorder")) continue;
      HOSTIR_ASSIGN_OR_RETURN(const auto order, archive_.read(i));
      if (text_of(order) != "little") return bad_torch("its numbers are big-endian");
    }
    if (!pickle) return bad_torch("the archive has no data.pkl");
    prefix_ = names[*pickle].substr(0, names[*pickle].size() - std::strlen("data.pkl"));
    HOSTIR_ASSIGN_OR_RETURN(const auto bytes, archive_.read(*pickle));
    HOSTIR_ASSIGN_OR_RETURN(const PlainTree tree,
                            read_pickle(text_of(bytes), PickleContent::kTensors));
    HOSTIR_TRY(walk(PlainView(tree), ""));
    return std::move(out_);
  }

  /// The names of the tensors that were not read.
  const std::string& others() const { return others_; }

 private:
  static std::string_view text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // The contents of a storage. Several tensors may be views of one, so it is kept.
  Expected<const std::vector<std::byte>*> load(const std::string& key) {
    if (const auto read = storages_.find(key); read != storages_.end()) return &read->second;
    const auto& names = archive_.names();
    const auto found = std::find(names.begin(), names.end(), prefix_ + "data/" + key);
    if (found == names.end()) return bad_torch("storage \"" + key + "\" is missing");
    HOSTIR_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                            archive_.read(static_cast<size_t>(found - names.begin())));
    return &storages_.emplace(key, std::move(bytes)).first->second;
  }

  // A call is recorded as (name, arguments).
  Expected<void> walk(PlainView value, const std::string& name) {
    if (name.size() > kMostNameBytes) {
      return bad_torch(fmt::format("a name of {} bytes; at most {}", name.size(), kMostNameBytes));
    }
    const std::string_view called = value.is(PlainKind::kList) ? value.at(0).text() : "";
    if (called == kRebuildTensor || called == kRebuildTyped) {
      if (wanted_ != nullptr && *wanted_ != (name.empty() ? "tensor" : name)) {
        if (others_.size() < kMostListedBytes)
          others_ += (others_.empty() ? "" : ", ") + (name.empty() ? "tensor" : name);
        return {};
      }
      name_bytes_ += name.size();
      if (name_bytes_ > kMostNamesBytes) {
        return bad_torch(fmt::format("names of more than {} bytes in all", kMostNamesBytes));
      }
      HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, rebuild(value.at(1), called == kRebuildTyped));
      out_.emplace_back(name.empty() ? "tensor" : name, std::move(tensor));
      return {};
    }
    if (called == kRebuildParameter) return walk(value.at(1).at(0), name);
    const std::string dot = name.empty() ? "" : name + ".";
    for (size_t i = 0; i < value.size(); ++i) {
      if (value.is(PlainKind::kList)) {
        HOSTIR_TRY(walk(value.at(i), dot + std::to_string(i)));
      } else if (value.is(PlainKind::kDict)) {
        const auto number = value.key(i).integer();
        const std::string_view text = value.key(i).text();
        HOSTIR_TRY(walk(value.value(i), dot + (text.empty() && number ? std::to_string(*number)
                                                                      : std::string(text))));
      }
    }
    return {};
  }

  // (storage, offset, size, stride, requires_grad, hooks[, dtype]); the storage is
  // ('storage', class, key, device, element count).
  Expected<Tensor> rebuild(PlainView arguments, bool typed) {
    const PlainView storage = arguments.at(0);
    const std::string key(storage.at(2).text());
    const auto dtype = dtype_of(typed ? arguments.at(6).text() : storage.at(1).text());
    if (!dtype) {
      return bad_torch(fmt::format("storage \"{}\" has elements {} {}, which are not supported",
                                   key, storage.at(1).text(), typed ? arguments.at(6).text() : ""));
    }
    const auto offset = arguments.at(1).integer();
    const auto sizes = integer_list(arguments.at(2));
    const auto strides = integer_list(arguments.at(3));
    if (!offset || !sizes || !strides || sizes->size() != strides->size() || sizes->size() > 32)
      return bad_torch("a tensor of storage \"" + key + "\" has no plausible shape");
    HOSTIR_ASSIGN_OR_RETURN(const auto* data, load(key));
    return gather(*dtype, *data, *offset, *sizes, *strides, key);
  }

  // A storage is not compressed, unless another program than PyTorch wrote the file.
  int64_t most_bytes() const {
    int64_t stored = 0;
    for (const auto& [key, bytes] : storages_) stored += static_cast<int64_t>(bytes.size());
    return kMostViews * std::max(stored, archive_.file_size()) + (int64_t{64} << 20);
  }

  Expected<Tensor> gather(DType dtype, const std::vector<std::byte>& data, int64_t offset,
                          const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                          const std::string& key) {
    const int64_t size = size_bytes(dtype);
    const auto available = static_cast<int64_t>(data.size()) / size;
    const auto outside = [&] {
      return bad_torch("a tensor of storage \"" + key + "\" does not lie within its " +
                       std::to_string(available) + " elements");
    };
    int64_t last = offset;
    int64_t count = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] < 0 || strides[d] < 0) return outside();
      if (__builtin_mul_overflow(count, sizes[d], &count)) return outside();
      int64_t step = 0;
      if (sizes[d] > 0 && (__builtin_mul_overflow(sizes[d] - 1, strides[d], &step) ||
                           __builtin_add_overflow(last, step, &last)))
        return outside();
    }
    // Strides of 0 repeat elements; a small file must not become a huge tensor.
    constexpr int64_t kMostRepeated = int64_t{1} << 20;
    if (offset < 0 || (count > 0 && last >= available)) return outside();
    if (count > available && count > kMostRepeated)
      return bad_torch(
          fmt::format("a tensor of {} elements repeats a storage of {}", count, available));
    // Also limits many views of one storage: a pickle needs only two bytes to repeat each.
    taken_bytes_ += count * size;
    if (taken_bytes_ > most_bytes())
      return bad_torch(
          fmt::format("its tensors take more than {} bytes, {} times the size of its storages",
                      most_bytes(), kMostViews));
    Tensor out = Tensor::zeros(dtype, Extents(sizes.begin(), sizes.end()));
    std::vector<int64_t> index(sizes.size(), 0);
    int64_t at = offset;
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out.data.data() + i * size, data.data() + at * size, static_cast<size_t>(size));
      for (size_t d = sizes.size(); d-- > 0;) {
        if (sizes[d] == 1) continue;  // the stride of one element does not matter
        if (++index[d] < sizes[d]) {
          at += strides[d];
          break;
        }
        at -= strides[d] * (sizes[d] - 1);
        index[d] = 0;
      }
    }
    const auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
    if (dtype == DType::kI1 && !std::all_of(out.data.begin(), out.data.end(), is_bool))
      return bad_torch("storage \"" + key + "\" is bool but has bytes other than 0 and 1");
    return out;
  }

  static constexpr int64_t kMostViews = 4;

  const ZipReader& archive_;
  const std::string* wanted_;
  std::map<std::string, std::vector<std::byte>> storages_;
  int64_t taken_bytes_ = 0;
  std::string prefix_;
  std::string others_;
  size_t name_bytes_ = 0;
  NamedTensors out_;
};

// Writes a pickle of protocol 2 as torch.save() does, without sharing equal parts.
class TorchPickle {
 public:
  explicit TorchPickle(size_t tensors) {
    text_ = "\x80\x02";
    text_ += '}';
    if (tensors > 0) text_ += '(';
  }

  void add(const std::string& name, const Tensor& tensor, const TorchDType& dtype,
           const std::string& key) {
    const bool typed = dtype.storage.empty();  // has no storage class: written as bytes and a dtype
    const int64_t count = tensor.element_count();
    text(name);
    global(typed ? kRebuildTyped : kRebuildTensor);
    text_ += "((";
    text("storage");
    global(typed ? "torch.storage.UntypedStorage" : dtype.storage);
    text(key);
    text("cpu");
    integer(typed ? count * size_bytes(tensor.dtype) : count);
    text_ += "tQ";
    integer(0);
    std::vector<int64_t> strides(tensor.extents.size(), 1);
    for (size_t d = strides.size(); d-- > 1;)
      strides[d - 1] = strides[d] * std::max<int64_t>(1, tensor.extents[d]);
    integers({tensor.extents.begin(), tensor.extents.end()});
    integers(strides);
    text_ += '\x89';  // requires no gradient
    global("collections.OrderedDict");
    text_ += ")R";
    if (typed) global(dtype.name);
    text_ += "tR";
  }

  std::string end(size_t tensors) && { return std::move(text_) + (tensors > 0 ? "u." : "."); }

 private:
  void little_endian(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> 8 * i & 0xff);
  }
  void text(std::string_view value) {
    text_ += 'X';
    little_endian(value.size(), 4);
    text_ += value;
  }
  // The module and the name, of `torch._utils._rebuild_tensor_v2`.
  void global(std::string_view name) {
    const size_t dot = name.rfind('.');
    text_ += fmt::format("c{}\n{}\n", name.substr(0, dot), name.substr(dot + 1));
  }
  void integer(int64_t value) {
    if (value <= INT32_MAX) {
      text_ += 'J';
      return little_endian(static_cast<uint64_t>(value), 4);
    }
    text_ += "\x8a\x08";
    little_endian(static_cast<uint64_t>(value), 8);
  }
  void integers(const std::vector<int64_t>& values) {
    text_ += '(';
    for (const int64_t value : values) integer(value);
    text_ += 't';
  }

  std::string text_;
};

}  // namespace

Expected<NamedTensors> read_torch_file(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::open(path));
  auto tensors = TorchReader(archive, nullptr).read();
  if (!tensors) tensors.error().diagnostics.front().message.insert(0, path + ": ");
  return tensors;
}

Expected<Tensor> read_torch_tensor(const std::string& path, const std::string& name) {
  HOSTIR_ASSIGN_OR_RETURN(const ZipReader archive, ZipReader::open(path));
  TorchReader reader(archive, &name);
  auto tensors = reader.read();
  if (!tensors) {
    tensors.error().diagnostics.front().message.insert(0, path + ": ");
    return tl::unexpected(std::move(tensors.error()));
  }
  if (!tensors->empty()) return std::move(tensors->front().second);
  return fail(ErrorKind::kRuntime, "archive_member",
              path + " has no tensor \"" + name + "\"; it has " + reader.others());
}

Expected<void> write_torch_file(const std::string& path, const NamedTensors& tensors) {
  // The folder in the archive has the file's name, as torch.save() writes it.
  std::string folder = path.substr(path.rfind('/') + 1);
  folder.resize(std::min(folder.size(), folder.rfind('.')));
  std::vector<std::pair<std::string, std::string>> members(1);
  TorchPickle pickle(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    // PyTorch has a counterpart of each of our dtypes.
    const auto* torch_dtype =
        std::find_if(std::begin(kTorchDTypes), std::end(kTorchDTypes) - 1,
                     [dtype = tensor.dtype](const auto& known) { return known.dtype == dtype; });
    const std::string key = std::to_string(members.size() - 1);
    pickle.add(name, tensor, *torch_dtype, key);
    members.emplace_back(
        folder + "/data/" + key,
        std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()));
  }
  members.front() = {folder + "/data.pkl", std::move(pickle).end(tensors.size())};
  members.emplace_back(folder + "/byteorder", "little");
  members.emplace_back(folder + "/version", "3\n");
  return write_zip(path, members);
}

}  // namespace hostir::io
