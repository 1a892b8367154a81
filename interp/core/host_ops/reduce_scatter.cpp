#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_reduce_scatter;
const CommunicationFacts communication_reduce_scatter = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kBlock,
};

}  // namespace hostir::interp
