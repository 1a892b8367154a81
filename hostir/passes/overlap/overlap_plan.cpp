#include "hostir/passes/overlap/overlap_plan.h"

#include <algorithm>

#include "hostir/ir/access.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/stream_order.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

class OverlapPlanner {
 public:
  OverlapPlanner(const Function& host, const std::vector<OverlapSite>& sites,
                 const std::vector<OverlapChoice>& choices)
      : in_(host),
        body_(host.region(host.body).instructions),
        sites_(sites),
        choices_(choices),
        memory_(buffers_behind(in_)) {}

  OverlapPlan run() {
    for (size_t index = 0; index < body_.size(); ++index) {
      for (const Operand& o : in_.instr(body_[index]).operands) {
        if (o.value.valid() && writes(o.access))
          writes_[memory_[o.value.index].index].push_back(index);
      }
      for (const ValueId r : in_.instr(body_[index]).results) made_[r.index] = index;
      if (in_.instr(body_[index]).kind == OpKind::alloc)
        plan_.alloc[in_.instr(body_[index]).results.front().index] = index;
    }
    for (size_t s = 0; s < sites_.size(); ++s) {
      if (choices_[s].overlap == Overlap::kNone) continue;
      const OverlapSite& site = sites_[s];
      plan_.dropped.insert(site.dropped.begin(), site.dropped.end());
      for (const ChunkedLaunch& l : site.launches) plan_.dropped.insert(l.at);
      if (site.kind != OverlapSite::Kind::kGather) {
        plan_.rewrites[site.launches.front().at].push_back({s, {0}});
        continue;
      }
      plan_.rewrites[site.at].push_back({s, {}});
      // Launches that can move up to the first one are done with it, chunk by chunk.
      std::vector<size_t> together = {0};
      const size_t first = site.launches.front().at;
      for (size_t n = 1; n < site.launches.size(); ++n) {
        if (can_move(site, site.launches[n].at, first)) {
          together.push_back(n);
          for (const ValueId w : written_by(in_, site.launches[n].at))
            plan_.moved_allocs[first].push_back(w);
        } else {
          plan_.rewrites[site.launches[n].at].push_back({s, {n}});
        }
      }
      plan_.rewrites[first].push_back({s, std::move(together)});
      if (choices_[s].overlap == Overlap::kRing && !site.is_even()) {
        for (const ChunkedLaunch& l : site.launches) {
          const std::vector<ValueId> out = written_by(in_, l.at);
          for (size_t n = 0; n < out.size(); ++n)
            plan_.padded[out[n].index] = {s, result_dim(l, n)};
        }
      }
    }
    for (const auto& [to, values] : plan_.moved_allocs) {
      for (const ValueId v : values) plan_.dropped.insert(plan_.alloc.at(v.index));
    }
    return std::move(plan_);
  }

 private:
  // True if everything that the launch reads is written before `to`, and it writes fresh buffers.
  bool can_move(const OverlapSite& site, size_t launch, size_t to) const {
    for (const ValueId r : read_by(in_, launch)) {
      const auto made = made_.find(r.index);  // a view
      if (made != made_.end() && made->second >= to) return false;
      const auto writes = writes_.find(memory_[r.index].index);
      if (r == site.whole || writes == writes_.end()) continue;
      for (const size_t w : writes->second) {
        if (w >= to && w < launch) return false;
      }
    }
    const std::vector<ValueId> written = written_by(in_, launch);
    return std::all_of(written.begin(), written.end(), [&](ValueId w) {
      return plan_.alloc.count(w.index) != 0 &&
             writes_.at(memory_[w.index].index).front() == launch;
    });
  }

  const Function& in_;
  const std::vector<InstrId>& body_;
  const std::vector<OverlapSite>& sites_;
  const std::vector<OverlapChoice>& choices_;
  const std::vector<ValueId> memory_;               // by value: the buffer behind it
  std::map<uint32_t, size_t> made_;                 // by value: where the body defines it
  std::map<uint32_t, std::vector<size_t>> writes_;  // by buffer: indices in the body
  OverlapPlan plan_;
};

}  // namespace

OverlapPlan plan_overlap(const Function& host, const std::vector<OverlapSite>& sites,
                         const std::vector<OverlapChoice>& choices) {
  return OverlapPlanner(host, sites, choices).run();
}

std::vector<ValueId> read_by(const Function& host, size_t launch) {
  const Instruction& i = host.instr(host.region(host.body).instructions[launch]);
  return operands_in_slot(i, slot_index(OpKind::launch, "reads"));
}

std::vector<ValueId> written_by(const Function& host, size_t launch) {
  const Instruction& i = host.instr(host.region(host.body).instructions[launch]);
  return operands_in_slot(i, slot_index(OpKind::launch, "writes"));
}

ValueId returned(const ChunkedLaunch& launch, size_t result) {
  return launch.kernel->instr(body_of(*launch.kernel).back()).operands[result].value;
}

size_t result_dim(const ChunkedLaunch& launch, size_t result) {
  return *launch.rows.dims[returned(launch, result).index];
}

IndexExpr expr_of(IndexExpr::Kind kind, IndexExpr a, IndexExpr b) {
  return IndexExpr::binary(kind, std::move(a), std::move(b)).simplified();
}

int64_t member_count(const OverlapSite& site) { return static_cast<int64_t>(site.sizes.size()); }

IndexExpr member_before(const OverlapSite& site, int64_t t) {
  const int64_t n = member_count(site);
  return expr_of(IndexExpr::Kind::kMod,
                 expr_of(IndexExpr::Kind::kAdd, site.position, (n - t % n) % n), n);
}

std::pair<IndexExpr, IndexExpr> block_of(const OverlapSite& site, const IndexExpr& member) {
  using Kind = IndexExpr::Kind;
  if (site.is_cut_once()) {
    const IndexExpr begin = expr_of(Kind::kMul, member, site.largest());
    return {expr_of(Kind::kMin, begin, site.rows),
            expr_of(Kind::kMin, expr_of(Kind::kAdd, begin, site.largest()), site.rows)};
  }
  // Selects value(member): the first value, plus each difference between neighbours up to `member`.
  const auto own = [&](const auto& value) {
    IndexExpr out = value(size_t{0});
    for (size_t m = 1; m < site.sizes.size(); ++m) {
      const IndexExpr counts = expr_of(Kind::kGe, member, static_cast<int64_t>(m));
      out = expr_of(Kind::kAdd, out, expr_of(Kind::kMul, counts, value(m) - value(m - 1)));
    }
    return out;
  };
  return {own([&](size_t m) { return site.starts[m]; }),
          own([&](size_t m) { return site.starts[m] + site.sizes[m]; })};
}

IndexExpr window(const OverlapSite& site, const IndexExpr& member) {
  const IndexExpr start = expr_of(IndexExpr::Kind::kMul, member, site.largest());
  if (site.kind == OverlapSite::Kind::kGather || site.is_even()) return start;
  return expr_of(IndexExpr::Kind::kMin, site.is_cut_once() ? start : block_of(site, member).first,
                 site.rows - site.largest());
}

}  // namespace hostir
