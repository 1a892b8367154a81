#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_permute;
const CommunicationFacts communication_permute = {
    .in = CommunicationFacts::Part::kFree,
    .out = CommunicationFacts::Part::kFree,
};

}  // namespace hostir::interp
