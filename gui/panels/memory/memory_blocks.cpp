#include "gui/panels/memory/memory_blocks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "hostir/support/lists.h"

namespace hostir::gui {

using interp::kUnknownNs;

namespace {

// The name after the first '%' at or after `at`.
std::string value_name(std::string_view text, size_t at) {
  const size_t begin = text.find('%', at);
  if (begin == std::string_view::npos) return {};
  const size_t end = std::min(text.find_first_of(" ,=:", begin), text.size());
  return std::string(text.substr(begin + 1, end - begin - 1));
}

// Matches allocs with frees, in order of issue.
class Pairing {
 public:
  Pairing(const interp::LogView& log, RankBlocks& out) : log_(log), out_(out) {}

  void take(const interp::LogEvent& e) {
    if (e.instruction >= log_.instructions().size()) return;  // the log is damaged
    const interp::LogInstruction& i = log_.instructions()[e.instruction];
    // The return of a called function does not end the rank.
    if (i.mnemonic == "call") ++calls_;
    if (i.mnemonic == "return" && --calls_ < 0) out_.returned = true;
    if (e.end_ns() == kUnknownNs) return;  // not executed by its stream yet
    if (i.mnemonic == "alloc") {
      HeldBlock block;
      block.name = value_name(i.text, 0);
      block.bytes = e.bytes;
      block.from_ns = e.end_ns();
      block.alloc_event = e.id;
      block.instruction = e.instruction;
      block.allocated_by = i.address;
      const size_t over = i.text.find(" over %");
      if (over != std::string::npos) take_over(value_name(i.text, over), block);
      live_.push_back(out_.blocks.size());
      out_.blocks.push_back(std::move(block));
    } else if (i.mnemonic == "free") {
      free(value_name(i.text, i.text.find("free")), e);
    }
  }

  /// Maps a block to the block whose memory it reuses.
  const std::map<size_t, size_t>& taken() const { return taken_; }

 private:
  // The memory stays and only the name changes; nothing is allocated.
  void take_over(const std::string& name, HeldBlock& block) {
    const auto at = find(name);
    if (at == live_.rend()) return;
    HeldBlock& old = out_.blocks[*at];
    taken_[out_.blocks.size()] = *at;
    old.to_ns = std::max(block.from_ns, old.from_ns);
    old.free_event = block.alloc_event;
    old.goes_on_as = block.name;
    block.over = name;
    block.bytes = old.bytes;
    live_.erase(std::next(at).base());
  }
  std::vector<size_t>::reverse_iterator find(const std::string& name) {
    return std::find_if(live_.rbegin(), live_.rend(),
                        [&](size_t b) { return out_.blocks[b].name == name; });
  }

  // Matches by name. A loop-carried buffer may be freed under another name; then matches by size.
  void free(const std::string& name, const interp::LogEvent& e) {
    auto at = find(name);
    if (at == live_.rend())
      at = std::find_if(live_.rbegin(), live_.rend(),
                        [&](size_t b) { return out_.blocks[b].bytes == e.bytes; });
    if (at == live_.rend()) return;
    HeldBlock& block = out_.blocks[*at];
    block.to_ns = std::max(e.end_ns(), block.from_ns);
    block.free_event = e.id;
    live_.erase(std::next(at).base());
  }

  const interp::LogView& log_;
  RankBlocks& out_;
  int calls_ = 0;  // calls without a return so far
  std::vector<size_t> live_;
  std::map<size_t, size_t> taken_;
};

// Starts and ends of blocks, ordered by time, then by order of issue.
struct Change {
  int64_t time_ns;
  int64_t event;
  size_t block;
  bool begins;
};

std::vector<Change> changes_of(const std::vector<HeldBlock>& blocks) {
  std::vector<Change> changes;
  for (size_t b = 0; b < blocks.size(); ++b) {
    changes.push_back({blocks[b].from_ns, blocks[b].alloc_event, b, true});
    if (blocks[b].to_ns != kUnknownNs)
      changes.push_back({blocks[b].to_ns, blocks[b].free_event, b, false});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.time_ns, a.event, a.block) < std::tie(b.time_ns, b.event, b.block);
  });
  return changes;
}

void place_blocks(RankBlocks& out, const std::map<size_t, size_t>& taken) {
  std::map<int64_t, int64_t> used;  // maps start addresses to end addresses
  int64_t live = 0;
  for (const Change& change : changes_of(out.blocks)) {
    HeldBlock& block = out.blocks[change.block];
    if (block.bytes <= 0) continue;
    if (!change.begins) {
      used.erase(block.address);
      live -= block.bytes;
      continue;
    }
    live += block.bytes;
    if (live > out.peak_bytes) {
      out.peak_bytes = live;
      out.peak_ns = change.time_ns;
    }
    int64_t at = 0;
    const auto from = taken.find(change.block);
    if (from != taken.end()) at = out.blocks[from->second].address;
    for (const auto& [begin, end] : used) {
      if (from != taken.end() || begin - at >= block.bytes) break;
      at = end;
    }
    block.address = at;
    used[at] = at + block.bytes;
    out.top = std::max(out.top, at + block.bytes);
  }
}

