// The program, as far as a Run contains it: one instruction of the log for each instruction of the
// Run and each distinct call made there.

#include <algorithm>
#include <charconv>

#include "hostir/ops/collective_cost.h"
#include "hostir/support/hash.h"
#include "traces/writer/log_builder_parts.h"

namespace hostir::traces {

using model::Member;
using model::Rank;

void LogBuilder::describe() {
  ProgramDescription& program = description_.program;
  program.entry = run_.entry.starts_with("@") ? run_.entry.substr(1) : run_.entry;
  program.rank_count = static_cast<Rank>(run_.ranks.size());
  for (const model::Stream& s : run_.streams) program.streams.push_back(s.name);
  describe_communicators();
  for (const model::Instruction& i : run_.instructions) {
    program.instructions.push_back(described(i));
  }
  const bool is_virtual =
      std::any_of(run_.clocks.begin(), run_.clocks.end(),
                  [](const model::Clock& c) { return c.kind == model::ClockKind::kVirtual; });
  description_.virtual_time = is_virtual;
  description_.backend = "import";
  description_.command_line = options_.command_line;
  description_.source_name = options_.source_name;
  for (size_t r = 0; r < run_.ranks.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    if (run_.ranks[r].record != model::RecordState::kMissing)
      description_.local_ranks.push_back(rank);
    if (run_.ranks[r].state != model::RankState::kNotStarted)
      description_.started_ranks.push_back(rank);
  }
  auto& properties = description_.properties;
  properties = options_.properties;
  properties.emplace_back("producer", run_.producer.name);
  if (!run_.producer.version.empty())
    properties.emplace_back("producer_version", run_.producer.version);
  properties.emplace_back("motion", std::string(name(run_.motion)));
  if (!run_.motion_source.empty()) properties.emplace_back("motion_source", run_.motion_source);
  for (size_t i = 0; i < run_.producer.files.size(); ++i)
    properties.emplace_back("file_" + std::to_string(i), run_.producer.files[i]);
}

InstructionDescription LogBuilder::described(const model::Instruction& i) {
  InstructionDescription out;
  out.address = i.address;
  out.mnemonic = i.mnemonic;
  // Another tool's kernel has a name but no text or address.
  const bool foreign = i.mnemonic == "launch" && i.address.empty();
  (foreign ? out.kernel : out.text) = i.text;
  out.frames = i.frames;
  // A place without a frame becomes a frame without a function.
  if (i.place && i.frames.empty()) out.frames.push_back({{}, *i.place});
  out.content_key = hash_of(model::name_of(i) + i.text);
  return out;
}

void LogBuilder::describe_communicators() {
  for (const model::Communicator& c : run_.communicators) {
    auto& declared = description_.program.communicators;
    if (c.group.value_or(0) == 0 || declared.empty())
      declared.push_back({c.name, {}, {}, c.content_key.value_or(0)});
    declaration_.push_back(static_cast<int64_t>(declared.size()) - 1);
    group_.push_back(c.group.value_or(0));
    if (!c.members) continue;
    auto& groups = declared.back().groups;
    if (groups.size() <= group_.back()) groups.resize(group_.back() + 1);
    groups[group_.back()] = *c.members;
  }
}

int64_t LogBuilder::instruction_for(const Member& member, model::CommunicatorId communicator) {
  auto& known = description_.program.instructions;
  const model::Call& call = member.call;
  const std::string kind = call.kind || !call.name.empty() ? model::kind_text(call) : "";
  // A line of the user's program may call on several communicators.
  const auto what = std::tuple(kind, call.reduction, call.dtype, communicator.index);
  for (uint32_t twin = 0;; ++twin) {
    const auto key = std::pair(member.instruction, twin);
    if (!twin_.contains(key)) {
      if (twin == 0 && member.instruction.index < run_.instructions.size()) {
        twin_[key] = member.instruction.index;
      } else {
        twin_[key] = static_cast<int64_t>(known.size());
        known.push_back(member.instruction.index < run_.instructions.size()
                            ? described(run_.instructions[member.instruction.index])
                            : InstructionDescription());
      }
    }
    const int64_t index = twin_[key];
    const auto [site, added] = site_.try_emplace({index, member.rank}, what);
    if (!added && site->second != what) continue;
    if (added) add_site(index, member, kind, communicator);
    return index;
  }
}

void LogBuilder::add_site(int64_t index, const Member& member, const std::string& kind,
                          model::CommunicatorId communicator) {
  InstructionDescription& i = description_.program.instructions[static_cast<size_t>(index)];
  i.op_class = OpClass::kCommunication;
  if (i.mnemonic.empty()) i.mnemonic = kind;
  if (i.communicator < 0) i.communicator = static_cast<int32_t>(declaration_[communicator.index]);
  if (i.stream < 0 && member.stream.valid()) i.stream = static_cast<int32_t>(member.stream.index);
  CollectiveSite site;
  site.instruction = static_cast<interp::CodeIndex>(index);
  site.rank = member.rank;
  site.kind = kind;
  site.reduction = member.call.reduction;
  site.dtype = member.call.dtype;
  site.group = static_cast<int32_t>(group_[communicator.index]);
  const auto& members = run_.communicators[communicator.index].members;
  if (members) site.members = static_cast<int64_t>(members->size());
  if (member.call.kind && site.members > 0) {
    site.bus_factor = wire_bytes(*member.call.kind, 1.0, site.members);
    if (site.bus_factor < 1 && site.members > 1) site.count_parts = site.members;
  }
  description_.program.sites.push_back(std::move(site));
}

int64_t LogBuilder::loop_path(const std::string& loops) {
  if (loops.empty()) return 0;
  const auto known = loop_paths_.find(loops);
  if (known != loop_paths_.end()) return known->second.id;
  // `%i=3, %j=4`: the outer loop first.
  const size_t comma = loops.rfind(", ");
  const std::string outer = comma == std::string::npos ? "" : loops.substr(0, comma);
  const std::string own = comma == std::string::npos ? loops : loops.substr(comma + 2);
  const size_t equals = own.find('=');
  int64_t iteration = 0;
  const char* end = own.data() + own.size();
  if (equals == std::string::npos ||
      std::from_chars(own.data() + equals + 1, end, iteration).ptr != end)
    return 0;
  LoopPath made;
  made.parent = loop_path(outer);
  made.instruction = loop_instruction(own.substr(0, equals));
  made.iteration = iteration;
  made.id = static_cast<int64_t>(loop_paths_.size()) + 1;
  return loop_paths_.emplace(loops, made).first->second.id;
}

int64_t LogBuilder::loop_instruction(const std::string& variable) {
  auto& known = description_.program.instructions;
  const std::string head = "for " + variable + " ";
  const auto at = std::find_if(known.begin(), known.end(), [&](const InstructionDescription& i) {
    return i.mnemonic == "for" && i.text.starts_with(head);
  });
  if (at != known.end()) return at - known.begin();
  InstructionDescription& made = known.emplace_back();
  made.mnemonic = "for";
  made.text = head + "in ..";
  return static_cast<int64_t>(known.size()) - 1;
}

int64_t LogBuilder::wait_instruction(model::StreamId stream) {
  const auto [at, added] = wait_.try_emplace(stream, 0);
  if (!added) return at->second;
  at->second = static_cast<int64_t>(description_.program.instructions.size());
  InstructionDescription& i = description_.program.instructions.emplace_back();
  i.mnemonic = "wait";
  if (stream.valid()) i.stream = static_cast<int32_t>(stream.index);
  return at->second;
}

}  // namespace hostir::traces
