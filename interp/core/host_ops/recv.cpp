#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_recv;
const CommunicationFacts communication_recv = {
    .out = CommunicationFacts::Part::kWhole,
    .point_to_point = true,
};

}  // namespace hostir::interp
