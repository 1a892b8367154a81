// What an editor shows of a stopped session: ranks as threads, loops and calls as stack frames,
// integers and tensors as variables.
//
// Numbers of frames and variables are valid until the next stop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/api/serve/snapshot_json.h"
#include "interp/session/session.h"

namespace hostir::api {

class DapView {
 public:
  explicit DapView(interp::Session& session) : session_(session) {}

  /// Call when the session has moved or was edited.
  void forget() { references_.clear(); }

  Json threads() const;
  /// Errors: no such rank.
  Expected<Json> stack(int64_t thread, int64_t first, int64_t levels) const;
  Expected<Json> scopes(int64_t frame);
  /// `filter`: `named`, `indexed`, or empty for both. `count` 0: all, at most kMostElements.
  Expected<Json> variables(int64_t reference, std::string_view filter, int64_t first,
                           int64_t count);
  /// Writes an element and returns its new value. Errors: `name` is not an element of a tensor.
  Expected<Json> set(int64_t reference, const std::string& name, const std::string& value);
  /// A tensor, an element, or any expression that `print` takes, on the frame's rank.
  Expected<Json> evaluate(const std::string& expression, interp::Rank rank);
  /// The texts of the compiler's phases, and the running text.
  Json loaded_sources() const;
  Expected<std::string> source_text(int64_t reference) const;

  /// Threads count from 1, frames contain their rank.
  static int64_t thread_of(interp::Rank rank) { return int64_t{rank} + 1; }
  Expected<interp::Rank> rank_of_thread(int64_t thread) const;
  Expected<interp::Rank> rank_of_frame(int64_t frame) const;

 private:
  struct Reference {
    enum class Kind : uint8_t { kIntegers, kTensors, kStreams, kWaits, kTensor } kind;
    interp::Rank rank = 0;
    std::string value;            // kTensor
    std::vector<int64_t> prefix;  // kTensor: global indices of the leading dimensions
  };
  static constexpr int64_t kFramesPerRank = 1 << 12;
  static constexpr int64_t kMostElements = 200;

  int64_t refer(Reference reference);
  Json frame_json(interp::Rank rank, int64_t depth, const std::string& name,
                  interp::CodeIndex code) const;
  Json place_json(const interp::TextLine& at) const;
  Json tensor_json(const std::string& value, interp::Rank rank);
  Json tensors(interp::Rank rank);
  Json integers(interp::Rank rank) const;
  Expected<std::string> watched(const std::string& text, interp::Rank rank);
  Json streams(interp::Rank rank) const;
  Json waits(interp::Rank rank) const;
  Expected<Json> parts(Reference reference, std::string_view filter, int64_t first, int64_t count);

  interp::Session& session_;
  std::vector<Reference> references_;  // a variable's number - 1
};

}  // namespace hostir::api
