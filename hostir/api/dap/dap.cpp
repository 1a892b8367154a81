#include "hostir/api/dap/dap.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "hostir/api/dap/dap_breakpoints.h"
#include "hostir/api/dap/dap_stream.h"
#include "hostir/api/dap/dap_view.h"
#include "hostir/api/serve/command_data.h"
#include "hostir/api/serve/open_options.h"
#include "hostir/api/serve/request_queue.h"
#include "interp/session/commands/command_table.h"

namespace hostir::api {

namespace {

using interp::Rank;
using interp::StopKind;

Json capabilities() {
  return {
      {"supportsConfigurationDoneRequest", true},
      {"supportsFunctionBreakpoints", true},
      {"supportsConditionalBreakpoints", true},
      {"supportsHitConditionalBreakpoints", true},
      {"supportsLogPoints", true},
      {"supportsDataBreakpoints", true},
      {"supportsExceptionInfoRequest", true},
      {"supportsEvaluateForHovers", true},
      {"supportsStepBack", true},
      {"supportsSetVariable", true},
      {"supportsCompletionsRequest", true},
      {"supportsLoadedSourcesRequest", true},
      {"supportsRestartRequest", true},
      {"supportsTerminateRequest", true},
      {"supportsSingleThreadExecutionRequests", true},
      {"supportsSteppingGranularity", true},
      {"exceptionBreakpointFilters",
       Json::array({{{"filter", "nan"},
                     {"label", "NaN or Inf"},
                     {"description", "Stop at the first instruction that writes a NaN or Inf"},
                     {"default", false}}})},
  };
}

int64_t integer_member(const Json& object, const char* name, int64_t otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

bool flag_member(const Json& object, const char* name, bool otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

// A response, and what happens once it is sent: events must not precede it.
struct Reply {
  Json body = nullptr;
  std::function<void()> then;
};

// Handles requests. Used by one thread; `pause` may be called from any.
class Debugger {
 public:
  explicit Debugger(DapWriter& writer) : writer_(writer) {}

  void carry_out_request(const Json& request) {
    const std::string command = string_member(request, "command");
    const auto found = request.find("arguments");
    const bool given = found != request.end() && found->is_object();
    const auto handler = handlers().find(command);
    if (handler == handlers().end()) {
      writer_.refuse(request, fmt::format("hostir does not know the request \"{}\"", command));
      return;
    }
    if (handler->second.needs_session && !session_) {
      writer_.refuse(request, fmt::format("\"{}\" needs a program: send launch first", command));
      return;
    }
    // An exception of a library (no memory) must not end the session.
    try {
      const auto reply = (this->*handler->second.function)(given ? *found : Json::object());
      if (!reply) {
        writer_.refuse(request, message_of(reply.error()));
        return;
      }
      writer_.respond(request, reply->body);
      if (reply->then) reply->then();
    } catch (const std::exception& error) {
      writer_.refuse(request, fmt::format("\"{}\" failed: {}", command, error.what()));
    }
  }

  /// The editor is gone: stops the running request and all queued ones.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    running_.request_stop();
  }

  /// Stops the running command after a complete decision.
  void pause() {
    const std::lock_guard lock(mutex_);
    running_.request_stop();
  }

 private:
  using Function = Expected<Reply> (Debugger::*)(const Json& arguments);
  struct Handler {
    Function function;
    bool needs_session = true;
  };
  static const std::map<std::string, Handler, std::less<>>& handlers();

  // The diagnostics with their lines, as the command prints them.
  std::string message_of(const Error& error) const {
    std::string text = render(error.diagnostics, opener_ ? opener_->sources() : SourceManager());
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  Expected<interp::Outcome> execute(const std::string& text) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command command, interp::parse_command(text));
    return session_->execute(command, {});
  }

  std::stop_token begin_running() {
    const std::lock_guard lock(mutex_);
    running_ = std::stop_source();
    if (is_closed_) running_.request_stop();
    return running_.get_token();
  }

  void tell_stop() {
    const interp::SnapshotPtr shot = session_->snapshot();
    const interp::StopReason& stop = shot->stop;
    view_->forget();
    if (stop.kind == StopKind::kFinished && !stay_at_end_) {
      writer_.output("console", stop.sentence);
      writer_.event("exited", {{"exitCode", 0}});
      writer_.event("terminated", nullptr);
      return;
    }
    const Rank rank = stop.rank == interp::kNoRank ? shot->focus : stop.rank;
    Json body = {{"reason", reason_of(stop)},
                 {"description", stop.sentence},
                 {"threadId", DapView::thread_of(rank)},
                 {"allThreadsStopped", true}};
    if (stop.kind == StopKind::kFault || stop.kind == StopKind::kDeadlock)
      body["text"] = stop.sentence;
    if (stop.breakpoint != 0) body["hitBreakpointIds"] = {stop.breakpoint};
    writer_.output("console", stop.sentence);
    writer_.event("stopped", std::move(body));
  }

  std::string reason_of(const interp::StopReason& stop) const {
    switch (stop.kind) {
      case StopKind::kStart:
      case StopKind::kBegin:
        return "entry";
      case StopKind::kStep:
        return "step";
      case StopKind::kBreakpoint:
        return breakpoints_->reason(stop.breakpoint);
      case StopKind::kArrived:
        return "goto";
      case StopKind::kFault:
      case StopKind::kDeadlock:
        return "exception";
      case StopKind::kFinished:
      case StopKind::kNobodyMoves:
      case StopKind::kInterrupted:
        return "pause";
    }
    return "pause";
  }

  void tell_log(const interp::Outcome& outcome) {
    for (const interp::LogLine& line : outcome.logged)
      writer_.output("stdout", fmt::format("rank {}: {}", line.rank, line.text));
  }

  // The thread of the request becomes the focus; steps move it alone or all ranks.
  Expected<void> choose(const Json& arguments) {
    const int64_t thread = integer_member(arguments, "threadId", 0);
    if (thread == 0) return {};
    HOSTIR_ASSIGN_OR_RETURN(const Rank rank, view_->rank_of_thread(thread));
    if (flag_member(arguments, "singleThread", false)) {
      HOSTIR_TRY(execute(fmt::format("rank {}", rank)));
      return {};
    }
    if (!session_->snapshot()->step_scope.empty()) HOSTIR_TRY(execute("rank all"));
    HOSTIR_TRY(execute(fmt::format("focus {}", rank)));
    return {};
  }

  // The protocol requires the response before any event.
  Expected<Reply> run(const Json& arguments, const std::string& text, Json body = nullptr) {
    if (!session_->snapshot()->no_stepping.empty())
      return fail(ErrorKind::kUsage, "dap_request", session_->snapshot()->no_stepping);
    HOSTIR_TRY(choose(arguments));
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command command, interp::parse_command(text));
    // From here on, `pause` can stop the command.
    const auto then = [this, command, stop = begin_running()] {
      const auto outcome = session_->execute(command, stop);
      if (outcome)
        tell_log(*outcome);
      else
        writer_.output("important", outcome.error().message());
      tell_stop();
    };
    return Reply{std::move(body), then};
  }

