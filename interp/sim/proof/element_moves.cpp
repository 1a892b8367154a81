#include "interp/sim/proof/element_moves.h"

#include <algorithm>
#include <array>

#include "hostir/ops/indexed.h"
#include "kernels/common/elements.h"

namespace hostir::sim::proof {

namespace {

// One application of an op that moves elements.
struct Move {
  const Instruction& i;
  const KernelValues& values;
  const Extents& shape() const { return values.placement(i.results.front()).global; }
  const Extents& shape_of(size_t operand) const {
    return values.placement(i.operands[operand].value).global;
  }
};

// The element of an operand that an element of the result is; `at` is its global index.
struct Origin {
  size_t operand = 0;
  std::vector<int64_t> at;
  bool is_padding = false;
};
using OriginFn = std::optional<Origin> (*)(const Move& move, std::vector<int64_t> at);

std::optional<Origin> origin_in_reshape(const Move& move, std::vector<int64_t> at) {
  const int64_t index = kernels::global_linear_index(move.shape(), at);
  return Origin{0, Box::whole(move.shape_of(0)).index_at(index)};
}

std::optional<Origin> origin_in_slice(const Move& move, std::vector<int64_t> at) {
  const auto* start = move.i.attributes.get<ExprList>("start");
  const auto* stride = move.i.attributes.get<IntList>("stride");
  if (start == nullptr) return std::nullopt;
  for (size_t d = 0; d < at.size(); ++d)
    at[d] = (*start)[d].value() + at[d] * (stride ? (*stride)[d] : 1);
  return Origin{0, std::move(at)};
}

std::optional<Origin> origin_in_concat(const Move& move, std::vector<int64_t> at) {
  const auto along = static_cast<size_t>(move.i.attributes.get_or<int64_t>("dim", 0));
  for (size_t o = 0; o < move.i.operands.size(); ++o) {
    const int64_t extent = move.shape_of(o)[along];
    if (at[along] < extent) return Origin{o, std::move(at)};
    at[along] -= extent;
  }
  return std::nullopt;
}

std::optional<Origin> origin_in_pad(const Move& move, std::vector<int64_t> at) {
  const auto* low = move.i.attributes.get<ExprList>("low");
  const auto* interior = move.i.attributes.get<IntList>("interior");
  if (low == nullptr) return std::nullopt;
  bool inside = true;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t step = interior ? (*interior)[d] + 1 : 1;
    at[d] -= (*low)[d].value();
    inside = inside && at[d] >= 0 && at[d] % step == 0 && at[d] / step < move.shape_of(0)[d];
    at[d] /= step;
  }
  return Origin{0, std::move(at), !inside};
}

std::optional<Origin> origin_in_roll(const Move& move, std::vector<int64_t> at) {
  const auto* shift = move.i.attributes.get<IndexExpr>("shift");
  if (shift == nullptr) return std::nullopt;
  const auto along =
      static_cast<size_t>(ops::dim_of(move.i.attributes, "dim", move.shape().size()));
  const int64_t extent = move.shape()[along];
  at[along] = ((at[along] - shift->value()) % extent + extent) % extent;
  return Origin{0, std::move(at)};
}

std::optional<Origin> origin_in_broadcast(const Move& move, std::vector<int64_t> at) {
  const auto* dims = move.i.attributes.get<IntList>("dims");
  if (dims == nullptr) return std::nullopt;
  std::vector<int64_t> from;
  for (size_t d = 0; d < dims->size(); ++d)
    from.push_back(move.shape_of(0)[d] == 1 ? 0 : at[static_cast<size_t>((*dims)[d])]);
  return Origin{0, std::move(from)};
}

std::optional<Origin> origin_in_transpose(const Move& move, std::vector<int64_t> at) {
  const auto* permutation = move.i.attributes.get<IntList>("permutation");
  if (permutation == nullptr) return std::nullopt;
  std::vector<int64_t> from(at.size());
  for (size_t d = 0; d < at.size(); ++d) from[static_cast<size_t>((*permutation)[d])] = at[d];
  return Origin{0, std::move(from)};
}

struct Mover {
  OpKind kind;
  OriginFn origin;
  bool of_blocks_by_rule = false;  // of a box of one value, the result is a box of one value too
};
constexpr std::array<Mover, 7> kMovers = {{{OpKind::reshape, origin_in_reshape},
                                           {OpKind::slice, origin_in_slice},
                                           {OpKind::concat, origin_in_concat},
                                           {OpKind::pad, origin_in_pad},
                                           {OpKind::roll, origin_in_roll},
                                           {OpKind::broadcast_in_dim, origin_in_broadcast, true},
                                           {OpKind::transpose, origin_in_transpose, true}}};

// ---- running sums ----

// Elements of one whole value: `dim` of that value runs along dimension `along` of the tokens.
struct Source {
  StateId state = Algebra::kZero;
  size_t dim = 0;
};

using Line = std::vector<size_t>;  // positions along the summed dimension, in the order of the sum

std::vector<Line> lines_of(const Extents& local, size_t along, bool reverse) {
  const Extents strides = kernels::strides_of(local);
  const Box box = Box::whole(local);
  std::vector<Line> out;
  for (int64_t e = 0; e < box.volume(); ++e) {
    if (box.index_at(e)[along] != 0) continue;
    Line& line = out.emplace_back();
    for (int64_t k = 0; k < local[along]; ++k)
      line.push_back(static_cast<size_t>(e + k * strides[along]));
    if (reverse) std::reverse(line.begin(), line.end());
  }
  return out;
}

// The dimension of the value along which all lines run, one element after another; zeros may be
// between them.
std::optional<Source> source_of(const Algebra& a, const MovedValues& moved, const Tokens& tokens,
                                const std::vector<Line>& lines, size_t rank, size_t along) {
  Source out;
  std::optional<size_t> dim;
  for (const Line& line : lines) {
    std::optional<size_t> before;
    for (const size_t at : line) {
      const Token t = tokens[at];
      if (t.state() == Algebra::kZero) continue;
      if (out.state != Algebra::kZero && t.state() != out.state) return std::nullopt;
      out.state = t.state();
      const State& s = a.state(t.state());
      const Extents* shape = s.kind == State::Kind::kKnown && !moved.is_running_sum(t.state())
                                 ? a.shape(s.form)
                                 : nullptr;
      if (shape == nullptr) return std::nullopt;
      if (before) {
        const Box whole = Box::whole(*shape);
        const std::vector<int64_t> from = whole.index_at(tokens[*before].index());
        const std::vector<int64_t> to = whole.index_at(t.index());
        const int64_t step = at > *before ? 1 : -1;
        std::optional<size_t> moves;
        for (size_t d = 0; d < from.size(); ++d) {
          if (from[d] == to[d]) continue;
          if (moves || to[d] - from[d] != step) return std::nullopt;
          moves = d;
        }
        if (!moves || (dim && *dim != *moves)) return std::nullopt;
        dim = moves;
      }
      before = at;
    }
  }
  if (out.state == Algebra::kZero) return std::nullopt;
  // With one element in each line: blocks of a value have one dimension more than the value.
  const size_t own = a.shape(a.state(out.state).form)->size();
  if (!dim && own != rank && own + 1 != rank) return std::nullopt;
  out.dim = dim.value_or(own == rank || along == 0 ? along : along - 1);
  return out;
}

}  // namespace

