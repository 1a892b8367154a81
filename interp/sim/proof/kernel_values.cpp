#include "interp/sim/proof/kernel_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "interp/sim/proof/moved_values.h"

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

std::optional<Box> KernelValues::own_box(const Tokens& tokens, const Placement& place) const {
  const Extents& shape = *a_.shape(a_.state(tokens.front().state()).form);
  const Extents local = place.local();
  if (shape.size() != local.size()) return std::nullopt;
  const Box whole = Box::whole(shape);
  Box box;
  box.lo = whole.index_at(tokens.front().index());
  for (size_t d = 0; d < local.size(); ++d) box.hi.push_back(box.lo[d] + local[d]);
  if (!whole.contains(box)) return std::nullopt;
  for (size_t e = 0; e < tokens.size(); ++e) {
    if (tokens[e].index() != offset_in(whole, box.index_at(static_cast<int64_t>(e))))
      return std::nullopt;
  }
  return box;
}

Block KernelValues::block_of(ValueId value, std::string& why) const {
  const Tokens& t = tokens_[value.index];
  const Placement& place = placement(value);
  Block out;
  out.box = place.box;
  out.is_free = true;
  if (t.empty()) return out;
  out.state = t.front().state();
  const bool one_state =
      std::all_of(t.begin(), t.end(), [&](Token x) { return x.state() == out.state; });
  for (const Token x : t) {
    if (a_.state(x.state()).kind != State::Kind::kKnown) {
      out.state = x.state();
      return out;
    }
  }
  if (one_state && is_free(out.state)) {
    if (side_ == Side::kFusion) return out;
    return moved_.find_at(t, place).value_or(out);
  }
  const std::optional<Box> own = one_state ? own_box(t, place) : std::nullopt;
  const Extents* shape = a_.shape(a_.state(out.state).form);
  const bool as_laid_out = own && *own == place.box && *shape == place.global;
  if (side_ == Side::kFusion && place.box == Box::whole(place.global)) {
    if (as_laid_out && a_.is_whole(out.state)) return {out.state, *own};
    return {moved_.add(t, place.global), place.box};
  }
  if (const auto found = moved_.find_at(t, place)) return *found;
  if (own) return {out.state, *own};
  if (const auto found = moved_.find(t, place.local())) return *found;
  const std::string name =
      fmt::format("%{} of kernel @{}", kernel_.function->value(value).name, kernel_.function->name);
  if (!one_state) {
    why = fmt::format("{} contains elements of several values", name);
  } else if (shape->size() != place.global.size()) {
    why = fmt::format("{} has a different number of dimensions than {}", name,
                      a_.describe_state(out.state));
  } else {
    why = fmt::format("the elements of {} are not a contiguous block of {}", name,
                      a_.describe_state(out.state));
  }
  return out;
}

bool KernelValues::is_own_block(ValueId value, Elsewhere elsewhere) const {
  const Tokens& t = tokens_[value.index];
  if (t.empty()) return true;
  const StateId first = t.front().state();
  const bool one_state =
      std::all_of(t.begin(), t.end(), [&](Token x) { return x.state() == first; });
  if (!one_state || is_free(first)) return one_state;
  const Placement& place = placement(value);
  const std::optional<Box> own = own_box(t, place);
  if (!own) return false;
  if (*own == place.box && *a_.shape(a_.state(first).form) == place.global) return true;
  if (side_ == Side::kFusion) {
    moved_.add(t, place.global);  // so that the other program finds that this is another value
    return false;
  }
  return elsewhere == Elsewhere::kToo && !moved_.find_at(t, place);
}

Tokens KernelValues::in_block(ValueId value) const {
  std::string why;
  const Block block = block_of(value, why);
  Tokens out = tokens_[value.index];
  if (!why.empty() || block.is_free || is_free(block.state)) return out;
  const Placement& place = placement(value);
  const Box global = Box::whole(place.global);
  const Box whole = Box::whole(*a_.shape(a_.state(block.state).form));
  for (size_t e = 0; e < out.size(); ++e) {
    const auto at = static_cast<int64_t>(e);
    const StateId state = out[e].state();
    const bool stays =
        a_.is_whole(state) &&
        (is_free(state) || (*a_.shape(a_.state(state).form) == place.global &&
                            out[e].index() == offset_in(global, place.box.index_at(at))));
    if (!stays) out[e] = Token::of(block.state, offset_in(whole, block.box.index_at(at)));
  }
  return out;
}

}  // namespace hostir::sim::proof
