#include "interp/session/checks/result_replicas.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "interp/session/values/value_watch.h"

namespace hostir::interp {
namespace {

double without_sign_of_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

// `rank 0 has it from @f#4 launch`; empty if the buffer holds an input.
std::string origin_of(const Interpreter& interpreter, Rank rank, const BufferRef& buffer) {
  const Code& code = interpreter.code();
  for (const AllocationView& a : interpreter.allocations(rank)) {
    if (a.id != buffer.allocation || a.version == 0 || a.written_by == kNoCode) continue;
    return fmt::format("rank {} has it from {} {}", rank, code.address(a.written_by),
                       record(code.source(a.written_by).kind).mnemonic);
  }
  return {};
}

}  // namespace

std::optional<ResultDifference> differing_result(const Interpreter& interpreter, size_t result) {
  const Code& code = interpreter.code();
  const ResultDecl& declared = code.functions.front()->results[result];
  const auto* shard = std::get_if<ShardType>(&declared.type);
  if (!shard || shard->sharding->is_partial()) return std::nullopt;
  struct Holder {
    Rank rank;
    BufferRef ref;
    Box box;
    Tensor part;
  };
  std::map<std::pair<Extents, Extents>, Holder> holders;  // by box
  const Mesh* mesh = code.program->find_mesh(shard->sharding->mesh);
  for (Rank r = 0; r < code.rank_count; ++r) {
    // A rank outside a sub-mesh holds nothing, but the box of a scalar cannot be empty.
    if (mesh != nullptr && !mesh->position_of(r)) continue;
    const auto buffer = interpreter.result(r, result);
    if (!buffer || !buffer->placement || buffer->placement->box.empty()) continue;
    auto part = interpreter.read_result(r, result, buffer->placement->box);
    if (!part) return std::nullopt;
    const Box& box = buffer->placement->box;
    const auto found = holders.find({box.lo, box.hi});
    if (found == holders.end()) {
      holders.emplace(std::pair(box.lo, box.hi), Holder{r, *buffer, box, std::move(*part)});
      continue;
    }
    const Holder* same = &found->second;
    const auto apart = first_difference(same->part, *part);
    if (!apart) continue;
    Fault fault;
    // A ring in which each rank starts its sum with another addend is correct.
    fault.severity = apart->rounding ? Severity::kWarning : Severity::kError;
    fault.fatal = false;
    fault.position = interpreter.position();
    fault.record.kind = "replicas_differ";
    fault.record.ranks = {same->rank, r};
    fault.record.sentence = fmt::format(
        "ranks {} and {} return the same part of %{} by its layout {}, but hold {:.9g} and {:.9g} "
        "at {}{}",
        same->rank, r, declared.name.empty() ? std::to_string(result) : declared.name,
        shard->sharding->to_string(), without_sign_of_nan(same->part.get_double(apart->element)),
        without_sign_of_nan(part->get_double(apart->element)),
        index_text(same->box.index_at(apart->element)),
        apart->rounding ? ", within rounding error (the same numbers added in another order?)"
                        : "");
    return ResultDifference{std::move(fault), same->ref, *buffer};
  }
  return std::nullopt;
}

std::optional<Fault> differing_results(const Interpreter& interpreter) {
  if (!interpreter.backend().capabilities().reads_values) return std::nullopt;
  for (size_t i = 0; i < interpreter.code().functions.front()->results.size(); ++i) {
    auto found = differing_result(interpreter, i);
    if (!found || found->fault.severity != Severity::kError) continue;
    const char* separator = ": ";
    for (const auto& [rank, buffer] : {std::pair(found->fault.record.ranks[0], &found->first),
                                       std::pair(found->fault.record.ranks[1], &found->second)}) {
      const std::string origin = origin_of(interpreter, rank, *buffer);
      if (!origin.empty()) found->fault.record.sentence += std::exchange(separator, ", ") + origin;
    }
    return std::move(found->fault);
  }
  return std::nullopt;
}

}  // namespace hostir::interp
