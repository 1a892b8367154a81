// Watches the writes of a headless run: finds where replicas first differ, and the first NaN and
// infinity.
//
// A sink in front of another one; it needs the digests and counts that a backend computes for
// writes (Backend::set_value_mode). 1. For each buffer, it keeps which task wrote which bytes, with
// their digest. 2. If a layout says that several ranks hold the same part, it compares what a task
// reads or writes with what the other ranks read or wrote at that instruction in the same
// iteration. Buffers that nobody reads may differ: before a broadcast, a rank's buffer may hold
// anything.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "interp/core/history/log_lines.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

class ValueWatch final : public TraceSink {
 public:
  enum class Forward : uint8_t { kValues, kNoValues };  // whether `next` wants values
  ValueWatch(TraceSink* next, Forward forward) : next_(next), forward_(forward) {}

  /// Call before the first decision. `interpreter` is not owned.
  void attach(const Interpreter& interpreter);

  /// `replicas_differ`: where replicas first differed; nullopt if they never did.
  std::optional<Fault> parting() const;
  /// Adds the origin of a result that differs between two ranks to the sentence, notes and span of
  /// its fault.
  void explain(Fault& fault, const BufferRef& first, const BufferRef& second) const;
  /// `nan_born`, `inf_born`: warnings; nullopt if nothing wrote one.
  std::optional<Fault> first_nan() const;
  std::optional<Fault> first_infinity() const;
  /// The same two events as lines for the list of log points, with their positions.
  std::vector<LogLine> births() const;

  void issued(const IssuedRecord& record) override;
  void finished(const FinishedRecord& record) override;
  void value(const ValueSummary& summary) override;
  void decision(const DecisionRecord& record) override;
  void fault(const FaultRecord& record) override;
  void called(const CallRecord& record) override;
  void rank_state(const RankStateRecord& record) override;
  void loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) override;

 private:
  /// One execution of an instruction on a rank.
  struct Site {
    CodeIndex code = kNoCode;  // kNoCode: not written by an instruction, an input
    LoopPathId path = 0;
    uint64_t decision = 0;
    /// True if both are the same instruction in the same iterations; ranks and times may differ.
    bool same_visit(const Site& other) const { return code == other.code && path == other.path; }
  };
  /// An operand of a task that is not finished.
  struct Use {
    Site site;
    size_t operand = 0;
    BufferRef ref;
    LayoutIndex layout = kNoLayout;  // one that repeats; kNoLayout: nothing to compare
  };
  struct Pending {
    std::vector<Use> reads;
    std::vector<Use> writes;
  };
  /// Bytes that one task wrote.
  struct Piece {
    int64_t lo = 0;
    int64_t hi = 0;
    uint64_t digest = 0;
    Site writer;
  };
  /// Among the ranks that hold the same part, the first that reached a use.
  struct Holder {
    Rank rank = 0;
    uint64_t digest = 0;
    Site writer;
    BufferRef ref;
    uint32_t missing = 0;        // ranks that have not reached it yet
    std::optional<Tensor> kept;  // of a small part: the buffer may be freed before others come
  };
  struct Parting {
    Use use;
    Rank ranks[2] = {0, 0};
    Site writers[2];
    std::string values;  // `2 and 0 at [0]`
    uint64_t decision = 0;
    bool rounding = false;
  };
  struct Birth {
    Rank rank = 0;
    Use use;
    std::string place;
  };

  void note_uses(const IssuedRecord& record, Pending& out);
  /// kNoLayout if no two ranks hold the same elements.
  LayoutIndex repeating(LayoutIndex layout);
  std::vector<Piece>& pieces(Rank rank, AllocationId allocation);
  const Piece* piece(Rank rank, const BufferRef& ref) const;
  void compare(Rank rank, const Use& use, uint64_t digest, const Site& writer, bool is_read);
  bool keeps(const Placement* placement) const;
  void part(const Use& use, const Holder& first, Rank rank, const Site& writer, uint64_t digest);
  /// The part that a rank holds; nullopt if the buffer has other contents than `digest` by now.
  std::optional<Tensor> read(Rank rank, const BufferRef& ref, const Placement* placement,
                             uint64_t digest) const;
  void note_birth(const ValueSummary& summary, const Use& use);
  std::string site_text(const Site& site) const;
  /// `they first differ at ...`.
  std::string origin_text(const Parting& parting) const;
  void add_site(Fault& fault, Rank rank, const Site& site) const;
  Fault birth_fault(const Birth& birth, const char* id, const char* what) const;

  TraceSink* next_;
  Forward forward_;
  const Interpreter* interpreter_ = nullptr;
  /// By rank: the lowest rank that holds the same part, and the number of such ranks.
  struct Replicas {
    std::vector<std::pair<Rank, uint32_t>> by_rank;  // empty: no two ranks hold the same part
  };
  std::map<LayoutIndex, Replicas> repeats_;
  std::vector<std::vector<Use>> open_reads_;  // by rank: members of an open group
  std::vector<std::vector<Use>> open_writes_;
  std::unordered_map<TaskId, Pending> pending_;
  std::map<std::pair<Rank, uint32_t>, std::vector<Piece>> contents_;  // by allocation
  // By instruction, iteration, operand (twice: read, written) and the least rank that holds the
  // box.
  std::map<std::tuple<CodeIndex, LoopPathId, size_t, Rank>, Holder> holders_;
  std::optional<Parting> parting_;
  std::optional<Birth> nan_;
  std::optional<Birth> infinity_;
};

/// The first element at which two tensors of one shape differ, and whether another order of
/// additions may explain the differences; nullopt if they are equal.
struct Difference {
  int64_t element = 0;
  bool rounding = false;
};
std::optional<Difference> first_difference(const Tensor& a, const Tensor& b);

}  // namespace hostir::interp
