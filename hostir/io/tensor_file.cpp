#include "hostir/io/tensor_file.h"

#include "hostir/io/files.h"
#include "hostir/io/npy.h"
#include "hostir/io/safetensors.h"
#include "hostir/io/torch_file.h"

namespace hostir::io {

namespace {

Expected<void> write_safetensors(const std::string& path, const NamedTensors& tensors) {
  return write_file(path, format_safetensors(tensors));
}

using ArchiveReader = Expected<NamedTensors> (*)(const std::string& path);
using MemberReader = Expected<Tensor> (*)(const std::string& path, const std::string& name);
using ArchiveWriter = Expected<void> (*)(const std::string& path, const NamedTensors& tensors);

/// A format of files with named tensors.
struct ArchiveFormat {
  std::string_view ending;
  ArchiveReader read;
  MemberReader read_one;  // without reading the others; null if the format has none
  ArchiveWriter write;
};
constexpr ArchiveFormat kFormats[] = {
    {".npz", read_npz, read_npz_member, write_npz},
    {".safetensors", read_safetensors, nullptr, write_safetensors},
    {".pt", read_torch_file, read_torch_tensor, write_torch_file},
    {".pth", read_torch_file, read_torch_tensor, write_torch_file},
};

const ArchiveFormat* format_of(const std::string& path) {
  for (const ArchiveFormat& format : kFormats) {
    if (path.ends_with(format.ending)) return &format;
  }
  return nullptr;
}

Expected<Tensor> one_of(NamedTensors tensors, const std::string& path, std::string_view wanted) {
  std::string names;
  for (auto& [name, tensor] : tensors) {
    if (name == wanted || (wanted.empty() && tensors.size() == 1)) return std::move(tensor);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (wanted.empty()) {
    return fail(ErrorKind::kRuntime, "archive_member",
                path + " has " + std::to_string(tensors.size()) + " tensors: name one, as in " +
                    path.substr(path.rfind('/') + 1) + "#" +
                    (tensors.empty() ? "NAME" : tensors.front().first));
  }
  return fail(ErrorKind::kRuntime, "archive_member",
              path + " has no tensor \"" + std::string(wanted) + "\"; it has " + names);
}

}  // namespace

bool holds_named_tensors(const std::string& path) { return format_of(path) != nullptr; }

Expected<NamedTensors> read_named_tensors(const std::string& path) {
  return format_of(path)->read(path);
}

Expected<void> write_named_tensors(const std::string& path, const NamedTensors& tensors) {
  const ArchiveFormat* format = format_of(path);
  return (format ? format->write : &write_npz)(path, tensors);
}

Expected<Tensor> read_tensor_file(const std::string& path) {
  const std::string file = path.substr(0, path.rfind('#'));
  if (!holds_named_tensors(file)) return read_npy(path);
  const std::string name = file == path ? "" : path.substr(file.size() + 1);
  const ArchiveFormat* format = format_of(file);
  if (!name.empty() && format->read_one) return format->read_one(file, name);
  HOSTIR_ASSIGN_OR_RETURN(NamedTensors tensors, read_named_tensors(file));
  return one_of(std::move(tensors), file, name);
}

Expected<void> write_tensor_file(const std::string& path, const std::string& name,
                                 const Tensor& tensor) {
  if (holds_named_tensors(path)) return write_named_tensors(path, {{name, tensor}});
  return write_npy(path, tensor);
}

}  // namespace hostir::io
