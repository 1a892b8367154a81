#include "hostir/support/physical_memory.h"

#include <unistd.h>

namespace hostir {

int64_t physical_memory_bytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : INT64_MAX;
}

}  // namespace hostir
