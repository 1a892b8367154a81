// 1. The table of communicators gives their sizes, by group.
// 2. Each section `#GROUP-INDEX (HASH) MISMATCH` gives counts, by kind, as classes of ranks; each
//    section INCOMPLETE the ranks that did not answer.
// 3. If one class of a kind has no rank names, it has all ranks that the other classes do not name.
#include "traces/import/formats/ras_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "hostir/support/json_text.h"
#include "hostir/support/number_from.h"
#include "interp/model/run.h"
#include "traces/import/formats/json_text.h"
#include "traces/import/formats/text_lines.h"
#include "traces/import/process_dump.h"

namespace hostir::traces::import {

namespace {

using nlohmann::json;

constexpr std::string_view kNothing = " not launched any operations";

/// Ranks that have made equally many calls of a kind.
struct RankClass {
  int64_t ranks = 0;
  int64_t count = 0;
  std::vector<int64_t> named;
};

struct Communicator {
  std::string label;  // `#1-0 (5f1c)`
  std::string hash;
  int64_t size = 0;
  std::map<std::string, std::vector<RankClass>> counts;  // by kind
  std::set<int64_t> missing;
  std::map<int64_t, json> processes;  // by rank: host, process, device

  bool differs() const { return !counts.empty() || !missing.empty(); }
};

class TextReader {
 public:
  explicit TextReader(std::vector<std::string>& notes) : notes_(notes) {}

  Expected<json> read(std::string_view text) {
    while (!text.empty()) read_line(take_line(text));
    if (sizes_.empty())
      return fail(ErrorKind::kInvalid, "ras_format", "the report has no table of communicators");
    json out = {{"nccl_version", version_}, {"communicators", json::array()}};
    const Communicator* largest = nullptr;
    for (const Communicator& each : communicators_) {
      if (each.differs() && (largest == nullptr || each.size > largest->size)) largest = &each;
    }
    if (largest == nullptr) {
      notes_.emplace_back(
          "RAS: the text report says that the ranks do not differ in any communicator");
      out["communicators"].push_back(described({"", "", most_ranks(), {}, {}, {}}));
      return out;
    }
    out["communicators"].push_back(described(*largest));
    note_about(*largest);
    return out;
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with("NCCL version ")) version_ = word_after(line, "version ").value_or("");
    in_table_ = line.starts_with("    #  in group") || (in_table_ && !line.empty());
    if (in_table_) return row(line);
    if (line.starts_with("#")) return section(line);
    if (!in_section_ || !line.starts_with("  ")) return;
    line.remove_prefix(2);
    constexpr std::string_view kDiffer = "Communicator ranks have different ";
    if (line.starts_with(kDiffer)) {
      kind_ = line.ends_with(" operation counts") ? *word_after(line, "different ") : "";
    } else if (line.starts_with("Rank ")) {
      rank(line);
    } else if (const auto count = count_of(line); count && !kind_.empty()) {
      const auto ranks = number_from<int64_t>(line.substr(0, line.find(' ')));
      if (ranks) communicators_.back().counts[kind_].push_back({*ranks, *count, {}});
    }
  }

  // Group, communicators, nodes, ranks per node, per communicator and in the group, status, errors.
  void row(std::string_view line) {
    std::vector<std::string_view> cells;
    while (!line.empty()) {
      const size_t begin = std::min(line.find_first_not_of(' '), line.size());
      line.remove_prefix(begin);
      const std::string_view cell = line.substr(0, line.find(' '));
      if (!cell.empty()) cells.push_back(cell);
      line.remove_prefix(cell.size());
    }
    if (cells.size() != 8) return;
    const auto group = number_from<int64_t>(cells[0]);
    const auto size = number_from<int64_t>(cells[4]);
    if (group && size && *size > 0 && *size <= kMostRanks) sizes_[*group] = *size;
  }

  // `#0-0 (5f1c) MISMATCH`
  void section(std::string_view line) {
    const size_t hash = line.find('(');
    const size_t end = line.find(')');
    kind_.clear();
    incomplete_ = line.ends_with("INCOMPLETE");
    in_section_ = false;
    if (hash == std::string_view::npos || end == std::string_view::npos || end < hash) return;
    const std::string label(line.substr(0, end + 1));
    const auto at = std::find_if(communicators_.begin(), communicators_.end(),
                                 [&](const Communicator& each) { return each.label == label; });
    if (at != communicators_.end()) {
      std::rotate(at, at + 1, communicators_.end());
      in_section_ = true;
      return;
    }
    const auto group = number_from<int64_t>(line.substr(1, line.find('-') - 1));
    const auto size = sizes_.find(group.value_or(-1));
    if (size == sizes_.end()) return;
    Communicator& made = communicators_.emplace_back();
    made.label = label;
    made.hash = fmt::format("0x{}", line.substr(hash + 1, end - hash - 1));
    made.size = size->second;
    in_section_ = true;
  }

