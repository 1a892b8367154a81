#include "hostir/passes/pass_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "hostir/ir/compact.h"
#include "hostir/ops/expand_composites.h"
#include "hostir/ops/loops.h"
#include "hostir/ops/record.h"
#include "hostir/passes/choose/gather_first.h"
#include "hostir/passes/choose/needless_reshards.h"
#include "hostir/passes/choose/scale_after_sum.h"
#include "hostir/passes/host/assign_streams.h"
#include "hostir/passes/host/combine.h"
#include "hostir/passes/host/early_reshards.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/host_peak.h"
#include "hostir/passes/host/lifetimes.h"
#include "hostir/passes/host/member_regions.h"
#include "hostir/passes/host/regather.h"
#include "hostir/passes/meshes/mesh_borders.h"
#include "hostir/passes/overlap/prefetch.h"
#include "hostir/passes/overlap/rings.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/passes/prepare/shared_reductions.h"
#include "hostir/passes/prepare/unshard.h"
#include "hostir/passes/propagate/propagate.h"
#include "hostir/passes/redistribute/split_reshards.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

// The mesh on which the host function runs. If the fusion uses one mesh with all ranks, that mesh;
// if it uses several or leaves out ranks, a mesh with all ranks up to the last one in use; if it
// uses none, the first mesh in the program, else a new mesh of one rank.
Expected<std::string> choose_mesh(Program& program, const Function& fusion) {
  const std::vector<std::string> used = value_meshes(fusion).used;
  int64_t ranks = 0;
  for (const std::string& name : used) {
    const Mesh* mesh = program.find_mesh(name);
    if (mesh == nullptr) {
      return fail_at(ErrorKind::kInvalid, "mesh_c1", fmt::format("unknown mesh @{}", name),
                     fusion.name_span);
    }
    for (const int64_t rank : mesh->ranks()) ranks = std::max(ranks, rank + 1);
  }
  // Ranks that hold no part also run the function.
  if (used.size() == 1 && program.find_mesh(used.front())->size() == ranks) return used.front();
  if (!used.empty()) {
    std::vector<int64_t> all(static_cast<size_t>(ranks));
    std::iota(all.begin(), all.end(), int64_t{0});
    return mesh_of_ranks(program, all, "world");
  }
  if (!program.meshes.empty()) return program.meshes.front().name;
  return mesh_of_ranks(program, {0}, "one");
}

// The size of the fusion's largest value.
double largest_bytes(const Function& fusion) {
  double largest = 0;
  const Mesh one;
  for (const Value& v : fusion.values) {
    const double bytes = largest_local_elems(one, shape_of(v.type),
                                             Sharding::replicated({}, shape_of(v.type).size())) *
                         static_cast<double>(size_bytes(dtype_of(v.type)));
    largest = std::max(largest, bytes);
  }
  return largest;
}

// What must stay visible so that the values to keep can be read. Where a reshard that the user
// wrote changes nothing, its operand does.
std::vector<ValueId> visible_values(const LowerState& s) {
  std::vector<ValueId> out;
  const auto origin = [](const Value& v) { return v.origin.value; };
  const std::vector<Value>& built = s.resharded.function.values;
  const Function& written = *s.before_kernels.find_function(s.fusion);
  for (const ValueId keep : s.keep) {
    out.push_back(keep);
    if (std::ranges::find(built, keep, origin) != built.end()) continue;
    const auto at = std::ranges::find(written.values, keep, origin);
    if (at == written.values.end()) continue;
    const ValueId moved =
        unsharded_value(written, ValueId(static_cast<size_t>(at - written.values.begin())));
    out.push_back(origin(written.value(moved)));
  }
  return out;
}

// Repeats the checks that symbolic sizes left undecided, now that sizes are known.
Expected<void> recheck(const Program& program, const Function& bound) {
  for (const InstrId id : body_of(bound)) {
    const Instruction& i = bound.instr(id);
    if (is_terminator(i)) continue;
    auto types = check_and_infer(program, bound, i);
    if (!types) return tl::unexpected(std::move(types.error()));
  }
  return {};
}

