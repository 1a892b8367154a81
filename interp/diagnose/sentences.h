// The words of verdicts: names of what is in a run, and the sentences about a wait graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/diagnose/queues.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

/// `@f#9 all_reduce`; the run's entry where the instruction is not known; may be empty.
std::string instruction_name(const model::Run& run, model::InstructionId id);
/// ` at @f#9`; empty where the place is not known.
std::string at_place(const model::Run& run, model::InstructionId id);
/// `comm over {tp}`; its name, or its number, where there is no description.
std::string communicator_name(const model::Run& run, model::CommunicatorId id);
/// `stream comm`, `on default_pg`.
std::string queue_name(const model::Run& run, const model::WaitNode& node);
/// `all_reduce seq 0`, `send to rank 1 number 0`.
std::string name_of(const MemberRef& ref);

/// Indices into `graph.edges`, by the node that they start at.
std::vector<std::vector<uint32_t>> edges_by_node(const model::WaitGraph& graph);

/// One clause for every meeting that a culprit has not come to, or that somebody may not have come
/// to, in order of the edges; empty: there is none.
std::string blame_sentence(const model::Run& run, const model::WaitGraph& graph);
/// Once around the cycle; of a long one the beginning.
std::string cycle_sentence(const model::Run& run, const model::WaitGraph& graph);

}  // namespace hostir::diagnose
