#include "interp/core/engine.h"

namespace hostir::interp {

extern const CommunicationFacts communication_gather;
const CommunicationFacts communication_gather = {
    .in = CommunicationFacts::Part::kBlock,
    .out = CommunicationFacts::Part::kWhole,
    .root = CommunicationFacts::RootHas::kOutput,
};

}  // namespace hostir::interp
