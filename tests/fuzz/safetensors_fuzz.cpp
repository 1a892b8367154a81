// Reads any bytes as safetensors. What can be read must be written and read back unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "hostir/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  const auto tensors = io::parse_safetensors(std::as_bytes(std::span(data, size)));
  if (!tensors) return 0;
  const std::string written = io::format_safetensors(*tensors);
  const auto back = io::parse_safetensors(std::as_bytes(std::span(written.data(), written.size())));
  if (!back || *back != *tensors) std::abort();
  return 0;
}
