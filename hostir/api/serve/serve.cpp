#include "hostir/api/serve/serve.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "hostir/api/serve/bounded_json.h"
#include "hostir/api/serve/request_queue.h"
#include "hostir/api/serve/snapshot_json.h"
#include "hostir/api/serve/text_program.h"
#include "hostir/api/serve/text_session.h"
#include "hostir/io/npy.h"
#include "hostir/support/json_text.h"
#include "hostir/support/text.h"

namespace hostir::api {

namespace {

// JSON-RPC's own.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kNoMethod = -32601;
constexpr int kInvalidParams = -32602;

struct RpcError {
  int code = 0;
  std::string message;
  Json data = nullptr;
};
using Result = tl::expected<Json, RpcError>;

tl::unexpected<RpcError> refused(int code, std::string message) {
  return tl::unexpected(RpcError{code, std::move(message), nullptr});
}

Result result_of(const Answered<std::string>& answer) {
  if (answer) return Json::parse(*answer);
  Json error = Json::parse(answer.error().json)["error"];
  std::string message = error["message"].get<std::string>();
  return tl::unexpected(
      RpcError{exit_status(answer.error().kind), std::move(message), std::move(error)});
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0;
      group = group << 8 | byte;
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool there = k == 0 || i + k <= bytes.size();
      out += there ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

// Stop sources of the running and queued commands, by session. The reading thread adds and triggers
// them; the working thread removes them.
class Stops {
 public:
  std::stop_source add(int64_t session) {
    const std::lock_guard lock(mutex_);
    return waiting_.emplace(session, std::stop_source())->second;
  }
  void remove(const std::stop_source& stop) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second == stop; });
  }
  /// Returns the number of the session's commands that were asked to stop.
  size_t request(int64_t session) {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = waiting_.equal_range(session);
    for (auto at = begin; at != end; ++at) at->second.request_stop();
    return static_cast<size_t>(std::distance(begin, end));
  }

 private:
  std::mutex mutex_;
  std::multimap<int64_t, std::stop_source> waiting_;
};

class Server {
 public:
  Result call(const std::string& method, const Json& params, const std::stop_source& stop) {
    if (method == "open") return open(params);
    if (method == "diagnose") return diagnose(params);
    if (method == "lower" || method == "import") return convert(method, params);
    if (method != "command" && method != "interrupt" && method != "query" && method != "tensor" &&
        method != "close") {
      return refused(kNoMethod,
                     "there is no method \"" + method +
                         "\"; there are open, command, interrupt, query, tensor, lower, import, "
                         "diagnose, close");
    }
    const auto session = find(params);
    if (!session) return tl::unexpected(session.error());
    if (method == "interrupt") return Json{{"interrupted", 0}};  // no command is running or queued
    if (method == "close") {
      sessions_.erase(*session);
      return Json::object();
    }
    TextSession& text = *(*session)->second;
    const char* name = method == "command" ? "command" : method == "query" ? "sql" : "value";
    const auto argument = text_param(params, name);
    if (!argument) return tl::unexpected(argument.error());
    if (method == "command") return result_of(text.execute(*argument, stop));
    if (method == "query") return result_of(text.query(*argument, stop));
    return tensor(text, *argument);
  }

 private:
  using Sessions = std::map<int64_t, std::unique_ptr<TextSession>>;

  static tl::expected<std::string, RpcError> text_param(const Json& params, const char* name) {
    const auto found = params.find(name);
    if (found != params.end() && found->is_string()) return found->get<std::string>();
    return refused(kInvalidParams, fmt::format("the parameter \"{}\" must be a string", name));
  }

  tl::expected<Sessions::iterator, RpcError> find(const Json& params) {
    const auto found = params.find("session");
    if (found != params.end() && found->is_number_integer()) {
      const auto session = sessions_.find(found->get<int64_t>());
      if (session != sessions_.end()) return session;
    }
    std::string known;
    for (const auto& [number, session] : sessions_)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", number);
    return refused(
        kInvalidParams,
        fmt::format("the parameter \"session\" must be the number of an open session; open: {}",
                    known.empty() ? "none" : known));
  }

  Result open(const Json& params) {
    const auto path = text_param(params, "path");
    if (!path) return tl::unexpected(path.error());
    const auto options = params.find("options");
    auto session = TextSession::open(*path, options == params.end() ? "" : options->dump(), {});
    if (!session) return result_of(tl::unexpected(session.error()));
    Json out = {{"session", ++last_}};
    out.update(Json::parse((*session)->opened()));
    sessions_.emplace(last_, std::move(*session));
    return out;
  }