  // `Rank 2 has launched up to operation 7 -- GPU 0 managed by process 4242 on node 10.0.0.1`
  void rank(std::string_view line) {
    Communicator& here = communicators_.back();
    const auto number = number_after(line, "Rank ");
    if (!number || *number < 0 || *number >= here.size) return;
    if (incomplete_) here.missing.insert(*number);
    json& process = here.processes[*number];
    process["host"] = std::string(word_after(line, "node ").value_or(""));
    process["pid"] = number_after(line, "process ").value_or(0);
    process["cuda_dev"] = number_after(line, "GPU ").value_or(0);
    if (kind_.empty()) return;
    std::vector<RankClass>& classes = here.counts[kind_];
    if (const auto count = count_of(line)) {
      classes.push_back({1, *count, {*number}});
    } else if (!classes.empty()) {
      classes.back().named.push_back(*number);
    }
  }

  static std::optional<int64_t> count_of(std::string_view line) {
    if (line.find(kNothing) != std::string_view::npos) return 0;
    return number_after(line, "operation ");
  }

  int64_t most_ranks() const {
    int64_t out = 0;
    for (const auto& [group, size] : sizes_) out = std::max(out, size);
    return out;
  }

  /// By rank; nullopt if several classes do not name their ranks.
  static std::optional<std::vector<int64_t>> counts_of(const Communicator& of,
                                                       const std::vector<RankClass>& classes) {
    std::vector<int64_t> out(static_cast<size_t>(of.size), -1);
    std::optional<int64_t> rest;
    for (const RankClass& each : classes) {
      if (each.named.empty()) {
        if (rest) return std::nullopt;
        rest = each.count;
      }
      for (const int64_t rank : each.named) out[static_cast<size_t>(rank)] = each.count;
    }
    for (int64_t& count : out) {
      if (count < 0) count = rest.value_or(0);
    }
    return out;
  }

  json described(const Communicator& of) const {
    json ranks = json::array();
    json missing = json::array();
    for (int64_t r = 0; r < of.size; ++r) {
      // Without a process, the device number tells ranks apart.
      const auto known = of.processes.find(r);
      json rank = known != of.processes.end() ? known->second : json{{"cuda_dev", r}};
      rank["rank"] = r;
      rank["collective_counts"] = json::object();
      (of.missing.contains(r) ? missing : ranks).push_back(std::move(rank));
    }
    for (const auto& [kind, classes] : of.counts) {
      const auto counts = counts_of(of, classes);
      for (json& rank : ranks) {
        if (counts) rank["collective_counts"][kind] = (*counts)[rank["rank"].get<size_t>()];
      }
    }
    return {{"hash", of.hash}, {"size", of.size}, {"ranks", ranks}, {"missing_ranks", missing}};
  }

  void note_about(const Communicator& told) {
    notes_.push_back(
        fmt::format("RAS: the text report has counts only of kinds that differ on communicator {}, "
                    "so its calls are numbered from there",
                    told.label));
    if (told.size < most_ranks()) {
      notes_.push_back(fmt::format(
          "RAS: ranks are those of communicator {}, which has {} of at least {} ranks; the text "
          "report does not say which ranks of the job they are",
          told.label, told.size, most_ranks()));
    }
    for (const auto& [rank, process] : told.processes) {
      notes_.push_back(fmt::format("RAS: rank {} of communicator {} is process {} on {}", rank,
                                   told.label, process["pid"].get<int64_t>(),
                                   process["host"].get<std::string>()));
    }
    for (const auto& [kind, classes] : told.counts) {
      if (counts_of(told, classes)) continue;
      std::string counts;
      for (const RankClass& each : classes)
        counts += fmt::format("{}{} ranks have made {}", counts.empty() ? "" : ", ", each.ranks,
                              each.count);
      notes_.push_back(
          fmt::format("RAS: of {} on communicator {}, {}; the text report does not "
                      "name them, `ncclras -f json` does",
                      kind, told.label, counts));
    }
    for (const Communicator& other : communicators_) {
      if (&other == &told || !other.differs()) continue;
      notes_.push_back(
          fmt::format("RAS: the ranks of communicator {} differ too; `ncclras -f json` tells which "
                      "ranks of the job they are",
                      other.label));
    }
  }

  std::vector<std::string>& notes_;
  std::string version_;
  std::map<int64_t, int64_t> sizes_;         // of communicators, by group
  std::vector<Communicator> communicators_;  // the last one is being read
  std::string kind_;                         // of the counts being read; empty: none
  bool in_table_ = false;
  bool in_section_ = false;  // of a communicator
  bool incomplete_ = false;
};

}  // namespace

bool looks_like_ras_text(std::string_view head) {
  return head.starts_with("NCCL version") && head.find("Job summary") != std::string_view::npos;
}

Expected<io::PlainTree> read_ras_text(std::string_view text, std::vector<std::string>& notes) {
  HOSTIR_ASSIGN_OR_RETURN(const json report, TextReader(notes).read(text));
  return read_json(json_text(report));
}

}  // namespace hostir::traces::import
