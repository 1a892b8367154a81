#include "traces/import/formats/clog.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "hostir/io/plain_value.h"
#include "hostir/support/number_from.h"
#include "hostir/support/text.h"
#include "traces/import/assemble/met_calls.h"
#include "traces/import/formats/names.h"
#include "traces/import/formats/text_lines.h"

namespace hostir::traces::import {

namespace {

using Fields = std::map<std::string_view, std::string_view>;

/// Parses `k=v` parts; ignores others.
Fields fields_of(const std::vector<std::string_view>& parts) {
  Fields fields;
  for (const std::string_view part : parts) {
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      fields[part.substr(0, equals)] = part.substr(equals + 1);
    }
  }
  return fields;
}

std::string_view field(const Fields& fields, std::string_view name) {
  const auto at = fields.find(name);
  return at == fields.end() ? std::string_view() : at->second;
}

std::vector<int64_t> counts(std::string_view list) {
  std::vector<int64_t> out;
  for (const std::string_view part : split(list, ',')) {
    const auto number = number_from<int64_t>(part);
    if (!number) return {};
    out.push_back(*number);
  }
  return out;
}

std::optional<int64_t> sum(const std::vector<int64_t>& counts) {
  if (counts.empty()) return std::nullopt;
  int64_t all = 0;
  for (const int64_t count : counts) {
    if (__builtin_add_overflow(all, count, &all)) return std::nullopt;
  }
  return all;
}

class ClogReader {
 public:
  Expected<ProcessDump> read(std::string_view text) {
    out_.producer = "torchcomms clog";
    out_.version = "1";
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.empty()) continue;
      if (line.starts_with("V|")) {
        HOSTIR_TRY(header(line));
      } else if (!event(split(line, '|'))) {
        ++strange_;
      }
    }
    if (!lifecycle_) complete_followed_calls(out_);  // no S and E lines
    if (strange_ > 0) {
      out_.remarks.push_back(fmt::format("{} lines of its clog were not understood", strange_));
    }
    return std::move(out_);
  }

 private:
  /// A signature, and its calls that still wait for their S and E lines.
  struct Signature {
    DumpCall call;
    std::deque<size_t> to_start;
    std::deque<size_t> to_end;
  };

  Expected<void> header(std::string_view line) {
    const auto parts = split(line, '|');
    if (parts.size() < 2 || parts[1] != "1") {
      return fail(
          ErrorKind::kInvalid, "clog",
          fmt::format("clog version {}; version 1 can be read", parts.size() < 2 ? "?" : parts[1]));
    }
    base_ns_ = parse_seconds(field(fields_of(parts), "base_timestamp"));
    return {};
  }

  bool event(const std::vector<std::string_view>& parts) {
    if (parts[0] == "new_comm") return new_comm(fields_of(parts));
    if (parts[0] == "split") return new_split(fields_of(parts));
    if (parts[0] == "WARN") return true;         // redundant: implied by the missing E line
    if (parts[0].starts_with("G")) return true;  // captured graphs: their run time is unknown
    if (parts.size() < 3 || !parts[0].starts_with("C")) return false;
    if (parts[1] == "sig") return signature(parts);
    return progress(parts);
  }

  size_t group(std::string_view name) {
    const auto [at, added] = groups_.try_emplace(std::string(name), out_.groups.size());
    if (added) {
      DumpGroup& made = out_.groups.emplace_back();
      made.name = name;
      made.description = name;
    }
    return at->second;
  }

  bool new_comm(const Fields& fields) {
    const auto rank = number_from<int64_t>(field(fields, "rank"));
    const auto size = number_from<int64_t>(field(fields, "world_size"));
    if (!rank || !size || *rank < 0 || *rank >= *size || *size > kMostRanks) return false;
    const size_t at = group(field(fields, "comm"));
    out_.groups[at].position = static_cast<int32_t>(*rank);
    out_.groups[at].size = static_cast<uint32_t>(*size);
    // The first communicator is the world's: only it gives the global rank.
    if (!out_.rank) {
      out_.rank = static_cast<model::Rank>(*rank);
      out_.rank_found_by = "its first new_comm line";
      out_.world_size = *size;
      std::vector<model::Rank> all;
      for (model::Rank r = 0; r < *size; ++r) all.push_back(r);
      out_.groups[at].members = std::move(all);
    } else if (out_.world_size == *size) {
      out_.groups[at].members = out_.groups[0].members;
    }
    return true;
  }

  bool new_split(const Fields& fields) {
    const size_t at = group(field(fields, "child"));
    std::vector<model::Rank> members;
    for (const int64_t rank : counts(field(fields, "ranks"))) {
      if (rank < 0 || rank >= out_.world_size.value_or(kMostRanks)) return false;
      members.push_back(static_cast<model::Rank>(rank));
    }
    if (members.empty()) return false;
    out_.groups[at].size = static_cast<uint32_t>(members.size());
    out_.groups[at].members = std::move(members);
    return true;
  }

  bool signature(const std::vector<std::string_view>& parts) {
    const Fields fields = fields_of(parts);
    Signature made;
    DumpCall& call = made.call;
    call.group = group(field(fields, "comm"));
    call.call.name = parts[2];
    call.call.kind = op_of(parts[2]);
    call.call.dtype = dtype_of(field(fields, "dtype"));
    call.call.reduction = parse_reduction(field(fields, "red_op"));
    if (const auto root = number_from<int64_t>(field(fields, "root")); root && *root >= 0) {
      call.call.root = static_cast<int32_t>(*root);
    }
    set_counts(call.call, fields);
    if (call.call.kind == OpKind::send || call.call.kind == OpKind::recv) {
      call.shape = call.call.kind == OpKind::send ? DumpCall::Shape::kSend : DumpCall::Shape::kRecv;
      call.peer = number_from<int64_t>(field(fields, "peer"));
    }
    signatures_[std::string(parts[0])] = std::move(made);
    return true;
  }

  static void set_counts(model::Call& call, const Fields& fields) {
    const auto many = [&](std::string_view plural, std::string_view single) {
      std::vector<int64_t> list = counts(field(fields, plural));
      if (list.empty()) list = counts(field(fields, single));
      return list;
    };
    const std::vector<int64_t> in = many("in_counts", "in_count");
    const std::vector<int64_t> out = many("out_counts", "out_count");
    for (const int64_t n : in) call.inputs.push_back({n});
    for (const int64_t n : out) call.outputs.push_back({n});
    if (!call.inputs.empty()) call.shape = call.inputs.front();
    call.sends = counts(field(fields, "in_splits"));
    call.receives = counts(field(fields, "out_splits"));
    if (call.kind == OpKind::all_to_all) {
      if (in.size() > 1) call.sends = in;
      if (out.size() > 1) call.receives = out;
    } else if (call.kind == OpKind::all_gather) {
      call.total_elems = sum(out);
      call.local_elems = sum(in);
    } else if (call.kind == OpKind::reduce_scatter) {
      call.total_elems = sum(in);
      call.local_elems = sum(out);
    } else if (call.kind == OpKind::scatter) {
      call.local_elems = sum(out);
    } else if (call.kind == OpKind::gather) {
      call.local_elems = sum(in);
    } else {
      call.total_elems = call.name == "barrier" ? 1 : sum(in);  // an all_reduce of one element
      call.local_elems = call.total_elems;
    }
  }

  bool progress(const std::vector<std::string_view>& parts) {
    const auto at = signatures_.find(std::string(parts[0]));
    const auto after = parse_seconds(parts.back());
    if (at == signatures_.end() || !after) return false;
    Signature& signature = at->second;
    std::optional<int64_t> time;
    if (base_ns_) time = *base_ns_ + *after;
    if (parts[1] == "Q") return enqueue(signature, time);
    if (parts[1] == "W") return true;
    const bool starts = parts[1] == "S";
    if (!starts && parts[1] != "E") return false;
    std::deque<size_t>& waiting = starts ? signature.to_start : signature.to_end;
    if (waiting.empty()) return false;
    DumpCall& call = out_.calls[waiting.front()];
    waiting.pop_front();
    if (starts) {
      call.times.started_ns = time;
      if (call.state < model::MemberState::kStarted) call.state = model::MemberState::kStarted;
    } else {
      call.times.finished_ns = time;
      call.state = model::MemberState::kCompleted;
    }
    lifecycle_ = true;
    return true;
  }

  bool enqueue(Signature& signature, std::optional<int64_t> time) {
    DumpCall call = signature.call;
    call.state = model::MemberState::kScheduled;
    call.times.issued_ns = time;
    if (call.shape == DumpCall::Shape::kCollective) call.sequence = ++next_[call.group];
    signature.to_start.push_back(out_.calls.size());
    signature.to_end.push_back(out_.calls.size());
    out_.calls.push_back(std::move(call));
    return true;
  }

  ProcessDump out_;
  std::optional<int64_t> base_ns_;
  std::map<std::string, size_t> groups_;
  std::map<std::string, Signature> signatures_;
  std::map<size_t, uint64_t> next_;
  size_t strange_ = 0;
  bool lifecycle_ = false;
};

}  // namespace

bool looks_like_clog(std::string_view head) { return head.starts_with("V|"); }

Expected<ProcessDump> read_clog(std::string_view text) { return ClogReader().read(text); }

}  // namespace hostir::traces::import
