#include "interp/core/engine.h"

namespace hostir::interp {

extern const CommunicationFacts communication_reduce;
const CommunicationFacts communication_reduce = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kWhole,
    .root = CommunicationFacts::RootHas::kOutput,
};

}  // namespace hostir::interp
