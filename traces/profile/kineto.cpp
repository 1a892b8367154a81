// 1. A parser without a tree hands over one event at a time; `distributedInfo` is kept as text.
// 2. Device rows, launches, communication calls and steps are kept, the rest is dropped.
// 3. At the end, `distributedInfo` names the rank and completes the groups.

#include "traces/profile/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "hostir/support/json_text.h"
#include "hostir/support/number_from.h"
#include "traces/import/formats/file_name.h"
#include "traces/import/formats/names.h"
#include "traces/import/process_dump.h"
#include "traces/profile/kineto_event.h"
#include "traces/profile/profile_builder.h"

namespace hostir::traces::profile {

namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 30;
constexpr size_t kMostDepth = 64;
constexpr size_t kMostInfoBytes = size_t{16} << 20;
constexpr size_t kMostGroups = 4096;
constexpr size_t kMostCalls = size_t{1} << 20;

/// A member list such as `[0, 1]`; nullopt if it is cut (`...`) or not a list of ranks.
std::optional<std::vector<model::Rank>> rank_list(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return {};
  text = text.substr(1, text.size() - 2);
  std::vector<model::Rank> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    const auto rank = number_from<int64_t>(word);
    if (!rank || *rank < 0 || *rank >= import::kMostRanks) return {};
    out.push_back(static_cast<model::Rank>(*rank));
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

/// The members of one group in `distributedInfo`: a list, or a text in on-demand traces.
std::optional<std::vector<model::Rank>> members_of(const nlohmann::json& ranks) {
  if (ranks.is_string()) return rank_list(ranks.get_ref<const std::string&>());
  if (!ranks.is_array() || ranks.empty()) return {};
  std::vector<model::Rank> out;
  for (const nlohmann::json& rank : ranks) {
    if (!rank.is_number_integer()) return {};
    const auto number = rank.get<int64_t>();
    if (number < 0 || number >= import::kMostRanks) return {};
    out.push_back(static_cast<model::Rank>(number));
  }
  return out;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

class KinetoReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  KinetoReader(JsonBytes& bytes, const std::string& file) : bytes_(bytes) {
    builder_.profile().file = file;
    builder_.profile().producer = "PyTorch Kineto profile";
  }

  bool null() override { return scalar("null", nullptr); }
  bool boolean(bool is) override { return scalar(is ? "true" : "false", nullptr); }
  bool number_integer(int64_t number) override { return number_text(std::to_string(number)); }
  bool number_unsigned(uint64_t number) override { return number_text(std::to_string(number)); }
  bool number_float(double, const std::string& text) override { return number_text(text); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool string(std::string& text) override {
    bytes_.mark();
    if (capturing()) return scalar(json_text(nlohmann::json(text)), nullptr);
    if (depth_ == event_depth_ || depth_ == event_depth_ + 1) {
      if (in_event_) event_.set_text(key_, text, depth_ == event_depth_ + 1);
    }
    return true;
  }
  bool key(std::string& name) override {
    bytes_.mark();
    if (capturing())
      return capture(fmt::format("{}{}:", comma_ ? "," : "", json_text(nlohmann::json(name))),
                     false);
    if (depth_ == 1) top_key_ = name;
    if (depth_ == event_depth_ && in_event_) event_key_ = name;
    key_.swap(name);
    return true;
  }
  bool start_object(size_t) override { return open('{'); }
  bool start_array(size_t) override { return open('['); }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }
  bool parse_error(size_t place, const std::string&, const nlohmann::json::exception&) override {
    if (error_.empty()) error_ = fmt::format("not valid JSON at byte {}", place);
    return false;
  }

  const std::string& error() const { return error_; }
  bool found_events() const { return found_events_; }

  Expected<ProcessProfile> finish() {
    add_late_calls();
    add_distributed_info();
    shift_to_base();
    return std::move(builder_).finish();
  }

 private:
  // ---- structure

  bool capturing() const { return depth_ >= 1 && top_key_ == "distributedInfo" && !bare_; }
  bool capture(std::string_view text, bool comma_after) {
    info_ += text;
    comma_ = comma_after;
    if (info_.size() <= kMostInfoBytes) return true;
    return stop(fmt::format("distributedInfo is larger than {} bytes", kMostInfoBytes));
  }
  bool stop(std::string why) {
    error_ = std::move(why);
    return false;
  }

  bool open(char bracket) {
    bytes_.mark();
    if (++depth_ > kMostDepth) {
      return stop(fmt::format("values are nested deeper than {} levels", kMostDepth));
    }
    if (depth_ == 1) {
      bare_ = bracket == '[';
      event_depth_ = bare_ ? 2 : 3;
      found_events_ = bare_;
      return true;
    }
    if (capturing()) return capture(std::string(comma_ ? "," : "") + bracket, false);
    if (depth_ == 2 && !bare_ && top_key_ == "traceEvents") found_events_ = true;
    if (depth_ == event_depth_ && bracket == '{' && (bare_ || top_key_ == "traceEvents")) {
      in_event_ = true;
      event_ = KinetoEvent();
    }
    if (depth_ == event_depth_ + 1) in_args_ = in_event_ && event_key_ == "args" && bracket == '{';
    return true;
  }
  bool close(char bracket) {
    bool good = true;
    if (depth_ >= 2 && capturing()) {
      good = capture(std::string(1, bracket), true);
      if (depth_ == 2) top_key_.clear();
    }
    if (depth_ == event_depth_ + 1) in_args_ = false;
    if (depth_ == event_depth_ && in_event_) {
      in_event_ = false;
      good = commit();
    }
    --depth_;
    return good;
  }

  bool scalar(std::string_view text, std::nullptr_t) {
    bytes_.mark();
    return !capturing() || capture(fmt::format("{}{}", comma_ ? "," : "", text), true);
  }
  bool number_text(const std::string& text) {
    if (capturing()) return scalar(text, nullptr);
    bytes_.mark();
    if (in_event_ && (depth_ == event_depth_ || in_args_)) {
      event_.set_number(key_, text, in_args_);
    } else if (depth_ == 1 && top_key_ == "baseTimeNanoseconds") {
      base_ns_ = number_from<int64_t>(text).value_or(0);
    } else if (depth_ == 1 && top_key_ == "schemaVersion") {
      builder_.profile().version = text.substr(0, 32);
    }
    return true;
  }

  // ---- events

  bool commit() {
    KinetoEvent& e = event_;
    if (e.phase != "X" || !e.at_ns) return true;
    const bool copies = e.category == "gpu_memcpy" || e.category == "gpu_memset";
    if (e.category == "kernel" || copies) return commit_device(copies);
    if (e.category == "cuda_runtime" || e.category == "cuda_driver") {
      if (e.correlation != 0 && launches_ < 8 * kMostRows) {
        ++launches_;
        builder_.launch(e.correlation, *e.at_ns);
      }
    } else if (e.category == "cpu_op" && !e.collective.empty() && e.external &&
               calls_.size() < kMostCalls) {
      const Call call = call_of(e);
      calls_[*e.external] = {call,
                             static_cast<uint64_t>(std::max<int64_t>(0, e.sequence.value_or(0)))};
    } else if (e.category == "user_annotation" && e.name.starts_with("ProfilerStep#")) {
      if (!builder_.profile().process) builder_.profile().process = e.process;
      const auto number = number_from<int64_t>(std::string_view(e.name).substr(13));
      if (number && builder_.profile().steps.size() < kMostCalls) {
        builder_.profile().steps.push_back(
            {*number, *e.at_ns, *e.at_ns + std::max<int64_t>(0, e.duration_ns.value_or(0))});
      }
    }
    return true;
  }

  bool commit_device(bool copies) {
    KinetoEvent& e = event_;
    Row row;
    row.begin_ns = *e.at_ns;
    row.stream = e.stream ? *e.stream : e.thread.value_or(0);
    row.name = builder_.name(e.name);
    row.copy = copies;
    row.sequence = static_cast<uint64_t>(std::max<int64_t>(0, e.sequence.value_or(0)));
    if (!copies && !e.collective.empty()) {
      Call call = call_of(e);
      call.reduction = nccl_kernel_reduction(e.name);
      row.call = builder_.call(call);
    }
    const size_t before = builder_.profile().rows.size();
    const auto added = builder_.add(row, e.duration_ns.value_or(0), e.correlation);
    if (!added) return stop(added.error().message());
    if (builder_.profile().rows.size() > before && !copies && !nccl_kernel_op(e.name).empty()) {
      late_.emplace_back(before, e.external.value_or(-1));
    }
    return true;
  }

  Call call_of(const KinetoEvent& e) {
    Call call;
    call.name = e.collective.substr(0, 64);
    call.group = group_of(e);
    call.dtype = import::dtype_of(e.dtype);
    call.in_elems = e.in_elems;
    call.out_elems = e.out_elems;
    const auto peer = call.name == "send" ? e.target : e.source;
    if (call.name == "send" || call.name == "recv") {
      call.shape = call.name == "send" ? Call::Shape::kSend : Call::Shape::kRecv;
      if (peer && *peer >= 0 && *peer < import::kMostRanks)
        call.peer = static_cast<model::Rank>(*peer);
    }
    return call;
  }

  uint32_t group_of(const KinetoEvent& e) {
    const auto key = std::tuple(e.group_name, e.group_description, e.group_ranks);
    const auto known = groups_.find(key);
    if (known != groups_.end()) return known->second;
    if (groups_.size() >= kMostGroups) return kNone;
    Group group;
    group.name = e.group_name;
    group.description = e.group_description == "undefined" ? "" : e.group_description;
    group.members = rank_list(e.group_ranks);
    if (e.group_size && *e.group_size > 0 && *e.group_size < import::kMostRanks)
      group.size = static_cast<uint32_t>(*e.group_size);
    return groups_[key] = builder_.group(group);
  }

  // ---- at the end

  // Kernels of older producers lack the collective's arguments, but their host operator has them.
  // It also has the root, and the sequence number if the kernel lacks it.
  void add_late_calls() {
    ProcessProfile& profile = builder_.profile();
    for (const auto& [at, external] : late_) {
      Row& row = profile.rows[at];
      const auto on_host = calls_.find(external);
      if (on_host == calls_.end()) {
        if (row.call == kNone) row.call = unnamed_call(row);
        continue;
      }
      Call call = on_host->second.first;
      if (row.call != kNone) call.reduction = profile.calls[row.call].reduction;
      if (row.call == kNone && row.name != kNone)
        call.reduction = nccl_kernel_reduction(profile.names[row.name]);
      row.call = builder_.call(call);
      if (row.sequence == 0) row.sequence = on_host->second.second;
    }
  }

  uint32_t unnamed_call(const Row& row) {
    Call call;
    const std::string name = row.name == kNone ? std::string() : builder_.profile().names[row.name];
    call.name = nccl_kernel_op(name);
    call.reduction = nccl_kernel_reduction(name);
    Group group;
    group.name = fmt::format("stream {}", row.stream);
    group.description = group.name;
    if (unnamed_++ == 0) {
      builder_.profile().remarks.push_back(
          "some NCCL kernels do not say their process group; they are matched by stream");
    }
    call.group = builder_.profile().groups.size() < 2 * kMostGroups ? builder_.group(group) : kNone;
    return builder_.call(call);
  }

  void add_distributed_info() {
    ProcessProfile& profile = builder_.profile();
    const auto info = nlohmann::json::parse(info_, nullptr, false);
    if (!info.is_object()) return;
    const auto number = [&](const char* key) -> std::optional<int64_t> {
      const auto at = info.find(key);
      if (at == info.end() || !at->is_number_integer()) return {};
      return at->get<int64_t>();
    };
    const auto rank = number("rank");
    if (rank && *rank >= 0 && *rank < import::kMostRanks)
      profile.rank = static_cast<model::Rank>(*rank);
    const auto world = number("world_size");
    if (world && *world > 0 && *world <= import::kMostRanks) profile.world_size = world;
    const auto groups = info.find("pg_config");
    if (groups == info.end() || !groups->is_array()) return;
    for (const nlohmann::json& told : *groups) {
      if (!told.is_object() || !told.contains("ranks")) continue;
      const auto members = members_of(told["ranks"]);
      if (!members) continue;
      for (Group& group : profile.groups) {
        const std::string description = text_at(told, "pg_desc");
        const bool same =
            group.name == text_at(told, "pg_name") &&
            (group.description.empty() || description.empty() || description == group.description);
        if (same && !group.members) group.members = members;
      }
    }
  }

  void shift_to_base() {
    if (base_ns_ <= 0 || base_ns_ > kMostNs) return;
    ProcessProfile& profile = builder_.profile();
    const bool fits = std::all_of(profile.rows.begin(), profile.rows.end(), [&](const Row& row) {
      return row.begin_ns <= kMostNs - base_ns_;
    });
    if (!fits) {
      profile.remarks.push_back("its times are absolute, although it states a base time");
      return;
    }
    for (Row& row : profile.rows) {
      row.begin_ns += base_ns_;
      row.end_ns += base_ns_;
    }
    for (Step& step : profile.steps) {
      step.begin_ns += base_ns_;
      step.end_ns += base_ns_;
    }
    builder_.shift_launches(base_ns_);
  }

  JsonBytes& bytes_;
  ProfileBuilder builder_;
  KinetoEvent event_;
  std::string key_;
  std::string event_key_;
  std::string top_key_;
  std::string info_;
  std::string error_;
  size_t depth_ = 0;
  size_t event_depth_ = 3;
  bool bare_ = false;
  bool comma_ = false;
  bool in_event_ = false;
  bool in_args_ = false;
  bool found_events_ = false;
  int64_t base_ns_ = 0;
  size_t launches_ = 0;
  size_t unnamed_ = 0;
  std::map<std::tuple<std::string, std::string, std::string>, uint32_t> groups_;
  std::map<int64_t, std::pair<Call, uint64_t>> calls_;  // by external id
  std::vector<std::pair<size_t, int64_t>>
      late_;  // NCCL kernels without call arguments: their rows and external ids
};

}  // namespace

Expected<ProcessProfile> read_kineto(JsonBytes::Source source, const std::string& file) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorKind::kInvalid, "kineto_format", fmt::format("{}: {}", file, why));
  };
  JsonBytes bytes(std::move(source), kMostBytes);
  KinetoReader reader(bytes, file);
  const bool good =
      nlohmann::json::sax_parse(JsonBytes::Iterator(bytes), JsonBytes::Iterator(), &reader);
  if (bytes.error()) {
    return bad(bytes.error()->message());
  }
  if (!good) return bad(reader.error().empty() ? "not valid JSON" : reader.error());
  if (!reader.found_events()) return bad("has no traceEvents: it is not a profile");
  return reader.finish();
}

}  // namespace hostir::traces::profile