  Expected<Reply> initialize(const Json&) { return Reply{capabilities(), {}}; }

  Expected<Reply> launch(const Json& arguments) {
    const std::string path = string_member(arguments, "program");
    if (path.empty())
      return fail(
          ErrorKind::kUsage, "dap_request",
          "the launch configuration has no \"program\"; set it to the path of a program or a log");
    const auto given = arguments.find("options");
    const Json options = given == arguments.end() ? Json::object() : *given;
    HOSTIR_ASSIGN_OR_RETURN(OpenOptions parsed, parse_open_options(options.dump()));
    if (!options.contains("example_inputs"))
      parsed.session.missing_inputs = SessionOptions::MissingInputs::kMakeUp;
    parsed.request.path = path;
    stop_on_entry_ = flag_member(arguments, "stopOnEntry", false);
    stay_at_end_ = flag_member(arguments, "stayAtEnd", true);
    breakpoints_.reset();
    view_.reset();
    session_.reset();
    opener_ = std::make_unique<SessionOpener>(std::move(parsed.session));
    HOSTIR_ASSIGN_OR_RETURN(session_, opener_->open(parsed.request));
    view_ = std::make_unique<DapView>(*session_);
    breakpoints_ = std::make_unique<DapBreakpoints>(*session_);
    return Reply{nullptr, [this] {
                   writer_.output("console", opener_->notice());
                   writer_.output("important", opener_->warning());
                   writer_.event("initialized", nullptr);
                 }};
  }

  Expected<Reply> configured(const Json&) {
    // A log that cannot be run again is shown at its end.
    if (stop_on_entry_ || !session_->snapshot()->no_stepping.empty())
      return Reply{nullptr, [this] { tell_stop(); }};
    return run(Json::object(), "continue");
  }

  Expected<Reply> set_breakpoints(const Json& arguments) {
    return Reply{breakpoints_->set_lines(arguments), {}};
  }
  Expected<Reply> set_functions(const Json& arguments) {
    return Reply{breakpoints_->set_functions(arguments), {}};
  }
  Expected<Reply> set_data(const Json& arguments) {
    return Reply{breakpoints_->set_data(arguments), {}};
  }
  Expected<Reply> set_exceptions(const Json& arguments) {
    return Reply{breakpoints_->set_exceptions(arguments), {}};
  }
  Expected<Reply> data_info(const Json& arguments) {
    const std::string name = string_member(arguments, "name");
    const auto command = interp::parse_command("watch " + name);
    if (command) {
      return Reply{{{"dataId", name},
                    {"description", "writes of " + name},
                    {"accessTypes", Json::array({"write"})}},
                   {}};
    }
    return Reply{{{"dataId", nullptr}, {"description", "only writes of a tensor can be watched"}},
                 {}};
  }

