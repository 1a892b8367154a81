// hostir.h over TextSession: checks pointers, and lets no exception escape.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hostir/api/c/dlpack.h"
#include "hostir/api/c/given_kernel.h"
#include "hostir/api/c/hostir.h"
#include "hostir/api/serve/answer_json.h"
#include "hostir/api/serve/text_program.h"
#include "hostir/api/serve/text_session.h"

struct hostir_session {
  std::unique_ptr<hostir::api::TextSession> text;
};

namespace {

using hostir::Error;
using hostir::ErrorKind;
using hostir::SourceManager;
using hostir::api::Answered;
using hostir::api::TextError;

// NULL if out of memory; the status still says what happened.
void give(char** answer, const std::string& json) {
  if (!answer) return;
  *answer = static_cast<char*>(std::malloc(json.size() + 1));
  if (*answer) std::memcpy(*answer, json.c_str(), json.size() + 1);
}

tl::unexpected<TextError> failed(const Error& error) {
  return tl::unexpected(TextError{error.kind, hostir::api::error_json(error, SourceManager())});
}

tl::unexpected<TextError> null_argument(const char* name) {
  return failed(hostir::fail(ErrorKind::kUsage, "null_argument",
                             std::string("the argument `") + name + "` is NULL")
                    .value());
}

// `work` returns an Answered<std::string>.
template <class Work>
hostir_status answered(char** answer, Work work) {
  if (answer) *answer = nullptr;
  try {
    const Answered<std::string> result = work();
    give(answer, result ? *result : result.error().json);
    return result ? HOSTIR_OK : static_cast<hostir_status>(exit_status(result.error().kind));
  } catch (...) {  // memory, for one
    if (answer) {
      *answer = strdup(R"({"error": {"status": 3, "id": "internal", "message": "out of memory, or )"
                       R"(an internal error", "text": "", "diagnostics": []}})");
    }
    return HOSTIR_RUNTIME;
  }
}

Answered<std::vector<hostir::interp::NamedInput>> tensors_of(const hostir_input* inputs,
                                                             size_t count) {
  std::vector<hostir::interp::NamedInput> out;
  if (count > 0 && !inputs) return null_argument("inputs");
  for (size_t i = 0; i < count; ++i) {
    if (!inputs[i].name) return null_argument("inputs[].name");
    if (!inputs[i].tensor) return null_argument("inputs[].tensor");
    auto tensor = hostir::api::from_dlpack(inputs[i].name, *inputs[i].tensor);
    if (!tensor) return failed(tensor.error());
    out.push_back({inputs[i].name, std::move(*tensor)});
  }
  return out;
}

}  // namespace

int32_t hostir_abi_version(void) { return HOSTIR_ABI_VERSION; }

const char* hostir_version(void) { return HOSTIR_VERSION; }

hostir_status hostir_open(const char* path, const char* options, const hostir_input* inputs,
                          size_t input_count, hostir_session** session, char** answer) {
  if (session) *session = nullptr;
  return answered(answer, [&]() -> Answered<std::string> {
    if (!path) return null_argument("path");
    if (!session) return null_argument("session");
    HOSTIR_ASSIGN_OR_RETURN(auto tensors, tensors_of(inputs, input_count));
    HOSTIR_ASSIGN_OR_RETURN(auto text, hostir::api::TextSession::open(path, options ? options : "",
                                                                      std::move(tensors)));
    std::string json = text->opened();
    *session = new hostir_session{std::move(text)};
    return json;
  });
}

hostir_status hostir_command(hostir_session* session, const char* command, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (!session) return null_argument("session");
    if (!command) return null_argument("command");
    return session->text->execute(command);
  });
}

hostir_status hostir_query(hostir_session* session, const char* sql, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (!session) return null_argument("session");
    if (!sql) return null_argument("sql");
    return session->text->query(sql);
  });
}

hostir_status hostir_tensor(hostir_session* session, const char* value,
                            DLManagedTensorVersioned** tensor, char** answer) {
  if (tensor) *tensor = nullptr;
  return answered(answer, [&]() -> Answered<std::string> {
    if (!session) return null_argument("session");
    if (!value) return null_argument("value");
    if (!tensor) return null_argument("tensor");
    HOSTIR_ASSIGN_OR_RETURN(auto read, session->text->read(value));
    *tensor = hostir::api::to_dlpack(std::move(read.tensor));
    return std::move(read.json);
  });
}

void hostir_interrupt(hostir_session* session) {
  if (session) session->text->interrupt();
}

void hostir_close(hostir_session* session) { delete session; }

hostir_status hostir_lower(const char* path, const char* options, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (!path) return null_argument("path");
    return hostir::api::lower_text(path, options ? options : "");
  });
}

hostir_status hostir_import(const char* path, const char* options, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (!path) return null_argument("path");
    return hostir::api::import_text(path, options ? options : "");
  });
}

hostir_status hostir_diagnose(const char* const* paths, size_t path_count, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (path_count > 0 && !paths) return null_argument("paths");
    std::vector<std::string> list;
    for (size_t i = 0; i < path_count; ++i) {
      if (!paths[i]) return null_argument("paths[]");
      list.emplace_back(paths[i]);
    }
    return hostir::api::diagnose_dumps(list);
  });
}

hostir_status hostir_give_kernel(const char* operation, hostir_kernel kernel, void* context,
                                 int32_t on_parts, char** answer) {
  return answered(answer, [&]() -> Answered<std::string> {
    if (!operation) return null_argument("operation");
    if (!kernel) return null_argument("kernel");
    const auto compute = [=](const hostir::cpu::ReferenceCall& call) {
      hostir::api::call_kernel(kernel, context, call);
    };
    hostir::cpu::give_kernel(operation, {compute, on_parts != 0});
    return std::string("{}");
  });
}

void hostir_free(char* answer) { std::free(answer); }
