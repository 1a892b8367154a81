#include "traces/export/export_chakra.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "hostir/io/files.h"

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogCollective;
using interp::LogEvent;

namespace {

// ---- protobuf's wire format

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}
void put_number(std::string& out, uint64_t field, uint64_t value) {
  put_varint(out, field << 3);
  put_varint(out, value);
}
void put_bytes(std::string& out, uint64_t field, const std::string& bytes) {
  put_varint(out, field << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

// Members of AttributeProto's value, by the C++ feeder's expectations.
constexpr uint64_t kInt32 = 7, kInt64 = 9, kUint64 = 13, kBool = 27, kText = 29;

void put_attribute(std::string& node, const std::string& name, uint64_t member, int64_t value) {
  std::string attribute;
  put_bytes(attribute, 1, name);
  put_number(attribute, member, static_cast<uint64_t>(value));
  put_bytes(node, 10, attribute);
}
void put_attribute(std::string& node, const std::string& name, const std::string& value) {
  std::string attribute;
  put_bytes(attribute, 1, name);
  put_bytes(attribute, kText, value);
  put_bytes(node, 10, attribute);
}

enum class NodeType : uint8_t { kCompute = 4, kSend = 5, kRecv = 6, kCollective = 7 };

std::optional<int64_t> collective_type(std::string_view kind) {
  using Named = std::pair<std::string_view, int64_t>;
  constexpr std::array kTypes = std::to_array<Named>({{"all_reduce", 0},
                                                      {"reduce", 1},
                                                      {"all_gather", 2},
                                                      {"gather", 3},
                                                      {"scatter", 4},
                                                      {"broadcast", 5},
                                                      {"all_to_all", 6},
                                                      {"reduce_scatter", 7}});
  for (const auto& [name, type] : kTypes) {
    if (name == kind) return type;
  }
  return std::nullopt;
}

/// The trace of one rank, as it grows.
struct RankTrace {
  std::string bytes;
  uint64_t nodes = 0;
  std::map<int32_t, uint64_t> last_on;  // node by stream
};

class ChakraWriter {
 public:
  ChakraWriter(const LogReader& log, std::string prefix) : log_(log), prefix_(std::move(prefix)) {}

  Expected<void> write() {
    HOSTIR_TRY(read_collectives());
    HOSTIR_TRY(read_kernels());
    ranks_.resize(static_cast<size_t>(log_.run().rank_count));
    for (RankTrace& rank : ranks_) {
      std::string metadata;
      put_bytes(metadata, 1, "0.0.4");
      append(rank, metadata);
    }
    interp::EventFilter filter;
    filter.shown_only = true;
    filter.limit = 10'000;
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogEvent> events, log_.events(filter));
      for (const LogEvent& event : events) put_event(event);
      if (static_cast<int64_t>(events.size()) < filter.limit) break;
      filter.first_id = events.back().id + 1;
    }
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      HOSTIR_TRY(io::write_file(fmt::format("{}.{}.et", prefix_, rank), ranks_[rank].bytes));
    return write_groups();
  }

 private:
  static void append(RankTrace& rank, const std::string& message) {
    put_varint(rank.bytes, message.size());
    rank.bytes += message;
  }

  Expected<void> read_collectives() {
    interp::EventFilter filter;
    filter.limit = std::numeric_limits<int64_t>::max();
    HOSTIR_ASSIGN_OR_RETURN(std::vector<LogCollective> all, log_.collectives(filter));
    for (LogCollective& c : all) collectives_.emplace(c.event, std::move(c));
    for (size_t c = 0; c < log_.communicators().size(); ++c) {
      for (size_t g = 0; g < log_.communicators()[c].groups.size(); ++g)
        groups_.emplace(std::pair(c, g), groups_.size() + 1);
    }
    return {};
  }

  Expected<void> read_kernels() {
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::LogTable table,
        log_.query(
            "SELECT instruction, rank, CAST(flops AS INTEGER), CAST(read_bytes + write_bytes "
            "AS INTEGER) FROM kernel",
            std::numeric_limits<int64_t>::max()));
    for (const auto& row : table.rows) {
      const auto number = [&](size_t i) {
        const auto* value = std::get_if<int64_t>(&row[i]);
        return value ? *value : 0;
      };
      kernels_[{number(0), number(1)}] = {number(2), number(3)};
    }
    return {};
  }

  void put_event(const LogEvent& e) {
    const interp::LogInstruction& i = log_.instructions()[e.instruction];
    const auto collective = collectives_.find(e.id);
    const bool communicates = collective != collectives_.end();
    if (e.rank < 0 || static_cast<size_t>(e.rank) >= ranks_.size() ||
        (!communicates && (e.stream < 0 || i.kernel.empty())))
      return;
    RankTrace& rank = ranks_[static_cast<size_t>(e.rank)];
    std::string node;
    put_number(node, 1, ++rank.nodes);
    put_bytes(node, 2, i.kernel.empty() ? i.mnemonic : i.kernel);
    std::string rest;
    const NodeType type =
        communicates ? put_communication(rest, collective->second) : put_kernel(rest, e);
    put_number(node, 3, static_cast<uint64_t>(type));
    const auto before = rank.last_on.find(e.stream);
    if (before != rank.last_on.end()) {
      std::string packed;
      put_varint(packed, before->second);
      put_bytes(node, 4, packed);
    }
    rank.last_on[e.stream] = rank.nodes;
    if (e.start_ns != kUnknownNs && e.finish_ns != kUnknownNs && e.start_ns >= 0 &&
        e.finish_ns >= e.start_ns) {
      put_number(node, 6, static_cast<uint64_t>(e.start_ns / 1000));
      put_number(node, 7, static_cast<uint64_t>((e.finish_ns - e.start_ns + 999) / 1000));
    }
    // Also for communication, because readers reject it on the host.
    put_attribute(node, "is_cpu_op", kBool, 0);
    append(rank, node + rest);
  }

  NodeType put_kernel(std::string& node, const LogEvent& e) const {
    const auto work = kernels_.find({e.instruction, e.rank});
    if (work == kernels_.end()) return NodeType::kCompute;
    put_attribute(node, "num_ops", kInt64, work->second.first);
    put_attribute(node, "tensor_size", kUint64, work->second.second);
    return NodeType::kCompute;
  }

  NodeType put_communication(std::string& node, const LogCollective& c) const {
    const auto group = groups_.find({c.comm, static_cast<size_t>(c.group)});
    if (group != groups_.end()) put_attribute(node, "pg_name", std::to_string(group->second));
    put_attribute(node, "comm_size", kInt64, c.bytes);
    put_attribute(node, "seq_id", kInt64, static_cast<int64_t>(c.sequence));
    if (c.kind != "send" && c.kind != "recv") {
      if (const auto type = collective_type(c.kind))
        put_attribute(node, "comm_type", kInt64, *type);
      return NodeType::kCollective;
    }
    const bool sends = c.kind == "send";
    const int64_t peer = peer_of(c);
    put_attribute(node, "comm_src", kInt32, sends ? c.rank : peer);
    put_attribute(node, "comm_dst", kInt32, sends ? peer : c.rank);
    put_attribute(node, "comm_tag", kInt32, static_cast<int64_t>(c.sequence & 0x7fffffff));
    return sends ? NodeType::kSend : NodeType::kRecv;
  }

  /// The global rank of the other side; 0 if the log does not know the group.
  int64_t peer_of(const LogCollective& c) const {
    if (c.comm >= log_.communicators().size() || c.group < 0 || c.peer < 0) return 0;
    const auto& groups = log_.communicators()[c.comm].groups;
    if (static_cast<size_t>(c.group) >= groups.size()) return 0;
    const auto& members = groups[static_cast<size_t>(c.group)];
    return static_cast<size_t>(c.peer) < members.size() ? members[static_cast<size_t>(c.peer)] : 0;
  }

  Expected<void> write_groups() const {
    std::string json = "{";
    for (const auto& [key, number] : groups_) {
      json += fmt::format("{}\n\"{}\": [{}]", number == 1 ? "" : ",", number,
                          fmt::join(log_.communicators()[key.first].groups[key.second], ", "));
    }
    return io::write_file(prefix_ + ".groups.json", json + "\n}\n");
  }

  const LogReader& log_;
  std::string prefix_;
  std::vector<RankTrace> ranks_;
  std::unordered_map<int64_t, LogCollective> collectives_;  // by event
  std::map<std::pair<size_t, size_t>, size_t> groups_;      // by communicator and group
  std::map<std::pair<int64_t, int64_t>, std::pair<int64_t, int64_t>> kernels_;  // flops, bytes
};

}  // namespace

Expected<void> export_chakra(const LogReader& log, const std::string& prefix) {
  return ChakraWriter(log, prefix).write();
}

}  // namespace hostir::traces
