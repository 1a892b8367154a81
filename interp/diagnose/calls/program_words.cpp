#include "interp/diagnose/calls/program_words.h"

#include <algorithm>
#include <numeric>

#include "interp/diagnose/calls/call_order.h"

namespace hostir::diagnose {

using model::CommunicatorId;
using model::Member;
using model::Rank;
using model::Run;

ProgramWords::ProgramWords(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                           bool with_sizes)
    : run_(run), calls_(calls), with_sizes_(with_sizes) {
  name_forms();
  note_late();
  for (size_t r = 0; r < calls.size(); ++r) {
    read_words(r);
    sort_launches(r);
  }
}

void ProgramWords::name_forms() {
  // A shape is a description and the distances of the members. A form also has a count, because a
  // rank may be in several groups of one shape.
  std::map<std::pair<std::string, std::vector<Rank>>, uint32_t> shapes;
  std::map<std::pair<uint32_t, size_t>, uint32_t> numbers;
  std::map<std::pair<Rank, uint32_t>, size_t> had;
  forms_.resize(calls_.size());
  positions_.resize(calls_.size());
  for (uint32_t c = 0; c < run_.communicators.size(); ++c) {
    const model::Communicator& group = run_.communicators[c];
    if (!group.members || group.members->size() < 2) continue;
    std::string text = group.description.starts_with("group ") ? "" : group.description;
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char ch) { return ch >= '0' && ch <= '9'; }),
        text.end());
    std::vector<Rank> distances;
    for (const Rank member : *group.members) distances.push_back(member - group.members->front());
    const uint32_t shape =
        shapes.try_emplace({std::move(text), std::move(distances)}, shapes.size()).first->second;
    uint32_t place = 0;
    for (const Rank member : *group.members) {
      const uint32_t here = place++;
      if (run_.find(member) == nullptr) continue;
      const size_t nth = had[{member, shape}]++;
      const auto number =
          numbers.try_emplace({shape, nth}, static_cast<uint32_t>(numbers.size() + 1));
      forms_[static_cast<size_t>(member)][c] = number.first->second;
      positions_[static_cast<size_t>(member)].try_emplace(c, here);
    }
  }
}

uint32_t ProgramWords::form_of(size_t rank, CommunicatorId id) const {
  const auto at = forms_[rank].find(id.index);
  return at == forms_[rank].end() ? 0 : at->second;
}

CommunicatorId ProgramWords::of_form(size_t rank, uint32_t form) const {
  for (const auto& [communicator, number] : forms_[rank]) {
    if (number == form) return CommunicatorId(communicator);
  }
  return {};
}

ProgramWords::Place ProgramWords::place_of(size_t rank) {
  Place place;
  for (const auto& [communicator, form] : forms_[rank]) {
    const bool stages = has_stages(communicator);
    place.emplace(form, stages ? position(rank, CommunicatorId(communicator)) : 0);
  }
  return place;
}

uint32_t ProgramWords::position(size_t rank, CommunicatorId id) const {
  const auto known = positions_[rank].find(id.index);
  if (known != positions_[rank].end()) return known->second;
  const auto& members = *run_.find(id)->members;
  return static_cast<uint32_t>(std::find(members.begin(), members.end(), static_cast<Rank>(rank)) -
                               members.begin());
}

bool ProgramWords::has_stages(uint32_t communicator) {
  const auto [at, added] = stages_.try_emplace(communicator, false);
  if (!added) return at->second;
  const auto& members = *run_.communicators[communicator].members;
  if (closed_.empty()) note_closed();
  std::map<std::vector<uint32_t>, size_t> lines;  // sends and recvs, and how many ranks make them
  size_t ranks = 0;
  bool some = false;
  for (const Rank member : members) {
    if (run_.find(member) == nullptr || calls_[static_cast<size_t>(member)].empty()) continue;
    const auto r = static_cast<size_t>(member);
    std::vector<uint32_t> line;
    for (size_t i = 0; i < calls_[r].size(); ++i) {
      const bool here =
          calls_[r][i].pair != nullptr && calls_[r][i].communicator().index == communicator;
      if (here) line.push_back(words_[r][i].call);
    }
    some = some || !line.empty();
    ++lines[std::move(line)];
    ++ranks;
  }
  if (!some) return false;
  size_t most = 0;
  for (const auto& [one, count] : lines) {
    size_t agree = 0;
    for (const auto& [other, times] : lines) {
      const size_t n = std::min(one.size(), other.size());
      if (std::equal(one.begin(), one.begin() + static_cast<ptrdiff_t>(n), other.begin()))
        agree += times;
    }
    most = std::max(most, agree);
  }
  const bool ring = closed_[communicator] && ranks > 2 && most + 1 >= ranks;
  return stages_[communicator] = !ring;
}

