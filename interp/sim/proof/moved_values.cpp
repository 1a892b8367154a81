#include "interp/sim/proof/moved_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hostir::sim::proof {

namespace {

constexpr int64_t kZeroElement = -1;

// True if `same(e, at)` for each element e of a box, which is element `at` of the whole value.
template <class Same>
bool is_box_of(const Same& same, const Extents& shape, const Box& box) {
  const Box all = Box::whole(shape);
  if (!all.contains(box)) return false;
  for (int64_t e = 0; e < box.volume(); ++e) {
    if (!same(static_cast<size_t>(e), static_cast<size_t>(offset_in(all, box.index_at(e)))))
      return false;
  }
  return true;
}

// The first box of these extents of which that is true.
template <class Same>
std::optional<Box> find_box(const Same& same, const Extents& shape, const Extents& local) {
  if (shape.size() != local.size()) return std::nullopt;
  const Box all = Box::whole(shape);
  for (int64_t e = 0; e < all.volume(); ++e) {
    if (!same(0, static_cast<size_t>(e))) continue;
    Box box;
    box.lo = all.index_at(e);
    for (size_t d = 0; d < local.size(); ++d) box.hi.push_back(box.lo[d] + local[d]);
    if (is_box_of(same, shape, box)) return box;
  }
  return std::nullopt;
}

}  // namespace

// Elements of one value, and zeros.
struct MovedValues::Single {
  StateId state = Algebra::kZero;
  std::vector<int64_t> from;
};

std::optional<MovedValues::Single> MovedValues::single(const Tokens& tokens) const {
  Single out;
  for (const Token t : tokens) {
    if (t.state() == Algebra::kZero) {
      out.from.push_back(kZeroElement);
      continue;
    }
    const State& s = a_.state(t.state());
    if (s.kind != State::Kind::kKnown || a_.shape(s.form) == nullptr) return std::nullopt;
    if (out.state != Algebra::kZero && out.state != t.state()) return std::nullopt;
    out.state = t.state();
    out.from.push_back(t.index());
  }
  return out.state == Algebra::kZero ? std::nullopt : std::optional(std::move(out));
}

