#include "interp/sim/proof/kernel_values.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostir::sim::proof {

int64_t offset_in(const Box& box, const std::vector<int64_t>& at) {
  int64_t out = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < box.lo[d] || at[d] >= box.hi[d]) return -1;
    out = out * (box.hi[d] - box.lo[d]) + at[d] - box.lo[d];
  }
  return out;
}

bool KernelValues::is_free(StateId s) const {
  return a_.state(s).kind != State::Kind::kKnown || a_.shape(a_.state(s).form) == nullptr;
}

void KernelValues::fill(ValueId value, Token token) {
  tokens_[value.index].assign(static_cast<size_t>(placement(value).box.volume()), token);
}

void KernelValues::put(ValueId value, const Extents& shape, const Box& box, StateId state) {
  fill(value, Token::of(state, 0));
  if (is_free(state)) return;
  Tokens& out = tokens_[value.index];
  const Box whole = Box::whole(shape);
  for (size_t e = 0; e < out.size(); ++e)
    out[e] = Token::of(state, offset_in(whole, box.index_at(static_cast<int64_t>(e))));
}

Block KernelValues::block_of(ValueId value, std::string& why) const {
  const Tokens& t = tokens_[value.index];
  Block out;
  out.box = placement(value).box;
  out.is_free = true;
  if (t.empty()) return out;
  out.state = t.front().state();
  const bool one_state =
      std::all_of(t.begin(), t.end(), [&](Token x) { return x.state() == out.state; });
  const std::string name = kernel_.function->value(value).name;
  if (!one_state) {
    for (const Token x : t) {
      if (a_.state(x.state()).kind != State::Kind::kKnown) {
        out.state = x.state();
        return out;
      }
    }
    why = fmt::format("%{} of kernel @{} contains elements of several values", name,
                      kernel_.function->name);
    return out;
  }
  if (is_free(out.state)) return out;
  out.is_free = false;
  const Extents& shape = *a_.shape(a_.state(out.state).form);
  const Extents local = out.box.extents();
  if (shape.size() != local.size()) {
    why = fmt::format("%{} of kernel @{} has a different number of dimensions than {}", name,
                      kernel_.function->name, a_.describe_state(out.state));
    return out;
  }
  const Box whole = Box::whole(shape);
  out.box.lo = whole.index_at(t.front().index());
  for (size_t d = 0; d < local.size(); ++d) out.box.hi[d] = out.box.lo[d] + local[d];
  bool fits = true;
  for (size_t d = 0; d < local.size(); ++d) fits = fits && out.box.hi[d] <= shape[d];
  for (size_t e = 0; fits && e < t.size(); ++e)
    fits = t[e].index() == offset_in(whole, out.box.index_at(static_cast<int64_t>(e)));
  if (!fits) {
    why = fmt::format("the elements of %{} in kernel @{} are not a contiguous block of {}", name,
                      kernel_.function->name, a_.describe_state(out.state));
  }
  return out;
}

}  // namespace hostir::sim::proof
