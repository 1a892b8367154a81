// 1. Sizes: small ones are kept, others replaced by small ones.
// 2. Each call as text.
// 3. Merge the ranks' texts into one: a call that comes next on several ranks is written once,
//    after waiting for the ranks that still have to reach it.
// 4. Declare the buffers and communicators that the text uses.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "hostir/ops/record.h"
#include "interp/diagnose/text/sentences.h"
#include "traces/skeleton/skeleton.h"

namespace hostir::traces {

using diagnose::JobCall;
using diagnose::JobCalls;
using model::Rank;
using model::Run;

namespace {

using Shape = JobCall::Shape;

constexpr int64_t kSmall = 64;          // sizes up to this are always kept
constexpr int64_t kMostWork = 1 << 24;  // total elements up to this run unreduced

class ProgramWriter {
 public:
  ProgramWriter(const Run& run, const JobCalls& job) : run_(run), job_(job) {}

  Skeleton write(const std::string& title) {
    choose_sizes();
    for (size_t r = 0; r < job_.size(); ++r) {
      lines_.push_back(texts_of(static_cast<Rank>(r)));
    }
    const std::string body = merged();
    std::string out = "//! " + title + "\n";
    if (!sizes_.empty()) {
      out += "// Large sizes are replaced by small ones:";
      for (const auto& [real, small] : sizes_) out += fmt::format(" {} for {},", small, real);
      out.back() = '\n';
    }
    out += fmt::format("mesh @world = <rank={}>\n\n", std::max<size_t>(job_.size(), 1));
    std::map<std::string, std::string> types;  // by their names
    for (const auto& [name, buffer] : buffers_) types.emplace(buffer.type_name, buffer.type);
    for (const auto& [name, type] : types) {
      out += fmt::format(
          "kernel @fill_{0}() -> (%v: {1}) {{\n  %v = constant {{value = 1}} : {1}\n  return "
          "%v\n}}\n\n",
          name, type);
    }
    out += "host @job on @world () {\n";
    for (const auto& [communicator, name] : communicators_) {
      const model::Communicator& facts = *run_.find(communicator);
      std::vector<int64_t> members(facts.members->begin(), facts.members->end());
      out += fmt::format("  // {}\n  %{} = comm groups [[{}]]\n",
                         one_line(diagnose::communicator_name(run_, communicator)), name,
                         fmt::join(members, ", "));
    }
    out += "  %s = stream \"device\"\n";
    for (size_t k = 0; k < passing_streams_; ++k)
      out += fmt::format("  %{0} = stream \"passing {1}\"\n", passing_stream(k), k);
    for (const auto& [name, buffer] : buffers_) {
      out += fmt::format("  %{0} = alloc on %{1} : {2}\n  launch @fill_{3} wo(%{0}) on %{1}\n",
                         name, buffer.stream, buffer.type, buffer.type_name);
    }
    out += body;
    for (const auto& [name, buffer] : buffers_)
      out += fmt::format("  free %{} on %{}\n", name, buffer.stream);
    Skeleton skeleton{out + "  return\n}\n", {}};
    for (const auto& [communicator, name] : communicators_)
      skeleton.communicators.emplace(name, communicator);
    return skeleton;
  }

 private:
  /// One launch of a rank: its instructions, and its source location as a comment.
  struct Launch {
    std::string text;
    std::string place;
    friend auto operator<=>(const Launch&, const Launch&) = default;
  };

  static std::string one_line(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    return text;
  }

  // ---- sizes

  void choose_sizes() {
    std::set<int64_t> large;
    int64_t work = 0;
    for (const auto& calls : job_) {
      for (const JobCall& call : calls) {
        for (const int64_t n : blocks_of(call)) {
          if (n > kSmall) large.insert(n);
          if (__builtin_add_overflow(work, n, &work)) work = INT64_MAX;
        }
      }
    }
    if (work <= kMostWork) return;
    int64_t next = kSmall + 1;
    for (const int64_t n : large) sizes_[n] = next++;
  }
  int64_t size(int64_t real) const {
    const auto at = sizes_.find(real);
    return at == sizes_.end() ? std::max<int64_t>(real, 0) : at->second;
  }