StateId MovedValues::add(const Tokens& tokens, const Extents& shape) {
  if (auto one = single(tokens); one && a_.is_whole(one->state)) {
    const FormId form = a_.state(one->state).form;
    Map made{*a_.shape(form), shape, std::move(one->from), {}};
    size_t m = 0;
    const auto same = [&](const Map& map) {
      return map.source == made.source && map.shape == made.shape && map.from == made.from;
    };
    while (m < maps_.size() && !same(maps_[m])) ++m;
    if (m == maps_.size()) maps_.push_back(std::move(made));
    maps_[m].forms.insert(form);
    return mapped(one->state, m);
  }
  for (const Joined& known : joined_) {
    if (known.shape == shape && known.tokens == tokens) return a_.whole(known.form);
  }
  std::vector<FormId> parts;
  for (const Token t : tokens) {
    const State& s = a_.state(t.state());
    if (s.kind != State::Kind::kKnown) return t.state();
    if (parts.empty() || parts.back() != s.form) parts.push_back(s.form);
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  const std::string name = fmt::format("elements #{}", joined_.size());
  joined_.push_back({shape, tokens, a_.of_node(a_.node(name, std::move(parts), shape))});
  return a_.whole(joined_.back().form);
}

std::optional<double> MovedValues::ratio(Token given, Token known) const {
  if (given == known) return 1;
  const bool whole = a_.is_whole(given.state()) && a_.is_whole(known.state());
  if (!whole || given.index() != known.index()) return std::nullopt;
  const auto [lead, plain] = a_.normalised(a_.state(given.state()).form);
  const auto [own_lead, own_plain] = a_.normalised(a_.state(known.state()).form);
  return plain == own_plain ? std::optional(lead / own_lead) : std::nullopt;
}

template <class Match>
std::optional<Block> MovedValues::search(const Tokens& tokens, const Match& match) const {
  for (const Joined& j : joined_) {
    const auto same = [&](size_t e, size_t at) { return tokens[e] == j.tokens[at]; };
    if (const auto box = match(same, j.shape)) return Block{a_.whole(j.form), *box};
  }
  if (auto found = search_maps(tokens, match)) return found;
  return search_multiples(tokens, match);
}

template <class Match>
std::optional<Block> MovedValues::search_maps(const Tokens& tokens, const Match& match) const {
  const bool is_zero = std::all_of(tokens.begin(), tokens.end(),
                                   [](Token t) { return t.state() == Algebra::kZero; });
  const auto one = single(tokens);
  if (!one && !is_zero) return std::nullopt;
  for (size_t m = 0; m < maps_.size(); ++m) {
    const Map& map = maps_[m];
    if (is_zero) {
      const auto same = [&](size_t, size_t at) { return map.from[at] == kZeroElement; };
      const auto box = map.forms.size() == 1 ? match(same, map.shape) : std::nullopt;
      if (box) return Block{mapped(a_.whole(*map.forms.begin()), m), *box};
      continue;
    }
    if (map.source != *a_.shape(a_.state(one->state).form)) continue;
    const auto same = [&](size_t e, size_t at) { return one->from[e] == map.from[at]; };
    if (const auto box = match(same, map.shape)) return Block{mapped(one->state, m), *box};
  }
  return std::nullopt;
}

// The elements may be those of the value times a factor.
template <class Match>
std::optional<Block> MovedValues::search_multiples(const Tokens& tokens, const Match& match) const {
  const auto varies = std::find_if(tokens.begin(), tokens.end(), [this](Token t) {
    const State& s = a_.state(t.state());
    return s.kind == State::Kind::kKnown && a_.shape(s.form) != nullptr;
  });
  if (varies == tokens.end()) return std::nullopt;
  for (const Joined& j : joined_) {
    std::map<std::pair<StateId, StateId>, std::optional<double>> ratios;
    std::optional<double> factor;
    const auto same = [&](size_t e, size_t at) {
      const Token given = tokens[e];
      const Token known = j.tokens[at];
      if (e == 0) factor.reset();
      if (given.index() != known.index()) return false;
      const auto [own, is_new] = ratios.try_emplace({given.state(), known.state()});
      if (is_new) own->second = ratio(given, known);
      if (!own->second || given.state() == Algebra::kZero) return own->second.has_value();
      if (!factor) factor = own->second;
      return std::fabs(*own->second - *factor) <= 1e-9 * std::fabs(*factor);
    };
    if (const auto box = match(same, j.shape))
      return Block{a_.whole(a_.scaled(j.form, factor.value_or(1))), *box};
  }
  return std::nullopt;
}

std::optional<Block> MovedValues::find_at(const Tokens& tokens, const Placement& place) const {
  return search(tokens, [&](const auto& same, const Extents& shape) {
    const bool fits = shape == place.global && is_box_of(same, shape, place.box);
    return fits ? std::optional(place.box) : std::nullopt;
  });
}

std::optional<Block> MovedValues::find(const Tokens& tokens, const Extents& local) const {
  return search(
      tokens, [&](const auto& same, const Extents& shape) { return find_box(same, shape, local); });
}

// What a reader would call the op that moves the elements.
std::string MovedValues::name_of(size_t map) const {
  const Map& m = maps_[map];
  bool in_order = std::find(m.from.begin(), m.from.end(), kZeroElement) == m.from.end();
  for (size_t e = 1; in_order && e < m.from.size(); ++e) in_order = m.from[e] > m.from[e - 1];
  const bool all = static_cast<int64_t>(m.from.size()) == Box::whole(m.source).volume();
  return fmt::format("{} #{}", !in_order ? "elements" : all ? "reshape" : "slice", map);
}

FormId MovedValues::mapped_form(FormId form, size_t map) const {
  const Map& m = maps_[map];
  const bool has_zeros = std::find(m.from.begin(), m.from.end(), kZeroElement) != m.from.end();
  FormId out = Algebra::kZeroForm;
  const Form terms = a_.form_at(form);
  for (const Term& t : terms) {
    const FormId own = a_.of_node(t.node);
    const bool stays = t.node == Algebra::kOne && !has_zeros;
    const FormId made = stays ? own : a_.of_node(a_.node(name_of(map), {own}, m.shape));
    out = a_.sum(out, made, t.scale);
  }
  return out;
}

StateId MovedValues::mapped(StateId state, size_t map) const {
  const State s = a_.state(state);
  std::vector<Piece> pieces = s.pieces;
  for (Piece& p : pieces) p.term = mapped_form(p.term, map);
  return a_.known(mapped_form(s.form, map), std::move(pieces), s.reduction);
}

std::optional<StateId> MovedValues::addend(StateId state, size_t dim, int64_t at) {
  const State s = a_.state(state);
  Extents shape = *a_.shape(s.form);
  const int64_t extent = shape[dim];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  const std::string name = fmt::format("cumsum dim={}", dim);
  const auto total = [&](FormId form) -> std::optional<FormId> {
    FormId out = Algebra::kZeroForm;
    const Form terms = a_.form_at(form);
    for (const Term& t : terms) {
      if (t.node == Algebra::kOne) return std::nullopt;
      const FormId made = a_.of_node(a_.node(name, {a_.of_node(t.node)}, shape));
      out = a_.sum(out, made, t.scale);
    }
    return out;
  };
  const auto form = total(s.form);
  if (!form) return std::nullopt;
  const FormId summed = a_.normalised(s.form).second;
  const Cut cut{a_.reduction(fmt::format("{} of {}", name, summed), extent), at, at + 1};
  std::vector<Piece> pieces;
  for (const Piece& p : s.pieces) {
    const auto term = total(p.term);
    if (!term) return std::nullopt;
    pieces.push_back({*term, p.scale, a_.restricted(p.cover, cut)});
  }
  running_sums_.insert(*form);
  return a_.known(*form, std::move(pieces), Reduction::kSum);
}

bool MovedValues::is_running_sum(StateId state) const {
  return running_sums_.contains(a_.state(state).form);
}

}  // namespace hostir::sim::proof