void ProgramWords::note_closed() {
  closed_.assign(run_.communicators.size(), false);
  for (const model::SendRecv& pair : run_.pairs) {
    const model::Communicator* group = run_.find(pair.communicator);
    if (group == nullptr || !group->members || group->members->empty()) continue;
    const auto& members = *group->members;
    if (std::minmax(pair.source, pair.target) == std::minmax(members.front(), members.back()))
      closed_[pair.communicator.index] = true;
  }
}

void ProgramWords::read_words(size_t rank) {
  words_.resize(calls_.size());
  for (const MemberRef& ref : calls_[rank]) {
    const model::Call& call = ref.member->call;
    const CallKey key = {form_of(rank, ref.communicator()),
                         ref.pair == nullptr ? 0
                         : ref.sends()       ? 1
                                             : 2,
                         ref.pair == nullptr ? 0 : relative_peer(rank, ref),
                         call.kind ? static_cast<int>(*call.kind) : -1,
                         call.kind ? std::string() : call.name,
                         with_sizes_ && call.dtype ? static_cast<int>(*call.dtype) : -1,
                         with_sizes_ ? call.total_elems.value_or(-1) : -1};
    Word word;
    word.call = calls_by_key_.try_emplace(key, static_cast<uint32_t>(calls_by_key_.size() + 1))
                    .first->second;
    word.stack = stack_of(*ref.member);
    words_[rank].push_back(word);
  }
}

void ProgramWords::sort_launches(size_t rank) {
  auto& calls = calls_[rank];
  std::vector<size_t> sorted(calls.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
    return std::tuple(*calls[a].member->order, words_[rank][a].call, a) <
           std::tuple(*calls[b].member->order, words_[rank][b].call, b);
  });
  std::vector<MemberRef> refs;
  std::vector<Word> words;
  for (const size_t i : sorted) {
    refs.push_back(calls[i]);
    words.push_back(words_[rank][i]);
  }
  calls = std::move(refs);
  words_[rank] = std::move(words);
  place_in_calls_.push_back(std::move(sorted));
}

int64_t ProgramWords::relative_peer(size_t rank, const MemberRef& ref) const {
  const Rank peer = ref.peer();
  const model::Communicator* group = run_.find(ref.communicator());
  if (group == nullptr || !group->members || run_.find(peer) == nullptr) return peer;
  const auto n = static_cast<int64_t>(group->members->size());
  const int64_t theirs = position(static_cast<size_t>(peer), ref.communicator());
  return (theirs - position(rank, ref.communicator()) + n) % n;
}

uint32_t ProgramWords::stack_of(const Member& member) {
  const auto [at, added] = stack_numbers_.try_emplace(member.instruction.index, 0);
  if (!added) return at->second;
  const model::Instruction* instruction = run_.find(member.instruction);
  if (instruction == nullptr || !line_is_known(*instruction)) return 0;
  std::vector<std::tuple<std::string, std::string, uint32_t>> frames;
  if (instruction->frames.empty()) frames.emplace_back("", instruction->address, 0);
  for (const model::StackFrame& frame : instruction->frames) {
    frames.emplace_back(frame.function, frame.place.file, frame.place.line.value_or(0));
  }
  at->second = stacks_.try_emplace(std::move(frames), static_cast<uint32_t>(stacks_.size() + 1))
                   .first->second;
  return at->second;
}

bool ProgramWords::same(const Word& a, const Word& b) {
  return a.call == b.call && (a.stack == b.stack || a.stack == 0 || b.stack == 0);
}

void ProgramWords::note_late() {
  late_.assign(calls_.size(), false);
  const auto note = [&](model::Rank rank) {
    if (rank >= 0 && static_cast<size_t>(rank) < late_.size())
      late_[static_cast<size_t>(rank)] = true;
  };
  for (const model::CallRange& range : run_.ranges) {
    if (range.first && *range.first > 1) note(range.rank);
  }
  for (const model::Gap& gap : run_.gaps) {
    if (gap.kind == model::Gap::Kind::kBeginsLate && gap.rank) note(*gap.rank);
  }
}

}  // namespace hostir::diagnose
