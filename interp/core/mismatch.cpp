// The sentence of a collective mismatch: a strict majority is "expected"; without one both sides
// are named in rank order and neither is blamed (LANGUAGE section 6).

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"
#include "interp/core/wait_graph.h"

namespace hostir::interp {

namespace {

struct Side {
  std::string text;
  std::vector<Rank> ranks;  // ascending
};

// What is not in the usual description, for sides that would read alike.
std::string details(const Arrival& a) {
  std::string out;
  if (a.total_elems >= 0) out += fmt::format(" of {} elements in all", a.total_elems);
  if (a.row_elems >= 0) out += fmt::format(" in rows of {}", a.row_elems);
  return out;
}

}  // namespace

// `all_reduce sum f32[4]`, `broadcast f32[2,3] root 1`
std::string Engine::describe(const Arrival& a) const {
  const OpRecord& op = record(a.kind);
  std::string out(op.mnemonic);
  for (const AttributeSpec& attribute : op.attributes) {
    if (attribute.type == AttributeSpec::Type::kReduction) {
      out += " " + std::string(hostir::name(a.reduction));
    }
  }
  out += " " + std::string(hostir::name(a.dtype)) + "[";
  if (a.placement != nullptr) {
    const Extents local = a.placement->local();
    for (size_t d = 0; d < local.size(); ++d) {
      out += (d ? "," : "") + std::to_string(local[d]);
    }
  }
  out += "]";
  if (a.root >= 0) out += fmt::format(" root {}", a.root);
  return out;
}

void Engine::add_member_notes(Fault& fault, Rank rank, const Arrival& arrival) const {
  fault.record.ranks.push_back(rank);
  fault.record.instructions.push_back(code->address(arrival.code));
  fault.record.notes.push_back(note_line(rank, arrival.code, arrival.loop_path) + ": " +
                               describe(arrival));
  fault.spans.push_back(code->source(arrival.code).span);
}

// ` (at @f#7, @f#10)`: every instruction once, in the order of the ranks.
void Engine::name_instructions(Fault& fault) {
  std::vector<std::string> seen;
  for (const std::string& address : fault.record.instructions) {
    if (std::find(seen.begin(), seen.end(), address) != seen.end()) continue;
    fault.record.sentence += (seen.empty() ? " (at " : ", ") + address;
    seen.push_back(address);
  }
  if (!seen.empty()) fault.record.sentence += ")";
}

bool Engine::report_mismatch(CommIndex comm, int32_t group_index, uint64_t sequence) {
  const Communicator& c = code->communicators[comm];
  const auto& members = c.groups[static_cast<size_t>(group_index)];
  const GroupLedger& group = state.ledger.group(comm, group_index);
  std::vector<std::pair<Rank, const Arrival*>> by_rank;
  for (uint32_t p = 0; p < group.members(); ++p) {
    if (group.arrival(sequence, p).arrived) {
      by_rank.emplace_back(members[p], &group.arrival(sequence, p));
    }
  }
  std::sort(by_rank.begin(), by_rank.end());
  std::vector<Side> sides;
  std::vector<uint64_t> prints;
  bool alike = false;
  const auto collect = [&](bool with_details) {
    sides.clear();
    prints.clear();
    alike = false;
    for (const auto& [rank, arrival] : by_rank) {
      const auto at = std::find(prints.begin(), prints.end(), arrival->fingerprint);
      if (at != prints.end()) {
        sides[static_cast<size_t>(at - prints.begin())].ranks.push_back(rank);
        continue;
      }
      const std::string text = describe(*arrival) + (with_details ? details(*arrival) : "");
      for (const Side& s : sides) alike |= s.text == text;
      prints.push_back(arrival->fingerprint);
      sides.push_back({text, {rank}});
    }
  };
  collect(false);
  if (alike) collect(true);
  const Side* expected = nullptr;
  for (const Side& s : sides) {
    if (2 * s.ranks.size() > members.size()) expected = &s;
  }
  Fault fault;
  fault.kind = ErrorKind::kStuck;
  fault.record.kind = "collective_mismatch";
  std::string text = fmt::format("{} seq {}: ", c.to_string(), sequence);
  bool first = true;
  for (const Side& s : sides) {
    if (&s == expected) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", list_of(s.ranks), s.text);
    first = false;
  }
  if (expected != nullptr) {
    text += fmt::format(", expected {} as on {}", expected->text, list_of(expected->ranks));
  }
  fault.record.sentence = std::move(text);
  for (const auto& [rank, arrival] : by_rank) add_member_notes(fault, rank, *arrival);
  if (expected != nullptr) {
    const auto at = std::find_if(by_rank.begin(), by_rank.end(), [&](const auto& member) {
      return std::find(expected->ranks.begin(), expected->ranks.end(), member.first) ==
             expected->ranks.end();
    });
    fault.culprit = static_cast<size_t>(at - by_rank.begin());
  }
  name_instructions(fault);
  record_fault(std::move(fault));
  return false;
}

bool Engine::report_pending_mismatches() {
  for (CommIndex comm = 0; comm < code->communicators.size(); ++comm) {
    const auto groups = static_cast<int32_t>(code->communicators[comm].groups.size());
    for (int32_t g = 0; g < groups; ++g) {
      const GroupLedger& group = state.ledger.group(comm, g);
      for (uint64_t s = group.first(); s < group.end(); ++s) {
        if (group.head(s).mismatch) return report_mismatch(comm, g, s);
      }
    }
  }
  return true;
}

}  // namespace hostir::interp
