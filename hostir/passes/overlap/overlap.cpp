#include "hostir/passes/overlap/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/stream_order.h"
#include "hostir/passes/host/task_times.h"
#include "hostir/passes/overlap/overlap_rewrite.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

// A group is issued once, and the latencies of its members overlap.
double call_ns(TaskTimes& times, const Function& host, const Instruction& call) {
  if (call.kind != OpKind::group) return times.collective(call).ns;
  double latency = 0;
  double transfers = 0;
  for (const InstrId id : host.region(call.regions.front()).instructions) {
    const TaskTimes::Collective member = times.collective(host.instr(id));
    latency = std::max(latency, member.latency_ns);
    transfers += member.ns - member.latency_ns;
  }
  return latency + transfers;
}

}  // namespace

// Predicts when a host function ends. Kernels run on one engine and collectives on another, in text
// order. Each starts when its inputs are ready and the host has issued it.
double expected_ns(const Program& program, const Function& host, const Machine& machine) {
  TaskTimes times(program, host, machine);
  const std::vector<ValueId> memory = buffers_behind(host);
  struct Done {
    double written = 0;
    double read = 0;
  };
  std::vector<Done> done(host.values.size());
  std::array<double, 2> engines = {};
  double issued = 0;
  double end = 0;
  for (const InstrId id : host.region(host.body).instructions) {
    const Instruction& i = host.instr(id);
    issued += machine.issue_ns;
    const bool communicates =
        record(i.kind).op_class == OpClass::kCommunication || i.kind == OpKind::group;
    if (!communicates && i.kind != OpKind::launch) continue;
    const std::vector<BufferUse> uses = buffer_uses(host, i, memory);
    double& engine = engines[communicates ? 1 : 0];
    double start = std::max(issued, engine);
    for (const BufferUse& use : uses) {
      const Done& d = done[use.buffer.index];
      start = std::max(start, d.written);
      if (use.access != Access::kRead) start = std::max(start, d.read);
    }
    engine = start + (communicates ? call_ns(times, host, i) : times.launch_ns(i));
    for (const BufferUse& use : uses) {
      Done& d = done[use.buffer.index];
      double& at = use.access == Access::kRead ? d.read : d.written;
      at = std::max(at, engine);
    }
    end = std::max(end, engine);
  }
  return end;
}

namespace {

class Overlapper {
 public:
  Overlapper(Program& program, const std::string& host, const OverlapRequest& request,
             Explanation& explanation)
      : program_(program),
        work_(program),
        host_(*program.find_function(host)),
        request_(request),
        found_(find_overlap_sites(program, request.source, host_)),
        kernels_(program),
        choices_(found_.sites.size()),
        explanation_(explanation) {}

  void run() {
    for (const RefusedSite& r : found_.refused) {
      explain(r.at, "not overlapped: " + r.problem);
    }
    for (size_t s = 0; s < found_.sites.size(); ++s) decide(s);
    const bool any = std::any_of(choices_.begin(), choices_.end(), [](const OverlapChoice& c) {
      return c.overlap != Overlap::kNone;
    });
    if (any) install(*rewritten());
  }

 private:
  const Instruction& at(size_t index) const {
    return host_.instr(host_.region(host_.body).instructions[index]);
  }

  std::optional<Function> rewritten() {
    return rewrite_sites(program_, host_, found_.sites, choices_, kernels_);
  }

  // nullopt: these choices are not possible together.
  std::optional<double> predicted() {
    const std::optional<Function> made = rewritten();
    if (!made) return std::nullopt;
    for (; known_ < kernels_.order().size(); ++known_) {
      work_.add_function(kernels_.at(kernels_.order()[known_]));
    }
    return expected_ns(work_, *made, request_.machine);
  }

  // All ways to overlap a site; the first leaves it as it is.
  static std::vector<OverlapChoice> ways(const Function& host, const OverlapSite& site) {
    std::vector<OverlapChoice> out = {{}};
    if (site.no_ring.empty()) out.push_back({Overlap::kRing, 1});
    const bool is_reduce = site.kind == OverlapSite::Kind::kReduce;
    const bool pieces = site.contiguous && (is_reduce || site.is_even());
    const int64_t rows = is_reduce ? site.rows : site.largest();
    if (is_reduce && !site.contiguous) return out;
    if (site.kind == OverlapSite::Kind::kScatter && !site.contiguous) {
      const auto& type = std::get<ShardType>(host.value(site.whole).type);
      if (!type.sharding->dims.front().axes.empty()) return out;
    }
    for (const int64_t n :
         is_reduce ? std::array<int64_t, 3>{2, 4, 8} : std::array<int64_t, 3>{1, 2, 4}) {
      if (n == 1 || (pieces && n <= rows)) out.push_back({Overlap::kCollectives, n});
    }
    return out;
  }

  // True if the request allows this way. `ring` falls back to collectives where no ring is
  // possible.
  bool is_allowed(const OverlapSite& site, const OverlapChoice& way) const {
    if (request_.overlap == Overlap::kAuto) return true;
    const bool is_ring = request_.overlap == Overlap::kRing && site.no_ring.empty();
    return way.overlap == (is_ring ? Overlap::kRing : Overlap::kCollectives);
  }

