#include "hostir/cli/verbs/remote_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace hostir::cli {

namespace {

constexpr std::string_view kPrefix = "ssh:";

tl::unexpected<Error> refused(std::string message) {
  return fail(ErrorKind::kRuntime, "remote_log", std::move(message));
}

// A word for the shell of the other machine.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Runs ssh with its output in `target`; its exit status.
Expected<int> run_ssh(const std::string& host, const std::string& command,
                      const std::string& target) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // The user's input is for the debugger; ssh asks for passwords on the terminal.
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, target.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // `--`: a host that begins with a dash must not be read as an option.
  const char* const argv[] = {"ssh", "--", host.c_str(), command.c_str(), nullptr};
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, "ssh", &actions, nullptr, const_cast<char**>(argv), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return refused(fmt::format("ssh cannot be started: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return refused(fmt::format("ssh: {}", std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Expected<std::string> RemoteLogs::fetch_one(const std::string& word) {
  const size_t colon = word.find(':', kPrefix.size());
  if (colon == std::string::npos || colon == kPrefix.size() || colon + 1 == word.size())
    return refused(fmt::format("{}: name a log on another machine as ssh:HOST:PATH", word));
  const std::string host = word.substr(kPrefix.size(), colon - kPrefix.size());
  const std::string path = word.substr(colon + 1);
  HOSTIR_ASSIGN_OR_RETURN(auto folder, traces::TemporaryDirectory::create());
  const std::string target = folder->path() + "/" + path.substr(path.rfind('/') + 1);
  HOSTIR_ASSIGN_OR_RETURN(
      const int status, run_ssh(host, "hostir trace export --format log " + quoted(path), target));
  if (status == 255 || status == 127) {  // ssh itself failed, or there is no hostir
    return refused(fmt::format("{}: ssh ended with status {}; `ssh {} hostir --version` must work",
                               word, status, host));
  }
  if (status != 0) {
    return refused(fmt::format("{}: hostir on {} ended with status {}; its message is above", word,
                               host, status));
  }
  copies_.push_back(std::move(folder));
  return target;
}

Expected<void> RemoteLogs::fetch(std::vector<std::string>& words) {
  for (std::string& word : words) {
    if (!word.starts_with(kPrefix)) continue;
    HOSTIR_ASSIGN_OR_RETURN(word, fetch_one(word));
  }
  return {};
}

}  // namespace hostir::cli
