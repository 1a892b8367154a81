// The calls of each rank as words that compare across ranks: the form of the group, the call, the
// peer relative to the rank, and the stack.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

class ProgramWords {
 public:
  /// `calls` is calls_by_rank(run).
  ProgramWords(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
               bool with_sizes);

 protected:
  struct Word {
    uint32_t call = 0;   // number of the call
    uint32_t stack = 0;  // number of its stack; 0: unknown
    friend bool operator==(const Word&, const Word&) = default;
  };

  // The form of a group: its description without numbers, and the distances of its members.
  void name_forms();
  uint32_t form_of(size_t rank, model::CommunicatorId id) const;
  model::CommunicatorId of_form(size_t rank, uint32_t form) const;
  /// Forms of groups, each with the rank's position where stages differ.
  using Place = std::set<std::pair<uint32_t, uint32_t>>;
  Place place_of(size_t rank);
  uint32_t position(size_t rank, model::CommunicatorId id) const;
  // False for a ring: the last member exchanges with the first, and all make the same sends and
  // recvs.
  bool has_stages(uint32_t communicator);
  void note_closed();
  void read_words(size_t rank);
  // Calls issued together have no order of their own: sorts them by word.
  void sort_launches(size_t rank);
  int64_t relative_peer(size_t rank, const MemberRef& ref) const;
  uint32_t stack_of(const model::Member& member);
  static bool same(const Word& a, const Word& b);
  void note_late();

  using CallKey = std::tuple<uint32_t, int, int64_t, int, std::string, int, int64_t>;

  const model::Run& run_;
  std::vector<std::vector<MemberRef>> calls_;        // those issued together are sorted
  std::vector<std::vector<size_t>> place_in_calls_;  // their places before that
  bool with_sizes_;
  std::vector<std::map<uint32_t, uint32_t>> forms_;      // by rank: the forms of its communicators
  std::vector<std::map<uint32_t, uint32_t>> positions_;  // by rank: its place in each of them
  std::map<uint32_t, bool> stages_;                      // by communicator
  std::vector<bool> closed_;  // by communicator: its first and last member exchange
  std::map<CallKey, uint32_t> calls_by_key_;
  std::map<std::vector<std::tuple<std::string, std::string, uint32_t>>, uint32_t> stacks_;
  std::map<uint32_t, uint32_t> stack_numbers_;  // by instruction
  std::vector<std::vector<Word>> words_;        // by rank
  std::vector<bool> late_;                      // by rank: its record begins late
};

}  // namespace hostir::diagnose
