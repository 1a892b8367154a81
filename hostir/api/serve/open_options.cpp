#include "hostir/api/serve/open_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hostir/api/open/backends.h"
#include "hostir/api/serve/bounded_json.h"
#include "hostir/support/json_text.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir::api {

namespace {

using nlohmann::ordered_json;

/// False: the member is of another type, or out of range.
using Reader = std::function<bool(const ordered_json& value)>;

struct Member {
  std::string_view name;
  std::string_view wanted;  // for the message
  Reader read;
};

Reader text_into(std::string& target) {
  return [&target](const ordered_json& value) {
    if (!value.is_string()) return false;
    target = value.get<std::string>();
    return true;
  };
}

Reader texts_into(std::vector<std::string>& target) {
  return [&target](const ordered_json& value) {
    if (!value.is_array()) return false;
    for (const ordered_json& item : value) {
      if (!item.is_string()) return false;
      target.push_back(item.get<std::string>());
    }
    return true;
  };
}

Reader flag_into(bool& target) {
  return [&target](const ordered_json& value) {
    if (!value.is_boolean()) return false;
    target = value.get<bool>();
    return true;
  };
}

// Whole numbers from `least` to `most`.
template <class T>
Reader count_into(T& target, int64_t least, int64_t most) {
  return [&target, least, most](const ordered_json& value) {
    const bool huge = value.is_number_unsigned() &&
                      value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
    if (!value.is_number_integer() || huge) return false;
    const auto number = value.get<int64_t>();
    if (number < least || number > most) return false;
    target = number;
    return true;
  };
}

// `{"tp": 4}` becomes `tp=4`, as the command line has it; texts stay as they are.
Reader bindings_into(std::vector<std::string>& target, bool numbers) {
  return [&target, numbers](const ordered_json& value) {
    if (!value.is_object()) return false;
    for (const auto& [name, item] : value.items()) {
      if (numbers ? !item.is_number_integer() : !item.is_string()) return false;
      target.push_back(name + "=" + (numbers ? item.dump() : item.get<std::string>()));
    }
    return true;
  };
}

Reader word_into(std::string& target, std::vector<std::string> words) {
  return [&target, words = std::move(words)](const ordered_json& value) {
    if (!value.is_string()) return false;
    target = value.get<std::string>();
    return contains(words, target);
  };
}

std::vector<Member> members_of(OpenOptions& out) {
  ProgramOptions& program = out.session.program;
  BackendOptions& backend = out.session.backend;
  constexpr std::string_view kText = "a string";
  constexpr std::string_view kTexts = "a list of strings";
  constexpr std::string_view kFlag = "true or false";
  constexpr std::string_view kCount = "a whole number that is not negative";
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return {
      {"text", kText, text_into(out.request.text)},
      {"function", kText, text_into(program.function)},
      {"mesh", "an object of axis sizes, as in {\"tp\": 4}", bindings_into(program.mesh, true)},
      {"ranks", "a number of ranks",
       [&program](const ordered_json& value) {
         int64_t ranks = 0;
         if (!count_into(ranks, 1, Mesh::kMaxPositions)(value)) return false;
         program.ranks = ranks;
         return true;
       }},
      {"sizes", "an object of sizes, as in {\"B\": 8}", bindings_into(program.sizes, true)},
      {"inputs", "an object of strings, as in {\"x\": \"normal(1)\", \"w\": \"@w.npy\"}",
       bindings_into(program.inputs, false)},
      {"example_inputs", kFlag,
       [&out](const ordered_json& value) {
         bool make_up = false;
         if (!flag_into(make_up)(value)) return false;
         out.session.missing_inputs = make_up ? SessionOptions::MissingInputs::kMakeUp
                                              : SessionOptions::MissingInputs::kError;
         return true;
       }},
      {"keep", kTexts, texts_into(program.keep)},
      {"overlap", "\"none\", \"collectives\", \"ring\" or \"auto\"",
       word_into(program.overlap, {"none", "collectives", "ring", "auto"})},
      {"grad", kFlag, flag_into(program.grad)},
      {"wrt", kTexts, texts_into(program.wrt)},
      {"breakpoints", "a list of commands, as in [\"break all_reduce\"]",
       texts_into(out.request.breakpoints)},
      {"log", "a path", text_into(out.session.log_path)},
      {"log_values", "\"none\", \"digest\" or \"stats\"",
       word_into(out.session.values, {"none", "digest", "stats"})},
      {"backend", "the name of a backend, as in \"sim\"",
       word_into(backend.backend, backend_names())},
      {"machine", kText, text_into(backend.machine)},
      {"host_cost", "\"prepared\", \"eager\" or \"graph\"",
       word_into(backend.host_cost, {"prepared", "eager", "graph"})},
      {"kernels", "\"fast\" or \"reference\"", word_into(backend.kernels, {"fast", "reference"})},
      {"seed", kCount, count_into(backend.seed, 0, kMost)},
      {"max_memory_mib", kCount, count_into(backend.max_memory_mib, 0, kMost >> 20)},
      {"threads", "a whole number up to 4096", count_into(backend.threads, 0, 4096)},
      {"devices", "device numbers, as in \"0,1\"", text_into(backend.devices)},
      {"place", "the device of every rank, as in \"0,0,1,1\"", text_into(backend.place)},
      {"transport", "\"auto\", \"nccl\" or \"copies\"",
       word_into(backend.transport, {"auto", "nccl", "copies"})},
      {"timeout_s", "a number of seconds",
       [&backend](const ordered_json& value) {
         if (!value.is_number() || value.get<double>() < 0) return false;
         backend.timeout_s = value.get<double>();
         return true;
       }},
      {"stepwise", kFlag, flag_into(backend.stepwise)},
      {"graphs", kFlag, flag_into(backend.graphs)},
  };
}

tl::unexpected<Error> bad_options(std::string message) {
  return fail(ErrorKind::kUsage, "open_options", std::move(message));
}

}  // namespace

Expected<OpenOptions> parse_open_options(std::string_view json) {
  OpenOptions out;
  out.session.values = "stats";  // breakpoints on NaN need them
  if (trimmed(json).empty()) return out;
  const ordered_json options = parse_bounded<ordered_json>(json);
  if (!options.is_object()) {
    return bad_options(options.is_discarded() ? "the options are not valid JSON, or nest too deep"
                                              : "the options must be a JSON object");
  }
  const std::vector<Member> members = members_of(out);
  for (const auto& [name, value] : options.items()) {
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&n = name](const Member& m) { return m.name == n; });
    if (member == members.end()) {
      std::string known;
      for (const Member& m : members) known += (known.empty() ? "" : ", ") + std::string(m.name);
      return bad_options(fmt::format("there is no option \"{}\"; there are {}", name, known));
    }
    if (member->read(value)) continue;
    return bad_options(
        fmt::format("option \"{}\" is {}; expected {}", name, json_text(value), member->wanted));
  }
  return out;
}

}  // namespace hostir::api
