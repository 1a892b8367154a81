// Finds the first call at which the records of two ranks differ. Calls are compared as words that
// are comparable across ranks.
//
// Calls that all their members completed held up nobody, so the order in which a rank made them is
// no difference. One that was left out, or made once more, may have completed with the next call of
// its group; it counts if the rank's numbers on that group do not fit the others' at the hang.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/diagnose/calls/program_words.h"
#include "interp/diagnose/charges/divergent_ranks.h"

namespace hostir::diagnose {

class RecordComparison : protected ProgramWords {
 public:
  using ProgramWords::ProgramWords;

 protected:
  /// The first difference of a record (`mine`) from another (`theirs`).
  struct Difference {
    DivergentRank::Kind kind = DivergentRank::Kind::kOther;
    size_t mine = 0;
    size_t theirs = 0;
    size_t count = 1;  // kLeftOut: calls
    bool proved = false;
    bool or_swapped = false;   // kLeftOut: that it made the call after its next one fits as well
    bool or_left_out = false;  // kExtra: that it left out the rest of its round fits as well
  };

  enum class Order : uint8_t {
    kSame,
    kAny,  // of calls that completed
  };
  /// nullopt: one record is a prefix of the other, apart from calls made from other lines, and
  /// from calls in another order.
  std::optional<Difference> difference(size_t mine, size_t theirs, Order order = Order::kAny) const;
  enum class Agreement : uint8_t {
    kNone,      // either is odd beside the other
    kAnyOrder,  // one is a prefix, apart from the order of completed calls
    kInOrder,
  };
  Agreement agreement(size_t a, size_t b) const;
  /// True if the rank made the two calls at `at` in the other order before, and never in this one.
  bool leaves_its_order(size_t rank, size_t at) const;
  /// True if both make the differing call from one line.
  bool same_line(size_t mine, const Difference& found, size_t theirs) const;

  // The first place at which both records have the same collective; nullopt: there is none.
  std::optional<std::pair<size_t, size_t>> common_begin(size_t mine, size_t theirs) const;
  const Word* word(size_t rank, size_t at) const;
  // If a record begins late and its peers have none, sends and recvs have no numbers: none is
  // known.
  bool lost_sends(size_t rank) const;

  // The others' call at that place in the record of `model`: on the odd rank's own group if a
  // member of that group has come so far, else on the model's group.
  MemberRef counterpart(size_t rank, size_t at, size_t model,
                        const std::vector<size_t>& ranks) const;
  // The rank at the same distance from this one as the peer of `theirs` from its caller.
  model::Rank peer_like(size_t rank, const MemberRef& theirs, model::CommunicatorId own) const;
  // The send or recv of a peer (kNoRank: of any rank) that waits for this rank.
  MemberRef unanswered(size_t rank, const MemberRef& like, model::CommunicatorId own,
                       model::Rank peer) const;
  // Another rank that waits in such a call, or in its counterpart, for this rank to make it.
  MemberRef awaiting(size_t rank, const MemberRef& like) const;

 private:
  std::pair<size_t, bool> agree_from(size_t mine, size_t i, size_t theirs, size_t j) const;
  bool same_at(size_t mine, size_t i, size_t theirs, size_t j) const;
  bool ends_in_launch(size_t mine, size_t i, size_t theirs, size_t j) const;
  Difference classified(size_t mine, size_t i, size_t theirs, size_t j) const;
  bool swapped_in_branches(size_t mine, size_t i, size_t theirs, size_t j) const;
  bool only_here(size_t mine, size_t i, size_t theirs) const;
  bool repeats_only_here(size_t mine, size_t i, size_t theirs) const;
  /// Words of calls that completed although two ranks made them in different orders.
  using Reordered = std::set<std::pair<uint32_t, uint32_t>>;
  size_t reordered(size_t mine, size_t i, size_t theirs, size_t j, Reordered& made_before) const;
  bool is_settled(const MemberRef& ref) const;
  bool shifts_numbers(size_t mine, size_t theirs, const Difference& found) const;

  mutable std::unordered_map<const model::Meeting*, bool> settled_;
};

}  // namespace hostir::diagnose