  Expected<Reply> threads(const Json&) { return Reply{{{"threads", view_->threads()}}, {}}; }
  Expected<Reply> stack_trace(const Json& arguments) {
    HOSTIR_ASSIGN_OR_RETURN(Json frames, view_->stack(integer_member(arguments, "threadId", 0),
                                                      integer_member(arguments, "startFrame", 0),
                                                      integer_member(arguments, "levels", 0)));
    return Reply{std::move(frames), {}};
  }
  Expected<Reply> scopes(const Json& arguments) {
    HOSTIR_ASSIGN_OR_RETURN(Json scopes, view_->scopes(integer_member(arguments, "frameId", -1)));
    return Reply{{{"scopes", std::move(scopes)}}, {}};
  }
  Expected<Reply> variables(const Json& arguments) {
    HOSTIR_ASSIGN_OR_RETURN(
        Json variables,
        view_->variables(integer_member(arguments, "variablesReference", 0),
                         string_member(arguments, "filter"), integer_member(arguments, "start", 0),
                         integer_member(arguments, "count", 0)));
    return Reply{{{"variables", std::move(variables)}}, {}};
  }
  Expected<Reply> set_variable(const Json& arguments) {
    HOSTIR_ASSIGN_OR_RETURN(
        Json value,
        view_->set(integer_member(arguments, "variablesReference", 0),
                   string_member(arguments, "name"), string_member(arguments, "value")));
    return Reply{std::move(value), {}};
  }

  Expected<Reply> evaluate(const Json& arguments) {
    const std::string text = string_member(arguments, "expression");
    Rank rank = session_->snapshot()->focus;
    if (arguments.contains("frameId")) {
      HOSTIR_ASSIGN_OR_RETURN(rank, view_->rank_of_frame(integer_member(arguments, "frameId", -1)));
    }
    if (string_member(arguments, "context") == "repl") return console(text, rank);
    HOSTIR_ASSIGN_OR_RETURN(Json value, view_->evaluate(text, rank));
    return Reply{std::move(value), {}};
  }

  // A line of the terminal debugger.
  Expected<Reply> console(const std::string& text, Rank rank) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command command, interp::parse_command(text));
    if (rank != session_->snapshot()->focus) HOSTIR_TRY(execute(fmt::format("focus {}", rank)));
    const std::stop_token stop = begin_running();
    HOSTIR_ASSIGN_OR_RETURN(const CommandResult done, carry_out(*session_, command, stop));
    Reply reply{{{"result", done.outcome.text}, {"variablesReference", 0}}, {}};
    reply.then = [this, outcome = done.outcome] {
      tell_log(outcome);
      if (outcome.quit)
        writer_.event("terminated", nullptr);
      else if (outcome.ran)
        tell_stop();
    };
    return reply;
  }

  Expected<Reply> completions(const Json& arguments) {
    std::string line = string_member(arguments, "text");
    const int64_t column = integer_member(arguments, "column", 1);  // 1-based, after the text
    if (column >= 1 && column <= static_cast<int64_t>(line.size()))
      line.resize(static_cast<size_t>(column - 1));
    std::vector<std::string> names;
    const interp::SnapshotPtr shot = session_->snapshot();
    for (const auto& a : shot->memory[static_cast<size_t>(shot->focus)]->allocations)
      names.push_back("%" + a.name);
    Json targets = Json::array();
    for (const std::string& completed : interp::complete(line, names))
      targets.push_back({{"label", completed}, {"start", 0}, {"length", line.size()}});
    return Reply{{{"targets", std::move(targets)}}, {}};
  }

  Expected<Reply> exception_info(const Json&) {
    const interp::SnapshotPtr shot = session_->snapshot();
    Json body = {
        {"exceptionId", "stop"}, {"description", shot->stop.sentence}, {"breakMode", "always"}};
    if (!shot->faults->empty()) {
      const interp::FaultSnapshot& fault = shot->faults->back();
      body["exceptionId"] = fault.kind;
      body["details"] = {{"message", fault.sentence},
                         {"stackTrace", fmt::format("{}", fmt::join(fault.notes, "\n"))}};
    }
    return Reply{std::move(body), {}};
  }

  Expected<Reply> loaded_sources(const Json&) {
    return Reply{{{"sources", view_->loaded_sources()}}, {}};
  }
  Expected<Reply> source(const Json& arguments) {
    HOSTIR_ASSIGN_OR_RETURN(std::string text,
                            view_->source_text(integer_member(arguments, "sourceReference", 0)));
    return Reply{{{"content", std::move(text)}}, {}};
  }

  static bool by_instruction(const Json& arguments) {
    return string_member(arguments, "granularity") == "instruction";
  }
  Expected<Reply> go_on(const Json& arguments) {
    return run(arguments, "continue",
               {{"allThreadsContinued", !flag_member(arguments, "singleThread", false)}});
  }
  Expected<Reply> next(const Json& arguments) {
    return run(arguments, by_instruction(arguments) ? "step" : "next");
  }
  Expected<Reply> step_in(const Json& arguments) { return run(arguments, "step"); }
  Expected<Reply> step_out(const Json& arguments) { return run(arguments, "finish"); }
  Expected<Reply> step_back(const Json& arguments) {
    return run(arguments, by_instruction(arguments) ? "reverse-step" : "reverse-next");
  }
  Expected<Reply> go_back(const Json& arguments) { return run(arguments, "reverse-continue"); }
  Expected<Reply> restart(const Json&) { return run(Json::object(), "run"); }
  Expected<Reply> paused(const Json&) { return Reply{}; }
  Expected<Reply> terminate(const Json&) {
    return Reply{nullptr, [this] { writer_.event("terminated", nullptr); }};
  }
  Expected<Reply> disconnect(const Json&) { return Reply{}; }

  DapWriter& writer_;
  std::unique_ptr<SessionOpener> opener_;
  std::unique_ptr<interp::Session> session_;
  std::unique_ptr<DapView> view_;
  std::unique_ptr<DapBreakpoints> breakpoints_;
  bool stop_on_entry_ = false;
  bool stay_at_end_ = true;
  std::mutex mutex_;  // guards what follows
  bool is_closed_ = false;
  std::stop_source running_{std::nostopstate};
};

