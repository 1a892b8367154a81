#include "interp/session/log/log_view.h"

namespace hostir::interp {

Expected<std::vector<LogValue>> LogView::writes(WriteFilter filter, std::stop_token stop) const {
  std::vector<LogWrite> places;
  while (filter.first_event != std::numeric_limits<int64_t>::max()) {
    HOSTIR_ASSIGN_OR_RETURN(const LogWrites found, find_writes(filter, stop));
    places.insert(places.end(), found.places.begin(), found.places.end());
    filter.first_event = found.next_event;
  }
  return read_writes(places, filter.element, stop);
}

}  // namespace hostir::interp
