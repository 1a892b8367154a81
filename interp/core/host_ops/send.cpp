#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_send;
const CommunicationFacts communication_send = {
    .in = CommunicationFacts::Part::kWhole,
    .point_to_point = true,
};

}  // namespace hostir::interp
