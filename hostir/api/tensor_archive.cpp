#include "hostir/api/tensor_archive.h"

#include "hostir/io/generate.h"
#include "traces/import/torch_file.h"

namespace hostir::api {

namespace {

bool is_torch_file(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(".pth");
}

}  // namespace

bool holds_tensors(const std::string& path) {
  return is_torch_file(path) || io::holds_named_tensors(path);
}

Expected<io::NamedTensors> read_tensors(const std::string& path) {
  return is_torch_file(path) ? traces::import::read_torch_file(path) : io::read_named_tensors(path);
}

Expected<Tensor> stored_tensor(const ValueSpec& spec) {
  const std::string file = spec.text.substr(0, spec.text.rfind('#'));
  if (spec.kind != ValueSpec::Kind::kFile || !is_torch_file(file))
    return io::materialise(spec, "", nullptr, nullptr);
  HOSTIR_ASSIGN_OR_RETURN(io::NamedTensors tensors, read_tensors(file));
  return io::one_of(std::move(tensors), file,
                    file == spec.text ? "" : spec.text.substr(file.size() + 1));
}

}  // namespace hostir::api
