#include "hostir/api/tensor_archive.h"

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

}  // namespace hostir::api
