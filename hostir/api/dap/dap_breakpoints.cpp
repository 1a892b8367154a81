#include "hostir/api/dap/dap_breakpoints.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/api/dap/dap_stream.h"
#include "hostir/io/files.h"
#include "hostir/support/lists.h"
#include "hostir/support/number_from.h"

namespace hostir::api {

namespace {

using interp::Command;
using interp::CommandKind;
using interp::Place;

// Names of the sets that do not belong to a file. A path never begins with a colon.
constexpr const char* kFunctions = ":functions";
constexpr const char* kData = ":data";
constexpr const char* kExceptions = ":exceptions";

// The breakpoints that a request asks for; skips anything that is not an object.
std::vector<Json> wanted_of(const Json& arguments, const char* member) {
  std::vector<Json> out;
  const auto list = arguments.find(member);
  if (list == arguments.end() || !list->is_array()) return out;
  for (const Json& item : *list) {
    if (item.is_object()) out.push_back(item);
  }
  return out;
}

// `3` and `>= 3`: the hits that pass before the first stop.
Expected<int64_t> ignored_hits(const std::string& condition) {
  std::string digits = condition;
  const bool from = digits.rfind(">=", 0) == 0;
  if (from) digits.erase(0, 2);
  std::erase(digits, ' ');
  if (const auto count = number_from<int64_t>(digits); count && *count >= 1) return *count - 1;
  return fail(
      ErrorKind::kUsage, "dap_request",
      fmt::format("the hit condition \"{}\" is not a count; it takes 3 or >= 3", condition));
}

// Where a line breakpoint stops: in the file of the request if an instruction there has a line.
uint32_t line_of(const interp::ProgramView& program, interp::CodeIndex code, uint32_t asked,
                 const std::string& path) {
  if (path.empty() || program.shows_given) return program.shown(code).line;
  uint32_t out = 0;
  for (const interp::GivenLine& given : program.given_lines) {
    if (io::file_name(std::string(program.given.texts->name(given.file))) != io::file_name(path))
      continue;
    if (given.code == code && given.line >= asked && (out == 0 || given.line < out))
      out = given.line;
  }
  return out == 0 ? asked : out;
}

}  // namespace

void DapBreakpoints::clear(const std::string& set) {
  for (const uint32_t number : sets_[set]) {
    Command command;
    command.kind = CommandKind::kDelete;
    command.numbers = {number};
    // The console may have deleted it before.
    (void)session_.execute(command, {});
  }
  sets_[set].clear();
}

Expected<interp::BreakpointSnapshot> DapBreakpoints::execute(const Json& wanted, Command command) {
  const std::string condition = string_member(wanted, "condition");
  if (!condition.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(const Command parsed,
                            interp::parse_command("break collective if " + condition));
    command.condition = parsed.condition;
  }
  command.text = string_member(wanted, "logMessage");
  if (!command.text.empty()) command.kind = CommandKind::kDprintf;
  const std::string hits = string_member(wanted, "hitCondition");
  Command ignore;
  ignore.kind = CommandKind::kIgnore;
  if (!hits.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(const int64_t count, ignored_hits(hits));
    ignore.numbers = {0, count};
  }
  HOSTIR_TRY(session_.execute(command, {}));
  const interp::BreakpointSnapshot made = session_.snapshot()->breakpoints->back();
  if (!hits.empty()) {
    ignore.numbers[0] = made.number;
    HOSTIR_TRY(session_.execute(ignore, {}));
  }
  return made;
}

Json DapBreakpoints::place(const std::string& set, const Json& wanted, Command command) {
  const auto made = execute(wanted, std::move(command));
  if (!made) return {{"verified", false}, {"message", made.error().message()}};
  sets_[set].push_back(made->number);
  Json out = {{"id", made->number}, {"verified", made->problem.empty()}};
  if (!made->problem.empty()) out["message"] = made->problem;
  return out;
}

Json DapBreakpoints::set_lines(const Json& arguments) {
  const auto source = arguments.find("source");
  const Json from = source != arguments.end() && source->is_object() ? *source : Json::object();
  const std::string path = string_member(from, "path");
  const std::string set = path.empty() ? string_member(from, "name") : path;
  clear(set);
  Json out = Json::array();
  for (const Json& wanted : wanted_of(arguments, "breakpoints")) {
    const auto line = wanted.find("line");
    if (line == wanted.end() || !line->is_number_integer()) continue;
    Command command;
    command.kind = CommandKind::kBreak;
    command.place =
        Place{Place::Kind::kLine, path.empty() ? "" : io::file_name(path), line->get<int64_t>()};
    Json placed = place(set, wanted, std::move(command));
    if (placed["verified"].get<bool>()) {
      const interp::SnapshotPtr shot = session_.snapshot();
      const auto& codes = shot->breakpoints->back().places;
      const auto asked = static_cast<uint32_t>(line->get<int64_t>());
      if (!codes.empty()) placed["line"] = line_of(*shot->program, codes.front(), asked, path);
    }
    out.push_back(std::move(placed));
  }
  return {{"breakpoints", std::move(out)}};
}

Json DapBreakpoints::set_functions(const Json& arguments) {
  return set_all(kFunctions, arguments, "break ", "name");
}

Json DapBreakpoints::set_data(const Json& arguments) {
  return set_all(kData, arguments, "watch ", "dataId");
}

Json DapBreakpoints::set_all(const std::string& set, const Json& arguments, const std::string& verb,
                             const char* member) {
  clear(set);
  Json out = Json::array();
  for (const Json& wanted : wanted_of(arguments, "breakpoints")) {
    const auto command = interp::parse_command(verb + string_member(wanted, member));
    out.push_back(command ? place(set, wanted, *command)
                          : Json{{"verified", false}, {"message", command.error().message()}});
  }
  return {{"breakpoints", std::move(out)}};
}

Json DapBreakpoints::set_exceptions(const Json& arguments) {
  clear(kExceptions);
  Json out = Json::array();
  const auto filters = arguments.find("filters");
  if (filters != arguments.end() && filters->is_array()) {
    for (const Json& filter : *filters) {
      const auto command = filter.is_string()
                               ? interp::parse_command("break " + filter.get<std::string>())
                               : interp::parse_command("");
      out.push_back(command ? place(kExceptions, Json::object(), *command)
                            : Json{{"verified", false}, {"message", command.error().message()}});
    }
  }
  return {{"breakpoints", std::move(out)}};
}

std::string DapBreakpoints::reason(uint32_t number) const {
  const auto in = [&](const char* set) {
    const auto found = sets_.find(set);
    return found != sets_.end() && contains(found->second, number);
  };
  if (in(kFunctions)) return "function breakpoint";
  if (in(kData)) return "data breakpoint";
  if (in(kExceptions)) return "exception";
  return "breakpoint";
}

}  // namespace hostir::api
