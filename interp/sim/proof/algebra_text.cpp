// Terms in words, and the differences between two of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/sim/proof/algebra.h"

namespace hostir::sim::proof {

namespace {

// "4 times", "1/4 of".
std::string times(double factor) {
  if (factor > 0 && factor < 1 && same(std::round(1 / factor), 1 / factor))
    return fmt::format("1/{:.0f} of", 1 / factor);
  return fmt::format("{:.6g} times", factor);
}

// A factor in words: "once", "twice", "0.5 times".
std::string count_words(double count) {
  if (same(count, 1)) return "once";
  if (same(count, 2)) return "twice";
  return fmt::format("{:.6g} times", count);
}

// The op without its attributes; the kernel that `apply` names.
std::string title(const std::string& op) {
  constexpr std::string_view kCallee = " callee=";
  const size_t callee = op.find(kCallee);
  const size_t from = callee == std::string::npos ? 0 : callee + kCallee.size();
  return op.substr(from, op.find(' ', from) - from);
}

}  // namespace

std::string Algebra::describe_node(NodeId node, int depth) const {
  const Node& n = nodes_[node];
  if (n.operands.empty()) return n.op;
  std::string out = title(n.op) + "(";
  if (depth == 0) return out + "..)";
  for (size_t o = 0; o < n.operands.size(); ++o) {
    if (o != 0) out += ", ";
    const auto known = names_.find(n.operands[o]);
    const Form& f = forms_[n.operands[o]];
    out += known != names_.end()              ? known->second
           : f.size() == 1 && f[0].scale == 1 ? describe_node(f[0].node, depth - 1)
                                              : "..";
  }
  return out + ")";
}

std::string Algebra::describe(FormId form) const {
  const auto known = names_.find(form);
  return known != names_.end() ? known->second : describe_terms(form);
}

std::string Algebra::describe_terms(FormId form) const {
  Form terms = forms_[form];
  if (terms.empty()) return "zero";
  std::stable_sort(terms.begin(), terms.end(), [this](const Term& a, const Term& b) {
    return first_of_op_.at(nodes_[a.node].op) < first_of_op_.at(nodes_[b.node].op);
  });
  std::string out;
  for (const Term& t : terms) {
    if (!out.empty()) out += " + ";
    const auto own = form_ids_.find(fmt::format("1*{};", t.node));
    const bool is_all = own != form_ids_.end() && own->second == form;
    const auto name = own == form_ids_.end() || is_all ? names_.end() : names_.find(own->second);
    if (t.scale != 1) out += fmt::format("{:.6g} * ", t.scale);
    out += name != names_.end() ? name->second : describe_node(t.node, 1);
    if (out.size() > 160) return out + " + ..";
  }
  return out;
}

std::string Algebra::describe_cover(CoverId id) const {
  if (id == kWhole) return "whole";
  if (covers_[id].empty()) return "nothing";
  std::string out;
  for (const CoverBox& box : covers_[id]) {
    for (const Cut& c : box) {
      out += fmt::format("{}{}..{} of {}", out.empty() ? "" : ", ", c.lo, c.hi,
                         reductions_[c.reduction].second);
    }
    if (out.size() > 60) return out + ", ..";
  }
  return out;
}

std::string Algebra::describe_state(StateId id) const {
  const State& s = states_[id];
  if (s.kind != State::Kind::kKnown) return s.why;
  if (is_whole(id)) return describe(s.form);
  for (const Piece& p : s.pieces) {
    if (p.cover == kWhole) continue;
    return fmt::format("a partial {} of {} ({})", hostir::name(s.reduction), describe(s.form),
                       describe_cover(p.cover));
  }
  return describe(s.form);
}

std::vector<std::pair<FormId, FormId>> Algebra::differing_operands(FormId given, FormId wanted) {
  const auto without = [](const Form& terms, const Form& others) {
    Form out;
    for (const Term& t : terms) {
      const bool is_common = std::any_of(others.begin(), others.end(), [&](const Term& o) {
        return o.node == t.node && same(o.scale, t.scale);
      });
      if (!is_common) out.push_back(t);
    }
    return out;
  };
  std::vector<std::pair<FormId, FormId>> out = {{given, wanted}};
  while (true) {
    const auto [own, other] = out.back();
    const Form extra = without(forms_[own], forms_[other]);
    const Form missing = without(forms_[other], forms_[own]);
    if (extra.empty() || missing.empty()) return out;
    const Term want = missing.front();  // nodes are numbered in the order of the fusion's run
    const auto is_same_op = [&](const Term& t) {
      return nodes_[t.node].op == nodes_[want.node].op;
    };
    const auto have = std::find_if(extra.begin(), extra.end(), is_same_op);
    if (have == extra.end()) return out;
    const auto pair = std::pair(form({*have}), form({want}));
    if (pair != out.back()) out.push_back(pair);
    const Node& x = nodes_[have->node];
    const Node& y = nodes_[want.node];
    if (!same(have->scale, want.scale) || x.operands.size() != y.operands.size()) return out;
    std::optional<size_t> first;
    const auto last_node = [&](size_t o) {
      const Form& f = forms_[y.operands[o]];
      return f.empty() ? 0 : f.back().node;
    };
    for (size_t o = 0; o < x.operands.size(); ++o) {
      if (x.operands[o] == y.operands[o]) continue;
      if (!first || last_node(o) < last_node(*first)) first = o;
    }
    if (!first) return out;
    out.emplace_back(x.operands[*first], y.operands[*first]);
  }
}

std::optional<std::string> Algebra::certain_difference(FormId given, FormId wanted) {
  if (given == wanted) return std::nullopt;
  const auto [g, plain_given] = normalised(given);
  const auto [w, plain_wanted] = normalised(wanted);
  if (plain_given == plain_wanted && !forms_[given].empty() && !same(g, w))
    return fmt::format("it is {} {}", times(g / w), describe(wanted));
  // The same terms with other factors, or some of the terms missing.
  std::map<NodeId, std::pair<double, double>> counts;
  for (const Term& t : forms_[given]) counts[t.node].first = t.scale;
  for (const Term& t : forms_[wanted]) counts[t.node].second = t.scale;
  std::string out;
  for (const auto& [node, scale] : counts) {
    if (same(scale.first, scale.second)) continue;
    if (scale.second == 0) return std::nullopt;  // another way to compute it?
    const auto own = form_ids_.find(fmt::format("1*{};", node));
    const auto name = own == form_ids_.end() ? names_.end() : names_.find(own->second);
    const std::string what = name != names_.end() ? name->second : describe_node(node, 1);
    if (!out.empty()) out += ", ";
    out += scale.first == 0 ? what + " is missing"
                            : fmt::format("{} is counted {} but should be counted {}", what,
                                          count_words(scale.first), count_words(scale.second));
  }
  if (out.empty() || forms_[given].empty()) return out.empty() ? std::nullopt : std::optional(out);
  return out;
}

}  // namespace hostir::sim::proof
