#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_scatter;
const CommunicationFacts communication_scatter = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kBlock,
    .root = CommunicationFacts::RootHas::kInput,
};

}  // namespace hostir::interp
