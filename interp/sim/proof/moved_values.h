// Values whose elements are those of other values at other places: slices, reshapes, concats.
//
// An op that only moves elements makes no node; its result holds the operand's tokens. An op that
// is more than pointwise needs operands that are a box of one value. The run of the fusion has all
// elements of each such operand and adds it here. A rank of the other program looks for the value
// that its elements are a box of. Equal tokens mean equal values, so what is found is that value.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interp/sim/proof/kernel_values.h"

namespace hostir::sim::proof {

class MovedValues {
 public:
  explicit MovedValues(Algebra& algebra) : a_(algebra) {}

  /// The state of a value with these elements, all that it has.
  StateId add(const Tokens& tokens, const Extents& shape);
  /// The box of an added value that these tokens are: at the place that the layout says, or
  /// anywhere.
  std::optional<Block> find_at(const Tokens& tokens, const Placement& place) const;
  std::optional<Block> find(const Tokens& tokens, const Extents& local) const;

  /// The state of element `at` of a running sum along dimension `dim` of `state`'s value: a partial
  /// sum that covers this element. nullopt for constants.
  std::optional<StateId> addend(StateId state, size_t dim, int64_t at);
  bool is_running_sum(StateId state) const;

 private:
  /// Elements of one value; -1: zero. Independent of the value, so that parts of sums are found.
  struct Map {
    Extents source;
    Extents shape;
    std::vector<int64_t> from;
    std::set<FormId> forms;  // of the values
  };
  /// Elements of several values.
  struct Joined {
    Extents shape;
    Tokens tokens;
    FormId form;
  };
  struct Single;
  std::optional<Single> single(const Tokens& tokens) const;
  StateId mapped(StateId state, size_t map) const;
  FormId mapped_form(FormId form, size_t map) const;
  std::string name_of(size_t map) const;
  /// By which factor an element is another one, if it is a multiple.
  std::optional<double> ratio(Token given, Token known) const;
  template <class Match>
  std::optional<Block> search(const Tokens& tokens, const Match& match) const;
  template <class Match>
  std::optional<Block> search_maps(const Tokens& tokens, const Match& match) const;
  template <class Match>
  std::optional<Block> search_multiples(const Tokens& tokens, const Match& match) const;

  Algebra& a_;
  std::vector<Map> maps_;
  std::vector<Joined> joined_;
  std::set<FormId> running_sums_;
};

}  // namespace hostir::sim::proof
