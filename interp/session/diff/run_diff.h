// Compares two runs write by write: A, the reference, and B, the run being viewed.
//
// Writes are aligned by identity (rank, instruction, loop iterations, tensor), never by time.
// Instructions of different programs are first aligned by their text. Rows are in the order in
// which B's writes finished, so no cause of the first divergent row is below it. Computed once on a
// worker thread; plain values. Contents are compared later (gui/compare/comparison.h); until then
// only digests are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interp/session/checks/write_difference.h"
#include "interp/session/diff/run_writes.h"
#include "interp/session/log/replay_source.h"

namespace hostir::interp {

struct ProgramView;

/// One side: the run, and what was read from it. The log lives as long as `run`.
struct DiffSide {
  std::shared_ptr<const ReplaySource> run;
  const LogView* log = nullptr;
  std::shared_ptr<const RunWrites> writes;
  std::shared_ptr<const ProgramView> program;  // the program at that time; may be null
};

inline constexpr uint32_t kNoWrite = ~uint32_t{0};

struct DiffRow {
  uint32_t a = kNoWrite;  // index into the side's writes
  uint32_t b = kNoWrite;
  WriteOutcome outcome = WriteOutcome::kEqual;  // as far as digests can tell
};

/// A difference other than values, in complete sentences.
struct DiffFact {
  enum class Kind : uint8_t {
    kSurroundings,  // backend, kernels, mesh, schedule: may explain value differences
    kInput,
    kEdit,
    kProgram,
    kWrites,
    kEnd,
  } kind = Kind::kSurroundings;
  std::string sentence;
};

struct RunDiff {
  DiffSide a;
  DiffSide b;
  std::vector<DiffRow> rows;
  std::vector<DiffFact> facts;
  /// Why the same additions may have been made in another order; empty if nothing indicates that.
  std::string other_order;
  std::vector<std::string> changed_values;  // names of inputs that differ and of edited values

  const RunWrite* write_a(const DiffRow& r) const {
    return r.a == kNoWrite ? nullptr : &a.writes->writes[r.a];
  }
  const RunWrite* write_b(const DiffRow& r) const {
    return r.b == kNoWrite ? nullptr : &b.writes->writes[r.b];
  }
  /// The write of B, or that of A if B has none; `side` is the side it is from.
  const RunWrite& write(const DiffRow& r) const {
    return r.b == kNoWrite ? *write_a(r) : *write_b(r);
  }
  const DiffSide& side(const DiffRow& r) const { return r.b == kNoWrite ? a : b; }
  const LogTensor& tensor(const DiffRow& r) const {
    return side(r).log->tensors()[write(r).tensor];
  }
  const std::string& loop(const DiffRow& r) const { return side(r).writes->loops[write(r).loop]; }
  /// `@f#9`; `?` if the log does not have the instruction.
  std::string address(const DiffRow& r) const;
  /// True if both sides hold the same part of a tensor with the same dtype.
  bool is_comparable(const DiffRow& r) const;
  /// `%h on rank 1, @mlp.host#9, iteration 3.0`
  std::string place(const DiffRow& r) const;
};

/// Errors: those of the logs, `log_cancelled`.
Expected<RunDiff> compare_runs(DiffSide a, DiffSide b, const std::stop_token& stop);

/// For each instruction of `b` the corresponding one of `a`; kNoInstruction if there is none.
inline constexpr CodeIndex kNoInstruction = ~CodeIndex{0};
std::vector<CodeIndex> align_instructions(const std::vector<LogInstruction>& a,
                                          const std::vector<LogInstruction>& b);

/// Finds differences other than values; fills `facts`, `other_order` and `changed_values`.
Expected<void> compare_structure(RunDiff& diff, const std::vector<CodeIndex>& b_to_a);

/// Receives a measured write with both tensors. Return false to stop.
using TakeDifference =
    std::function<bool(uint32_t row, const WriteDifference&, Tensor a, Tensor b)>;

/// Measures rows from contents in the logs, and by running again where a log did not keep them. A
/// re-run holds at most `max_bytes` of A's contents at a time.
/// Errors: those of the re-run, `log_cancelled`; rows measured before were already delivered.
Expected<void> measure_rows(const RunDiff& diff, const std::vector<uint32_t>& rows,
                            int64_t max_bytes, const TakeDifference& take,
                            const std::stop_token& stop);

}  // namespace hostir::interp