Expected<void> bind(LowerState& s) {
  if (s.options.sizes) {
    HOSTIR_ASSIGN_OR_RETURN(s.out.program, bind_sizes(s.source, s.fusion, *s.options.sizes));
  } else {
    s.out.program = s.source;
  }
  HOSTIR_ASSIGN_OR_RETURN(s.out.mesh, choose_mesh(s.out.program, s.function()));
  s.out.function = s.fusion;
  for (Instruction& i : s.function().instructions) i.attributes.erase("recompute");
  return {};
}

Expected<void> unroll(LowerState& s) {
  if (has_loops(s.function())) {
    HOSTIR_ASSIGN_OR_RETURN(Unrolled unrolled, unroll_loops(s.function()));
    s.function() = std::move(unrolled.function);
    s.out.loop_values = std::move(unrolled.values);
  }
  HOSTIR_TRY(recheck(s.out.program, s.function()));
  for (Value& v : s.function().values) v.origin = {};
  number_values(s.function(), s.out.value_names);
  s.written_values = s.out.value_names.size();
  for (const std::string& keep : s.options.keep) {
    std::vector<std::string> names = names_in_passes(s.out.loop_values, keep);
    if (names.empty()) names = {keep};
    const size_t before = s.keep.size();
    for (const std::string& name : names) {
      if (const auto value = s.function().find_value(name)) s.keep.push_back(*value);
    }
    if (s.keep.size() == before) {
      return fail(ErrorKind::kUsage, "lower_c3",
                  fmt::format("keep(%{}): @{} has no such value", keep, s.fusion));
    }
  }
  std::unique_ptr<MeshMoves>& moves = s.options.moves != nullptr ? *s.options.moves : s.own_moves;
  if (moves == nullptr) {
    moves = std::make_unique<MeshMoves>(
        s.out.program, s.options.machine != nullptr ? *s.options.machine : default_machine(),
        largest_bytes(s.function()));
  }
  s.moves = moves.get();
  return {};
}

// Moves the fusion out of the program; only its name and place remain there.
Function taken(LowerState& s) {
  Function& in_program = s.function();
  Function out = std::move(in_program);
  in_program.name = s.fusion;
  return out;
}

void append(Explanation records, Explanation& to) {
  to.insert(to.end(), std::make_move_iterator(records.begin()),
            std::make_move_iterator(records.end()));
}

Expected<void> propagate_bound(LowerState& s) {
  s.bound = s.function();
  HOSTIR_ASSIGN_OR_RETURN(Function bordered, with_mesh_borders(taken(s)));
  const auto early = [](const OpRecord& op) { return op.expand_blocks == nullptr; };
  HOSTIR_ASSIGN_OR_RETURN(Function simple,
                          expand_composites(std::move(bordered), Origins::kNoted, early));
  if (s.runs("shared_reductions")) simple = with_shared_reductions(std::move(simple), s.keep);
  s.out.value_names.resize(s.written_values);
  number_values(simple, s.out.value_names);
  HOSTIR_ASSIGN_OR_RETURN(const auto edges, propagation_edges(s.out.program, simple));
  if (s.options.homes != nullptr) {
    s.homes.homes = homes_like(*s.options.homes, simple, edges);
  } else {
    HOSTIR_ASSIGN_OR_RETURN(s.homes, cheapest_homes(s.out.program, simple, edges, s.out.mesh,
                                                    *s.moves, s.keep, s.options.alternatives));
  }
  append(std::move(s.homes.explanation), s.out.explanation);
  s.out.homes = s.homes.homes.named(simple);
  if (s.homes.tried) {
    s.function() = std::move(s.homes.tried->propagated);
    append(std::move(s.homes.tried->propagation), s.out.explanation);
  } else {
    s.function() = propagate(s.out.program, std::move(simple), edges, s.out.mesh, *s.moves,
                             s.out.explanation, s.homes.homes);
  }
  return {};
}

// Where something is computed in a ring, shardings are propagated again through its steps.
Expected<void> propagate_shardings(LowerState& s) {
  HOSTIR_TRY(propagate_bound(s));
  if (s.rings == Rings::kNone) return {};
  Explanation of_rings;
  HOSTIR_ASSIGN_OR_RETURN(std::optional<Function> with,
                          with_rings(s.out.program, s.bound, s.function(), s.rings, of_rings));
  if (with) {
    s.out.has_rings = true;
    s.out.explanation.clear();
    s.homes = {};
    s.function() = std::move(*with);
    HOSTIR_TRY(propagate_bound(s));
  }
  append(std::move(of_rings), s.out.explanation);
  return {};
}