const std::map<std::string, Debugger::Handler, std::less<>>& Debugger::handlers() {
  static const std::map<std::string, Handler, std::less<>> kHandlers = {
      {"initialize", {&Debugger::initialize, false}},
      {"launch", {&Debugger::launch, false}},
      {"attach", {&Debugger::launch, false}},
      {"configurationDone", {&Debugger::configured}},
      {"setBreakpoints", {&Debugger::set_breakpoints}},
      {"setFunctionBreakpoints", {&Debugger::set_functions}},
      {"dataBreakpointInfo", {&Debugger::data_info}},
      {"setDataBreakpoints", {&Debugger::set_data}},
      {"setExceptionBreakpoints", {&Debugger::set_exceptions}},
      {"threads", {&Debugger::threads}},
      {"stackTrace", {&Debugger::stack_trace}},
      {"scopes", {&Debugger::scopes}},
      {"variables", {&Debugger::variables}},
      {"setVariable", {&Debugger::set_variable}},
      {"evaluate", {&Debugger::evaluate}},
      {"completions", {&Debugger::completions}},
      {"exceptionInfo", {&Debugger::exception_info}},
      {"loadedSources", {&Debugger::loaded_sources}},
      {"source", {&Debugger::source}},
      {"continue", {&Debugger::go_on}},
      {"next", {&Debugger::next}},
      {"stepIn", {&Debugger::step_in}},
      {"stepOut", {&Debugger::step_out}},
      {"stepBack", {&Debugger::step_back}},
      {"reverseContinue", {&Debugger::go_back}},
      {"restart", {&Debugger::restart}},
      {"pause", {&Debugger::paused}},
      {"terminate", {&Debugger::terminate, false}},
      {"disconnect", {&Debugger::disconnect, false}},
  };
  return kHandlers;
}

bool is_request(const Json& message, std::string_view command) {
  return message.is_object() && string_member(message, "command") == command;
}

}  // namespace

void serve_dap(std::istream& input, std::ostream& output) {
  DapWriter writer(output);
  Debugger debugger(writer);
  RequestQueue<Json> requests;
  std::jthread worker([&] {
    while (const auto request = requests.pop()) debugger.carry_out_request(*request);
  });
  while (auto message = read_dap_message(input)) {
    if (!message->is_object()) {
      writer.refuse(Json::object(), "a message is a JSON object with \"seq\" and \"command\"");
      continue;
    }
    const bool last = is_request(*message, "disconnect");
    if (is_request(*message, "pause") || is_request(*message, "terminate")) debugger.pause();
    requests.push(std::move(*message));
    if (last) break;
  }
  debugger.close();
  requests.end();
}

}  // namespace hostir::api
