#include "traces/import/formats/flight_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "hostir/support/number_from.h"
#include "traces/import/assemble/call_parts.h"
#include "traces/import/formats/call_sizes.h"
#include "traces/import/formats/names.h"

namespace hostir::traces::import {

namespace {

struct Version {
  int64_t major = 0;
  int64_t minor = 0;
};

std::optional<Version> parse_version(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = number_from<int64_t>(text.substr(0, dot));
  const auto minor = number_from<int64_t>(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return Version{*major, *minor};
}

std::string dtype_text(io::PlainView dtypes) {
  const io::PlainView first = dtypes.at(0);
  if (!first.present()) return {};
  if (first.is(io::PlainKind::kInt)) return std::string(scalar_type_name(*first.integer()));
  return std::string(first.text());
}

model::MemberState state_of(std::string_view text) {
  if (text == "completed") return model::MemberState::kCompleted;
  if (text == "started") return model::MemberState::kStarted;
  return model::MemberState::kScheduled;
}

std::vector<model::StackFrame> frames_of(io::PlainView list) {
  std::vector<model::StackFrame> frames;
  for (size_t i = 0; i < list.size(); ++i) {
    const io::PlainView frame = list.at(i);
    model::StackFrame& made = frames.emplace_back();
    made.function = frame["name"].text();
    made.place.file = frame["filename"].text();
    // `D:\\work\\train.py`: uses one kind of separator, so that torch's own files are recognised.
    if (made.place.file.find(":\\") == 1)
      std::replace(made.place.file.begin(), made.place.file.end(), '\\', '/');
    const auto line = frame["line"].integer();
    if (line && *line > 0 && *line <= INT32_MAX) made.place.line = static_cast<uint32_t>(*line);
  }
  return frames;
}

/// `0->1`, `1<-0`: (own position, peer).
std::optional<std::pair<int64_t, int64_t>> ends_of(std::string_view text) {
  size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) arrow = text.find("<-");
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto own = number_from<int64_t>(text.substr(0, arrow));
  const auto peer = number_from<int64_t>(text.substr(arrow + 2));
  if (!own || !peer) return std::nullopt;
  return std::pair(*own, *peer);
}

class FlightRecorderReader {
 public:
  explicit FlightRecorderReader(io::PlainView dump) : dump_(dump) {}

  Expected<ProcessDump> read() {
    const auto version = parse_version(dump_["version"].text());
    if (!version || version->major != 2) {
      return fail(ErrorKind::kInvalid, "flight_recorder",
                  fmt::format("Flight Recorder version \"{}\"; versions 2.x can be read",
                              dump_["version"].text()));
    }
    version_ = *version;
    out_.producer = "PyTorch Flight Recorder";
    out_.version = dump_["version"].text();
    read_groups();
    groups_in_settings_ = out_.groups.size();
    const io::PlainView entries = dump_["entries"];
    for (size_t i = 0; i < entries.size(); ++i) read_entry(entries.at(i));
    if (lacks_number_) {
      return fail(ErrorKind::kInvalid, "flight_recorder",
                  "entries have neither collective_seq_id nor seq_id, so calls of several ranks "
                  "cannot be matched");
    }
    doubt_late_ends();
    read_status();
    finish_blocks();
    if (every_communicator_) count_by_communicator();
    if (counts_all_) count_collectives();
    return std::move(out_);
  }

 private:
  /// An entry and its call, for passes that need several entries.
  struct Row {
    size_t call = SIZE_MAX;  // SIZE_MAX: a terminator, not a call
    size_t group = 0;
    int64_t collective = 0;
    int64_t p2p = 0;
    bool is_p2p = false;
    bool bracket = false;  // `coalesced`: ends a block of calls issued together
    model::MemberState state = model::MemberState::kUnknown;
    model::Times times;
    std::optional<bool> retired;  // the watchdog has seen it end
    std::optional<bool> timed_out;
  };

  void read_groups() {
    const io::PlainView config = dump_["pg_config"];
    for (size_t i = 0; i < config.size(); ++i) {
      const io::PlainView entry = config.value(i);
      const size_t at =
          group_named(entry["name"].present() ? entry["name"].text() : config.key(i).text(),
                      entry["desc"].text());
      const auto ranks = io::integer_list(entry["ranks"]);
      if (!ranks || ranks->size() > static_cast<size_t>(kMostRanks)) continue;
      const bool ranks_fit = std::all_of(ranks->begin(), ranks->end(), [](int64_t rank) {
        return rank >= 0 && rank < kMostRanks;
      });
      if (!ranks_fit || ranks->empty()) continue;
      out_.groups[at].members.emplace(ranks->begin(), ranks->end());
    }
  }