  // Sites with equal signatures are overlapped in the same way.
  std::string signature(const OverlapSite& site) const {
    std::string out =
        fmt::format("{} {} {} ", static_cast<int>(site.kind), site.dim, fmt::join(site.sizes, ","));
    for (const ValueId v : {site.part, site.whole}) {
      if (v.valid()) out += to_string(host_.value(v).type) + " ";
    }
    for (const ChunkedLaunch& l : site.launches) out += l.kernel->name + " ";
    return out;
  }

  struct Decision {
    OverlapChoice choice;
    std::string reason;
  };

  void decide(size_t s) {
    const OverlapSite& site = found_.sites[s];
    const auto [known, is_new] = decided_.try_emplace(signature(site));
    Decision& made = known->second;
    if (is_new) made = decision(s);
    choices_[s] = made.choice;
    explain(site.at, fmt::format("{}{}; {}", text(site, made.choice),
                                 is_new ? "" : ", as for an equal collective above", made.reason));
  }

  // Predicts the time of every way and takes the fastest that the request allows.
  Decision decision(size_t s) {
    const OverlapSite& site = found_.sites[s];
    Decision out;
    double best = std::numeric_limits<double>::infinity();
    std::string times;
    bool any = false;
    for (const OverlapChoice& way : ways(host_, site)) {
      choices_[s] = way;
      const std::optional<double> time = predicted();
      if (!time) continue;
      const bool is_as_it_is = way.overlap == Overlap::kNone;
      times += fmt::format("{}{} {}", times.empty() ? "" : ", ",
                           is_as_it_is ? "as it is" : text(site, way), time_text(*time));
      if (!is_allowed(site, way)) continue;
      any = any || !is_as_it_is;
      if (*time < best) std::tie(best, out.choice) = std::tie(*time, way);
    }
    if (any) {
      out.reason = "the function is expected to take: " + times;
    } else {
      out = {{}, "its rows are strided"};
    }
    if (!site.no_ring.empty()) out.reason += "; no ring: " + site.no_ring;
    return out;
  }

  static std::string text(const OverlapSite& site, const OverlapChoice& choice) {
    const auto members = static_cast<int64_t>(site.sizes.size());
    switch (choice.overlap) {
      case Overlap::kRing:
        return fmt::format("ring of {}", members);
      case Overlap::kCollectives:
        return fmt::format("collectives in {} chunks",
                           (site.kind == OverlapSite::Kind::kReduce ? 1 : members) * choice.pieces);
      case Overlap::kNone:
      case Overlap::kAuto:
        break;
    }
    return "not overlapped";
  }

  void explain(size_t index, std::string sentence) {
    const Instruction& i = at(index);
    std::string from;
    for (const OpRef& ref : i.from) from = fmt::format("@{}#{}", ref.function, ref.number);
    const ExplainedValue value = request_.value_of(i);
    explanation_.push_back({.value = value.name,
                            .what = std::string(record(i.kind).mnemonic),
                            .sentence = std::move(sentence),
                            .from = std::move(from),
                            .pass = "overlap",
                            .id = value.id});
  }

  // Puts the function and its kernels into the program and removes kernels that are no longer
  // launched.
  void install(Function made) {
    const auto launched = [](const Function& f) {
      std::set<std::string> out;
      for (const Instruction& i : f.instructions) {
        const auto* kernel = i.attributes.get<Symbol>("kernel");
        if (kernel != nullptr) out.insert(kernel->name);
      }
      return out;
    };
    const std::set<std::string> before = launched(host_);
    const std::set<std::string> after = launched(made);
    Program out = program_;
    out.functions.clear();
    std::erase_if(out.order,
                  [](const Program::Piece& p) { return p.kind == Program::PieceKind::kFunction; });
    std::vector<Program::Piece> order;
    for (const Program::Piece& piece : program_.order) {
      if (piece.kind != Program::PieceKind::kFunction) {
        order.push_back(piece);
        continue;
      }
      Function f = program_.functions[piece.index];
      const bool stale = before.count(f.name) != 0 && after.count(f.name) == 0 &&
                         request_.source.find_function(f.name) == nullptr;
      if (stale) continue;
      const auto put = [&](Function function) {
        Program::Piece now = piece;
        now.index = static_cast<uint32_t>(out.functions.size());
        out.functions.push_back(std::move(function));
        order.push_back(std::move(now));
      };
      if (f.name == made.name) {
        for (Function& kernel : kernels_.take(after)) put(std::move(kernel));
        f = std::move(made);
      }
      put(std::move(f));
    }
    out.order = std::move(order);
    program_ = std::move(out);
  }

  Program& program_;
  Program work_;  // with all kernels tried
  const Function host_;
  const OverlapRequest& request_;
  OverlapSites found_;
  ChunkKernels kernels_;
  std::vector<OverlapChoice> choices_;
  size_t known_ = 0;                         // kernels that are in `work_`
  std::map<std::string, Decision> decided_;  // by signature
  Explanation& explanation_;
};

}  // namespace

std::optional<Overlap> overlap_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Overlap>, 4> kWords = {
      {{"none", Overlap::kNone},
       {"collectives", Overlap::kCollectives},
       {"ring", Overlap::kRing},
       {"auto", Overlap::kAuto}}};
  for (const auto& [name, overlap] : kWords) {
    if (name == word) return overlap;
  }
  return std::nullopt;
}

void overlap_collectives(Program& program, const std::string& host, const OverlapRequest& request,
                         Explanation& explanation) {
  if (request.overlap != Overlap::kNone) Overlapper(program, host, request, explanation).run();
}

}  // namespace hostir