bool move_elements(Algebra& algebra, KernelValues& values, const Instruction& i) {
  const auto mover = std::find_if(kMovers.begin(), kMovers.end(),
                                  [&](const Mover& m) { return m.kind == i.kind; });
  if (mover == kMovers.end()) return false;
  // The rule of a broadcast holds for its own sizes only.
  const auto elsewhere =
      i.kind == OpKind::transpose ? KernelValues::Elsewhere::kToo : KernelValues::Elsewhere::kNot;
  if (mover->of_blocks_by_rule && values.is_own_block(i.operands.front().value, elsewhere))
    return false;
  const auto padding = i.attributes.get_or<double>("value", 0);
  const StateId padded = algebra.whole(algebra.scaled(algebra.of_node(Algebra::kOne), padding));
  const Box& box = values.placement(i.results.front()).box;
  Tokens out;
  for (int64_t e = 0; e < box.volume(); ++e) {
    const auto origin = mover->origin({i, values}, box.index_at(e));
    if (!origin) return false;
    if (origin->is_padding) {
      out.push_back(Token::of(padded, 0));
      continue;
    }
    const ValueId from = i.operands[origin->operand].value;
    const int64_t in = offset_in(values.placement(from).box, origin->at);
    if (in < 0) return false;
    out.push_back(values[from][static_cast<size_t>(in)]);
  }
  values[i.results.front()] = std::move(out);
  return true;
}

bool add_running_sums(Algebra& algebra, MovedValues& moved, KernelValues& values,
                      const Instruction& i) {
  if (i.kind != OpKind::cumsum) return false;
  const ValueId from = i.operands.front().value;
  const Placement& place = values.placement(from);
  const auto along = static_cast<size_t>(ops::dim_of(i.attributes, "dim", place.global.size()));
  const Extents local = place.local();
  if (local.at(along) != place.global[along]) return false;
  Tokens in = values[from];
  const std::vector<Line> lines =
      lines_of(local, along, i.attributes.get_or<bool>("reverse", false));
  if (const auto source = source_of(algebra, moved, in, lines, local.size(), along)) {
    const Extents shape = *algebra.shape(algebra.state(source->state).form);
    for (Token& t : in) {
      if (t.state() == Algebra::kZero) continue;
      std::vector<int64_t> at = Box::whole(shape).index_at(t.index());
      const auto state = moved.addend(source->state, source->dim, at[source->dim]);
      if (!state) return false;
      const auto summed = static_cast<std::ptrdiff_t>(source->dim);
      Extents rest = shape;
      rest.erase(rest.begin() + summed);
      at.erase(at.begin() + summed);
      t = Token::of(*state, offset_in(Box::whole(rest), at));
    }
  }
  for (const Line& line : lines) {
    Token sum = Token::of(Algebra::kZero, 0);
    for (const size_t at : line) {
      Token& t = in[at];
      if (t.state() != Algebra::kZero) {
        if (!moved.is_running_sum(t.state())) return false;
        if (sum.state() == Algebra::kZero) {
          sum = t;
        } else if (sum.index() != t.index()) {
          return false;
        } else {
          sum = Token::of(algebra.reduced(Reduction::kSum, {sum.state(), t.state()}), t.index());
        }
      }
      t = sum;
    }
  }
  values[i.results.front()] = std::move(in);
  return true;
}

}  // namespace hostir::sim::proof
