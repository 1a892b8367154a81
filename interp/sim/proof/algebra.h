// What an element of a buffer stands for, as a term of the program's inputs.
//
// A *node* is an op applied to forms, or a parameter. A *form* is a linear combination of nodes:
// sums, differences and factors that are constants are normalised away, so that x/4 + x/4 is x/2. A
// *cover* says which part of sums over cut dimensions has been added up: a list of boxes in the
// space of all reductions. A *state* lists the pieces of a form that a rank holds: terms with a
// factor and a cover. If the covers of all ranks add up to the whole, the state equals the form.
// Everything is interned: equal ids mean equal values. Rounding is ignored.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"

namespace hostir::sim::proof {

using NodeId = uint32_t;
using FormId = uint32_t;
using CoverId = uint32_t;
using StateId = uint32_t;

struct Node {
  std::string op;  // mnemonic with attributes, or the parameter's name
  std::vector<FormId> operands;
  Extents shape;
};

struct Term {
  NodeId node = 0;
  double scale = 1;
};
using Form = std::vector<Term>;  // sorted by node; empty: zero

/// A range of one summed dimension.
struct Cut {
  uint32_t reduction = 0;
  int64_t lo = 0;
  int64_t hi = 0;
  friend auto operator<=>(const Cut&, const Cut&) = default;
};
using CoverBox = std::vector<Cut>;    // sorted by reduction; unnamed ones are whole
using Cover = std::vector<CoverBox>;  // disjoint boxes

struct Piece {
  FormId term = 0;
  double scale = 1;
  CoverId cover = 0;
};

struct State {
  /// kWrong: certainly not a part of any value; `why` has the reason.
  enum class Kind : uint8_t { kKnown, kUnknown, kWrong } kind = Kind::kKnown;
  FormId form = 0;
  std::vector<Piece> pieces;
  Reduction reduction = Reduction::kSum;  // of pieces that are not whole
  std::string why;
};

/// True if the factors are equal up to rounding.
bool same(double a, double b);

class Algebra {
 public:
  Algebra();

  static constexpr NodeId kOne = 0;       // the constant 1, of any shape
  static constexpr FormId kZeroForm = 0;  // no terms
  static constexpr CoverId kWhole = 0;
  static constexpr CoverId kNone = 1;
  static constexpr StateId kZero = 0;  // zeros
  /// The neutral element of a reduction: a contribution that changes no reduction of this kind.
  static StateId identity(Reduction kind) { return 1 + static_cast<StateId>(kind); }
  static bool is_identity(StateId id) { return id >= 1 && id <= kReductions; }

  NodeId node(const std::string& op, std::vector<FormId> operands, Extents shape);

  const Node& node_at(NodeId id) const { return nodes_[id]; }

  FormId form(Form terms);
  FormId of_node(NodeId node) { return form({{node, 1}}); }
  const Form& form_at(FormId id) const { return forms_[id]; }
  FormId scaled(FormId id, double factor);
  FormId sum(FormId a, FormId b, double factor_of_b = 1);
  /// The factor of the first term, and the form divided by it; 1 for zero.
  std::pair<double, FormId> normalised(FormId id);
  /// The value of the form if it is a constant.
  std::optional<double> constant(FormId id) const;
  /// The shape of the form's nodes; nullptr for constants.
  const Extents* shape(FormId id) const;

  uint32_t reduction(const std::string& key, int64_t extent);
  CoverId restricted(CoverId cover, const Cut& cut);

  StateId whole(FormId form);
  StateId known(FormId form, std::vector<Piece> pieces, Reduction reduction);
  StateId failed(State::Kind kind, std::string why);
  const State& state(StateId id) const { return states_[id]; }
  bool has_state(StateId id) const { return id < states_.size(); }
  bool is_whole(StateId id) const;
  /// The form if the state is whole.
  std::optional<FormId> whole_form(StateId id) const;
  /// The state of the same value on a rank that contributes nothing to a reduction of this kind.
  StateId emptied(StateId id, Reduction kind);
  /// What members of a group hold together after a reduction of `members` contributions.
  StateId reduced(Reduction reduction, const std::vector<StateId>& members);

  /// Gives a form the name of a value, for messages. The first name is kept.
  void name(FormId form, const std::string& name) { names_.try_emplace(form, name); }
  std::string describe(FormId form) const;
  /// The same without the form's own name. Terms are listed in the order in which their ops were
  /// first seen, so two forms list equal ops in the same order.
  std::string describe_terms(FormId form) const;
  std::string describe_state(StateId state) const;
  std::string describe_cover(CoverId cover) const;
  /// Two forms, and then the operands in which they differ, and those of these. Of several
  /// differences, the one whose wanted value was computed first: it may be the cause of the others.
  std::vector<std::pair<FormId, FormId>> differing_operands(FormId given, FormId wanted);
  /// Why the two differ, if they certainly do: another factor of the whole, or of some terms.
  std::optional<std::string> certain_difference(FormId given, FormId wanted);

 private:
  static constexpr StateId kReductions = 5;
  CoverId cover(Cover boxes);
  struct Total {
    bool uniform = false;
    int64_t count = 0;  // how often the covered part is counted
    CoverId cover = kNone;
    std::string why;
  };
  Total total(const std::vector<CoverId>& covers);
  std::string describe_node(NodeId node, int depth) const;

  // Deques: what at(), form_at(), shape() and state() return stays valid.
  std::deque<Node> nodes_;
  std::map<std::string, NodeId> node_ids_;
  std::map<std::string, NodeId> first_of_op_;
  std::deque<Form> forms_;
  std::map<std::string, FormId> form_ids_;
  std::vector<std::pair<std::string, int64_t>> reductions_;
  std::map<std::string, uint32_t> reduction_ids_;
  std::deque<Cover> covers_;
  std::map<Cover, CoverId> cover_ids_;
  std::deque<State> states_;
  std::map<std::string, StateId> state_ids_;
  std::map<std::pair<int, std::vector<StateId>>, StateId> reduced_;
  std::map<FormId, std::string> names_;
};

}  // namespace hostir::sim::proof