Expected<void> reshard(LowerState& s) {
  Function propagated = taken(s);
  if (s.homes.tried) {
    s.resharded = std::move(s.homes.tried->resharded);
    append(std::move(s.homes.tried->resharding), s.out.explanation);
    s.homes.tried.reset();
  } else {
    HOSTIR_ASSIGN_OR_RETURN(
        s.resharded, insert_reshards(s.out.program, std::move(propagated), *s.moves, s.keep,
                                     s.out.explanation, s.homes.homes, s.options.alternatives));
  }
  if (s.runs("needless_reshards"))
    drop_needless_reshards(s.resharded, *s.moves, s.keep, s.out.explanation);
  if (s.runs("gather_first"))
    gather_first(s.out.program, s.bound, s.resharded.function, *s.moves, s.out.value_names,
                 s.out.explanation);
  if (s.runs("scale_after_sum"))
    scale_after_sum(s.out.program, s.resharded.function, *s.moves, s.keep, s.out.value_names,
                    s.out.explanation);
  s.resharded.function = compacted(std::move(s.resharded.function));
  s.out.sharded = s.resharded.function;
  if (s.is_shown(LowerPhase::kSharded)) s.function() = s.resharded.function;
  return {};
}

Expected<void> split(LowerState& s) {
  s.resharded = split_reshards(std::move(s.resharded), *s.moves);
  s.resharded.function = compacted(std::move(s.resharded.function));
  if (s.is_shown(LowerPhase::kSteps)) s.function() = s.resharded.function;
  return {};
}

// The host function as the other passes will leave it.
Function finished(const LowerState& s, const Program& program, Function host) {
  Explanation unused;
  const auto unnamed = [](const Instruction&) { return ExplainedValue{}; };
  if (s.runs("combined"))
    host = combine_collectives(program, host, s.moves->machine(), unnamed, unused);
  if (s.runs("streams")) host = assign_streams(program, host);
  return assign_lifetimes(program, host);
}

// The memory that a rank allocates for these segments, after the other passes.
Expected<double> peak_of(const LowerState& s, const Resharded& steps, const Segments& segments) {
  Program program = s.before_kernels;
  HOSTIR_ASSIGN_OR_RETURN(
      HostLowering made,
      lower_to_host(program, *program.find_function(s.fusion), steps.function, segments, s.out.mesh,
                    free_symbol(program, s.fusion + ".host")));
  for (Function& k : made.kernels) program.add_function(std::move(k));
  return allocated_peak(program, finished(s, program, std::move(made.host)));
}

// Where buffers are freed depends on what streams know of each other, and combined gathers may
// start early, so the estimate of regather_parameters() is checked on the host functions.
Expected<void> regather(LowerState& s) {
  Resharded steps = s.resharded;
  Segments segments = s.segments;
  Explanation why;
  regather_parameters(s.before_kernels, steps, segments, *s.moves, why);
  if (why.empty()) return {};
  HOSTIR_ASSIGN_OR_RETURN(const double kept, peak_of(s, s.resharded, s.segments));
  HOSTIR_ASSIGN_OR_RETURN(const double again, peak_of(s, steps, segments));
  if (kept - again < kLeastSaved * kept) return {};
  s.resharded = std::move(steps);
  s.segments = std::move(segments);
  append(std::move(why), s.out.explanation);
  return {};
}

Expected<void> make_kernels(LowerState& s) {
  s.function() = std::move(s.bound);
  s.before_kernels = std::move(s.out.program);
  s.segments = segment(s.before_kernels, s.resharded.function, visible_values(s));
  if (s.runs("early_reshards"))
    move_reshards_up(s.before_kernels, s.resharded.function, s.segments);
  if (s.runs("regather")) HOSTIR_TRY(regather(s));
  if (!s.is_shown(LowerPhase::kKernels)) return {};
  s.out.program = s.before_kernels;
  for (const Function& k : s.segments.kernels) s.out.program.add_function(k);
  return {};
}

