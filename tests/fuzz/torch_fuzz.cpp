// Reads any bytes as a .pt archive, and as the pickle in one: gives a diagnostic, never a crash or
// an excessive allocation.
#include <cstddef>
#include <cstdint>

#include "hostir/io/pickle.h"
#include "hostir/io/torch_file.h"
#include "scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  using namespace hostir::io;
  static const std::string path = fuzz::scratch_file("values.pt");
  fuzz::write_scratch(path, data, size);
  (void)read_torch_file(path);
  (void)read_torch_tensor(path, "a");
  (void)read_pickle({reinterpret_cast<const char*>(data), size}, PickleContent::kTensors);
  return 0;
}
