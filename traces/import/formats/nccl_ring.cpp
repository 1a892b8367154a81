#include "traces/import/formats/nccl_ring.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hostir/io/files.h"
#include "hostir/io/plain_value.h"
#include "hostir/support/number_from.h"
#include "hostir/support/text.h"
#include "hostir/support/unix_time.h"
#include "traces/import/formats/call_sizes.h"
#include "traces/import/formats/names.h"
#include "traces/nccl_plugin/ring.h"

namespace hostir::traces::import {

namespace {

constexpr std::string_view kRingMagic = HOSTIR_RING_MAGIC;

// A text that fills its array has no terminator.
template <size_t N>
std::string text_of(const char (&array)[N]) {
  return std::string(array, strnlen(array, N));
}

template <class T>
T value_at(std::string_view bytes, uint64_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

std::string line_of(const std::string& path) {
  const auto text = io::read_file(path);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

enum class ProcessState : uint8_t { kElsewhere, kAlive, kStopped, kGone };

// For a process on this machine and in this PID namespace.
ProcessState process_state(const hostir_ring_header& header) {
  std::array<char, 64> space = {};
  if (readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0)
    return ProcessState::kElsewhere;
  if (text_of(header.boot).empty() || text_of(header.pid_namespace) != space.data() ||
      text_of(header.boot) != line_of("/proc/sys/kernel/random/boot_id")) {
    return ProcessState::kElsewhere;
  }
  const std::string stat = line_of(fmt::format("/proc/{}/stat", header.process));
  const size_t command_end = stat.rfind(')');  // the command may hold blanks
  if (command_end == std::string::npos) return ProcessState::kGone;
  const auto fields = split(std::string_view(stat).substr(command_end + 2), ' ');
  constexpr size_t kStart = 19;  // field 22
  const auto start = fields.size() > kStart ? number_from<int64_t>(fields[kStart]) : std::nullopt;
  if (!start || static_cast<uint64_t>(*start) != header.process_start) return ProcessState::kGone;
  if (fields[0] == "Z" || fields[0] == "X") return ProcessState::kGone;
  return fields[0] == "T" || fields[0] == "t" ? ProcessState::kStopped : ProcessState::kAlive;
}

class RingReader {
 public:
  explicit RingReader(std::string_view bytes) : bytes_(bytes) {}

  Expected<std::vector<ProcessDump>> read(std::vector<std::string>& notes) {
    HOSTIR_TRY(read_header());
    read_communicators();
    make_dumps();
    read_records();
    finish(notes);
    std::vector<ProcessDump> out;
    for (auto& [rank, dump] : dumps_) out.push_back(std::move(dump));
    return out;
  }

 private:
  struct Entry {
    hostir_ring_communicator facts = {};
    ProcessDump* dump = nullptr;  // null: its rank in the job is unknown
    size_t group = 0;
  };

  Expected<void> read_header() {
    const auto bad = [](std::string what) {
      return fail(ErrorKind::kInvalid, "nccl_ring", std::move(what));
    };
    if (bytes_.size() < sizeof header_) return bad("the file ends within its header");
    header_ = value_at<hostir_ring_header>(bytes_, 0);
    if (header_.record_bytes != sizeof(hostir_ring_record) ||
        header_.communicator_bytes != sizeof(hostir_ring_communicator)) {
      return bad(fmt::format(
          "its records have {} bytes and its communicators {}, not {} and {}: another version of "
          "libhostir_nccl.so wrote it",
          header_.record_bytes, header_.communicator_bytes, sizeof(hostir_ring_record),
          sizeof(hostir_ring_communicator)));
    }
    records_at_ = uint64_t{header_.header_bytes} +
                  HOSTIR_RING_COMMUNICATORS * sizeof(hostir_ring_communicator);
    if (records_at_ > bytes_.size() || header_.capacity == 0 ||
        (bytes_.size() - records_at_) / (sizeof(hostir_ring_record) + header_.frame_bytes) <
            header_.capacity) {
      return bad(fmt::format("the file has {} bytes, too few for its {} records", bytes_.size(),
                             header_.capacity));
    }
    return {};
  }

  void read_communicators() {
    const uint32_t count = std::min<uint32_t>(header_.communicators, HOSTIR_RING_COMMUNICATORS);
    for (uint32_t i = 0; i < count; ++i) {
      Entry& entry = entries_.emplace_back();
      entry.facts = value_at<hostir_ring_communicator>(
          bytes_, header_.header_bytes + i * sizeof(hostir_ring_communicator));
      const auto& facts = entry.facts;
      if (facts.rank < 0 || facts.rank >= facts.size || facts.size > kMostRanks)
        entry.facts.ready = 0;
      if (entry.facts.ready != 0) ranks_of_[facts.id].insert(facts.rank);
    }
  }

  // A process with two ranks of one communicator drives several devices. Its ranks are then those
  // of the largest communicator; else those given by the launcher or by the first communicator,
  // which in all known launchers is the job's.
  void make_dumps() {
    const bool several = std::any_of(ranks_of_.begin(), ranks_of_.end(),
                                     [](const auto& item) { return item.second.size() > 1; });
    int32_t largest = 0;
    for (const Entry& entry : entries_) {
      if (entry.facts.ready != 0) largest = std::max(largest, entry.facts.size);
    }
    for (Entry& entry : entries_) {
      if (entry.facts.ready == 0) continue;
      const bool whole = entry.facts.size == largest;
      if (several && !whole) continue;
      const bool told = !several && header_.rank >= 0 && header_.rank < kMostRanks;
      if (dumps_.empty() || several) {
        add_dump(told ? header_.rank : entry.facts.rank, entry,
                 told ? "" : "its rank in its first communicator");
      }
      entry.dump = several ? &dumps_[entry.facts.rank] : &dumps_.begin()->second;
      add_group(entry);
    }
  }

  void add_dump(model::Rank rank, const Entry& entry, const std::string& found_by) {
    const auto [at, added] = dumps_.try_emplace(rank);
    if (!added) return;
    ProcessDump& dump = at->second;
    dump.producer = "libhostir_nccl";
    dump.version = fmt::format("NCCL profiler interface {}", header_.plugin_version);
    dump.rank = rank;
    dump.rank_found_by = found_by;
    dump.world_size =
        header_.rank >= 0 && header_.world > 0 ? int64_t{header_.world} : entry.facts.size;
    dump.computer = text_of(header_.host);
    dump.process = header_.process;
    dump.start_lost = header_.claimed > header_.capacity;
  }

  void add_group(Entry& entry) {
    DumpGroup group;
    group.name = fmt::format("0x{:x}", entry.facts.id);
    const std::string called = text_of(entry.facts.name);
    group.description = called.empty() ? "commId " + group.name : called;
    group.size = static_cast<uint32_t>(entry.facts.size);
    group.position = entry.facts.rank;
    group.content_key = entry.facts.id;
    entry.group = entry.dump->groups.size();
    entry.dump->groups.push_back(std::move(group));
  }

  void read_records() {
    const uint64_t claimed = header_.claimed;
    for (uint64_t number = claimed - std::min(claimed, header_.capacity); number < claimed;
         ++number) {
      const auto record = value_at<hostir_ring_record>(
          bytes_, records_at_ + number % header_.capacity * sizeof(hostir_ring_record));
      // Stamp 0: being written. Any other stamp: newer than the header that was read.
      if (record.stamp != number + 1 || record.communicator >= entries_.size()) continue;
      Entry& entry = entries_[record.communicator];
      if (entry.dump == nullptr) {
        ++homeless_;
      } else if ((record.flags & HOSTIR_RING_CAPTURED) != 0) {
        ++captured_;
      } else {
        add_call(entry, record);
        entry.dump->calls.back().stack = entry.dump->stacks.size();
        entry.dump->stacks.push_back(frames_in(number % header_.capacity));
      }
    }
  }

  // "file:line function" per line, innermost first.
  std::vector<model::StackFrame> frames_in(uint64_t slot) const {
    std::vector<model::StackFrame> out;
    if (header_.frame_bytes == 0) return out;
    std::string_view text = bytes_.substr(
        records_at_ + header_.capacity * sizeof(hostir_ring_record) + slot * header_.frame_bytes,
        header_.frame_bytes);
    text = text.substr(0, text.find('\0'));
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      const size_t name = line.rfind(' ');
      if (name == std::string_view::npos) continue;
      const size_t colon = line.substr(0, name).rfind(':');
      if (colon == std::string_view::npos) continue;
      const auto number = number_from<uint32_t>(line.substr(colon + 1, name - colon - 1));
      if (!number) continue;
      model::StackFrame& made = out.emplace_back();
      made.function = line.substr(name + 1);
      made.place.file = line.substr(0, colon);
      made.place.line = *number;
    }
    return out;
  }

  std::optional<int64_t> wall(int64_t monotonic) const {
    if (monotonic <= 0) return std::nullopt;
    int64_t out = 0;
    if (__builtin_sub_overflow(monotonic, header_.monotonic_ns, &out) ||
        __builtin_add_overflow(out, header_.wall_ns, &out)) {
      return std::nullopt;
    }
    return out;
  }

  void add_call(Entry& entry, const hostir_ring_record& record) {
    DumpCall& made = entry.dump->calls.emplace_back();
    made.group = entry.group;
    made.sequence = record.number;
    if (record.group != 0 && record.group <= uint64_t{INT64_MAX})
      made.together = static_cast<int64_t>(record.group);
    made.call.name = text_of(record.function);
    made.call.kind = op_of(made.call.name);
    made.call.dtype = dtype_of(text_of(record.dtype));
    if (record.kind != HOSTIR_RING_COLLECTIVE) {
      const bool sends = record.kind == HOSTIR_RING_SEND;
      made.shape = sends ? DumpCall::Shape::kSend : DumpCall::Shape::kRecv;
      made.call.kind = sends ? OpKind::send : OpKind::recv;
      if (record.peer >= 0) made.peer = record.peer;
    }
    add_root(made, record, entry.facts.size);
    if (record.count <= uint64_t{INT64_MAX}) {
      set_nccl_count(made.call, static_cast<int64_t>(record.count), entry.facts.size);
    }
    made.state = record.finished_ns > 0  ? model::MemberState::kCompleted
                 : record.started_ns > 0 ? model::MemberState::kStarted
                                         : model::MemberState::kScheduled;
    made.times.issued_ns = wall(record.issued_ns);
    made.times.started_ns = wall(record.started_ns);
    made.times.finished_ns = wall(record.finished_ns);
  }

  static void add_root(DumpCall& made, const hostir_ring_record& record, int32_t size) {
    const auto is = [&](OpKind k) { return made.call.kind == k; };
    const bool rooted =
        is(OpKind::broadcast) || is(OpKind::reduce) || is(OpKind::gather) || is(OpKind::scatter);
    if (rooted && record.root >= 0 && record.root < size) made.call.root = record.root;
  }

  // Calls of one communicator end in order. Not every call has kernel events: those of copy engines
  // have none.
  static void presume_over(ProcessDump& dump) {
    std::vector<bool> later(dump.groups.size(), false);
    for (auto call = dump.calls.rbegin(); call != dump.calls.rend(); ++call) {
      if (call->state == model::MemberState::kCompleted) {
        later[call->group] = true;
      } else if (later[call->group]) {
        call->state = model::MemberState::kCompleted;
      }
    }
  }

  void finish(std::vector<std::string>& notes) {
    const ProcessState state = process_state(header_);
    const bool open = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.facts.ready != 0 && entry.facts.finalized_ns == 0;
    });
    std::string who;
    for (auto& [rank, dump] : dumps_) {
      presume_over(dump);
      dump.dead = state == ProcessState::kGone && open;
      dump.stopped = state == ProcessState::kStopped;
      dump.ended = !open;
      if (state != ProcessState::kElsewhere) dump.written_ns = unix_time_ns();
      who += fmt::format("{}{}", who.empty() ? "" : ", ", rank);
    }
    if (state == ProcessState::kStopped) {
      notes.push_back(
          fmt::format("rank {}: its process {} is stopped by a signal or a debugger; "
                      "`kill -CONT {}` lets it go on",
                      who, header_.process, header_.process));
    }
    if (captured_ > 0) {
      notes.push_back(
          fmt::format("rank {}: {} calls were captured into CUDA graphs; what replays them is not "
                      "recorded",
                      who, captured_));
    }
    const uint32_t left_out = header_.communicators -
                              std::min<uint32_t>(header_.communicators, HOSTIR_RING_COMMUNICATORS);
    if (left_out > 0) {
      notes.push_back(fmt::format("rank {}: {} of {} communicators have no room in the file", who,
                                  left_out, header_.communicators));
    }
    if (homeless_ > 0) {
      notes.push_back(
          fmt::format("process {} drives several ranks; {} calls on smaller "
                      "communicators cannot be assigned to one",
                      header_.process, homeless_));
    }
  }

  std::string_view bytes_;
  hostir_ring_header header_ = {};
  uint64_t records_at_ = 0;
  std::vector<Entry> entries_;
  std::map<uint64_t, std::set<int32_t>> ranks_of_;  // by communicator
  std::map<model::Rank, ProcessDump> dumps_;
  size_t captured_ = 0;
  size_t homeless_ = 0;
};

}  // namespace

bool looks_like_nccl_ring(std::string_view head) { return head.starts_with(kRingMagic); }

Expected<std::vector<ProcessDump>> read_nccl_ring(std::string_view bytes,
                                                  std::vector<std::string>& notes) {
  return RingReader(bytes).read(notes);
}

}  // namespace hostir::traces::import
