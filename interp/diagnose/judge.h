// The steps of judge(): recorded.cpp has the rules that accuse, judge_revise.cpp what happens to an
// accusation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/rerun.h"
#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/charges/other_call.h"
#include "interp/diagnose/charges/peers.h"
#include "interp/diagnose/charges/stopped_process.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

class Judge {
 public:
  /// `moving`: ranks are not blamed for calls that may still move. `held_up`: the ranks whose
  /// records end in a call that did not complete before earlier faults were repaired.
  Judge(const model::Run& run, bool moving, size_t faults_before = 0,
        std::vector<model::Rank> held_up = {})
      : run_(run),
        calls_(calls_by_rank(run)),
        peers_(run, calls_),
        reader_(run, calls_),
        faults_before_(faults_before),
        held_up_(std::move(held_up)),
        moving_(moving) {
    for (const model::Rank rank : unfinished_ranks(calls_)) insert_once(held_up_, rank);
  }

  RecordedVerdict judge();

 private:
  // ---- the rules, in order of precedence

  /// True: the rule applies, and the later ones do not.
  using Rule = bool (Judge::*)();
  static std::span<const Rule> rules();
  /// Applies the first rule that fits.
  void accuse(std::span<const Rule> from);
  /// Compares the accusation with the rest of the record, and runs the repaired job.
  void revise();
  /// Says which ranks in flight the sentence has not named, and counts them as waiting.
  std::string wait_behind();

  // ---- two faults at once

  /// Adds a fault of ranks that have no part in the first disagreement.
  void second_fault();
  /// Runs the repaired job; if it hangs, judges it again. The next fault counts if the repair of
  /// both lets all ranks complete. True if there is one.
  bool more_faults();
  /// Judges the first fault once more, in the job in which only the second is repaired.
  void judge_beside(const std::vector<CallEdit>& repair_of_second);
  /// The verdict on a repaired job, with its calls as those of this run.
  std::optional<RecordedVerdict> judge_again(const Rerun& again, size_t faults_before) const;
  void add_fault(RecordedVerdict other);
  bool is_alike(const RecordedVerdict& other) const;
  std::string alike_text() const;

  // ---- members that disagree

  bool disagreeing_members();
  void disagreement(const Disagreement& found);
  bool is_one_size(const Disagreement& found) const;
  void prefer_one_size(const Disagreement& found, const MemberRef& right);
  void undecided(const Disagreement& found);
  void fit_receivers(const Disagreement& found);

  // ---- waiting ranks

  bool absent_rank();
  bool rank_without_record();
  bool has_record(model::Rank rank) const;
  size_t place_of(const MemberRef& ref) const { return diagnose::place_of(calls_, ref); }

  void absent(const Waited& waited);
  bool left_out_by_some(const Waited& waited);
  std::optional<size_t> first_left_out(const AlignedCalls& aligned) const;
  bool ahead(const Waited& waited);
  void never_came(const Waited& waited);
  void add_call(model::Rank rank, const MemberRef& pattern);
  void change_call(const MemberRef& wrong, const MemberRef& right);
  void peer(const Waited& waited);
  void wrong_peer(const WrongPeer& found);
  void no_record(const Waited& waited);

  // ---- missing calls that no rank waits for

  bool stopped_process() { return !moving_ && accuse_stopped_process(run_, calls_, out_); }

  bool order_cycle();
  bool unanswered();
  bool shifted();
  bool goes_on_behind(model::Rank rank, const model::Meeting& last) const;

  const model::Run& run_;
  std::vector<std::vector<MemberRef>> calls_;
  Peers peers_;
  CallReader reader_;
  static constexpr size_t kMostFaults = 6;
  size_t faults_before_;  // faults repaired before this one was found
  std::vector<model::Rank> held_up_;
  std::vector<Disagreement> found_;
  std::vector<Waited> waited_;
  std::vector<model::Rank> named_;  // ranks that the sentence names as waiting
  RecordedVerdict out_;
  bool moving_;
};

}  // namespace hostir::diagnose
