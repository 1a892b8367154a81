// Two runs compared write by write: A, the other one, and B, the one that is looked at.
//
// Writes are aligned by what they are (rank, instruction, loop iterations, tensor), never by time;
// instructions of different programs are aligned by their text first. Rows are in the order in
// which B's writes finished, so the first divergent row has no divergent cause above it. Made once
// on a worker's thread; plain values. Contents come later (gui/comparison.h): until then digests
// tell equal or not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/session/past_run.h"
#include "interp/session/run_writes.h"
#include "interp/session/write_difference.h"

namespace hostir::interp {

struct ProgramView;

/// One side: the run, and what was read of it. The log lives as long as `run`.
struct DiffSide {
  std::shared_ptr<const PastRun> run;
  const LogView* log = nullptr;
  std::shared_ptr<const RunWrites> writes;
  std::shared_ptr<const ProgramView> program;  // that ran when it was read; may be null
};

inline constexpr uint32_t kNoWrite = ~uint32_t{0};

struct DiffRow {
  uint32_t a = kNoWrite;  // index in the side's writes
  uint32_t b = kNoWrite;
  WriteOutcome outcome = WriteOutcome::kEqual;  // as far as digests tell
};

/// What is different besides values, in whole sentences.
struct DiffFact {
  enum class Kind : uint8_t {
    kSurroundings,  // backend, kernels, mesh, schedule: explains differences without being one
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
  /// Why the same additions may have been made in another order; empty: nothing says so.
  std::string other_order;
  std::vector<std::string> changed_values;  // names of inputs that differ and of edited values

  const RunWrite* write_a(const DiffRow& r) const {
    return r.a == kNoWrite ? nullptr : &a.writes->writes[r.a];
  }
  const RunWrite* write_b(const DiffRow& r) const {
    return r.b == kNoWrite ? nullptr : &b.writes->writes[r.b];
  }
  /// The write of B, or that of A where B has none; `side` is where it is from.
  const RunWrite& write(const DiffRow& r) const {
    return r.b == kNoWrite ? *write_a(r) : *write_b(r);
  }
  const DiffSide& side(const DiffRow& r) const { return r.b == kNoWrite ? a : b; }
  const LogTensor& tensor(const DiffRow& r) const {
    return side(r).log->tensors()[write(r).tensor];
  }
  const std::string& loop(const DiffRow& r) const { return side(r).writes->loops[write(r).loop]; }
  /// `@f#9`; `?` where the log does not know the instruction.
  std::string address(const DiffRow& r) const;
  /// Both sides hold the same part of a tensor of the same dtype.
  bool is_comparable(const DiffRow& r) const;
  /// `%h on rank 1, @mlp.host#9, iteration 3.0`
  std::string place(const DiffRow& r) const;
};

/// Errors: those of the logs, `log_cancelled`.
Expected<RunDiff> compare_runs(DiffSide a, DiffSide b, const std::stop_token& stop);

/// For each instruction of `b` the one of `a` that it is; kNoInstruction: there is none.
inline constexpr CodeIndex kNoInstruction = ~CodeIndex{0};
std::vector<CodeIndex> align_instructions(const std::vector<LogInstruction>& a,
                                          const std::vector<LogInstruction>& b);

/// What is different besides values; fills `facts`, `other_order` and `changed_values`.
Expected<void> compare_structure(RunDiff& diff, const std::vector<CodeIndex>& b_to_a);

/// A write whose contents both runs can tell: measured, and handed on with both tensors. False:
/// that was all that is wanted.
using TakeDifference =
    std::function<bool(uint32_t row, const WriteDifference&, Tensor a, Tensor b)>;

/// Measures rows: from contents in the logs, and by running again where a log did not keep them.
/// Of what runs again at most `max_bytes` of A's contents are held at a time. Errors: those of
/// running again, `log_cancelled`; what was measured before was handed on.
Expected<void> measure_rows(const RunDiff& diff, const std::vector<uint32_t>& rows,
                            int64_t max_bytes, const TakeDifference& take,
                            const std::stop_token& stop);

}  // namespace hostir::interp
