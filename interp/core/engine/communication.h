// Resolves one rank's communication instruction: members, counts, root, blocks.
//
// 1. Bind the operands.
// 2. The op's facts say which operand is the whole and which is this member's block.
// 3. Counts follow from the members' boxes if the block has a layout, otherwise from cutting the
//    rows of the whole by ceil(n/k).
// 4. Compute a fingerprint over everything that must be equal on all members.
// The plan keeps whatever does not depend on registers.
#pragma once

#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/core/communication_facts.h"
#include "interp/core/engine/operands.h"

namespace hostir::interp {

/// The buffers of a communication instruction by role.
struct CommunicationSides {
  const BufferRef* in = nullptr;
  const BufferRef* out = nullptr;
  const Placement* in_place = nullptr;
  const Placement* out_place = nullptr;
  LayoutIndex in_layout = kNoLayout;
  LayoutIndex out_layout = kNoLayout;
  bool in_place_form = false;
};

class CommunicationResolver {
 public:
  CommunicationResolver(RunContext& run, FaultReporter& faults, Operands& operands)
      : run_(run), faults_(faults), operands_(operands) {}

  /// False after a fault.
  bool resolve(Step& step, ResolvedCall& out);
  /// Bytes as nccl-tests counts them: the whole if the op has one, else this rank's part.
  static int64_t bytes_of(const ResolvedCall& call);
  /// Input and output of a collective may overlap only in NCCL's in-place form.
  bool check_overlap(Step& step, const ResolvedCall& call);
  const MemberCountsTable& member_counts() const { return member_counts_; }

 private:
  using Sides = CommunicationSides;
  using Facts = CommunicationFacts;

  void move_buffers(IssuePlan& plan, const Facts& facts);
  bool resolve_positions(Step& step, CommunicationItem& item, const Facts& facts);
  MemberCounts block_counts(const Step& step, std::span<const Rank> members, LayoutIndex block,
                            int64_t total, int64_t row);
  bool check_sides(Step& step, const CommunicationItem& item, const Facts& facts,
                   const Sides& sides);
  bool resolve_block(Step& step, ResolvedCall& out, const Facts& facts, const Sides& sides);
  /// Checks the boxes that the layouts of both sides claim against what the op moves.
  bool check_layouts(Step& step, const ResolvedCall& call, const Facts& facts, const Sides& sides);
  static void hash_call(const Step& step, ResolvedCall& out);
  bool depends_on_nothing(const CodeInstruction& instruction, const IssuePlan& plan) const;
  // exchange_counts.cpp: permute and all_to_all
  static void resolve_routes(ResolvedCall& out, const Placement* in, const Placement* to);
  bool resolve_blocks(Step& step, ResolvedCall& out, const Placement* in, const Placement* to);
  bool check_counts_not_negative(const Step& step, const CommunicationItem& item);
  bool append_rows(const Step& step, Rank rank, int64_t rows, int64_t row_elems,
                   std::vector<int64_t>& counts);
  bool receives_of(Step& step, const CommunicationItem& item, const Placement& to,
                   std::vector<int64_t>& counts);

  RunContext& run_;
  FaultReporter& faults_;
  Operands& operands_;
  MemberCountsTable member_counts_;
  /// Blocks by (communicator, group, layout of the block, total, row).
  std::map<std::tuple<CommIndex, int32_t, LayoutIndex, int64_t, int64_t>, MemberCounts>
      block_index_;
  /// Pairs of whole and block layouts that a rank has compared with all members' counts and found
  /// consistent.
  std::set<std::tuple<CommIndex, Rank, LayoutIndex, LayoutIndex, const int64_t*>> agreeing_layouts_;
  /// Of `permute`: by (instruction, members, shift).
  std::map<std::tuple<CodeIndex, size_t, int64_t>, std::vector<std::pair<int32_t, int32_t>>>
      routes_;
};

}  // namespace hostir::interp
