#include "hostir/support/temporary_file.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace hostir {

namespace {

constexpr std::array kSuffixes = {"", "-wal", "-shm"};
constexpr size_t kMostPaths = 32;  // more temporary files stay if a signal ends the process
constexpr size_t kMostLength = 512;

// A signal handler may neither lock nor allocate, so the names lie in a table.
struct Slot {
  enum State : int { kFree, kFilling, kUsed };
  std::atomic<int> state = kFree;
  std::array<std::array<char, kMostLength>, kSuffixes.size()> names;
};
std::array<Slot, kMostPaths> slots;

size_t take_slot(const std::string& path) {
  if (path.size() + std::strlen(kSuffixes.back()) >= kMostLength) return SIZE_MAX;
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kFilling)) continue;
    for (size_t s = 0; s < kSuffixes.size(); ++s) {
      const std::string name = path + kSuffixes[s];
      std::memcpy(slots[i].names[s].data(), name.c_str(), name.size() + 1);
    }
    slots[i].state = Slot::kUsed;
    return i;
  }
  return SIZE_MAX;
}

extern "C" void delete_and_end(int signal) {
  delete_temporary_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path, bool keep) : path_(std::move(path)), kept_(keep) {
  if (!kept_) slot_ = take_slot(path_);
}

TemporaryFile::~TemporaryFile() {
  if (kept_) return;
  std::error_code ignored;
  for (const char* suffix : kSuffixes) std::filesystem::remove(path_ + suffix, ignored);
  if (slot_ != kNoSlot) slots[slot_].state = Slot::kFree;
}

void delete_temporary_files() {
  for (Slot& slot : slots) {
    if (slot.state != Slot::kUsed) continue;
    for (const auto& name : slot.names) unlink(name.data());
  }
}

void delete_temporary_files_at_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now = {};
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    std::signal(signal, delete_and_end);
  }
}

}  // namespace hostir
