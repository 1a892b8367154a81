#include "interp/core/communication_facts.h"

namespace hostir::interp {

extern const CommunicationFacts communication_all_to_all;
const CommunicationFacts communication_all_to_all = {
    .in = CommunicationFacts::Part::kBlocks,
    .out = CommunicationFacts::Part::kBlocks,
};

}  // namespace hostir::interp