  size_t group_named(std::string_view name, std::string_view description) {
    const auto [at, added] =
        groups_.try_emplace({std::string(name), std::string(description)}, out_.groups.size());
    if (added) {
      DumpGroup& group = out_.groups.emplace_back();
      group.name = name;
      group.description = description;
    }
    return at->second;
  }

  /// An entry may describe a group differently than the settings do.
  size_t group_of_entry(std::string_view name, std::string_view description) {
    if (!groups_.contains({std::string(name), std::string(description)})) {
      size_t found = SIZE_MAX;
      size_t count = 0;
      for (size_t i = 0; i < groups_in_settings_; ++i) {
        if (out_.groups[i].name != name) continue;
        found = i;
        ++count;
      }
      if (count == 1) return found;
    }
    return group_named(name, description);
  }

  void read_entry(io::PlainView entry) {
    Row row;
    row.group =
        group_of_entry(entry["process_group"].at(0).text(), entry["process_group"].at(1).text());
    if (const auto id = entry["pg_id"].integer()) group_of_id_[*id] = row.group;
    row.is_p2p = entry["is_p2p"].boolean().value_or(false);
    auto number = entry["collective_seq_id"].integer();
    if (!number && !row.is_p2p) {
      number = entry["seq_id"].integer();
      (number ? counts_all_ : lacks_number_) = true;
    }
    row.collective = std::max<int64_t>(0, number.value_or(0));
    row.p2p = entry["p2p_seq_id"].integer().value_or(0);
    read_record_id(entry);
    read_progress(entry, row);
    std::string_view name = entry["profiling_name"].text();
    if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
      const std::string_view prefix = name.substr(0, colon);
      name.remove_prefix(colon + 1);
      if (prefix == out_.groups[row.group].description && prefix != "nccl") torchcomms_ = true;
    }
    if (name == "coalesced") {
      row.bracket = true;
    } else {
      read_call(entry, name, row);
    }
    rows_.push_back(std::move(row));
  }

  void read_record_id(io::PlainView entry) {
    const auto id = entry["record_id"].integer();
    if (!id) return;
    if (!seen_record_ && *id > 0) out_.start_lost = true;
    seen_record_ = true;
  }

  static void read_progress(io::PlainView entry, Row& row) {
    row.state = state_of(entry["state"].text());
    row.times.issued_ns = entry["time_created_ns"].integer();
    // JSON writes 0 for an unknown time.
    const auto noticed = [&](std::string_view key) {
      const auto time = entry[key].integer();
      return time && *time != 0 ? time : std::nullopt;
    };
    row.times.started_ns = noticed("time_discovered_started_ns");
    row.times.finished_ns = noticed("time_discovered_completed_ns");
    row.times.upper_bounds = true;
    row.retired = entry["retired"].boolean();
    if (row.retired) {
      row.timed_out = *row.retired && row.state != model::MemberState::kCompleted;
    }
  }

  // NCCL also ends the kernels of a rank whose peer is gone, and the recorder then marks their
  // calls completed. Such a call ended long after it was issued, and only the dump noticed its end:
  // otherwise the watchdog, which checks ten times a second, would have retired it. Treating a slow
  // call as unfinished is safe: no rank is accused if all members have arrived.
  void doubt_late_ends() {
    constexpr int64_t kLateNs = 1'000'000'000;
    const bool watched = std::any_of(rows_.begin(), rows_.end(),
                                     [](const Row& row) { return row.retired.value_or(false); });
    int64_t newest_ns = 0;
    for (const Row& row : rows_) newest_ns = std::max(newest_ns, row.times.finished_ns.value_or(0));
    size_t doubted = 0;
    for (Row& row : rows_) {
      const auto& [issued_ns, finished_ns] = std::tie(row.times.issued_ns, row.times.finished_ns);
      if (!watched || row.retired.value_or(true) || !issued_ns || !finished_ns) continue;
      if (row.state != model::MemberState::kCompleted) continue;
      if (*finished_ns - *issued_ns < kLateNs || newest_ns - *finished_ns > kLateNs) continue;
      row.state =
          row.times.started_ns ? model::MemberState::kStarted : model::MemberState::kScheduled;
      row.times.finished_ns.reset();
      ++doubted;
    }
    if (doubted == 0) return;
    out_.remarks.push_back(fmt::format(
        "{} of its calls ended only when the dump was written, a second or more after they were "
        "issued; they count as unfinished, because NCCL also ends the calls of a rank "
        "whose peer is gone",
        doubted));
  }