// In a long loop, allocations of each iteration are narrower than a pixel: merge them into one
// block with a count.
void join_brief(RankBlocks& out) {
  constexpr int64_t kColumns = 1000;
  const int64_t column_ns = (out.extent.end_ns - out.extent.begin_ns) / kColumns;
  std::vector<HeldBlock> joined;
  std::map<std::tuple<std::string_view, int64_t, int64_t>, size_t> last;  // keyed by name and place
  std::vector<HeldBlock> all = std::move(out.blocks);
  for (const HeldBlock& block : all) {
    const bool brief = block.to_ns != kUnknownNs && block.to_ns - block.from_ns <= column_ns;
    const auto key = std::tuple(std::string_view(block.name), block.address, block.bytes);
    const auto at = last.find(key);
    if (brief && at != last.end() && block.from_ns >= joined[at->second].to_ns &&
        block.from_ns - joined[at->second].to_ns <= column_ns) {
      HeldBlock& into = joined[at->second];
      into.to_ns = block.to_ns;
      into.free_event = block.free_event;
      ++into.count;
      continue;
    }
    if (brief) last[key] = joined.size();
    joined.push_back(block);
  }
  out.blocks = std::move(joined);
}

Expected<void> name_leaks(const interp::LogView& log, RankBlocks& out) {
  HOSTIR_ASSIGN_OR_RETURN(const auto faults, log.faults());
  std::vector<std::string> leaking;
  for (const interp::FaultRecord& fault : faults) {
    const bool here = contains(fault.ranks, out.rank);
    if (fault.kind != "leak" || !here) continue;
    leaking.insert(leaking.end(), fault.instructions.begin(), fault.instructions.end());
  }
  for (HeldBlock& block : out.blocks) {
    if (block.to_ns != kUnknownNs || block.kind == HeldKind::kParameter) continue;
    if (contains(leaking, block.allocated_by))
      block.kind = HeldKind::kLeak;
    else if (out.returned)
      block.kind = HeldKind::kResult;
  }
  return {};
}

}  // namespace

const char* word_of(HeldKind kind) {
  switch (kind) {
    case HeldKind::kParameter:
      return "parameter";
    case HeldKind::kIntermediate:
      return "intermediate";
    case HeldKind::kResult:
      return "result";
    case HeldKind::kLeak:
      break;
  }
  return "leak";
}

Expected<RankBlocks> fetch_blocks(const interp::LogView& log, const BlocksKey& key,
                                  const std::stop_token& stop) {
  RankBlocks out;
  out.rank = key.rank;
  out.extent = log.extent();
  for (const auto& [name, bytes] : key.parameters) {
    HeldBlock block;
    block.name = name;
    block.kind = HeldKind::kParameter;
    block.bytes = bytes;
    block.from_ns = out.extent.begin_ns;
    out.blocks.push_back(std::move(block));
  }
  interp::EventFilter filter;
  filter.ranks = {key.rank};
  filter.shown_only = true;
  filter.mnemonics = {"alloc", "free", "call", "return"};
  filter.last_id = kMaxMemoryEvents - 1;
  filter.limit = kMaxMemoryEvents;
  out.complete = out.extent.event_count <= kMaxMemoryEvents;
  HOSTIR_ASSIGN_OR_RETURN(const auto events, log.events(filter, stop));
  Pairing pairing(log, out);
  for (const interp::LogEvent& e : events) pairing.take(e);
  place_blocks(out, pairing.taken());
  HOSTIR_TRY(name_leaks(log, out));
  for (const HeldBlock& block : out.blocks) {
    if (block.bytes > 0 && block.holds_at(out.peak_ns)) out.at_peak.push_back(block);
    if (block.kind == HeldKind::kLeak) out.leaking.push_back(block);
  }
  for (std::vector<HeldBlock>* rows : {&out.at_peak, &out.leaking}) {
    std::stable_sort(rows->begin(), rows->end(),
                     [](const HeldBlock& a, const HeldBlock& b) { return a.bytes > b.bytes; });
  }
  join_brief(out);
  const auto area = [&](const HeldBlock& b) {
    const int64_t to = b.to_ns == kUnknownNs ? out.extent.end_ns : b.to_ns;
    return static_cast<double>(b.bytes) * static_cast<double>(to - b.from_ns);
  };
  std::stable_sort(out.blocks.begin(), out.blocks.end(),
                   [&](const HeldBlock& a, const HeldBlock& b) { return area(a) > area(b); });
  return out;
}

}  // namespace hostir::gui
