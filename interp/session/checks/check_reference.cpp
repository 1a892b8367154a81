#include "interp/session/checks/check_reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <tuple>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/core/loop_paths.h"
#include "interp/session/checks/register_roundings.h"
#include "interp/session/values/value_recorder.h"

namespace hostir::interp {
namespace {

struct RecordedWrites {
  std::unique_ptr<ValueRecorder> recorder;
  std::vector<std::string> places;  // by loop path; `iteration 3.0`
};

Expected<RecordedWrites> record_writes(const Prepared& prepared, const BackendFactory& make_backend,
                                       RunOptions options, int64_t max_bytes,
                                       ValueRecorder::Completed completed = {}) {
  RecordedWrites out;
  out.recorder = std::make_unique<ValueRecorder>([](const Value&) { return true; }, options.trace);
  out.recorder->limit(max_bytes);
  out.recorder->on_completed(std::move(completed));
  options.trace = out.recorder.get();
  options.attach = [&out](Interpreter& interpreter) { out.recorder->attach(interpreter); };
  options.ended = [&out](const Interpreter& interpreter) {
    const LoopPathTable& paths = interpreter.loop_paths();
    for (LoopPathId id = 0; id < paths.size(); ++id) {
      out.places.push_back(paths.to_string(interpreter.code(), id));
    }
  };
  HOSTIR_ASSIGN_OR_RETURN(const RunResult result, run(prepared, make_backend, options));
  if (const Fault* fault = result.worst()) return tl::unexpected(to_error(*fault));
  return out;
}

// Compare only what an instruction names as written: other names of the same storage may show
// memory that nothing has written yet.
bool is_operand(const Code& code, const RecordedVersion& version) {
  if (version.code == kNoCode) return false;
  const std::vector<uint32_t>& operands = code.instructions[version.code].operands;
  return contains(operands, version.reg);
}

// The simulator fills memory that is about to be overwritten with ones.
void forget_unwritten(Tensor& actual, const Tensor& expected) {
  const auto bytes = static_cast<size_t>(size_bytes(expected.dtype));
  if (!is_float(expected.dtype)) return;
  const std::vector<std::byte> unwritten(bytes, std::byte{0xFF});
  for (size_t at = 0; at + bytes <= expected.data.size(); at += bytes) {
    if (std::memcmp(expected.data.data() + at, unwritten.data(), bytes) != 0) continue;
    std::memcpy(actual.data.data() + at, unwritten.data(), bytes);
  }
}

class ReferenceComparison {
 public:
  ReferenceComparison(const Code& code, RecordedWrites actual, const Tolerance& tolerance)
      : code_(code),
        actual_(std::move(actual)),
        tolerance_(tolerance),
        roundings_(register_roundings(code)) {
    for (const RecordedVersion& v : actual_.recorder->versions()) {
      if (is_operand(code_, v)) by_place_[place_of(v)] = &v;
    }
  }

  /// Compares a write of the reference, and replaces it with that of the run.
  void take(RecordedVersion& expected, const BufferRef& ref, Backend& reference) {
    if (!is_operand(code_, expected)) return expected.data.reset();
    const auto found = by_place_.find(place_of(expected));
    if (found == by_place_.end() || found->second->code != expected.code) {
      if (report_.unmatched++ == 0) missing_ = expected;
      return expected.data.reset();
    }
    const RecordedVersion& v = *found->second;
    if (!v.data || !expected.data) {
      ++report_.skipped;
      return expected.data.reset();
    }
    ++report_.compared;
    if (v.data->extents != expected.data->extents) {
      keep_first(v, "the local shapes differ");
    } else if (v.data->data != expected.data->data) {
      Tensor contents = *v.data;
      forget_unwritten(contents, *expected.data);
      const auto how = compare(contents, *expected.data, tolerance_, roundings_[v.reg]);
      if (how) keep_first(v, describe(*how, contents));
      replace(expected, ref, contents, reference);
    }
    expected.data.reset();
  }

  Expected<ReferenceReport> report() {
    if (error_) return tl::unexpected(*error_);
    if (first_ != nullptr) report_.difference = describe_at(*first_, how_);
    if (missing_ && report_.compared + report_.skipped == 0)
      report_.difference = describe_at(*missing_, "the run does not have this write");
    return report_;
  }

 private:
  using Place = std::tuple<Rank, uint64_t, uint32_t>;
  static Place place_of(const RecordedVersion& v) { return {v.rank, v.order, v.reg}; }

  // In order of issue; the order of completion may differ.
  void keep_first(const RecordedVersion& v, std::string how) {
    if (first_ != nullptr && first_ <= &v) return;
    first_ = &v;
    how_ = std::move(how);
  }

  void replace(const RecordedVersion& expected, const BufferRef& ref, const Tensor& contents,
               Backend& reference) {
    const int64_t bytes = size_bytes(contents.dtype);
    for_each_run(
        ref, expected.placement, expected.placement.box,
        [&](int64_t stored, int64_t dense, int64_t count) {
          const auto written = reference.write(
              expected.rank, ref.allocation, expected.placement, ref.offset_bytes + stored * bytes,
              std::span(contents.data)
                  .subspan(static_cast<size_t>(dense * bytes), static_cast<size_t>(count * bytes)));
          if (!written && !error_) error_ = written.error();
        });
  }

  ReferenceDifference describe_at(const RecordedVersion& v, const std::string& how) const {
    ReferenceDifference out;
    out.value = v.name;
    out.instruction = code_.address(v.code);
    out.rank = v.rank;
    const bool in_loop = v.loop_path != 0 && v.loop_path < actual_.places.size();
    out.sentence = fmt::format("rank {}: %{} after {} {}{}: {}", v.rank, v.name, out.instruction,
                               record(code_.instructions[v.code].kind).mnemonic,
                               in_loop ? ", " + actual_.places[v.loop_path] : "", how);
    return out;
  }

  const Code& code_;
  const RecordedWrites actual_;
  const Tolerance& tolerance_;
  const std::vector<std::optional<DType>> roundings_;  // by register
  std::map<Place, const RecordedVersion*> by_place_;
  ReferenceReport report_;
  const RecordedVersion* first_ = nullptr;  // of the run: differs
  std::string how_;
  std::optional<RecordedVersion> missing_;
  std::optional<Error> error_;
};

}  // namespace

Expected<ReferenceReport> check_reference(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& actual, const RunOptions& reference,
                                          const Tolerance& tolerance, int64_t max_bytes) {
  HOSTIR_ASSIGN_OR_RETURN(RecordedWrites ours,
                          record_writes(prepared, make_backend, actual, max_bytes));
  ReferenceComparison comparison(*prepared.code, std::move(ours), tolerance);
  const auto take = [&](RecordedVersion& version, const BufferRef& ref, Backend& backend) {
    comparison.take(version, ref, backend);
  };
  HOSTIR_TRY(record_writes(prepared, make_backend, reference, INT64_MAX, take));
  return comparison.report();
}

}  // namespace hostir::interp
