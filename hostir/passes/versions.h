// The versions of a value under different shardings, while a fusion is rewritten.
//
// A value of the source fusion may be needed under several shardings; each one that was made is
// kept, so that a second use shares it (x is gathered once for wq, wk and wv). A version is made
// from the one that costs least; sources (constants, iota, random numbers) are made again in place
// instead, because any rank can make any box of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/explain.h"
#include "hostir/passes/fusion_info.h"
#include "hostir/passes/redistribute.h"

namespace hostir {

struct Version {
  ValueId value;  // in the function being built
  Sharding sharding;
};

/// Why a version is asked for.
struct Demand {
  std::string by;       // `linear at @mlp#3`
  uint32_t number = 0;  // of the instruction in the fusion
};

class Versions {
 public:
  /// All must outlive this.
  Versions(Redistributor& moves, const Function& source, Function& out, Explanation& explanation)
      : moves_(moves), source_(source), out_(out), names_(out), explanation_(explanation) {}

  /// Adds a value to the function being built, under this name or one made unique from it.
  ValueId add_value(const std::string& stem, Type type);

  void add(ValueId of, Version version);
  /// The source value that a built value is a version of (for `--check-unsharded`).
  const std::vector<std::pair<std::string, std::string>>& origins() const { return origins_; }
  /// The first version made, or nullptr (a source nobody has asked for yet).
  const Version* primary(ValueId of) const;
  /// Explanations about `inner` (of an expanded op) are given under the name of `outer`.
  void speak_of(ValueId inner, ValueId outer) { owner_[inner.index] = outer; }
  /// Makes the version added last the primary one.
  void prefer_last(ValueId of);
  /// Estimated cost of having `of` under `target`.
  double cost_ns(ValueId of, const Sharding& target) const;
  /// The value under `target`, made now if there is none; a new one is called `name` if that is
  /// given.
  ValueId obtain(ValueId of, const Sharding& target, const Demand& demand,
                 const std::string& name = {});
  /// Says in the explanation why the value came out of its op as addends.
  void explain_partial(ValueId of, const Sharding& held, std::string sentence,
                       const Demand& demand);

 private:
  struct List {
    std::vector<Version> versions;
  };
  List& list(ValueId of);
  const List* find(ValueId of) const;
  bool is_source(ValueId of) const;
  const Version& cheapest(ValueId of, const Sharding& target) const;
  ValueId remake_source(ValueId of, const Sharding& target, const std::string& name);
  void explain(ValueId of, const Version& from, const Sharding& to, const Demand& demand);

  Redistributor& moves_;
  const Function& source_;
  Function& out_;
  UniqueNames names_;  // of out_
  Explanation& explanation_;
  std::vector<List> lists_;
  std::vector<std::pair<std::string, std::string>> origins_;
  std::map<uint32_t, ValueId> owner_;
};

}  // namespace hostir