  size_t members_of(const JobCall& call) const {
    const model::Communicator* facts = run_.find(call.communicator);
    return facts && facts->members ? facts->members->size() : 0;
  }

  // The independent sizes of a call; the others follow from them.
  std::vector<int64_t> blocks_of(const JobCall& call) const {
    std::vector<int64_t> out = call.call.sends;
    out.insert(out.end(), call.call.receives.begin(), call.call.receives.end());
    if (out.empty()) out = {block_of(call)};
    return out;
  }
  // A member's block of a gather, scatter or exchange; the whole for reductions and
  // sends.
  int64_t block_of(const JobCall& call) const {
    const auto members = static_cast<int64_t>(std::max<size_t>(members_of(call), 1));
    const model::Call& c = call.call;
    if (c.kind == OpKind::all_gather || c.kind == OpKind::reduce_scatter) {
      if (c.total_elems && *c.total_elems % members == 0) return *c.total_elems / members;
      if (c.local_elems) return *c.local_elems;
    }
    if (c.kind == OpKind::all_to_all) {
      const auto in = total_elements(c.inputs);
      return in ? *in / members : 1;
    }
    if (c.local_elems) return *c.local_elems;
    return c.total_elems.value_or(1);
  }

  // ---- text

  std::string buffer(const JobCall& call, std::string_view role, int64_t count) {
    DType dtype = call.call.dtype.value_or(DType::kF32);
    if (dtype == DType::kI1) dtype = DType::kU8;
    const std::string type_name = fmt::format("{}_{}", hostir::name(dtype), count);
    std::string name = fmt::format("{}_{}", role, type_name);
    if (stream_ != "s") name += "_" + stream_;
    buffers_.emplace(
        name, Buffer{fmt::format("tensor<{}x{}>", count, hostir::name(dtype)), type_name, stream_});
    return "%" + name;
  }

  static std::string passing_stream(size_t k) { return fmt::format("p{}", k); }

  // Calls that pass are on a stream of their communicator and peer, as in NCCL; all others are on
  // `%s`.
  std::string stream_of(std::span<const JobCall> launch,
                        std::map<std::pair<model::CommunicatorId, Rank>, size_t>& passing) {
    if (!std::ranges::all_of(launch, &JobCall::passes)) return "s";
    const auto same_peer = [&](const JobCall& call) { return call.peer == launch.front().peer; };
    const Rank peer = std::ranges::all_of(launch, same_peer) ? launch.front().peer : model::kNoRank;
    const size_t k =
        passing.try_emplace({launch.front().communicator, peer}, passing.size()).first->second;
    passing_streams_ = std::max(passing_streams_, k + 1);
    return passing_stream(k);
  }

  std::string communicator(model::CommunicatorId id) {
    const auto [at, added] =
        communicators_.try_emplace(id, fmt::format("c{}", communicators_.size()));
    return "%" + at->second;
  }

  int64_t position(const JobCall& call, Rank rank) const {
    const auto& members = *run_.find(call.communicator)->members;
    return std::find(members.begin(), members.end(), rank) - members.begin();
  }

