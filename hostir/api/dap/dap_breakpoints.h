// The breakpoints of an editor, which sends whole sets: of a file, of functions, of data, of
// exceptions. A set replaces the previous one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hostir/api/serve/snapshot_json.h"
#include "interp/session/session.h"

namespace hostir::api {

class DapBreakpoints {
 public:
  explicit DapBreakpoints(interp::Session& session) : session_(session) {}

  // Arguments and results have the form of the protocol's requests. A breakpoint that cannot be set
  // is answered with `verified` false and the reason.
  Json set_lines(const Json& arguments);
  Json set_functions(const Json& arguments);
  Json set_data(const Json& arguments);
  Json set_exceptions(const Json& arguments);

  /// The protocol's reason for a stop at this breakpoint: `breakpoint`, `data breakpoint`, ...
  std::string reason(uint32_t number) const;

 private:
  /// Replaces a set; `member` names the breakpoints' field that follows `verb` in their command.
  Json set_all(const std::string& set, const Json& arguments, const std::string& verb,
               const char* member);
  void clear(const std::string& set);
  Json place(const std::string& set, const Json& wanted, interp::Command command);
  Expected<interp::BreakpointSnapshot> execute(const Json& wanted, interp::Command command);

  interp::Session& session_;
  std::map<std::string, std::vector<uint32_t>> sets_;  // a file's set has its path
};

}  // namespace hostir::api
