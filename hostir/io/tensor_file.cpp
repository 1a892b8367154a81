#include "hostir/io/tensor_file.h"

#include "hostir/io/files.h"
#include "hostir/io/npy.h"
#include "hostir/io/safetensors.h"

namespace hostir::io {

namespace {

constexpr std::string_view kSafetensors = ".safetensors";

Expected<Tensor> read_named_tensor(const std::string& path, const std::string& wanted) {
  if (!path.ends_with(kSafetensors)) return read_npz_member(path, wanted);
  HOSTIR_ASSIGN_OR_RETURN(NamedTensors tensors, read_safetensors(path));
  std::string names;
  for (auto& [name, tensor] : tensors) {
    if (name == wanted) return std::move(tensor);
    names += (names.empty() ? "" : ", ") + name;
  }
  return fail(ErrorKind::kRuntime, "safetensors_member",
              path + " has no tensor \"" + wanted + "\"; it has " + names);
}

}  // namespace

bool holds_named_tensors(const std::string& path) {
  return path.ends_with(".npz") || path.ends_with(kSafetensors);
}

Expected<NamedTensors> read_named_tensors(const std::string& path) {
  return path.ends_with(kSafetensors) ? read_safetensors(path) : read_npz(path);
}

Expected<void> write_named_tensors(const std::string& path, const NamedTensors& tensors) {
  if (path.ends_with(kSafetensors)) return write_file(path, format_safetensors(tensors));
  return write_npz(path, tensors);
}

Expected<Tensor> read_tensor_file(const std::string& path) {
  const size_t hash = path.rfind('#');
  if (hash != std::string::npos && holds_named_tensors(path.substr(0, hash)))
    return read_named_tensor(path.substr(0, hash), path.substr(hash + 1));
  if (!holds_named_tensors(path)) return read_npy(path);
  HOSTIR_ASSIGN_OR_RETURN(NamedTensors members, read_named_tensors(path));
  if (members.size() == 1) return std::move(members.front().second);
  return fail(ErrorKind::kRuntime, "archive_member",
              path + " has " + std::to_string(members.size()) + " tensors: name one, as in " +
                  path.substr(path.rfind('/') + 1) + "#" +
                  (members.empty() ? "NAME" : members.front().first));
}

Expected<void> write_tensor_file(const std::string& path, const std::string& name,
                                 const Tensor& tensor) {
  if (holds_named_tensors(path)) return write_named_tensors(path, {{name, tensor}});
  return write_npy(path, tensor);
}

}  // namespace hostir::io
