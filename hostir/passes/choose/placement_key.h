// A key of everything that the choice of an op's sharding depends on: ops with equal keys are cut
// alike.
//
// A model repeats its layers, so most ops of a long fusion repeat an earlier question. The key has
// everything that OpChooser reads: the op with its types, the versions of its operands, the
// requests for its results, the homes of axes among its dimensions, and for a result that may stay
// partial the ops to which the reduce could be delayed, as far as OpChooser looks ahead.
#pragma once

#include <string>
#include <vector>

#include "hostir/passes/choose/value_versions.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/host/attribute_ids.h"
#include "hostir/support/text_numbers.h"

namespace hostir {

/// The desired sharding of a value: its propagated dimensions, and whether they are required.
struct RequestedSharding {
  Sharding sharding;
  bool fixed = false;
  bool returned_partial = false;  // returned with a declared partial sharding like the request's
  bool only_returned = false;     // used once, by a return that needs this sharding
};

/// Who uses a value.
class ValueUsers {
 public:
  /// Includes the instructions that were added to `source` since the last call.
  void note(const Program& program, const Function& source);
  /// The user of a value that has only one. Null if no instruction or several use the value.
  const Instruction* only(const Function& source, ValueId value) const;
  /// True for a value with several users, one of which does not take a partial sum: a pointwise op
  /// that cannot, or that gains nothing because its result, as large as the value, has several
  /// users. The value is reduced for that op, so the others get the reduced one for free.
  bool reduced_anyway(ValueId value) const { return users_[value.index].reduces; }

 private:
  struct Users {
    InstrId first;
    bool several = false;
    bool reduces = false;
  };
  std::vector<Users> users_;  // by value
  size_t noted_ = 0;          // number of instructions included
};

/// The operands of `user` that say whether its operand `value` may stay partial: all, or of a long
/// list (a stack of the gradients of all layers) `value` and the next ones.
std::vector<size_t> judged_operands(const Instruction& user, ValueId value);

/// The numbers in keys.
struct KeyNumbers {
  AttributeIds attributes;
  TextNumbers texts;
};

class PlacementKeys {
 public:
  /// All arguments must outlive this. `requests` is indexed by the values of `source`.
  PlacementKeys(const Function& source, const std::vector<RequestedSharding>& requests,
                const ValueVersions& versions, const ValueUsers& users, const AxisHomes& homes,
                KeyNumbers& numbers)
      : source_(source),
        requests_(requests),
        versions_(versions),
        users_(users),
        homes_(homes),
        numbers_(numbers) {}

  /// `lookahead`: the maximum number of ops by which a reduce may be delayed.
  std::string key(const Instruction& instruction, int lookahead);

 private:
  void add_future(ValueId value, int depth);
  void add_origin(ValueId value, int depth);
  void add_request(ValueId value);
  void add(uint32_t number);
  uint32_t op_number(const Instruction& instruction);
  std::string attributes_text(const Instruction& instruction);
  bool may_be_cut(ValueId value, size_t dim) const;
  uint32_t sharding_number(const Sharding& sharding);
  uint32_t type_number(ValueId value);
  void add_homes(ValueId value);

  const Function& source_;
  const std::vector<RequestedSharding>& requests_;
  const ValueVersions& versions_;
  const ValueUsers& users_;
  const AxisHomes& homes_;
  KeyNumbers& numbers_;
  std::string key_;
  std::vector<uint32_t> types_;  // by value; 0: not numbered yet
};

}  // namespace hostir
