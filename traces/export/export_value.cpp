#include "traces/export/export_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hostir/text/parse/parser.h"
#include "interp/session/values/assemble.h"
#include "traces/replay/replay.h"

namespace hostir::traces {

namespace {

// Any value of the program that is cut like this; null if there is none.
const Sharding* find_sharding(const Program& program, const std::string& text) {
  for (const Function& f : program.functions) {
    for (const Value& v : f.values) {
      const Sharding* s = sharding_of(v.type);
      if (s != nullptr && s->to_string() == text) return s;
    }
  }
  return nullptr;
}

tl::unexpected<Error> no_data(const std::string& what, const std::string& name) {
  return fail(ErrorKind::kRuntime, "log_no_data",
              fmt::format("{}; record the run with --trace-values data={}", what, name));
}

Expected<ExportedValue> whole(const LogReader& log, const std::string& name,
                              const std::vector<interp::LogValue>& writes) {
  // A buffer has another layout after an all_reduce in place: the last one counts.
  const auto last = std::find_if(writes.rbegin(), writes.rend(),
                                 [](const interp::LogValue& w) { return w.has_data; });
  const auto& tensors = log.tensors();
  const auto tensor = std::find_if(tensors.begin(), tensors.end(),
                                   [&](const auto& t) { return t.id == last->tensor; });
  std::map<interp::Rank, const interp::LogValue*> latest;
  for (const interp::LogValue& w : writes) {
    if (w.tensor == tensor->id && w.has_data) latest[w.rank] = &w;
  }
  std::map<interp::Rank, Tensor> parts;
  for (const auto& [rank, w] : latest) {
    HOSTIR_ASSIGN_OR_RETURN(parts[rank], log.contents({w->event, w->row, w->rank}));
  }
  std::vector<interp::ShardData> shards;
  for (size_t r = 0; r < tensor->boxes.size(); ++r) {
    const auto part = parts.find(static_cast<interp::Rank>(r));
    shards.push_back({static_cast<interp::Rank>(r), tensor->boxes[r],
                      part != parts.end() ? &part->second : nullptr});
  }
  ShardType type;
  type.dtype = tensor->dtype;
  type.shape.assign(tensor->extents.begin(), tensor->extents.end());
  const auto program = text::parse_program(log.tables().program);
  const Sharding* sharding = program ? find_sharding(*program, tensor->sharding) : nullptr;
  const bool is_partial = tensor->sharding.find("unreduced=") != std::string::npos;
  if (sharding == nullptr && is_partial)
    return fail(ErrorKind::kRuntime, "log_no_data",
                fmt::format("%{} is unreduced as {}, and the log's program does not say so: give "
                            "--rank",
                            name, tensor->sharding));
  if (sharding != nullptr) type.sharding = *sharding;
  const interp::Assembled all = interp::assemble(
      program ? *program : Program{},
      sharding != nullptr ? Type(type) : Type(TensorType{type.dtype, type.shape, std::nullopt}),
      shards);
  if (!all.missing.empty())
    return no_data(
        fmt::format("the log has no values of %{} on {} {}", name,
                    all.missing.size() == 1 ? "rank" : "ranks", fmt::join(all.missing, ", ")),
        name);
  ExportedValue out{all.tensor, {}};
  if (all.disagreement)
    out.note =
        fmt::format("%{}: ranks {} and {} hold different values at [{}]; rank {}'s are written",
                    name, all.disagreement->first, all.disagreement->second,
                    fmt::join(all.disagreement->index, ", "), all.disagreement->first);
  return out;
}

// A parameter that nothing wrote still is what the run was given.
Expected<ExportedValue> given(const LogReader& log, size_t index,
                              std::optional<interp::Rank> rank) {
  const interp::LogInput& input = log.inputs()[index];
  if (rank) {
    return fail(
        ErrorKind::kRuntime, "log_no_data",
        fmt::format("%{} is an input, which the log has as a whole: leave out --rank", input.name));
  }
  HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, recorded_input(log, index));
  return ExportedValue{std::move(tensor), {}};
}

}  // namespace

Expected<ExportedValue> exported_value(const LogReader& log, const std::string& name,
                                       std::optional<interp::Rank> rank) {
  interp::WriteFilter filter;
  filter.value = name;
  filter.rank = rank.value_or(interp::kNoRank);
  filter.shown_only = true;
  HOSTIR_ASSIGN_OR_RETURN(const auto writes, log.writes(filter));
  const auto last = std::find_if(writes.rbegin(), writes.rend(),
                                 [](const interp::LogValue& w) { return w.has_data; });
  if (last == writes.rend()) {
    const auto& inputs = log.inputs();
    const auto input = std::ranges::find(inputs, name, &interp::LogInput::name);
    if (writes.empty() && input != inputs.end())
      return given(log, static_cast<size_t>(input - inputs.begin()), rank);
    const std::string where = rank ? fmt::format(" on rank {}", *rank) : "";
    return no_data(fmt::format("the log has {} writes of %{}{}, none with contents", writes.size(),
                               name, where),
                   name);
  }
  if (!rank) return whole(log, name, writes);
  HOSTIR_ASSIGN_OR_RETURN(Tensor part, log.contents({last->event, last->row, last->rank}));
  return ExportedValue{std::move(part), {}};
}

}  // namespace hostir::traces
