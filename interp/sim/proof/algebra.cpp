#include "interp/sim/proof/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hostir/support/lists.h"

namespace hostir::sim::proof {

namespace {

constexpr size_t kMostCells = 1 << 16;  // of the grid that covers make

std::string number(double value) { return fmt::format("{:.10g}", value); }

const Cut* find_cut(const CoverBox& box, uint32_t reduction) {
  const auto at =
      std::find_if(box.begin(), box.end(), [&](const Cut& c) { return c.reduction == reduction; });
  return at == box.end() ? nullptr : &*at;
}

}  // namespace

bool same(double a, double b) {
  return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

Algebra::Algebra() {
  node("1", {}, {});
  form({});
  cover({{}});
  cover({});
  known(kZeroForm, {}, Reduction::kSum);
  for (StateId id = 1; id <= kReductions; ++id) {
    State& made = states_.emplace_back();
    made.reduction = static_cast<Reduction>(id - 1);
  }
}

NodeId Algebra::node(const std::string& op, std::vector<FormId> operands, Extents shape) {
  const std::string key =
      fmt::format("{}({})[{}]", op, fmt::join(operands, ","), fmt::join(shape, "x"));
  const auto [at, is_new] = node_ids_.emplace(key, static_cast<NodeId>(nodes_.size()));
  if (is_new) {
    first_of_op_.try_emplace(op, at->second);
    nodes_.push_back({op, std::move(operands), std::move(shape)});
  }
  return at->second;
}

FormId Algebra::form(Form terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.node < b.node; });
  Form merged;
  for (const Term& t : terms) {
    if (!merged.empty() && merged.back().node == t.node) {
      const double before = merged.back().scale;
      merged.back().scale += t.scale;
      if (std::fabs(merged.back().scale) <= 1e-12 * std::fabs(before)) merged.back().scale = 0;
    } else {
      merged.push_back(t);
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.scale == 0; });
  std::string key;
  for (const Term& t : merged) key += fmt::format("{}*{};", number(t.scale), t.node);
  const auto [at, is_new] = form_ids_.emplace(key, static_cast<FormId>(forms_.size()));
  if (is_new) forms_.push_back(std::move(merged));
  return at->second;
}

FormId Algebra::scaled(FormId id, double factor) {
  if (factor == 1) return id;
  Form out = forms_[id];
  for (Term& t : out) t.scale *= factor;
  return form(std::move(out));
}

FormId Algebra::sum(FormId a, FormId b, double factor_of_b) {
  Form out = forms_[a];
  for (const Term& t : forms_[b]) out.push_back({t.node, t.scale * factor_of_b});
  return form(std::move(out));
}

std::pair<double, FormId> Algebra::normalised(FormId id) {
  if (forms_[id].empty()) return {1, id};
  const double lead = forms_[id].front().scale;
  return {lead, scaled(id, 1 / lead)};
}

std::optional<double> Algebra::constant(FormId id) const {
  const Form& terms = forms_[id];
  if (terms.empty()) return 0;
  return terms.size() == 1 && terms[0].node == kOne ? std::optional(terms[0].scale) : std::nullopt;
}

const Extents* Algebra::shape(FormId id) const {
  for (const Term& t : forms_[id]) {
    if (t.node != kOne) return &nodes_[t.node].shape;
  }
  return nullptr;
}

uint32_t Algebra::reduction(const std::string& key, int64_t extent) {
  const auto [at, is_new] = reduction_ids_.emplace(key, static_cast<uint32_t>(reductions_.size()));
  if (is_new) reductions_.emplace_back(key, extent);
  return at->second;
}

CoverId Algebra::cover(Cover boxes) {
  std::sort(boxes.begin(), boxes.end());
  const auto [at, is_new] = cover_ids_.emplace(boxes, static_cast<CoverId>(covers_.size()));
  if (is_new) covers_.push_back(std::move(boxes));
  return at->second;
}

CoverId Algebra::restricted(CoverId id, const Cut& cut) {
  if (cut.lo == 0 && cut.hi == reductions_[cut.reduction].second) return id;
  Cover out;
  for (CoverBox box : covers_[id]) {
    const Cut* known = find_cut(box, cut.reduction);
    Cut both = cut;
    if (known != nullptr) {
      both = {cut.reduction, std::max(cut.lo, known->lo), std::min(cut.hi, known->hi)};
      std::erase_if(box, [&](const Cut& c) { return c.reduction == cut.reduction; });
    }
    if (both.lo >= both.hi) continue;
    box.push_back(both);
    std::sort(box.begin(), box.end());
    out.push_back(std::move(box));
  }
  return cover(std::move(out));
}