Expected<void> make_host_function(LowerState& s) {
  s.out.function = free_symbol(s.before_kernels, s.fusion + ".host");
  HOSTIR_ASSIGN_OR_RETURN(
      HostLowering host,
      lower_to_host(s.before_kernels, *s.before_kernels.find_function(s.fusion),
                    s.resharded.function, s.segments, s.out.mesh, s.out.function));
  s.out.program = std::move(s.before_kernels);
  for (Function& k : host.kernels) s.out.program.add_function(std::move(k));
  s.out.program.add_function(std::move(host.host));
  return {};
}

// Finds the fusion value that a collective moves: one of its buffers is for a version of it, or if
// all are packed, the instruction that it is lowered from produces it.
ValueNamer value_namer(LowerState& s) {
  const Function& bound = s.function();
  return [&s, &bound, sources = bound.preorder()](const Instruction& collective) {
    ExplainedValue out;
    for (const std::string_view slot : {"output", "buffer", "input"}) {
      const ValueId buffer = slot_value(collective, slot);
      if (!buffer.valid()) continue;
      const Value& found = s.host().value(buffer);
      if (found.origin.valid())
        return ExplainedValue{name_of(found, s.out.value_names), found.origin};
      if (out.name.empty()) out.name = found.name;
    }
    const size_t number = collective.from.empty() ? 0 : collective.from.back().number;
    if (number == 0 || number > sources.size()) return out;
    const std::vector<ValueId>& made = bound.instr(sources[number - 1]).results;
    if (!made.empty()) out = {bound.value(made.front()).name, bound.value(made.front()).origin};
    return out;
  };
}

void overlap_as(LowerState& s, Overlap way) {
  if (way == Overlap::kNone) return;
  overlap_collectives(s.out.program, s.out.function,
                      {s.source, s.moves->machine(), way, value_namer(s)}, s.out.explanation);
  if (!s.runs("prefetch")) return;
  std::optional<Function> earlier = prefetched(s.host());
  if (!earlier) return;
  const double as_it_is = expected_ns(s.out.program, s.host(), s.moves->machine());
  const double prefetches = expected_ns(s.out.program, *earlier, s.moves->machine());
  if (prefetches >= as_it_is) return;
  s.host() = std::move(*earlier);
  s.out.explanation.push_back(
      {.value = {},
       .what = "prefetch",
       .sentence = fmt::format("collectives of parameters one step ahead: the function is expected "
                               "to take {}, as it is {}",
                               time_text(prefetches), time_text(as_it_is)),
       .from = {},
       .pass = "overlap"});
}

// When the function is expected to end after the other passes: they combine collectives and add the
// instructions that a host issues for waits and frees.
double final_ns(LowerState& s) {
  return expected_ns(s.out.program, finished(s, s.out.program, s.host()), s.moves->machine());
}

// `auto` decides site by site, before collectives are combined. The whole function may still end
// later than with one way for all sites, so those are compared at the end.
void overlap_best(LowerState& s) {
  struct Way {
    Overlap overlap;
    std::string_view text;
  };
  constexpr std::array kWays = {
      Way{Overlap::kAuto, "with the best way at each place"}, Way{Overlap::kNone, "as it is"},
      Way{Overlap::kCollectives, "with collectives in chunks"}, Way{Overlap::kRing, "with rings"}};
  const Program program = s.out.program;
  const Explanation explanation = std::exchange(s.out.explanation, {});
  struct Made {
    Program program;
    Explanation explanation;
  };
  std::optional<Made> best;
  double least = 0;
  std::string_view chosen;
  std::string times;
  bool any_better = false;
  // To decide all sites of a long function once more would take as long as the lowering.
  constexpr size_t kLong = 1000;
  const bool is_long = s.host().instructions.size() > kLong;
  for (const Way& way : kWays) {
    if (is_long && way.overlap != Overlap::kAuto && way.overlap != Overlap::kNone) continue;
    s.out.program = program;
    s.out.explanation.clear();
    overlap_as(s, way.overlap);
    const double ns = final_ns(s);
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", time_text(ns), way.text);
    if (best && ns >= least) continue;
    any_better = best.has_value();
    best = Made{std::move(s.out.program), std::move(s.out.explanation)};
    least = ns;
    chosen = way.text;
  }
  s.out.program = std::move(best->program);
  s.out.explanation = explanation;
  append(std::move(best->explanation), s.out.explanation);
  if (!any_better) return;
  s.out.explanation.push_back(
      {.value = {},
       .what = std::string(chosen),
       .sentence =
           fmt::format("with its collectives combined, the function is expected to take {}", times),
       .from = {},
       .pass = "overlap"});
}

