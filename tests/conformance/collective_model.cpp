#include "collective_model.h"

#include <algorithm>

namespace hostir::conformance {

namespace {

Numbers slice(const Numbers& from, Rows rows) {
  return {from.begin() + rows.lo * kColumns, from.begin() + rows.hi * kColumns};
}

void put(Numbers& to, int64_t row, const Numbers& what) {
  std::copy(what.begin(), what.end(), to.begin() + row * kColumns);
}

double combine(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kAvg:
      return a + b;
    case Reduction::kProd:
      return a * b;
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kMax:
      return std::max(a, b);
  }
  return a;
}

Numbers folded(Reduction reduction, const std::vector<Numbers>& inputs) {
  Numbers out = inputs.front();
  for (size_t k = 1; k < inputs.size(); ++k) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = combine(reduction, out[i], inputs[k][i]);
  }
  if (reduction == Reduction::kAvg) {
    for (double& v : out) v /= static_cast<double>(inputs.size());
  }
  return out;
}

}  // namespace

Rows block_of(int64_t rows, int64_t members, int64_t at) {
  const int64_t c = (rows + members - 1) / members;
  return {std::min(rows, at * c), std::min(rows, (at + 1) * c)};
}

void apply(const CollectiveModel& model, int64_t rows, std::vector<RankBuffers*> members) {
  const auto n = static_cast<int64_t>(members.size());
  const auto block = [&](size_t at) { return block_of(rows, n, static_cast<int64_t>(at)); };
  const auto root = static_cast<size_t>(model.root);
  std::vector<Numbers> in;
  for (const RankBuffers* m : members) in.push_back(m->x);
  const auto out = [&](size_t at) -> Numbers& {
    return model.in_place ? members[at]->x : members[at]->y;
  };
  std::vector<int64_t> filled(members.size(), 0);  // rows of the all_to_all received so far
  for (size_t i = 0; i < members.size(); ++i) {
    if (model.op == "all_reduce") {
      out(i) = folded(model.reduction, in);
    } else if (model.op == "reduce") {
      if (i == root) out(i) = folded(model.reduction, in);
    } else if (model.op == "broadcast") {
      out(i) = in[root];
    } else if (model.op == "all_gather" || (model.op == "gather" && i == root)) {
      for (size_t k = 0; k < in.size(); ++k) put(out(i), block(k).lo, slice(in[k], block(k)));
    } else if (model.op == "reduce_scatter") {
      put(out(i), block(i).lo, slice(folded(model.reduction, in), block(i)));
    } else if (model.op == "scatter") {
      put(out(i), block(i).lo, slice(in[root], block(i)));
    } else if (model.op == "permute") {
      std::fill(out(i).begin(), out(i).end(), 0.0);
    }
  }
  for (const auto& [source, target] : model.pairs) {
    out(static_cast<size_t>(target)) = in[static_cast<size_t>(source)];
  }
  for (size_t from = 0; from < model.sent_rows.size(); ++from) {
    int64_t row = 0;
    for (size_t to = 0; to < members.size(); ++to) {
      const int64_t count = model.sent_rows[from][to];
      put(out(to), filled[to], slice(in[from], {row, row + count}));
      row += count;
      filled[to] += count;
    }
  }
}

}  // namespace hostir::conformance