// Counts how often each cell of the grid that all boxes make is covered.
Algebra::Total Algebra::total(const std::vector<CoverId>& covers) {
  std::map<uint32_t, std::set<int64_t>> bounds;
  for (const CoverId id : covers) {
    for (const CoverBox& box : covers_[id]) {
      for (const Cut& c : box) {
        auto& at = bounds[c.reduction];
        at.insert({0, c.lo, c.hi, reductions_[c.reduction].second});
      }
    }
  }
  std::vector<CoverBox> cells = {{}};
  for (const auto& [reduction, at] : bounds) {
    std::vector<CoverBox> finer;
    for (const CoverBox& cell : cells) {
      for (auto lo = at.begin(); std::next(lo) != at.end(); ++lo) {
        finer.push_back(cell);
        finer.back().push_back({reduction, *lo, *std::next(lo)});
      }
    }
    cells = std::move(finer);
    if (cells.size() > kMostCells) return {.why = "there are too many parts to compare"};
  }
  Total out;
  Cover covered;
  for (const CoverBox& cell : cells) {
    int64_t count = 0;
    for (const CoverId id : covers) {
      for (const CoverBox& box : covers_[id]) {
        count += std::all_of(box.begin(), box.end(), [&](const Cut& c) {
          const Cut* part = find_cut(cell, c.reduction);
          return part->lo >= c.lo && part->hi <= c.hi;
        });
      }
    }
    if (count == 0) continue;
    if (out.count != 0 && count != out.count) {
      out.why = fmt::format("some parts are counted {} times, others {} times", out.count, count);
      return out;
    }
    out.count = count;
    covered.push_back(cell);
  }
  out.uniform = true;
  if (covered.size() == cells.size()) {
    out.cover = kWhole;
    return out;
  }
  // Joins neighbours along the last reduction, to keep lists short.
  Cover joined;
  for (const CoverBox& cell : covered) {
    CoverBox* last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && !cell.empty() &&
        std::equal(cell.begin(), cell.end() - 1, last->begin(), last->end() - 1) &&
        last->back().hi == cell.back().lo) {
      last->back().hi = cell.back().hi;
    } else {
      joined.push_back(cell);
    }
  }
  for (CoverBox& box : joined) {
    std::erase_if(
        box, [&](const Cut& c) { return c.lo == 0 && c.hi == reductions_[c.reduction].second; });
  }
  out.cover = cover(std::move(joined));
  return out;
}

StateId Algebra::whole(FormId form) { return known(form, {{form, 1, kWhole}}, Reduction::kSum); }

StateId Algebra::known(FormId form, std::vector<Piece> pieces, Reduction reduction) {
  std::erase_if(pieces, [](const Piece& p) { return p.term == kZeroForm; });
  const bool is_whole =
      std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.cover == kWhole; });
  if (is_whole) reduction = Reduction::kSum;
  std::string key = fmt::format("{}/{}:", form, static_cast<int>(reduction));
  for (const Piece& p : pieces) key += fmt::format("{}*{}@{};", number(p.scale), p.term, p.cover);
  const auto [at, is_new] = state_ids_.emplace(key, static_cast<StateId>(states_.size()));
  if (is_new) {
    State& made = states_.emplace_back();
    made.form = form;
    made.pieces = std::move(pieces);
    made.reduction = reduction;
  }
  return at->second;
}

StateId Algebra::failed(State::Kind kind, std::string why) {
  const std::string key = fmt::format("{} {}", static_cast<int>(kind), why);
  const auto [at, is_new] = state_ids_.emplace(key, static_cast<StateId>(states_.size()));
  if (is_new) {
    State& made = states_.emplace_back();
    made.kind = kind;
    made.why = std::move(why);
  }
  return at->second;
}

bool Algebra::is_whole(StateId id) const {
  const State& s = states_[id];
  return s.kind == State::Kind::kKnown &&
         std::all_of(s.pieces.begin(), s.pieces.end(),
                     [](const Piece& p) { return p.cover == kWhole && p.scale == 1; });
}

std::optional<FormId> Algebra::whole_form(StateId id) const {
  return is_whole(id) ? std::optional(states_[id].form) : std::nullopt;
}

StateId Algebra::emptied(StateId id, Reduction kind) {
  const State s = states_[id];
  if (s.kind != State::Kind::kKnown || is_identity(id)) return id;
  std::vector<Piece> pieces = s.pieces;
  for (Piece& p : pieces) p.cover = kNone;
  return known(s.form, std::move(pieces), kind);
}

