// Communication with per-member counts: all_to_all and permute.

#include <fmt/format.h>

#include "interp/core/engine/communication_counts.h"

namespace hostir::interp {

// Converts the count of `rank` from rows to elements and appends it. False if it raised a fault.
bool CommunicationResolver::append_rows(const Step& step, Rank rank, int64_t rows,
                                        int64_t row_elems, std::vector<int64_t>& counts) {
  int64_t elements = 0;
  if (__builtin_mul_overflow(rows, row_elems, &elements)) {
    return faults_.fault(
        step, "index_error",
        fmt::format("rank {}: {} counts {} rows of {} elements, which overflows 64 bits", rank,
                    faults_.name_of(step), rows, row_elems));
  }
  counts.push_back(elements);
  return true;
}

// permute: sets how much this member sends to its target and receives from its source. Only these
// two pairs must agree.
void CommunicationResolver::resolve_routes(ResolvedCall& out, const Placement* in,
                                           const Placement* to) {
  Arrival& arrival = out.arrival;
  arrival.sends.assign(out.item.members.size(), 0);
  arrival.receives.assign(out.item.members.size(), 0);
  for (const auto& [source, target] : out.item.pairs) {
    if (source == out.item.position) {
      arrival.sends[static_cast<size_t>(target)] = in->box.volume();
    }
    if (target == out.item.position) {
      arrival.receives[static_cast<size_t>(source)] = to->box.volume();
    }
  }
  arrival.total_elems = -1;
  arrival.local_elems = in != nullptr ? in->box.volume() : 0;
}

// all_to_all: sets how much this member sends to and receives from each member. The numbers come
// from `counts` and `receives` (in rows), else from the layouts' blocks, else from equal parts.
bool CommunicationResolver::resolve_blocks(Step& step, ResolvedCall& out, const Placement* in,
                                           const Placement* to) {
  CommunicationItem& item = out.item;
  const size_t n = item.members.size();
  std::vector<int64_t> sends;
  std::vector<int64_t> receives;
  const auto from_rows = [&](const std::vector<IndexCodeId>& exprs, const Placement& p,
                             std::vector<int64_t>& counts) {
    for (const IndexCodeId e : exprs) {
      int64_t rows = 0;
      if (!operands_.evaluate(step, e, rows)) return false;
      if (!append_rows(step, step.rank, rows, row_elems(p), counts)) return false;
    }
    return true;
  };
  const auto from_layout = [&](const Placement& p, std::vector<int64_t>& counts) {
    if (p.blocks.size() == n) {
      for (const Box& b : p.blocks) counts.push_back(b.volume());
    } else {
      counts = cut_counts(p.box.volume(), row_elems(p), n);
    }
  };
  if (step.code.exprs.empty()) {
    from_layout(*in, sends);
  } else if (!from_rows(step.code.exprs, *in, sends)) {
    return false;
  }
  if (!step.code.more_exprs.empty()) {
    if (!from_rows(step.code.more_exprs, *to, receives)) return false;
  } else if (step.code.exprs.empty()) {
    from_layout(*to, receives);
  } else if (!receives_of(step, item, *to, receives)) {
    return false;
  }
  // Checks before keep() adds the counts up, because the sum of counts that do not fit can
  // overflow.
  const auto fits = [n](const std::vector<int64_t>& counts, const Placement& p) {
    if (counts.size() != n) return false;
    int64_t left = p.box.volume();
    for (const int64_t count : counts) {
      if (count < 0) return true;  // check_counts_not_negative() reports it
      if (count > left) return false;
      left -= count;
    }
    return true;
  };
  const auto refuse = [&](std::string_view what, const std::vector<int64_t>& counts,
                          std::string_view side, const Placement& p) {
    const bool derived =
        what == "receives" && !step.code.exprs.empty() && step.code.more_exprs.empty();
    return faults_.fault(
        step, "collective_mismatch",
        fmt::format("rank {}: {} {} [{}] elements, its {} has {} for {} members{}", step.rank,
                    faults_.name_of(step), what, fmt::join(counts, ", "), side, p.box.volume(), n,
                    derived
                        ? "; without receives(..) every member is assumed to send by the counts of "
                          "this instruction: give the rows from each member in receives(..) if "
                          "members send by other instructions"
                        : ""));
  };
  if (!fits(sends, *in)) return refuse("sends", sends, "input", *in);
  if (!fits(receives, *to)) return refuse("receives", receives, "output", *to);
  item.send_counts = member_counts_.keep(std::move(sends));
  item.recv_counts = member_counts_.keep(std::move(receives));
  if (!check_counts_not_negative(step, item)) return false;
  out.arrival.sends = item.send_counts.list();
  out.arrival.receives = item.recv_counts.list();
  out.arrival.local_elems = item.send_counts.total();
  out.arrival.total_elems = -1;
  return true;
}

// A negative count is reported as a fault of the rank that gave it, even if another rank detects
// it.
bool CommunicationResolver::check_counts_not_negative(const Step& step,
                                                      const CommunicationItem& item) {
  const bool derived = step.code.more_exprs.empty();
  for (size_t m = 0; m < item.members.size(); ++m) {
    for (const auto* counts : {&item.send_counts, &item.recv_counts}) {
      if (m >= counts->size() || (*counts)[m] >= 0) continue;
      const bool receives = counts == &item.recv_counts;
      if (receives && derived) {
        return faults_.fault(
            step, "index_error",
            fmt::format("rank {}: the counts of {} send {} elements to rank {}", item.members[m],
                        faults_.name_of(step), (*counts)[m], step.rank));
      }
      return faults_.fault(step, "index_error",
                           fmt::format("rank {}: {} {} {} elements {} rank {}", step.rank,
                                       faults_.name_of(step), receives ? "receives" : "sends",
                                       (*counts)[m], receives ? "from" : "to", item.members[m]));
    }
  }
  return true;
}

// `counts` without `receives`: what member m sends to this position if the counts depend only on
// the rank; otherwise what the output's layout says.
bool CommunicationResolver::receives_of(Step& step, const CommunicationItem& item,
                                        const Placement& to, std::vector<int64_t>& counts) {
  const IndexCodeId own = step.code.exprs[static_cast<size_t>(item.position)];
  if (!run_.code->exprs[own].is_static()) {
    if (to.blocks.size() != item.members.size()) {
      counts = cut_counts(to.box.volume(), row_elems(to), item.members.size());
    }
    for (const Box& b : to.blocks) counts.push_back(b.volume());
    return true;
  }
  for (const Rank m : item.members) {
    int64_t rows = 0;
    if (!run_.code->exprs[own].evaluate(nullptr, run_.code->rank_tables, m, rows)) {
      return faults_.fault(step, "index_error",
                           fmt::format("rank {}: the counts of {} cannot be evaluated", step.rank,
                                       faults_.name_of(step)));
    }
    if (!append_rows(step, m, rows, row_elems(to), counts)) return false;
  }
  return true;
}

}  // namespace hostir::interp
