#include "hostir/api/dap/dap_stream.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "hostir/api/serve/bounded_json.h"
#include "hostir/support/json_text.h"
#include "hostir/support/text.h"

namespace hostir::api {

namespace {

constexpr size_t kMaxMessage = size_t{64} << 20;

// The length from the header lines; nullopt at the end of the input or without a length.
std::optional<size_t> read_header(std::istream& input) {
  constexpr std::string_view kName = "Content-Length:";
  std::optional<size_t> length;
  std::string line;
  while (std::getline(input, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) return length;
    if (line.compare(0, kName.size(), kName) != 0) continue;
    const std::string_view digits = trimmed(std::string_view(line).substr(kName.size()));
    size_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && number <= kMaxMessage) length = number;
  }
  return std::nullopt;
}

Json response(const Json& request, bool success) {
  const auto member = [&](const char* name) {
    return request.is_object() && request.contains(name) ? request[name] : Json(nullptr);
  };
  return {{"type", "response"},
          {"request_seq", member("seq")},
          {"success", success},
          {"command", member("command")}};
}

}  // namespace

std::optional<Json> read_dap_message(std::istream& input) {
  const auto length = read_header(input);
  if (!length) return std::nullopt;
  std::string text(*length, '\0');
  if (!input.read(text.data(), static_cast<std::streamsize>(*length))) return std::nullopt;
  return parse_bounded<Json>(text);
}

std::string string_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void DapWriter::write(Json message) {
  const std::lock_guard lock(mutex_);
  message["seq"] = ++sequence_;
  const std::string text = json_text(message);
  output_ << fmt::format("Content-Length: {}\r\n\r\n", text.size()) << text << std::flush;
}

void DapWriter::respond(const Json& request, Json body) {
  Json message = response(request, true);
  if (!body.is_null()) message["body"] = std::move(body);
  write(std::move(message));
}

void DapWriter::refuse(const Json& request, const std::string& message) {
  Json out = response(request, false);
  out["message"] = message;
  out["body"] = {{"error", {{"id", 1}, {"format", message}, {"showUser", true}}}};
  write(std::move(out));
}

void DapWriter::event(const std::string& name, Json body) {
  Json message = {{"type", "event"}, {"event", name}};
  if (!body.is_null()) message["body"] = std::move(body);
  write(std::move(message));
}

void DapWriter::output(const std::string& category, const std::string& text) {
  if (text.empty()) return;
  event("output", {{"category", category}, {"output", text.back() == '\n' ? text : text + "\n"}});
}

}  // namespace hostir::api
