#include "interp/diagnose/charges/disagreement.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/charges/blocks.h"

namespace hostir::diagnose {

using model::Call;
using model::Meeting;
using model::Member;
using model::Run;

namespace {

using Members = std::vector<const Member*>;

Members came(const Meeting& meeting) {
  Members out;
  for (const Member& member : meeting.members) {
    if (member.arrived()) out.push_back(&member);
  }
  std::sort(out.begin(), out.end(),
            [](const Member* a, const Member* b) { return a->rank < b->rank; });
  return out;
}

// Splits by the largest class of `alike`; `odd` stays empty if that is not a majority.
template <class Alike>
void split(Disagreement& found, const Alike& alike) {
  std::vector<Members> classes;
  for (const Member* member : found.members) {
    const auto at = std::find_if(classes.begin(), classes.end(),
                                 [&](const Members& c) { return alike(*c.front(), *member); });
    if (at == classes.end()) {
      classes.push_back({member});
    } else {
      at->push_back(member);
    }
  }
  const auto largest =
      std::max_element(classes.begin(), classes.end(),
                       [](const Members& a, const Members& b) { return a.size() < b.size(); });
  found.expected = *largest;
  if (2 * largest->size() <= found.members.size()) return;
  for (const Members& c : classes) {
    if (&c != &*largest) found.odd.insert(found.odd.end(), c.begin(), c.end());
  }
}

// One member for each different call, as same_call() distinguishes them. It is enough to compare
// these in pairs: most meetings have only one.
Members distinct(const Members& members) {
  const auto facts = [](const Call& c) {
    return std::tie(c.kind, c.name, c.reduction, c.dtype, c.root, c.total_elems, c.row_elems,
                    c.local_elems, c.pairs, c.fingerprint);
  };
  Members out;
  for (const Member* member : members) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Member* other) {
      return facts(other->call) == facts(member->call);
    });
    if (!known) out.push_back(member);
  }
  return out;
}

// In some sources only the root records that it is the root: two members that claim it are the two
// sides.
bool only_roots(const Members& members, const Members& different, Members& roots) {
  for (const Member* a : members) {
    if (a->call.root) roots.push_back(a);
  }
  for (const Member* a : different) {
    for (const Member* b : different) {
      Call one = a->call;
      one.root = b->call.root;
      if (!same_call(one, b->call)) return false;
    }
  }
  return roots.size() < members.size();
}

std::optional<Disagreement> of_calls(const Meeting& meeting, const Members& members) {
  const Members different = distinct(members);
  const bool all_alike = std::all_of(different.begin(), different.end(), [&](const Member* a) {
    return std::all_of(different.begin(), different.end(),
                       [&](const Member* b) { return same_call(a->call, b->call); });
  });
  if (all_alike) return std::nullopt;
  Disagreement found;
  found.meeting = &meeting;
  found.members = members;
  Members roots;
  if (only_roots(members, different, roots)) {
    found.members = roots;
    found.expected = {roots.back()};
    return found;
  }
  split(found, [](const Member& a, const Member& b) { return same_call(a.call, b.call); });
  return found;
}

// The number that one member sends must be the number that the other expects. The odd member is the
// one in every mismatched pair.
std::optional<Disagreement> of_blocks(const Meeting& meeting) {
  const std::vector<BlockPair> wrong = unequal_blocks(meeting);
  if (wrong.empty()) return std::nullopt;
  Disagreement found;
  found.meeting = &meeting;
  found.blocks = true;
  if (const auto odd = in_every_pair(wrong)) found.odd = {&meeting.members[*odd]};
  for (const auto& [from, to] : wrong) {
    for (const size_t side : {from, to}) insert_once(found.members, &meeting.members[side]);
  }
  std::sort(found.members.begin(), found.members.end(),
            [](const Member* a, const Member* b) { return a->rank < b->rank; });
  for (const Member* member : found.members) {
    if (found.odd.empty() || member != found.odd.front()) found.expected.push_back(member);
  }
  return found;
}

// Without block sizes: the totals sent and received must be equal.
std::optional<Disagreement> of_totals(const Meeting& meeting, const Members& members) {
  int64_t sent = 0;
  int64_t received = 0;
  for (const Member* member : members) {
    const auto in = total_elements(member->call.inputs);
    const auto out = total_elements(member->call.outputs);
    if (member->call.kind != OpKind::all_to_all || !in || !out || member->call.inputs.empty() ||
        member->call.outputs.empty())
      return std::nullopt;
    sent += *in;
    received += *out;
  }
  if (sent == received) return std::nullopt;
  Disagreement found;
  found.meeting = &meeting;
  found.blocks = true;
  found.members = members;
  split(found, [](const Member& a, const Member& b) {
    return total_elements(a.call.inputs) == total_elements(b.call.inputs) &&
           total_elements(a.call.outputs) == total_elements(b.call.outputs);
  });
  return found;
}

std::optional<Disagreement> of_pair(const model::SendRecv& pair) {
  if (!sides_differ(pair)) return std::nullopt;
  Disagreement found;
  found.pair = &pair;
  found.members = {&pair.send, &pair.recv};
  found.expected = {&pair.recv};
  return found;
}

uint64_t first_order(const Disagreement& found) {
  uint64_t first = UINT64_MAX;
  for (const Member* member : found.members) {
    first = std::min(first, member->order.value_or(UINT64_MAX));
  }
  return first;
}

}  // namespace

bool sides_differ(const model::SendRecv& pair) {
  if (!pair.send.arrived() || !pair.recv.arrived()) return false;
  const Call& send = pair.send.call;
  const Call& recv = pair.recv.call;
  const bool dtypes = !send.dtype || !recv.dtype || *send.dtype == *recv.dtype;
  const bool sizes =
      !send.total_elems || !recv.total_elems || *send.total_elems == *recv.total_elems;
  return !dtypes || !sizes;
}

const Member* Disagreement::member(model::Rank rank) const {
  const auto at = std::find_if(members.begin(), members.end(),
                               [&](const Member* m) { return m->rank == rank; });
  return at == members.end() ? nullptr : *at;
}

std::vector<Disagreement> first_disagreements(const Run& run) {
  std::map<model::CommunicatorId, Disagreement> first;
  const auto keep = [&](std::optional<Disagreement> found) {
    if (!found) return;
    const auto [at, added] = first.try_emplace(found->communicator(), *found);
    if (!added && first_order(*found) < first_order(at->second)) at->second = std::move(*found);
  };
  for (const Meeting& meeting : run.meetings) {
    const Members members = came(meeting);
    if (members.size() < 2) continue;
    const bool all = members.size() == meeting.members.size();
    auto found = of_calls(meeting, members);
    if (!found) found = of_blocks(meeting);
    if (!found && all) found = of_totals(meeting, members);
    keep(std::move(found));
  }
  for (const model::SendRecv& pair : run.pairs) keep(of_pair(pair));
  std::vector<Disagreement> out;
  for (auto& [communicator, found] : first) out.push_back(std::move(found));
  std::stable_sort(out.begin(), out.end(), [](const Disagreement& a, const Disagreement& b) {
    return first_order(a) < first_order(b);
  });
  return out;
}

}  // namespace hostir::diagnose
