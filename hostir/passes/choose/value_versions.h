// The versions of a value under different shardings, for use while rewriting a fusion.
//
// A value in the source fusion may be needed under several shardings. Every version is kept, so
// later uses share it (x is gathered once for wq, wk and wv). A new version is built from the
// cheapest existing one. Sources (constants, iota, random numbers) are recomputed instead, because
// any rank can compute any box of them. A transpose can be made from each version of its operand,
// so a tied embedding, which a lookup uses as it is and the output projection transposed, is
// gathered once. Such a version has no value until it is needed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

struct Version {
  ValueId value;  // in the function being built; invalid: a transpose that is not made yet
  Sharding sharding;
};

/// The instruction that needs a version.
struct UseSite {
  std::string by;       // `linear at @mlp#3`
  uint32_t number = 0;  // the instruction's number in the fusion
};

class ValueVersions {
 public:
  /// All arguments must outlive this.
  ValueVersions(const Program& program, MeshMoves& moves, const Function& source, Function& out,
                Explanation& explanation, Alternatives alternatives)
      : program_(program),
        moves_(moves),
        source_(source),
        out_(out),
        names_(out),
        explanation_(explanation),
        alternatives_(alternatives) {}

  /// Adds a value to the function being built, named `stem` or a unique name derived from it.
  ValueId add_value(const std::string& stem, Type type);

  /// Adds a version. It gets the source value's Origin, unless it is a version of another value.
  void add(ValueId of, Version version);
  /// The primary version; nullptr for a source that has no version yet.
  const Version* primary(ValueId of) const;
  /// All versions so far, the primary one first.
  std::span<const Version> all(ValueId of) const;
  /// True for a value that any rank can compute without operands.
  bool is_source(ValueId of) const;
  /// Attributes explanations about `inner` (a value of an expanded op) to `outer`.
  void explain_as(ValueId inner, ValueId outer) { owner_[inner.index] = outer; }
  /// Makes the latest version the primary one.
  void prefer_last(ValueId of);
  /// The number of collectives that obtaining `of` under `target` takes.
  size_t collectives(ValueId of, const Sharding& target) const;
  /// Estimated cost of obtaining `of` under `target`.
  double cost_ns(ValueId of, const Sharding& target) const;
  /// The bytes over one rank's links that this takes.
  double bytes(ValueId of, const Sharding& target) const;
  /// The version of `of` under `target`, created if needed; a new version is called `name` unless
  /// that is empty.
  ValueId obtain(ValueId of, const Sharding& target, const UseSite& use,
                 const std::string& name = {});
  /// Adds an explanation of how the op makes the value. The record needs no value or origin.
  void explain(ValueId of, ExplainRecord record, const UseSite& use);

 private:
  struct List {
    std::vector<Version> versions;
    std::vector<ValueId> transposes;  // that have versions
  };
  // How a value is made from another one by changing the order of its dimensions.
  struct Transpose {
    ValueId operand;
    std::vector<size_t> dims;  // by dimension of the result: that of the operand
  };
  List& list(ValueId of);
  const List* find(ValueId of) const;
  const Version& cheapest(ValueId of, const Sharding& target) const;
  std::optional<Transpose> transpose_of(ValueId result) const;
  // True if the transpose of the transpose is the value itself.
  static bool undoes(const Transpose& outer, const Transpose& inner);
  static Sharding transposed(const Sharding& operand, const Transpose& how);
  void add_transposed(ValueId of, const Sharding& sharding);
  void add_transposes(ValueId of, const Sharding& sharding, bool is_first);
  double transpose_ns(ValueId of, const Sharding& sharding) const;
  ValueId make_transpose(ValueId of, size_t version, const UseSite& use, const std::string& name);
  ValueId remake_source(ValueId of, const Sharding& target, const std::string& name);
  void explain_move(ValueId of, const Version& from, const Sharding& to, const UseSite& use);

  const Program& program_;
  MeshMoves& moves_;
  const Function& source_;
  Function& out_;
  UniqueNames names_;  // in out_
  Explanation& explanation_;
  Alternatives alternatives_;
  std::vector<List> lists_;
  std::map<uint32_t, ValueId> owner_;
};

}  // namespace hostir
