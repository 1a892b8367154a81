#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_all_reduce;
const CommunicationFacts communication_all_reduce = {
    .in = CommunicationFacts::Part::kWhole,
    .out = CommunicationFacts::Part::kWhole,
};

}  // namespace hostir::interp