  // torch writes equal frames once: lists of the same frames are one stack.
  size_t stack_of(io::PlainView list) {
    if (list.size() == 0) return 0;
    std::vector<uint32_t> nodes;
    for (size_t i = 0; i < list.size(); ++i) nodes.push_back(list.at(i).node().value_or(0));
    const auto [at, added] = stacks_.try_emplace(std::move(nodes), out_.stacks.size());
    if (added) out_.stacks.push_back(frames_of(list));
    return at->second;
  }

  void read_call(io::PlainView entry, std::string_view name, Row& row) {
    row.call = out_.calls.size();
    DumpCall& made = out_.calls.emplace_back();
    DumpGroup& group = out_.groups[row.group];
    made.group = row.group;
    made.sequence = static_cast<uint64_t>(row.collective);
    made.timeout_ms = entry["timeout_ms"].integer();
    made.stack = stack_of(entry["frames"]);
    const size_t space = std::min(name.find(' '), name.size());
    const std::string_view word = name.substr(0, space);
    made.call.kind = op_of(word);
    made.call.name = word;
    if (word == "all_reduce_barrier") made.call.name = "barrier";
    if (made.call.kind == OpKind::send || made.call.kind == OpKind::recv) {
      made.shape = made.call.kind == OpKind::send ? DumpCall::Shape::kSend : DumpCall::Shape::kRecv;
      if (const auto ends = ends_of(name.substr(std::min(space + 1, name.size())))) {
        made.peer = ends->second;
        if (ends->first >= 0 && ends->first < kMostRanks) {
          group.position = static_cast<int32_t>(ends->first);
        }
      } else {
        out_.remarks.push_back(fmt::format("\"{}\" names no peer", name));
      }
    }
    made.call.inputs = shapes_of(entry["input_sizes"]);
    made.call.outputs = shapes_of(entry["output_sizes"]);
    const std::string dtype = dtype_text(entry["input_dtypes"].size() > 0 ? entry["input_dtypes"]
                                                                          : entry["output_dtypes"]);
    made.call.dtype = dtype_of(dtype);
    if (made.call.dtype == DType::kI1) made.call.dtype = DType::kU8;  // NCCL sends bytes
    const auto& shapes = made.call.inputs.empty() ? made.call.outputs : made.call.inputs;
    if (!shapes.empty()) made.call.shape = shapes.front();
    // Before 2.4 the sizes of an all_to_all entry are wrong.
    const bool sizes_known = version_.minor >= 4 || made.call.kind != OpKind::all_to_all;
    const size_t members = group.members ? group.members->size() : 0;
    if (!sizes_known) {
      made.call.inputs.clear();
      made.call.outputs.clear();
      made.call.shape.reset();
    } else if (made.call.kind == OpKind::all_to_all) {
      set_splits(made.call, entry, members);
    }
    set_totals(made.call, sizes_known);
  }

  void read_status() {
    const io::PlainView status = dump_["pg_status"];
    for (size_t i = 0; i < status.size(); ++i) {
      const auto id = status.key(i).integer();
      if (!id) continue;
      const auto at = group_of_id_.find(*id);
      if (at == group_of_id_.end()) {
        read_status_without_entries(*id, status.value(i));
      } else {
        set_status(out_.groups[at->second], status.value(i));
      }
    }
    if (status.size() == 0 && torchcomms_) every_communicator_ = true;
  }

  // In a dump without calls, only the number of the default group is known, from its name.
  void read_status_without_entries(int64_t id, io::PlainView status) {
    if (id != 0 || !group_of_id_.empty()) return;
    for (DumpGroup& group : out_.groups) {
      if (group.name == "0" && group.description == "default_pg") set_status(group, status);
    }
  }

  static void set_status(DumpGroup& group, io::PlainView status) {
    group.last_enqueued = status["last_enqueued_collective"].integer();
  }

