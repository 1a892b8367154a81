#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_reduce;
const CommunicationFacts communication_reduce = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kWhole,
    .root = CommunicationFacts::RootHas::kOutput,
};

}  // namespace hostir::interp
