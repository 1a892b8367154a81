// The wording of verdicts: names of the entities in a run, and sentences about a wait graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/diagnose/engine/queues.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

/// `@f#9 all_reduce`; the run's entry function if the instruction is unknown; may be empty.
std::string instruction_name(const model::Run& run, model::InstructionId id);
/// ` at @f#9`; empty if the place is unknown.
std::string at_place(const model::Run& run, model::InstructionId id);
/// `comm over {tp}`; the name or number if there is no description.
std::string communicator_name(const model::Run& run, model::CommunicatorId id);
/// `stream comm`, `on default_pg`.
std::string queue_name(const model::Run& run, const model::WaitNode& node);
/// `all_reduce`, `barrier`.
std::string kind_name(const model::Call& call);
/// `all_reduce seq 0`, `send to rank 1 number 0`.
std::string name_of(const MemberRef& ref);

/// Indices into `graph.edges`, by source node.
std::vector<std::vector<uint32_t>> edges_by_node(const model::WaitGraph& graph);

/// One clause per meeting at which a culprit has not arrived, or at which some rank may not have
/// arrived, in order of the edges; empty if there is none.
std::string blame_sentence(const model::Run& run, const model::WaitGraph& graph);
/// The ranks of the cycle in order; see circle_text().
std::string cycle_sentence(const model::Run& run, const model::WaitGraph& graph);

}  // namespace hostir::diagnose
