#include "traces/import/assemble/local_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace hostir::traces::import {

namespace {

using Issued = std::map<std::tuple<std::string, std::string, uint64_t>, int64_t>;

Issued issue_times(const ProcessDump& dump) {
  Issued out;
  for (const DumpCall& call : dump.calls) {
    const DumpGroup& group = dump.groups[call.group];
    if (call.shape == DumpCall::Shape::kCollective && call.times.issued_ns)
      out[{group.name, group.description, call.sequence}] = *call.times.issued_ns;
  }
  return out;
}

// Two files of one process agree on when it issued a call.
bool are_two_processes(const ProcessDump& a, const ProcessDump& b) {
  const Issued mine = issue_times(a);
  for (const auto& [key, issued_ns] : issue_times(b)) {
    const auto at = mine.find(key);
    if (at != mine.end()) return at->second != issued_ns;
  }
  return false;
}

/// A call as its process made it.
using Made = std::tuple<std::string, DumpCall::Shape, std::optional<int64_t>, uint64_t, int64_t>;

/// All calls, if all have times.
std::vector<Made> calls_made(const ProcessDump& dump) {
  std::vector<Made> out;
  for (const DumpCall& call : dump.calls) {
    if (!call.times.issued_ns) return {};
    out.emplace_back(dump.groups[call.group].name, call.shape, call.peer, call.sequence,
                     *call.times.issued_ns);
  }
  return out;
}

bool is_named(const ProcessDump& dump) { return dump.rank_found_by == "its file's name"; }

// `node2` comes before `node10`.
bool comes_before(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return std::pair(at - begin, text.substr(begin, at - begin));
    };
    const auto one = number(a, i);
    const auto two = number(b, j);
    if (one != two) return one < two;
  }
  return a.size() - i < b.size() - j;
}

size_t world_of(const std::vector<ProcessDump>& dumps) {
  size_t out = 0;
  for (const ProcessDump& dump : dumps) {
    for (const DumpGroup& group : dump.groups)
      out = std::max(out, group.members ? group.members->size() : 0);
  }
  return out;
}

}  // namespace

std::vector<std::string> number_local_ranks(std::vector<ProcessDump>& dumps) {
  std::map<model::Rank, const ProcessDump*> first;
  std::vector<bool> again(dumps.size(), false);
  for (size_t i = 0; i < dumps.size(); ++i) {
    if (!is_named(dumps[i])) continue;
    const auto [at, added] = first.try_emplace(*dumps[i].rank, &dumps[i]);
    again[i] = !added && are_two_processes(*at->second, dumps[i]);
  }
  const auto twice = std::find(again.begin(), again.end(), true);
  if (twice == again.end()) return {};
  const ProcessDump& other = dumps[static_cast<size_t>(twice - again.begin())];
  const std::string both =
      fmt::format("{} and {} come from different processes, but both names say rank {}",
                  first.at(*other.rank)->file, other.file, *other.rank);
  if (std::ranges::all_of(dumps, is_named) && dumps.size() == world_of(dumps)) {
    std::ranges::sort(dumps, comes_before, &ProcessDump::file);
    for (size_t i = 0; i < dumps.size(); ++i) {
      dumps[i].rank = static_cast<model::Rank>(i);
      dumps[i].rank_found_by = "the order of the files' names";
    }
    return {both + ": the files are numbered in order of their names"};
  }
  std::vector<std::string> notes = {both + ": name the files by rank in the job, like trace_3"};
  std::vector<ProcessDump> kept;
  for (size_t i = 0; i < dumps.size(); ++i) {
    if (again[i])
      notes.push_back(dumps[i].file + " is not read");
    else
      kept.push_back(std::move(dumps[i]));
  }
  dumps = std::move(kept);
  return notes;
}

std::vector<std::string> forget_copies(std::vector<ProcessDump>& dumps) {
  std::map<std::vector<Made>, std::vector<ProcessDump*>> same;
  for (ProcessDump& dump : dumps) {
    if (is_named(dump)) same[calls_made(dump)].push_back(&dump);
  }
  std::vector<std::string> notes;
  for (const auto& [calls, files] : same) {
    const ProcessDump& first = *files.front();
    const auto other = std::ranges::find_if(
        files, [&](const ProcessDump* dump) { return dump->rank != first.rank; });
    // In a simulated job, many ranks may make their calls in the same nanoseconds.
    if (calls.empty() || other == files.end() || files.size() > 2) continue;
    notes.push_back(
        fmt::format("{} and {} hold the same calls, made in the same nanoseconds, so one is a copy "
                    "of the other; the calls of ranks {} and {} are not known",
                    first.file, (*other)->file, *first.rank, *(*other)->rank));
    for (ProcessDump* dump : files) {
      dump->calls.clear();
      dump->sequences_lost = true;
      dump->start_lost = true;
      for (DumpGroup& group : dump->groups) group.last_enqueued.reset();
    }
  }
  return notes;
}

}  // namespace hostir::traces::import
