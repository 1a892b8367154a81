#include "interp/session/checks/check_reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/loop_paths.h"
#include "interp/session/checks/register_roundings.h"
#include "interp/session/values/value_recorder.h"

namespace hostir::interp {
namespace {

using RecordedVersions = std::vector<RecordedVersion>;

struct RecordedWrites {
  std::unique_ptr<ValueRecorder> recorder;
  std::vector<std::string> places;  // by loop path; `iteration 3.0`
};

Expected<RecordedWrites> record_writes(const Prepared& prepared, const BackendFactory& make_backend,
                                       RunOptions options, int64_t max_bytes) {
  RecordedWrites out;
  out.recorder =
      std::make_unique<ValueRecorder>([](const std::string&) { return true; }, options.trace);
  out.recorder->limit(max_bytes);
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
  ReferenceComparison(const Code& code, const RecordedWrites& reference, const Tolerance& tolerance)
      : code_(code),
        reference_(reference),
        tolerance_(tolerance),
        roundings_(register_roundings(code)) {}

  ReferenceReport run(const RecordedVersions& actual) {
    ReferenceReport out;
    std::map<std::tuple<Rank, uint64_t, uint32_t>, const RecordedVersion*> by_place;
    for (const RecordedVersion& v : actual) {
      if (is_operand(code_, v)) by_place[{v.rank, v.order, v.reg}] = &v;
    }
    const RecordedVersion* missing = nullptr;
    for (const RecordedVersion& expected : reference_.recorder->versions()) {
      if (!is_operand(code_, expected)) continue;
      const auto found = by_place.find({expected.rank, expected.order, expected.reg});
      if (found == by_place.end() || found->second->code != expected.code) {
        if (out.unmatched++ == 0) missing = &expected;
        continue;
      }
      const RecordedVersion& v = *found->second;
      if (!v.data || !expected.data) {
        ++out.skipped;
        continue;
      }
      ++out.compared;
      if (auto how = difference(*v.data, *expected.data, roundings_[v.reg])) {
        out.difference = describe_at(v, *how);
        return out;
      }
    }
    if (missing != nullptr && out.compared + out.skipped == 0)
      out.difference = describe_at(*missing, "the run does not have this write");
    return out;
  }

 private:
  std::optional<std::string> difference(Tensor actual, const Tensor& expected,
                                        std::optional<DType> rounded_to) const {
    if (actual.extents != expected.extents) return std::string("the local shapes differ");
    forget_unwritten(actual, expected);
    const auto found = compare(actual, expected, tolerance_, rounded_to);
    return found ? std::optional(describe(*found, actual)) : std::nullopt;
  }

  ReferenceDifference describe_at(const RecordedVersion& v, const std::string& how) const {
    ReferenceDifference out;
    out.value = v.name;
    out.instruction = code_.address(v.code);
    out.rank = v.rank;
    const bool in_loop = v.loop_path != 0 && v.loop_path < reference_.places.size();
    out.sentence = fmt::format("rank {}: %{} after {} {}{}: {}", v.rank, v.name, out.instruction,
                               record(code_.instructions[v.code].kind).mnemonic,
                               in_loop ? ", " + reference_.places[v.loop_path] : "", how);
    return out;
  }

  const Code& code_;
  const RecordedWrites& reference_;
  const Tolerance& tolerance_;
  const std::vector<std::optional<DType>> roundings_;  // by register
};

}  // namespace

Expected<ReferenceReport> check_reference(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& actual, const RunOptions& reference,
                                          const Tolerance& tolerance, int64_t max_bytes) {
  HOSTIR_ASSIGN_OR_RETURN(const RecordedWrites expected,
                          record_writes(prepared, make_backend, reference, max_bytes));
  HOSTIR_ASSIGN_OR_RETURN(const RecordedWrites ours,
                          record_writes(prepared, make_backend, actual, max_bytes));
  return ReferenceComparison(*prepared.code, expected, tolerance).run(ours.recorder->versions());
}

}  // namespace hostir::interp
