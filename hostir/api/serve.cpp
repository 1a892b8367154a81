#include "hostir/api/serve.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <span>

#include "hostir/api/bounded_json.h"
#include "hostir/api/snapshot_json.h"
#include "hostir/api/text_session.h"
#include "hostir/io/npy.h"

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

class Server {
 public:
  Result call(const std::string& method, const Json& params) {
    if (method == "open") return open(params);
    if (method == "diagnose") return diagnose(params);
    if (method != "command" && method != "query" && method != "tensor" && method != "close") {
      return refused(kNoMethod, "there is no method \"" + method +
                                    "\"; there are open, command, query, tensor, diagnose, close");
    }
    const auto session = find(params);
    if (!session) return tl::unexpected(session.error());
    if (method == "close") {
      sessions_.erase(*session);
      return Json::object();
    }
    TextSession& text = *(*session)->second;
    const char* name = method == "command" ? "command" : method == "query" ? "sql" : "value";
    const auto argument = text_param(params, name);
    if (!argument) return tl::unexpected(argument.error());
    if (method == "command") return result_of(text.execute(*argument));
    if (method == "query") return result_of(text.query(*argument));
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
    return refused(kInvalidParams,
                   fmt::format("the parameter \"session\" must be the number of an open session; "
                               "open are: {}",
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

// The answer to one line; nothing for a notification.
std::string answer_to(Server& server, const std::string& line) {
  const Json request = parse_bounded<Json>(line);
  Json id = nullptr;
  Result result = Json();
  const bool is_request =
      request.is_object() && request.contains("method") && request["method"].is_string();
  if (request.is_discarded()) {
    result = refused(kParseError, "the line is not valid JSON, or nests too deep");
  } else if (!is_request) {
    result = refused(kInvalidRequest,
                     "a request is an object with \"jsonrpc\", \"id\", \"method\" and \"params\"");
  }
  if (request.is_object() && request.contains("id") && request["id"].is_primitive())
    id = request["id"];
  if (is_request) {
    const Json params = request.contains("params") ? request["params"] : Json::object();
    result = params.is_object()
                 ? server.call(request["method"].get<std::string>(), params)
                 : refused(kInvalidParams, "\"params\" must be an object: parameters have names");
    if (!request.contains("id")) return {};
  }
  Json out = {{"jsonrpc", "2.0"}, {"id", std::move(id)}};
  if (result) {
    out["result"] = std::move(*result);
  } else {
    out["error"] = {{"code", result.error().code}, {"message", result.error().message}};
    if (!result.error().data.is_null()) out["error"]["data"] = std::move(result.error().data);
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void serve(std::istream& input, std::ostream& output) {
  Server server;
  std::string line;
  while (std::getline(input, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    output << answer_to(server, line) << std::flush;
  }
}

}  // namespace hostir::api
