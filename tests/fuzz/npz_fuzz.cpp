// Reads any bytes as a .npz archive: gives a diagnostic, never a crash or an excessive allocation.
#include <cstddef>
#include <cstdint>

#include "hostir/io/npz.h"
#include "scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  static const std::string path = fuzz::scratch_file("values.npz");
  fuzz::write_scratch(path, data, size);
  (void)io::read_npz(path);
  (void)io::read_npz_member(path, "x");
  return 0;
}