StateId Algebra::reduced(Reduction reduction, const std::vector<StateId>& members) {
  const auto [memo, is_new] = reduced_.try_emplace({static_cast<int>(reduction), members}, kZero);
  if (!is_new) return memo->second;
  for (const State::Kind kind : {State::Kind::kWrong, State::Kind::kUnknown}) {
    for (const StateId m : members) {
      if (states_[m].kind == kind) return memo->second = m;
    }
  }
  const bool adds = reduction == Reduction::kSum || reduction == Reduction::kAvg;
  const StateId nothing = identity(adds ? Reduction::kSum : reduction);
  const bool only_zeros = std::all_of(members.begin(), members.end(),
                                      [&](StateId m) { return m == kZero || m == nothing; });
  if (only_zeros && contains(members, kZero)) return memo->second = kZero;
  std::map<std::pair<FormId, std::string>, std::pair<double, std::vector<CoverId>>> terms;
  std::optional<FormId> common;
  std::vector<FormId> parts;  // the terms of the first member
  bool alike = true;
  bool plain = true;  // each member has each term once
  for (const StateId m : members) {
    const State& s = states_[m];
    const Reduction of_identity = adds ? Reduction::kSum : reduction;
    if ((m == kZero && adds) || (is_identity(m) && s.reduction == of_identity)) continue;
    if (m == kZero || is_identity(m)) {
      return memo->second = failed(State::Kind::kUnknown,
                                   fmt::format("a {} with zeros", hostir::name(reduction)));
    }
    const bool partial = std::any_of(s.pieces.begin(), s.pieces.end(),
                                     [](const Piece& p) { return p.cover != kWhole; });
    const Reduction own = adds ? Reduction::kSum : reduction;
    if (partial && s.reduction != own) {
      return memo->second =
                 failed(State::Kind::kWrong,
                        fmt::format("a {} of {}, which is a partial {}", hostir::name(reduction),
                                    describe(s.form), hostir::name(s.reduction)));
    }
    std::vector<FormId> own_parts;
    for (const Piece& p : s.pieces) {
      const bool again = contains(own_parts, p.term);
      plain = plain && p.scale == 1 && !again;
      own_parts.push_back(p.term);
    }
    alike = alike && (!common || (*common == s.form && parts == own_parts));
    common = s.form;
    parts = std::move(own_parts);
    for (const Piece& p : s.pieces) {
      auto& [scale, covers] = terms[{p.term, number(p.scale)}];
      scale = p.scale;
      covers.push_back(p.cover);
    }
  }
  if (!common) return memo->second = members.front();
  const double share = reduction == Reduction::kAvg ? 1.0 / static_cast<double>(members.size()) : 1;
  std::vector<Piece> pieces;
  bool whole_now = true;
  for (auto& [key, entry] : terms) {
    Total sum = total(entry.second);
    const bool repeats = reduction == Reduction::kMin || reduction == Reduction::kMax;
    if (!sum.uniform && !repeats) {
      return memo->second = failed(State::Kind::kWrong,
                                   fmt::format("a {} of {} in which {}", hostir::name(reduction),
                                               describe(key.first), sum.why));
    }
    if (!sum.uniform) return memo->second = failed(State::Kind::kUnknown, sum.why);
    if (reduction == Reduction::kProd && !plain)
      return memo->second = failed(State::Kind::kUnknown, "a product of powers");
    if (reduction == Reduction::kProd && sum.count > 1) {
      return memo->second = failed(
                 State::Kind::kWrong,
                 fmt::format("a product in which {} is {} times", describe(key.first), sum.count));
    }
    const double count = repeats || sum.count == 0 ? 1 : static_cast<double>(sum.count);
    pieces.push_back({key.first, entry.first * count * share, sum.cover});
    whole_now = whole_now && sum.cover == kWhole;
  }
  if (!adds && !alike) {
    return memo->second = failed(State::Kind::kUnknown,
                                 fmt::format("a {} of different values", hostir::name(reduction)));
  }
  std::set<FormId> distinct;
  for (const Piece& p : pieces) distinct.insert(p.term);
  if (!whole_now) {
    FormId all = *common;
    if (!alike) {
      all = kZeroForm;
      for (const FormId term : distinct) all = sum(all, term);
    }
    return memo->second = known(all, std::move(pieces), adds ? Reduction::kSum : reduction);
  }
  const bool one_factor = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
    return same(p.scale, pieces.front().scale);
  });
  if (alike && !adds) return memo->second = whole(*common);
  if (alike && plain && one_factor && distinct.size() == pieces.size())
    return memo->second = whole(scaled(*common, pieces.front().scale));
  FormId out = kZeroForm;
  for (const Piece& p : pieces) out = sum(out, p.term, p.scale);
  return memo->second = whole(out);
}

}  // namespace hostir::sim::proof
