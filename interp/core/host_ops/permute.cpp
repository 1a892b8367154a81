#include "interp/core/engine.h"

namespace hostir::interp {

extern const CommunicationFacts communication_permute;
const CommunicationFacts communication_permute = {
    .in = CommunicationFacts::Part::kFree,
    .out = CommunicationFacts::Part::kFree,
};

}  // namespace hostir::interp
