#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_broadcast;
const CommunicationFacts communication_broadcast = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kWhole,
    .root = CommunicationFacts::RootHas::kInput,
};

}  // namespace hostir::interp