  // Calls issued together are one launch: only the entry that ends the block owns its events.
  void finish_blocks() {
    using Key = std::tuple<size_t, bool, int64_t>;
    std::map<Key, std::vector<size_t>> open;  // rows by group, p2p or not, and number
    std::set<size_t> gone;                    // calls that became parts of another one
    for (size_t i = 0; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      if (!row.bracket) {
        open[{row.group, row.is_p2p, row.is_p2p ? row.p2p : row.collective}].push_back(i);
        continue;
      }
      for (const bool p2p : {false, true}) {
        const auto block = open.find({row.group, p2p, p2p ? row.p2p : row.collective});
        // A collective before the sends and recvs of the block has the same number, but is not in
        // it.
        if (block == open.end() || (row.is_p2p && !p2p)) continue;
        // The ring buffer may have lost the first parts of the block, and with them its sizes.
        const bool is_cut = out_.start_lost && !p2p && block->second.front() == 0;
        for (const size_t member : block->second) {
          if (is_cut && rows_[member].call != SIZE_MAX) {
            if (row.state == model::MemberState::kCompleted) gone.insert(rows_[member].call);
            forget_sizes(out_.calls[rows_[member].call].call);
          }
          rows_[member].state = row.state;
          rows_[member].times.started_ns = row.times.started_ns;
          rows_[member].times.finished_ns = row.times.finished_ns;
          rows_[member].timed_out = row.timed_out;
          if (rows_[member].call == SIZE_MAX) continue;
          DumpCall& call = out_.calls[rows_[member].call];
          call.coalesced = !p2p;
          if (p2p) call.together = row.p2p;
        }
        open.erase(block);
      }
    }
    for (const Row& row : rows_) {
      if (row.call == SIZE_MAX) continue;
      DumpCall& call = out_.calls[row.call];
      call.state = row.state;
      call.times = row.times;
      call.timed_out = row.timed_out;
    }
    merge_blocks(gone);
    drop(gone);
  }

  // Collectives that share a number are parts of one launch. A number lower than the previous one
  // belongs to a later group of the same name.
  void merge_blocks(std::set<size_t>& gone) {
    if (torchcomms_) return;
    struct Last {
      size_t call = 0;
      size_t group = 0;
      size_t same_name = 1;
    };
    std::map<size_t, Last> last;  // by group
    for (size_t i = 0; i < out_.calls.size(); ++i) {
      DumpCall& call = out_.calls[i];
      if (call.shape != DumpCall::Shape::kCollective) continue;
      const auto [at, added] = last.try_emplace(call.group, Last{i, call.group, 1});
      Last& before = at->second;
      if (added) continue;
      if (call.sequence == out_.calls[before.call].sequence) {
        add_part(out_.calls[before.call].call, call.call);
        // The dump was written while the launch was issued: more parts may follow.
        if (!call.coalesced && i + 1 == out_.calls.size())
          forget_sizes(out_.calls[before.call].call);
        gone.insert(i);
        continue;
      }
      if (call.sequence < out_.calls[before.call].sequence) {
        DumpGroup later = out_.groups[call.group];
        later.description += fmt::format(" (use {} of the name)", ++before.same_name);
        before.group = out_.groups.size();
        out_.groups.push_back(std::move(later));
      }
      before.call = i;
      call.group = before.group;
    }
  }

  void drop(const std::set<size_t>& gone) {
    if (gone.empty()) return;
    std::vector<DumpCall> kept;
    for (size_t i = 0; i < out_.calls.size(); ++i) {
      if (gone.count(i) == 0) kept.push_back(std::move(out_.calls[i]));
    }
    out_.calls = std::move(kept);
  }

  // Up to 2.1, sends and recvs share the counter of collectives, but only two ranks make them.
  void count_collectives() {
    const bool some_pairs = std::ranges::any_of(out_.calls, [](const DumpCall& call) {
      return call.shape != DumpCall::Shape::kCollective;
    });
    if (some_pairs) renumber();
  }

  // The numbers of torchcomms' hook span all communicators; renumber calls per communicator.
  void count_by_communicator() {
    out_.producer = "torchcomms Flight Recorder";
    for (DumpCall& call : out_.calls) call.timeout_ms.reset();
    renumber();
  }

  void renumber() {
    out_.sequences_lost = out_.start_lost;
    std::map<size_t, uint64_t> next;
    for (DumpCall& call : out_.calls) {
      if (call.shape == DumpCall::Shape::kCollective) call.sequence = ++next[call.group];
    }
  }

  io::PlainView dump_;
  Version version_;
  ProcessDump out_;
  std::map<std::pair<std::string, std::string>, size_t> groups_;
  std::map<std::vector<uint32_t>, size_t> stacks_;  // by the nodes of their frames
  size_t groups_in_settings_ = 0;
  std::map<int64_t, size_t> group_of_id_;
  std::vector<Row> rows_;
  bool seen_record_ = false;
  bool torchcomms_ = false;
  bool every_communicator_ = false;
  bool counts_all_ = false;  // one counter for collectives, sends and recvs
  bool lacks_number_ = false;
};

}  // namespace

bool looks_like_flight_recorder(io::PlainView dump) {
  return dump.is(io::PlainKind::kDict) && dump["version"].is(io::PlainKind::kText) &&
         (dump["entries"].is(io::PlainKind::kList) || dump["pg_config"].is(io::PlainKind::kDict) ||
          dump["pg_status"].is(io::PlainKind::kDict));
}

Expected<ProcessDump> read_flight_recorder(io::PlainView dump) {
  return FlightRecorderReader(dump).read();
}

}  // namespace hostir::traces::import
