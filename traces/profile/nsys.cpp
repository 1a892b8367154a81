// 1. Strings, clock origin, processes and ranks.
// 2. Kernels, copies and launches, each to the builder of its process.
// 3. NCCL's ranges: a launch inside a range on its thread gives the kernel its call. Kernels of
//    grouped calls are launched after the ranges; they take the oldest range that is left of the
//    same kind.

#include "traces/profile/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "traces/database/sqlite.h"
#include "traces/import/formats/names.h"
#include "traces/import/process_dump.h"
#include "traces/profile/nsys_ranges.h"
#include "traces/profile/profile_builder.h"

namespace hostir::traces::profile {

namespace {

constexpr size_t kMostRanges = size_t{1} << 20;
constexpr size_t kMostProcesses = 1024;

tl::unexpected<Error> not_an_export(const std::string& path, std::string_view why) {
  return fail(ErrorKind::kInvalid, "nsys_format",
              fmt::format("{}: {}; write it with `nsys export --type sqlite`", path, why));
}

/// Processes by the upper bits of globalTid and globalPid.
int64_t process_of(int64_t global) { return (global >> 24) & 0xffffff; }

struct Launch {
  int64_t begin_ns = 0;
  int64_t thread = 0;
};

struct Process {
  ProfileBuilder builder;
  std::map<uint64_t, Launch> nccl_launches;  // by correlation; of NCCL kernels only
  std::vector<std::pair<size_t, uint64_t>> nccl_rows;
  std::vector<NcclRange> ranges;
  std::map<uint64_t, uint32_t> groups;  // by communicator
  std::map<uint64_t, NcclMember> members;
};

class NsysReader {
 public:
  NsysReader(Database& database, const std::string& path) : database_(database), path_(path) {}

  Expected<std::vector<ProcessProfile>> read() {
    HOSTIR_ASSIGN_OR_RETURN(const bool kernels, has("CUPTI_ACTIVITY_KIND_KERNEL"));
    HOSTIR_ASSIGN_OR_RETURN(const bool strings, has("StringIds"));
    if (!strings) return not_an_export(path_, "is not an export of Nsight Systems");
    if (!kernels) return not_an_export(path_, "has no kernels");
    HOSTIR_TRY(read_strings());
    HOSTIR_TRY(read_origin());
    HOSTIR_TRY(read_kernels());
    HOSTIR_TRY(read_copies("CUPTI_ACTIVITY_KIND_MEMCPY", "memcpy"));
    HOSTIR_TRY(read_copies("CUPTI_ACTIVITY_KIND_MEMSET", "memset"));
    HOSTIR_TRY(read_launches());
    HOSTIR_TRY(read_ranges());
    HOSTIR_TRY(read_steps());
    HOSTIR_TRY(read_ranks());
    std::vector<ProcessProfile> out;
    for (auto& [id, process] : processes_) {
      name_collectives(process);
      process.builder.profile().process = id;
      find_rank(id, process);
      out.push_back(std::move(process.builder).finish());
    }
    if (out.empty()) return not_an_export(path_, "has no kernels");
    return out;
  }

 private:
  Expected<bool> has(std::string_view table) {
    HOSTIR_ASSIGN_OR_RETURN(
        Statement s,
        database_.prepare("SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table'"));
    s.bind_text(1, table);
    return s.step();
  }

