#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_gather;
const CommunicationFacts communication_gather = {
    .in = CommunicationFacts::Part::kBlock,
    .out = CommunicationFacts::Part::kWhole,
    .root = CommunicationFacts::RootHas::kOutput,
};

}  // namespace hostir::interp