Expected<void> overlap(LowerState& s) {
  if (s.options.overlap == Overlap::kAuto) {
    overlap_best(s);
  } else {
    overlap_as(s, s.options.overlap);
  }
  return {};
}

Expected<void> combine(LowerState& s) {
  s.host() = combine_collectives(s.out.program, s.host(), s.moves->machine(), value_namer(s),
                                 s.out.explanation);
  return {};
}

Expected<void> streams(LowerState& s) {
  s.host() = assign_streams(s.out.program, s.host());
  return {};
}

Expected<void> lifetimes(LowerState& s) {
  s.host() = assign_lifetimes(s.out.program, s.host());
  only_on_members(s.out.program, s.out.function);
  return {};
}

constexpr std::array kPasses = {
    Pass{LowerPhase::kBound, "bound", "sizes as numbers, a mesh of all ranks", bind,
         "all other passes need the mesh on which the host function runs"},
    Pass{LowerPhase::kUnrolled, "unrolled", "loops written out, pass by pass", unroll,
         "a host function computes no loops of a fusion"},
    Pass{LowerPhase::kPropagated, "propagated", "a sharding for every value", propagate_shardings,
         "without a sharding it is not known which rank has which part of a value"},
    Pass{LowerPhase::kSharded, "sharded", "the cut of every op, explicit reshards", reshard,
         "ops would read parts that their rank does not have"},
    Pass{LowerPhase::kSteps, "steps", "each reshard one kernel or one collective", split,
         "a host function can issue only single kernels and collectives"},
    Pass{LowerPhase::kKernels, "kernels", "compute groups as kernels", make_kernels,
         "a host function computes only by launching kernels"},
    Pass{LowerPhase::kHost, "host", "buffers, launches, collectives on one stream",
         make_host_function, "it makes the function that runs"},
    Pass{LowerPhase::kOverlapped, "overlapped", "collectives in chunks beside kernels", overlap,
         ""},
    Pass{LowerPhase::kCombined, "combined", "independent collectives in one call", combine, ""},
    Pass{LowerPhase::kStreams, "streams", "collectives on their own stream, waits", streams, ""},
    Pass{LowerPhase::kLifetimes, "lifetimes", "frees, storage reused", lifetimes,
         "no buffer would be freed, and ranks that have no part of a value would run its launches"},
};

constexpr std::array kRewrites = {
    Rewrite{"shared_reductions", "propagated", "equal reductions are computed once"},
    Rewrite{"needless_reshards", "sharded", "no reshards to a layout that nobody needs"},
    Rewrite{"gather_first", "sharded", "composites on gathered operands, where that is faster"},
    Rewrite{"scale_after_sum", "sharded", "products are scaled after their sum, not before"},
    Rewrite{"early_reshards", "kernels", "sums start where their operands are made"},
    Rewrite{"regather", "kernels", "gathered parameters are gathered again, not kept"},
    Rewrite{"prefetch", "overlapped", "collectives of parameters one step ahead"},
};

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }
std::span<const Rewrite> all_rewrites() { return kRewrites; }

bool LowerState::runs(std::string_view name) const { return !contains(options.skip, name); }

Expected<void> check_skipped(std::span<const std::string> names) {
  std::string known;
  for (const Pass& pass : kPasses) {
    if (pass.needed.empty()) known += fmt::format("{}, ", pass.name);
  }
  for (const Rewrite& rewrite : kRewrites) known += fmt::format("{}, ", rewrite.name);
  known.resize(known.size() - 2);
  const auto refuse = [&](const std::string& name, std::string_view why) {
    return fail(ErrorKind::kUsage, "lower_c4",
                fmt::format("\"{}\" cannot be left out: {}; these can: {}", name, why, known));
  };
  for (const std::string& name : names) {
    const auto has_name = [&](const auto& part) { return part.name == name; };
    if (std::any_of(kRewrites.begin(), kRewrites.end(), has_name)) continue;
    const auto pass = std::find_if(kPasses.begin(), kPasses.end(), has_name);
    if (pass == kPasses.end()) return refuse(name, "no pass has this name");
    if (!pass->needed.empty()) return refuse(name, pass->needed);
  }
  return {};
}

}  // namespace hostir