  /// `column` if the table has it, else NULL: schemas differ by version.
  Expected<std::string> column(std::string_view table, std::string_view column) {
    HOSTIR_ASSIGN_OR_RETURN(Statement s,
                            database_.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?"));
    s.bind_text(1, table);
    s.bind_text(2, column);
    HOSTIR_ASSIGN_OR_RETURN(const bool found, s.step());
    return found ? fmt::format("\"{}\"", column) : std::string("NULL");
  }

  /// A query for these columns of a table; nullopt if there is no such table.
  Expected<std::optional<Statement>> rows_of(const std::string& table,
                                             std::initializer_list<std::string_view> columns,
                                             std::string_view rest = "") {
    HOSTIR_ASSIGN_OR_RETURN(const bool found, has(table));
    if (!found) return std::optional<Statement>();
    std::vector<std::string> list;
    for (const std::string_view name : columns) {
      HOSTIR_ASSIGN_OR_RETURN(std::string text, column(table, name));
      list.push_back(std::move(text));
    }
    HOSTIR_ASSIGN_OR_RETURN(Statement s,
                            database_.prepare(fmt::format("SELECT {} FROM \"{}\" {}",
                                                          fmt::join(list, ", "), table, rest)));
    return std::optional<Statement>(std::move(s));
  }

  Process* process(int64_t id) {
    const auto known = processes_.find(id);
    if (known != processes_.end()) return &known->second;
    if (processes_.size() >= kMostProcesses) return nullptr;
    Process& made = processes_[id];
    made.builder.profile().producer = "Nsight Systems";
    made.builder.profile().file = path_;
    return &made;
  }

  int64_t absolute(int64_t ns) const { return std::abs(ns) <= kMostNs / 2 ? ns + origin_ns_ : ns; }

  Expected<void> read_strings() {
    HOSTIR_ASSIGN_OR_RETURN(auto rows, rows_of("StringIds", {"id", "value"}));
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      if (strings_.size() >= 4 * kMostNames) return {};
      strings_[rows->integer(0)] = rows->text_view(1).substr(0, kMostNameBytes);
    }
  }
  std::string string(int64_t id) const {
    const auto at = strings_.find(id);
    return at == strings_.end() ? std::string() : at->second;
  }

  Expected<void> read_origin() {
    HOSTIR_ASSIGN_OR_RETURN(auto rows, rows_of("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}));
    if (!rows) return {};
    HOSTIR_ASSIGN_OR_RETURN(const bool found, rows->step());
    if (found && rows->integer(0) > 0 && rows->integer(0) < kMostNs / 2)
      origin_ns_ = rows->integer(0);
    return {};
  }

  Expected<void> read_kernels() {
    HOSTIR_ASSIGN_OR_RETURN(auto rows, rows_of("CUPTI_ACTIVITY_KIND_KERNEL",
                                               {"start", "end", "streamId", "correlationId",
                                                "globalPid", "demangledName", "shortName"}));
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      Process* owner = process(process_of(rows->integer_or(4, 0)));
      if (owner == nullptr || rows->is_null(0)) continue;
      const std::string full = string(rows->integer_or(5, -1));
      const std::string brief = string(rows->integer_or(6, -1));
      const bool communicates = !nccl_kernel_op(full).empty() || !nccl_kernel_op(brief).empty();
      Row row;
      row.begin_ns = absolute(rows->integer(0));
      row.stream = rows->integer_or(2, 0);
      row.name = owner->builder.name(full.empty() || !nccl_kernel_op(brief).empty() ? brief : full);
      const auto correlation = static_cast<uint64_t>(rows->integer_or(3, 0));
      const size_t before = owner->builder.profile().rows.size();
      HOSTIR_TRY(owner->builder.add(row, duration_of(*rows), correlation));
      if (communicates && owner->builder.profile().rows.size() > before)
        owner->nccl_rows.emplace_back(before, correlation);
    }
  }

  static int64_t duration_of(const Statement& row) {
    int64_t out = 0;
    if (row.is_null(1)) return 0;
    return __builtin_sub_overflow(row.integer(1), row.integer(0), &out) ? -1 : out;
  }

  Expected<void> read_copies(const std::string& table, std::string_view what) {
    HOSTIR_ASSIGN_OR_RETURN(auto rows, rows_of(table, {"start", "end", "streamId", "correlationId",
                                                       "globalPid", "copyKind"}));
    if (!rows) return {};
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      Process* owner = process(process_of(rows->integer_or(4, 0)));
      if (owner == nullptr || rows->is_null(0)) continue;
      const int64_t kind = rows->integer_or(5, 0);
      const std::string_view way = kind == 1    ? " HtoD"
                                   : kind == 2  ? " DtoH"
                                   : kind == 8  ? " DtoD"
                                   : kind == 10 ? " PtoP"
                                                : "";
      Row row;
      row.begin_ns = absolute(rows->integer(0));
      row.stream = rows->integer_or(2, 0);
      row.name = owner->builder.name(std::string(what) + std::string(way));
      row.copy = true;
      HOSTIR_TRY(owner->builder.add(row, duration_of(*rows),
                                    static_cast<uint64_t>(rows->integer_or(3, 0))));
    }
  }