  static Result convert(const std::string& method, const Json& params) {
    const auto path = text_param(params, "path");
    if (!path) return tl::unexpected(path.error());
    const auto options = params.find("options");
    const std::string given = options == params.end() ? "" : options->dump();
    return result_of(method == "lower" ? lower_text(*path, given) : import_text(*path, given));
  }

  static Result diagnose(const Json& params) {
    const auto found = params.find("paths");
    std::vector<std::string> paths;
    const bool list = found != params.end() && found->is_array();
    for (const Json& path : list ? *found : Json::array()) {
      if (path.is_string()) paths.push_back(path.get<std::string>());
    }
    if (!list || paths.size() != found->size())
      return refused(kInvalidParams, "the parameter \"paths\" must be a list of strings");
    return result_of(diagnose_dumps(paths));
  }

  static Result tensor(TextSession& session, const std::string& value) {
    const auto read = session.read(value);
    if (!read) return result_of(tl::unexpected(read.error()));
    Json out = Json::parse(read->json);
    out["npy"] = base64(io::format_npy(read->tensor));
    return out;
  }

  Sessions sessions_;
  int64_t last_ = 0;
};

// A line that was read. `stop` ends its command.
struct Request {
  Json message;
  std::optional<int64_t> session;
  std::stop_source stop{std::nostopstate};
};

bool is_request(const Json& message) {
  return message.is_object() && message.contains("method") && message["method"].is_string();
}

std::optional<int64_t> session_of(const Json& message) {
  if (!is_request(message) || !message.contains("params")) return std::nullopt;
  const Json& params = message["params"];
  if (!params.is_object() || !params.contains("session")) return std::nullopt;
  const Json& session = params["session"];
  if (!session.is_number_integer()) return std::nullopt;
  return session.get<int64_t>();
}

// Nothing for a notification.
std::string answer_line(const Json& message, Result result) {
  if (is_request(message) && !message.contains("id")) return {};
  Json id = nullptr;
  if (message.is_object() && message.contains("id") && message["id"].is_primitive())
    id = message["id"];
  Json out = {{"jsonrpc", "2.0"}, {"id", std::move(id)}};
  if (result) {
    out["result"] = std::move(*result);
  } else {
    out["error"] = {{"code", result.error().code}, {"message", result.error().message}};
    if (!result.error().data.is_null()) out["error"]["data"] = std::move(result.error().data);
  }
  return json_text(out) + "\n";
}

std::string answer_to(Server& server, const Request& request) {
  const Json& message = request.message;
  if (message.is_discarded()) {
    return answer_line(message,
                       refused(kParseError, "the line is not valid JSON, or nests too deep"));
  }
  if (!is_request(message)) {
    return answer_line(message, refused(kInvalidRequest,
                                        "a request is an object with \"jsonrpc\", \"id\", "
                                        "\"method\" and \"params\""));
  }
  const Json none = Json::object();
  const Json& params = message.contains("params") ? message["params"] : none;
  if (!params.is_object()) {
    return answer_line(
        message, refused(kInvalidParams, "\"params\" must be an object: parameters have names"));
  }
  return answer_line(message,
                     server.call(message["method"].get<std::string>(), params, request.stop));
}

// Two threads: one reads requests and handles `interrupt` at once; the other handles all others in
// order.
class Pump {
 public:
  explicit Pump(std::ostream& output) : output_(output) {}

  void run(std::istream& input) {
    std::jthread worker([this] { work(); });
    std::string line;
    while (std::getline(input, line)) {
      if (trimmed(line).empty()) continue;
      take(parse_bounded<Json>(line));
    }
    requests_.end();
  }

 private:
  void take(Json message) {
    Request request{std::move(message), std::nullopt};
    request.session = session_of(request.message);
    const std::string method =
        is_request(request.message) ? request.message["method"].get<std::string>() : "";
    if (method == "interrupt" && request.session) {
      const size_t count = stops_.request(*request.session);
      if (count > 0) {
        write(answer_line(request.message, Json{{"interrupted", count}}));
        return;
      }
    }
    const bool may_last = method == "command" || method == "query";
    if (may_last && request.session) request.stop = stops_.add(*request.session);
    requests_.push(std::move(request));
  }

  void work() {
    while (const auto request = requests_.pop()) {
      const std::string answer = answer_to(server_, *request);
      stops_.remove(request->stop);
      write(answer);
    }
  }

  void write(const std::string& answer) {
    const std::lock_guard lock(output_mutex_);
    output_ << answer << std::flush;
  }

  std::ostream& output_;
  std::mutex output_mutex_;
  Stops stops_;
  Server server_;  // used only by the working thread
  RequestQueue<Request> requests_;
};

}  // namespace

void serve(std::istream& input, std::ostream& output) { Pump(output).run(input); }

}  // namespace hostir::api
