#include "hostir/support/process_id.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace hostir {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

/// Field 22 of /proc/PID/stat; empty if the process has ended, even if it is still a zombie because
/// its parent has not waited for it (in a container, perhaps forever). The name in field 2 may
/// contain any character, so search for its end, the last ')' in the line.
std::string start_time(long long pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t at = stat.rfind(')');
  if (at == std::string::npos) return {};
  ++at;
  const size_t state = stat.find_first_not_of(' ', at);
  if (state != std::string::npos && (stat[state] == 'Z' || stat[state] == 'X')) return {};
  for (int field = 3; field <= 22; ++field) {
    const size_t begin = stat.find_first_not_of(' ', at);
    if (begin == std::string::npos) return {};
    const size_t end = stat.find(' ', begin);
    if (field == 22) return stat.substr(begin, end == std::string::npos ? end : end - begin);
    if (end == std::string::npos) return {};
    at = end;
  }
  return {};
}

}  // namespace

std::string ProcessId::to_string() const { return fmt::format("{}:{}:{}", boot, pid, start); }

ProcessId current_process() {
  const long long pid = getpid();
  return {boot_id(), pid, start_time(pid)};
}

bool is_running(std::string_view text) {
  const size_t first = text.find(':');
  const size_t last = text.rfind(':');
  if (first == std::string_view::npos || last == first) return false;
  const std::string_view number = text.substr(first + 1, last - first - 1);
  long long pid = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), pid).ec != std::errc() ||
      pid <= 0) {
    return false;
  }
  const std::string start = start_time(pid);
  return !start.empty() && text == ProcessId{boot_id(), pid, start}.to_string();
}

}  // namespace hostir