  Expected<void> read_launches() {
    HOSTIR_ASSIGN_OR_RETURN(
        auto rows, rows_of("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "correlationId", "globalTid"}));
    if (!rows) return {};
    std::map<int64_t, std::unordered_map<uint64_t, bool>> wanted;
    for (const auto& [id, owner] : processes_) {
      const auto& correlations = owner.builder.correlations();
      for (const uint64_t correlation : correlations) wanted[id][correlation] = false;
      for (const auto& [row, correlation] : owner.nccl_rows) wanted[id][correlation] = true;
    }
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      const int64_t thread = rows->integer_or(2, 0);
      const auto owner = processes_.find(process_of(thread));
      const auto correlation = static_cast<uint64_t>(rows->integer_or(1, 0));
      if (owner == processes_.end() || rows->is_null(0)) continue;
      const auto use = wanted[owner->first].find(correlation);
      if (use == wanted[owner->first].end()) continue;
      owner->second.builder.launch(correlation, absolute(rows->integer(0)));
      if (use->second) owner->second.nccl_launches[correlation] = {rows->integer(0), thread};
    }
  }

  Expected<void> read_ranges() {
    HOSTIR_ASSIGN_OR_RETURN(
        auto rows,
        rows_of("NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "binaryData"},
                "ORDER BY start"));
    if (!rows) return {};
    size_t ranges = 0;
    while (ranges < kMostRanges) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      std::string text = rows->is_null(3)
                             ? string(rows->integer_or(4, -1))
                             : std::string(rows->text_view(3).substr(0, kMostNameBytes));
      if (!text.starts_with("nccl") || rows->is_null(0)) continue;
      const auto owner = processes_.find(process_of(rows->integer_or(2, 0)));
      if (owner == processes_.end()) continue;
      NcclRange range;
      range.begin_ns = rows->integer(0);
      range.end_ns = rows->integer_or(1, INT64_MAX);
      range.thread = rows->integer_or(2, 0);
      range.name = std::move(text);
      const auto payload = payload_of(rows->blob(5));
      range.payload.assign(payload.begin(),
                           payload.begin() + std::min<ptrdiff_t>(64, std::ssize(payload)));
      if (const auto member = member_of(range))
        owner->second.members[member->communicator] = *member;
      owner->second.ranges.push_back(std::move(range));
      ++ranges;
    }
    return {};
  }

  // Ranges named like the profiler's steps.
  Expected<void> read_steps() {
    HOSTIR_ASSIGN_OR_RETURN(
        auto rows, rows_of("NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId"}));
    if (!rows) return {};
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      const std::string text = rows->is_null(3) ? string(rows->integer_or(4, -1))
                                                : std::string(rows->text_view(3).substr(0, 64));
      const auto owner = processes_.find(process_of(rows->integer_or(2, 0)));
      const auto number = step_number(text);
      if (!number || owner == processes_.end() || rows->is_null(0) || rows->is_null(1)) continue;
      auto& steps = owner->second.builder.profile().steps;
      if (steps.size() >= kMostRanges || std::abs(rows->integer(0)) > kMostNs / 2 ||
          std::abs(rows->integer(1)) > kMostNs / 2)
        continue;
      steps.push_back({*number, absolute(rows->integer(0)), absolute(rows->integer(1))});
    }
  }

  /// `ProfilerStep#12`, `step 12`, `iteration 12`.
  static std::optional<int64_t> step_number(std::string_view text) {
    for (const std::string_view head :
         {"ProfilerStep#", "step ", "Step ", "step_", "iteration ", "iter "}) {
      if (!text.starts_with(head)) continue;
      text.remove_prefix(head.size());
      if (text.empty() || text.size() > 9 ||
          text.find_first_not_of("0123456789") != std::string_view::npos)
        return {};
      int64_t number = 0;
      for (const char c : text) number = number * 10 + (c - '0');
      return number;
    }
    return {};
  }

