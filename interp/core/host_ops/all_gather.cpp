#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_all_gather;
const CommunicationFacts communication_all_gather = {
    .in = CommunicationFacts::Part::kBlock,
    .out = CommunicationFacts::Part::kWhole,
};

}  // namespace hostir::interp