  std::string instruction(const JobCall& call, size_t of_batch) {
    const std::string comm = communicator(call.communicator);
    const auto members = static_cast<int64_t>(members_of(call));
    const int64_t block = size(block_of(call));
    const auto kind = call.call.kind;
    const std::string reduction(name(call.call.reduction.value_or(Reduction::kSum)));
    const int32_t root = call.call.root.value_or(0);
    if (call.shape != Shape::kCollective) {
      const bool sends = call.shape == Shape::kSend;
      const std::string own =
          sends ? buffer(call, "in", block) : buffer(call, fmt::format("got{}", of_batch), block);
      return fmt::format("{} {} peer({}) {}({}) on %{}", sends ? "send" : "recv", comm,
                         position(call, call.peer), sends ? "ro" : "wo", own, stream_);
    }
    const auto between = [&](std::string_view words, int64_t in, int64_t out) {
      return fmt::format("{} {} ro({}) wo({}) on %{}", hostir::record(*kind).mnemonic, words,
                         buffer(call, "in", in), buffer(call, "out", out), stream_);
    };
    if (kind == OpKind::all_gather) return between(comm, block, block * members);
    if (kind == OpKind::reduce_scatter)
      return between(reduction + " " + comm, block * members, block);
    if (kind == OpKind::gather)
      return between(fmt::format("{} root({})", comm, root), block, block * members);
    if (kind == OpKind::scatter)
      return between(fmt::format("{} root({})", comm, root), block * members, block);
    if (kind == OpKind::all_to_all) return exchange(call, comm, members);
    if (kind == OpKind::broadcast)
      return fmt::format("broadcast {} root({}) rw({}) on %{}", comm, root,
                         buffer(call, "in", block), stream_);
    if (kind == OpKind::reduce)
      return fmt::format("reduce {} {} root({}) rw({}) on %{}", reduction, comm, root,
                         buffer(call, "in", block), stream_);
    return fmt::format("all_reduce {} {} rw({}) on %{}", reduction, comm, buffer(call, "in", block),
                       stream_);
  }

  std::string exchange(const JobCall& call, const std::string& comm, int64_t members) {
    const auto split = [&](const std::vector<int64_t>& known, const std::vector<Extents>& shapes) {
      std::vector<int64_t> out;
      if (static_cast<int64_t>(known.size()) == members) {
        for (const int64_t n : known) out.push_back(size(n));
        return out;
      }
      // If the distribution is not recorded: equal parts of the total, with the rest on the last
      // one.
      const int64_t all = total_elements(shapes).value_or(members);
      for (int64_t q = 0; q < members; ++q) out.push_back(size(all / members));
      if (!out.empty()) out.back() += all % members;
      return out;
    };
    const std::vector<int64_t> sends = split(call.call.sends, call.call.inputs);
    const std::vector<int64_t> receives = split(call.call.receives, call.call.outputs);
    const auto sum = [](const std::vector<int64_t>& list) {
      return std::accumulate(list.begin(), list.end(), int64_t{0});
    };
    return fmt::format("all_to_all {} counts({}) receives({}) ro({}) wo({}) on %{}", comm,
                       fmt::join(sends, ", "), fmt::join(receives, ", "),
                       buffer(call, "in", sum(sends)), buffer(call, "out", sum(receives)), stream_);
  }

  std::vector<Launch> texts_of(Rank rank) {
    const std::vector<JobCall>& calls = job_[static_cast<size_t>(rank)];
    std::vector<Launch> out;
    std::map<std::pair<model::CommunicatorId, Rank>, size_t> passing;
    for (size_t i = 0; i < calls.size();) {
      size_t end = i + 1;
      while (end < calls.size() && calls[end].order == calls[i].order &&
             calls[i].order != UINT64_MAX)
        ++end;
      Launch launch;
      std::vector<std::string> texts;
      stream_ = stream_of(std::span(calls).subspan(i, end - i), passing);
      for (size_t k = i; k < end; ++k) {
        if (members_of(calls[k]) == 0) continue;
        texts.push_back(instruction(calls[k], k - i));
      }
      launch.place = one_line(calls[i].place);
      i = end;
      if (texts.empty()) continue;
      if (texts.size() == 1) {
        launch.text = texts.front() + "\n";
      } else {
        launch.text = "group {\n";
        for (const std::string& text : texts) launch.text += "  " + text + "\n";
        launch.text += "}\n";
      }
      out.push_back(std::move(launch));
    }
    return out;
  }

  // ---- merging