  Expected<void> read_ranks() {
    HOSTIR_ASSIGN_OR_RETURN(auto rows, rows_of("MPI_RANKS", {"globalTid", "rank"}));
    if (!rows) return {};
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows->step());
      if (!more) return {};
      const auto owner = processes_.find(process_of(rows->integer_or(0, 0)));
      const int64_t rank = rows->integer_or(1, -1);
      if (owner == processes_.end() || rank < 0 || rank >= import::kMostRanks) continue;
      owner->second.builder.profile().rank = static_cast<model::Rank>(rank);
    }
  }

  // Without MPI: the position in the largest communicator is the rank, as for every launcher that
  // makes one communicator of all processes.
  static void find_rank(int64_t, Process& process) {
    ProcessProfile& profile = process.builder.profile();
    if (profile.rank) return;
    const NcclMember* widest = nullptr;
    for (const auto& [communicator, member] : process.members) {
      if (widest == nullptr || member.size > widest->size) widest = &member;
    }
    if (widest == nullptr || widest->rank >= import::kMostRanks) return;
    profile.rank = widest->rank;
    profile.rank_found_by = "its position in the largest communicator";
    profile.world_size = std::min<int64_t>(widest->size, import::kMostRanks);
  }

  uint32_t group_of(Process& process, std::optional<uint64_t> communicator, int64_t stream) {
    Group group;
    if (!communicator) {
      group.name = fmt::format("stream {}", stream);
      group.description = group.name;
      return process.builder.group(group);
    }
    const auto known = process.groups.find(*communicator);
    if (known != process.groups.end()) return known->second;
    if (process.groups.size() >= 4096) return kNone;
    group.name = fmt::format("{:x}", *communicator);
    group.description = fmt::format("communicator {:x}", *communicator);
    const auto member = process.members.find(*communicator);
    if (member != process.members.end() && member->second.size < import::kMostRanks) {
      group.size = static_cast<uint32_t>(member->second.size);
      group.position = static_cast<uint32_t>(member->second.rank);
    }
    return process.groups[*communicator] = process.builder.group(group);
  }

  /// The range that launched the kernel: around the launch or, for grouped calls, the oldest one
  /// before it of the same kind.
  static NcclRange* range_of(Process& process, const Launch& launch, std::string_view op) {
    NcclRange* oldest = nullptr;
    const auto kind = import::op_of(op);
    const auto after =
        std::upper_bound(process.ranges.begin(), process.ranges.end(), launch.begin_ns,
                         [](int64_t ns, const NcclRange& r) { return ns < r.begin_ns; });
    constexpr ptrdiff_t kReach = 4096;
    const auto from = after - std::min(kReach, after - process.ranges.begin());
    for (auto at = from; at != after; ++at) {
      std::optional<uint64_t> communicator;
      if (at->claimed || at->thread != launch.thread || !call_of(*at, communicator)) continue;
      if (at->end_ns >= launch.begin_ns) return &*at;
      const auto other = import::op_of(at->name.substr(4));
      const bool fits =
          kind ? other == kind
               : other == OpKind::send || other == OpKind::recv || other == OpKind::all_to_all;
      if (fits && oldest == nullptr) oldest = &*at;
    }
    return oldest;
  }

  void name_collectives(Process& process) {
    ProcessProfile& profile = process.builder.profile();
    size_t unknown = 0;
    for (const auto& [at, correlation] : process.nccl_rows) {
      Row& row = profile.rows[at];
      const std::string kernel = row.name == kNone ? std::string() : profile.names[row.name];
      const auto launch = process.nccl_launches.find(correlation);
      NcclRange* range = launch == process.nccl_launches.end()
                             ? nullptr
                             : range_of(process, launch->second, nccl_kernel_op(kernel));
      std::optional<uint64_t> communicator;
      Call call;
      if (range != nullptr) {
        range->claimed = true;
        call = *call_of(*range, communicator);
      } else {
        ++unknown;
        call.name = nccl_kernel_op(kernel);
      }
      if (!call.reduction) call.reduction = nccl_kernel_reduction(kernel);
      call.group = group_of(process, communicator, row.stream);
      row.call = process.builder.call(call);
    }
    if (unknown > 0) {
      profile.remarks.push_back(
          fmt::format("{} NCCL kernels without an NVTX range (trace with -t "
                      "cuda,nvtx); they are matched by stream",
                      unknown));
    }
  }

  Database& database_;
  const std::string& path_;
  int64_t origin_ns_ = 0;
  std::unordered_map<int64_t, std::string> strings_;
  std::map<int64_t, Process> processes_;
};

}  // namespace

Expected<std::vector<ProcessProfile>> read_nsys(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Mode::kImmutable));
  return NsysReader(database, path).read();
}

}  // namespace hostir::traces::profile
