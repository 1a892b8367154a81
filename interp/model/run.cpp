#include "interp/model/run.h"

#include <algorithm>

namespace hostir::model {

namespace {

// A field that only one of the two has is not compared.
template <class T>
bool fits(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}

bool same_kind(const Call& a, const Call& b) {
  if (a.kind && b.kind) return a.kind == b.kind;
  if (a.kind || b.kind) return false;
  return a.name.empty() || b.name.empty() || a.name == b.name;
}

}  // namespace

bool agree(const Call& a, const Call& b) {
  if (a.fingerprint && b.fingerprint) {
    if (*a.fingerprint == *b.fingerprint) return true;
    const auto whole = [](const Call& c) { return c.total_elems && c.row_elems; };
    if (whole(a) && whole(b)) return false;
  }
  return same_kind(a, b) && fits(a.reduction, b.reduction) && fits(a.dtype, b.dtype) &&
         fits(a.root, b.root) && fits(a.total_elems, b.total_elems) &&
         fits(a.row_elems, b.row_elems) && fits(a.pairs, b.pairs);
}

bool states_same(const Call& a, const Call& b) {
  if (a.fingerprint && b.fingerprint) return *a.fingerprint == *b.fingerprint;
  return a.kind == b.kind && (a.kind || a.name == b.name) && a.reduction == b.reduction &&
         a.dtype == b.dtype && a.root == b.root && a.total_elems == b.total_elems &&
         a.row_elems == b.row_elems && a.pairs == b.pairs;
}

const Member* Meeting::member(Rank rank) const {
  // The ranks of most groups are evenly spaced.
  if (members.size() > 1 && members[0].rank != members[1].rank) {
    const Rank step = members[1].rank - members[0].rank;
    const auto at = static_cast<size_t>((rank - members[0].rank) / step);
    if (at < members.size() && members[at].rank == rank) return &members[at];
  }
  const auto at =
      std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.rank == rank; });
  return at == members.end() ? nullptr : &*at;
}

const Task* Run::task(TaskId id) const {
  const auto at = std::lower_bound(tasks.begin(), tasks.end(), id,
                                   [](const Task& t, TaskId wanted) { return t.id < wanted; });
  return at != tasks.end() && at->id == id ? &*at : nullptr;
}

const CallRange* Run::range(Rank rank, CommunicatorId communicator) const {
  const auto key = std::pair(rank, communicator);
  const auto at = std::lower_bound(
      ranges.begin(), ranges.end(), key,
      [](const CallRange& r, const auto& k) { return std::pair(r.rank, r.communicator) < k; });
  return at != ranges.end() && std::pair(at->rank, at->communicator) == key ? &*at : nullptr;
}

const Meeting* Run::meeting(CommunicatorId communicator, uint64_t sequence) const {
  const auto key = std::pair(communicator, sequence);
  const auto at = std::lower_bound(
      meetings.begin(), meetings.end(), key,
      [](const Meeting& m, const auto& k) { return std::pair(m.communicator, m.sequence) < k; });
  return at != meetings.end() && std::pair(at->communicator, at->sequence) == key ? &*at : nullptr;
}

}  // namespace hostir::model