  std::string merged() {
    // Numbers the launches in their order.
    std::map<Launch, size_t> numbers;
    for (const auto& line : lines_) {
      for (const Launch& launch : line) numbers.emplace(launch, 0);
    }
    std::vector<const Launch*> launches;
    for (auto& [launch, number] : numbers) {
      number = launches.size();
      launches.push_back(&launch);
    }
    std::vector<std::vector<size_t>> ahead(lines_.size());  // by rank, the next one last
    std::vector<std::map<size_t, size_t>> left(lines_.size());
    std::vector<size_t> have(launches.size(), 0);  // ranks that will still reach it
    std::map<size_t, std::vector<Rank>> next;
    for (size_t r = 0; r < lines_.size(); ++r) {
      for (const Launch& launch : lines_[r]) ahead[r].push_back(numbers[launch]);
      std::reverse(ahead[r].begin(), ahead[r].end());
      for (const size_t number : ahead[r]) {
        if (left[r][number]++ == 0) ++have[number];
      }
      if (!ahead[r].empty()) next[ahead[r].back()].push_back(static_cast<Rank>(r));
    }
    std::string out;
    while (!next.empty()) {
      const auto chosen = best(next, have);
      const size_t number = chosen->first;
      const std::vector<Rank> ranks = std::move(chosen->second);
      next.erase(chosen);
      out += written(*launches[number], ranks);
      for (const Rank rank : ranks) {
        const auto r = static_cast<size_t>(rank);
        ahead[r].pop_back();
        if (--left[r][number] == 0) --have[number];
        if (ahead[r].empty()) continue;
        std::vector<Rank>& there = next[ahead[r].back()];
        there.insert(std::lower_bound(there.begin(), there.end(), rank), rank);
      }
    }
    return out;
  }

  // The launch that the fewest other ranks still have to reach; among those, the one on most ranks.
  static std::map<size_t, std::vector<Rank>>::iterator best(
      std::map<size_t, std::vector<Rank>>& next, const std::vector<size_t>& have) {
    auto chosen = next.end();
    std::pair<size_t, int64_t> chosen_key;
    for (auto at = next.begin(); at != next.end(); ++at) {
      const std::pair<size_t, int64_t> key = {have[at->first] - at->second.size(),
                                              -static_cast<int64_t>(at->second.size())};
      if (chosen == next.end() || key < chosen_key) {
        chosen = at;
        chosen_key = key;
      }
    }
    return chosen;
  }

  std::string written(const Launch& launch, const std::vector<Rank>& ranks) const {
    std::string indent = "  ";
    std::string out;
    const std::string comment = launch.place.empty() ? "" : "// " + launch.place + "\n";
    const bool all = ranks.size() == lines_.size();
    if (!all) {
      out += fmt::format("  where {} {{\n", condition(ranks));
      indent = "    ";
    }
    std::string text = comment + launch.text;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      out += indent + text.substr(0, end + 1);
      text.erase(0, end + 1);
    }
    return all ? out : out + "  }\n";
  }

  // `rank == 2`, `rank != 2`, `rank >= 1 && rank <= 5`, or a list.
  std::string condition(const std::vector<Rank>& ranks) const {
    const auto world = static_cast<Rank>(lines_.size());
    if (ranks.size() + 1 == lines_.size()) {
      Rank absent = 0;
      while (static_cast<size_t>(absent) < ranks.size() &&
             ranks[static_cast<size_t>(absent)] == absent)
        ++absent;
      return fmt::format("rank != {}", absent);
    }
    std::string out;
    for (size_t i = 0; i < ranks.size();) {
      size_t end = i + 1;
      while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
      if (!out.empty()) out += " || ";
      const Rank first = ranks[i];
      const Rank last = ranks[end - 1];
      if (first == last) {
        out += fmt::format("rank == {}", first);
      } else if (first == 0) {
        out += fmt::format("rank <= {}", last);
      } else if (last == world - 1) {
        out += fmt::format("rank >= {}", first);
      } else {
        out += fmt::format("(rank >= {} && rank <= {})", first, last);
      }
      i = end;
    }
    return out;
  }

  const Run& run_;
  const JobCalls& job_;
  std::map<int64_t, int64_t> sizes_;
  struct Buffer {
    std::string type;
    std::string type_name;  // in names
    std::string stream;
  };
  std::map<std::string, Buffer> buffers_;  // by name
  std::string stream_;                     // of the launch that is written
  size_t passing_streams_ = 0;             // most on one rank
  std::map<model::CommunicatorId, std::string> communicators_;
  std::vector<std::vector<Launch>> lines_;
};

}  // namespace

Skeleton skeleton_of(const Run& run, const JobCalls& job, const std::string& title) {
  return ProgramWriter(run, job).write(title);
}

}  // namespace hostir::traces
