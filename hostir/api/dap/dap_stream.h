// Messages of the Debug Adapter Protocol: JSON after a `Content-Length` header.
#pragma once

#include <cstdint>
#include <istream>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>

#include "hostir/api/serve/snapshot_json.h"

namespace hostir::api {

/// The next message; discarded if its text is not JSON. nullopt at the end of the input, and after
/// an invalid header, because the start of the next message is then unknown.
std::optional<Json> read_dap_message(std::istream& input);

/// A string of a message; empty if it is absent or not a string.
std::string string_member(const Json& object, const char* name);

/// Writes messages and numbers them. Any thread.
class DapWriter {
 public:
  explicit DapWriter(std::ostream& output) : output_(output) {}

  void respond(const Json& request, Json body);
  /// `message` is shown to the user.
  void refuse(const Json& request, const std::string& message);
  void event(const std::string& name, Json body);
  /// Text for the editor's console; `category`: `console`, `stdout`, `important`.
  void output(const std::string& category, const std::string& text);

 private:
  void write(Json message);

  std::ostream& output_;
  std::mutex mutex_;
  int64_t sequence_ = 0;
};

}  // namespace hostir::api
