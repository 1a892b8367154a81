#include "interp/session/prepare/run_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/communication_facts.h"

namespace hostir::interp {

RunSummary::RunSummary(const Code& code, TraceSink* next)
    : ForwardingSink(next),
      code_(code),
      communicates_(code.instructions.size()),
      by_rank_(static_cast<size_t>(code.rank_count)) {
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    communicates_[i] = record(code.instructions[i].kind).op_class == OpClass::kCommunication;
  }
}

void RunSummary::issued(const IssuedRecord& r) {
  ForwardingSink::issued(r);
  finished_ns_ = std::max(finished_ns_, r.host_end_ns);
  if (!communicates_[r.code]) return;
  std::vector<Use>& uses = by_rank_[static_cast<size_t>(r.rank)];
  if (uses.empty()) uses.resize(code_.instructions.size());
  uses[r.code].count += 1;
  uses[r.code].bytes = std::max(uses[r.code].bytes, r.bytes);
  if (uses[r.code].count > 1) return;
  add_once(order_, r.code);
}

void RunSummary::finished(const FinishedRecord& r) {
  finished_ns_ = std::max(finished_ns_, r.finished_ns);
  ForwardingSink::finished(r);
}

std::string describe_axes(const Communicator& comm) {
  if (comm.groups.empty() || !comm.axes.empty()) {
    std::string out = "{";
    for (size_t i = 0; i < comm.axes.size(); ++i)
      out += (i == 0 ? "" : ", ") + comm.axes[i].to_string();
    return out + "}";
  }
  std::string out = "groups [";
  for (size_t g = 0; g < comm.groups.size(); ++g) {
    out += g == 0 ? "[" : ", [";
    for (size_t i = 0; i < comm.groups[g].size(); ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ", ", comm.groups[g][i]);
    out += "]";
  }
  return out + "]";
}

std::vector<std::vector<CodeIndex>> RunSummary::calls() const {
  using Alike = std::tuple<CodeIndex, OpKind, CommIndex, std::optional<Reduction>>;
  std::vector<std::vector<CodeIndex>> out;
  std::map<Alike, size_t> at;
  for (const CodeIndex code : order_) {
    const CodeInstruction& i = code_.instructions[code];
    if (i.group != kNoCode && !communication_facts(i.kind)->point_to_point) {
      std::optional<Reduction> reduction;
      if (const auto* r = code_.source(code).attributes.get<Reduction>("reduction")) reduction = *r;
      const auto [call, is_new] = at.try_emplace({i.group, i.kind, i.comm, reduction}, out.size());
      if (!is_new) {
        out[call->second].push_back(code);
        continue;
      }
    }
    out.push_back({code});
  }
  return out;
}

std::vector<CollectiveCount> RunSummary::collectives() const {
  std::vector<CollectiveCount> out;
  std::vector<std::vector<int64_t>> counts;  // [line][rank]
  for (const std::vector<CodeIndex>& call : calls()) {
    const CodeIndex code = call.front();
    CollectiveCount line;
    line.tensors = static_cast<int64_t>(call.size());
    const CodeInstruction& instruction = code_.instructions[code];
    line.kind = record(instruction.kind).mnemonic;
    if (const auto* reduction = code_.source(code).attributes.get<Reduction>("reduction"))
      line.reduction = *reduction;
    line.over = describe_axes(code_.communicators[instruction.comm]);
    for (const std::vector<Use>& uses : by_rank_) {
      int64_t bytes = 0;
      for (const CodeIndex member : call) bytes += uses.empty() ? 0 : uses[member].bytes;
      line.bytes = std::max(line.bytes, bytes);
    }
    const auto same = std::find_if(out.begin(), out.end(), [&](const CollectiveCount& c) {
      return c.kind == line.kind && c.reduction == line.reduction && c.over == line.over &&
             c.bytes == line.bytes && c.tensors == line.tensors;
    });
    const auto at = static_cast<size_t>(same - out.begin());
    if (same == out.end()) {
      out.push_back(std::move(line));
      counts.emplace_back(by_rank_.size(), 0);
    }
    // Count per rank: a rank does not execute every branch of a `where`.
    for (size_t r = 0; r < by_rank_.size(); ++r) {
      if (!by_rank_[r].empty()) counts[at][r] += by_rank_[r][code].count;
      out[at].count = std::max(out[at].count, counts[at][r]);
    }
  }
  return out;
}

}  // namespace hostir::interp
