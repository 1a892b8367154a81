// Reads any bytes as a .npy file; what is accepted is written and read back unchanged.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "hostir/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  const auto tensor = io::parse_npy(std::as_bytes(std::span(data, size)));
  if (!tensor) return 0;
  const std::string written = io::format_npy(*tensor);
  const auto again = io::parse_npy(std::as_bytes(std::span(written.data(), written.size())));
  if (!again || !(*again == *tensor)) std::abort();
  return 0;
}
