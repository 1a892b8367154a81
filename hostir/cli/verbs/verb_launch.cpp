// Starts the processes of a run on this computer and reports how they ended.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "hostir/cli/verbs/verbs.h"
#include "interp/cuda/rendezvous.h"

namespace hostir::cli {

namespace {

struct Child {
  pid_t pid = -1;
  std::optional<int> status;  // from waitpid
};

class LaunchVerb : public Verb {
 public:
  std::string_view name() const override { return "launch"; }
  std::string_view summary() const override {
    return "Run a verb in several processes of this computer, one or more ranks each";
  }
  std::string_view example() const override {
    return "  hostir launch -n 4 run tests/programs/tp_mlp.hir --mesh tp=4 --backend cuda "
           "--example-inputs\n"
           "  hostir launch -n 2 test --backend cuda tests/scripts/collectives";
  }
  void declare(Arguments& arguments) override {
    arguments.option("-n,--processes", processes_, "how many", {.least = 1, .most = 1024});
    arguments.option("--grace", grace_s_,
                     "grace period in seconds for the other processes after one has failed",
                     {.least = 0, .most = 86400});
    arguments.rest(command_);
  }

  int execute(Terminal& terminal) override {
    if (command_.empty()) {
      return terminal.report(fail(ErrorKind::kUsage, "usage",
                                  "launch needs a verb to run: `hostir launch -n 4 run ...`")
                                 .value());
    }
    const auto status = launch(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  Expected<int> launch(Terminal& terminal) {
    const auto count = static_cast<size_t>(processes_);
    HOSTIR_ASSIGN_OR_RETURN(const auto store,
                            cuda::RendezvousStore::open(0, static_cast<int>(processes_)));
    for (size_t i = 0; i < count; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(const pid_t pid, start(i, store->port()));
      children_.push_back({pid, {}});
    }
    wait_for_all(terminal);
    bool killed = false;
    for (size_t i = 0; i < children_.size(); ++i) {
      const int status = children_[i].status.value_or(0);
      if (WIFSIGNALED(status)) {
        terminal.note(fmt::format("process {} (pid {}) was ended by signal {} ({})", i,
                                  children_[i].pid, WTERMSIG(status), strsignal(WTERMSIG(status))));
        killed = true;
      }
    }
    return first_failure_ == 0 && killed ? exit_status(ErrorKind::kRuntime) : first_failure_;
  }

  Expected<pid_t> start(size_t index, int port) {
    std::vector<std::string> words = {"hostir"};
    words.insert(words.end(), command_.begin(), command_.end());
    const std::string number = std::to_string(index);
    const std::string count = std::to_string(processes_);
    const std::vector<std::pair<std::string, std::string>> set = {
        {"RANK", number},
        {"WORLD_SIZE", count},
        {"LOCAL_RANK", number},
        {"LOCAL_WORLD_SIZE", count},
        {"MASTER_ADDR", "localhost"},
        {"MASTER_PORT", std::to_string(port)},
        {"HOSTIR_STORE", "launcher"},
        {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
    std::vector<std::string> variables;
    for (char** at = ::environ; *at != nullptr; ++at) {
      const std::string variable = *at;
      const bool replaced = std::any_of(set.begin(), set.end(), [&](const auto& v) {
        return variable.starts_with(v.first + "=");
      });
      if (!replaced) variables.push_back(variable);
    }
    for (const auto& [name, value] : set) variables.push_back(name + "=" + value);
    // All processes print the same results, so show only the first one's output.
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (index > 0) {
      ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    pid_t pid = -1;
    const int status = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr,
                                     pointers(words).data(), pointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (status == 0) return pid;
    return fail(ErrorKind::kRuntime, "launch",
                fmt::format("process {} could not be started: {}", index, std::strerror(status)));
  }

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  }

  // After one process fails, the others get a grace period to report before they are terminated.
  void wait_for_all(Terminal& terminal) {
    using std::chrono::steady_clock;
    std::optional<steady_clock::time_point> end;
    int sent = 0;
    size_t left = children_.size();
    while (left > 0) {
      bool any = false;
      for (Child& child : children_) {
        int status = 0;
        if (child.status || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
        child.status = status;
        --left;
        any = true;
        const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (WIFEXITED(status) && first_failure_ == 0) first_failure_ = WEXITSTATUS(status);
        if (!good && !end) end = steady_clock::now() + std::chrono::seconds(grace_s_);
      }
      if (any) continue;
      if (end && steady_clock::now() >= *end) {
        const int signal = sent++ == 0 ? SIGTERM : SIGKILL;
        for (size_t i = 0; i < children_.size(); ++i) {
          if (children_[i].status) continue;
          terminal.note(fmt::format(
              "process {} (pid {}) still runs {} s after another failed: terminating it", i,
              children_[i].pid, grace_s_));
          ::kill(children_[i].pid, signal);
        }
        end = steady_clock::now() + std::chrono::seconds(2);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  int64_t processes_ = 2;
  int64_t grace_s_ = 90;
  std::vector<std::string> command_;
  std::vector<Child> children_;
  // The exit status of the first process that failed. The others often fail because of it: they
  // time out while they wait for a rank that has ended with an error.
  int first_failure_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_launch_verb() { return std::make_unique<LaunchVerb>(); }

}  // namespace hostir::cli
