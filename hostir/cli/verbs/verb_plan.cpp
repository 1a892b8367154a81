#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "hostir/api/plan/plan_json.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/layer_lines.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/number_from.h"
#include "hostir/support/text.h"

namespace hostir::cli {

namespace {

constexpr int64_t kMostRanks = 4096;  // of --ranks auto

std::string communication_text(const api::Plan& plan) {
  int64_t bytes = 0;
  int64_t count = 0;
  for (const interp::CollectiveCount& c : plan.collectives) {
    bytes += c.bytes * c.count;
    count += c.count;
  }
  return count == 0 ? "none" : fmt::format("{} in {}", bytes_text(bytes), count);
}

std::string cuts_text(const api::Plan& plan) {
  if (plan.as_written) return "as written in the file";
  std::string out;
  for (const api::PlanCut& cut : plan.cuts) out += (out.empty() ? "" : ", ") + api::cut_text(cut);
  return out.empty() ? "nothing is cut" : out;
}

std::string parts_text(const api::MemorySplit& memory) {
  std::string out;
  for (const auto& [name, bytes] : memory.parts())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, bytes_text(bytes));
  return out;
}

std::string signed_time(int64_t ns) { return (ns < 0 ? "-" : "+") + time_text(std::abs(ns)); }
std::string signed_bytes(int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + bytes_text(std::abs(bytes));
}

std::string predicted_text(const api::Plan& plan) {
  return (plan.exact ? "" : "~") + time_text(plan.time_ns);
}

// Those that fit in memory first, the fastest first: the order of the tables. The best plan need
// not be the first: it may take up to 0.1 % longer than one that needs more memory.
std::vector<const api::Plan*> by_time(const std::vector<api::Plan>& plans) {
  std::vector<const api::Plan*> out;
  for (const api::Plan& plan : plans) out.push_back(&plan);
  std::ranges::stable_sort(out, {}, [](const api::Plan* plan) {
    return std::tuple(!plan->fits, plan->time_ns, plan->peak_bytes);
  });
  return out;
}

// The axes that cut anything, by size: meshes that differ in nothing else have the same plans.
std::vector<int64_t> sizes_of(const api::MeshAxes& axes) {
  std::vector<int64_t> out;
  for (const MeshAxis& axis : axes) {
    if (axis.size > 1) out.push_back(axis.size);
  }
  std::ranges::sort(out);
  return out;
}

class PlanVerb : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "Find the mesh and shardings with the shortest predicted time";
  }
  std::string_view example() const override {
    return "  hostir plan tests/programs/tp_mlp.hir --ranks 8 --size B=4 --size S=2048 --size "
           "H=8192 --size F=32768\n"
           "  hostir plan tests/programs/tp_mlp.hir --ranks 8 --fix x --fix y --machine h200x8 "
           "--top 20\n"
           "  hostir plan tests/programs/tp_mlp.hir --ranks 8 --grad\n"
           "  hostir plan tests/programs/vocab.hir --grad --wrt emb --wrt out --optimizer adamw "
           "--ranks auto    how many ranks it needs\n"
           "  hostir plan tests/programs/tp_mlp.hir --mesh tp=8 --mesh dp=2,tp=4 --mesh dp=4,tp=2";
  }
  void declare(Arguments& arguments) override {
    declare_file(program_, arguments,
                 "a mesh to try, e.g. dp=4,tp=2; may be repeated; default: all with two axes, or "
                 "with as many as the fusion's mesh has");
    arguments.option("--ranks", ranks_,
                     "how many; a range, as in 8..64, or auto (1..4096): doubles them until the "
                     "best plan fits in a rank's memory");
    arguments.choice("--optimizer", optimizer_, {"none", "sgd", "momentum", "adamw"},
                     "with --grad: its state counts as memory; none, one or two f32 numbers per "
                     "trained element, cut like the parameter");
    arguments.flag("--json", json_, "the answer as one JSON object");
    declare_gradient(program_, arguments);
    declare_inputs(program_, arguments);
    arguments.option("--machine", backend_.machine,
                     "a machine of the file or built in; see `hostir machines`");
    arguments.repeated("--fix", fixed_,
                       "a parameter or result that keeps the sharding it has in the file");
    arguments.option("--top", top_, "candidates to print", {.least = 1});
    arguments.flag("-v,--verbose", verbose_,
                   "print a line to stderr after each mesh; a terminal shows progress anyway");
  }

  int execute(Terminal& terminal) override {
    auto loaded = api::load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    std::string base;
    if (program_.grad) {
      const auto chosen = api::choose_function(*loaded, program_.function);
      if (chosen) base = chosen->name;
    }
    if (auto made = program_.differentiate(*loaded); !made)
      return terminal.report(made.error(), loaded->sources);
    gradient_of_ = base;
    const auto done = plan(terminal, *loaded);
    return done ? 0 : terminal.report(done.error(), loaded->sources);
  }

 private:
  Expected<void> plan(Terminal& terminal, const api::LoadedFile& file) {
    HOSTIR_ASSIGN_OR_RETURN(std::vector<api::MeshAxes> meshes, api::parse_mesh_axes(program_.mesh));
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, rank_counts(meshes));
    if (optimizer_ != "none" && !program_.grad) {
      return fail(ErrorKind::kUsage, "usage",
                  "--optimizer needs --grad: only a training step has an optimizer");
    }
    program_.mesh.clear();
    std::string notice;
    HOSTIR_ASSIGN_OR_RETURN(const api::RunArguments found, program_.arguments(file, &notice));
    if (!notice.empty()) terminal.note(notice);
    backend_.backend = "shapes";
    HOSTIR_ASSIGN_OR_RETURN(const interp::BackendRequest backend, backend_.request(*found.program));
    memory_bytes_ = static_cast<int64_t>(backend.machine.memory_bytes);
    std::vector<std::string> wrt = program_.wrt;
    for (std::vector<std::string>* names : {&fixed_, &wrt}) {
      for (std::string& name : *names) {
        if (name.starts_with('%')) name.erase(0, 1);
      }
    }
    std::vector<api::PlansForRanks> tried;
    for (const int64_t ranks : counts) {
      std::string noted;
      const auto progress = [&](const api::PlanProgress& now) {
        const std::string text = progress_text(ranks, now);
        terminal.progress(text);
        if (!verbose_ || (!now.is_done && !now.axes.empty()) || text == noted) return;
        terminal.note(text);
        noted = text;
      };
      HOSTIR_ASSIGN_OR_RETURN(api::Plans plans,
                              api::find_plans({.arguments = found,
                                               .backend = backend,
                                               .gradient_of = gradient_of_,
                                               .wrt = wrt,
                                               .ranks = ranks,
                                               .optimizer_numbers = optimizer_numbers(),
                                               .meshes = meshes,
                                               .fixed = fixed_,
                                               .progress = progress}));
      tried.push_back({ranks, std::move(plans)});
      if (tried.back().best().fits) break;
    }
    if (json_) {
      terminal.print(api::plans_json(found.options.function, backend.machine, tried));
    } else {
      print(terminal, found.options.function, backend.machine, tried, counts.size() > 1);
    }
    return {};
  }

  int64_t optimizer_numbers() const {
    return optimizer_ == "adamw" ? 2 : optimizer_ == "momentum" ? 1 : 0;
  }

  static std::string counted_ranks(int64_t ranks) {
    return counted(static_cast<size_t>(ranks), "rank");
  }

  // `8 ranks, mesh 2 of 3 (dp=4 tp=2): 61 candidates, best so far 1.2 ms, 3.4 GiB on dp=8 tp=1`
  std::string progress_text(int64_t ranks, const api::PlanProgress& now) const {
    std::string out = counted_ranks(ranks);
    out += now.axes.empty() ? std::string(", the best plans in full")
                            : fmt::format(", mesh {} of {} ({})", now.mesh, now.meshes,
                                          api::axes_text(now.axes));
    out += fmt::format(": {}", counted(now.candidates, "candidate"));
    if (now.best == nullptr) return out;
    return out + fmt::format(", best so far {}, {} on {}", predicted_text(*now.best),
                             memory_text(*now.best), api::axes_text(now.best->axes));
  }

  // The numbers of ranks to try, until the best plan of one fits.
  Expected<std::vector<int64_t>> rank_counts(const std::vector<api::MeshAxes>& meshes) const {
    if (!meshes.empty()) {
      const int64_t ranks = api::rank_count(meshes.front());
      if (ranks_.empty() || ranks_ == std::to_string(ranks)) return std::vector<int64_t>{ranks};
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("--ranks {}, but --mesh {} has {} ranks: leave out --ranks, or give "
                              "a mesh of {}",
                              ranks_, program_.mesh.front(), ranks, ranks_));
    }
    if (ranks_.empty()) {
      return fail(ErrorKind::kUsage, "usage",
                  "plan needs the number of ranks, as in --ranks 8, or the meshes to try, as in "
                  "--mesh dp=4,tp=2");
    }
    const std::string range = ranks_ == "auto" ? fmt::format("1..{}", kMostRanks) : ranks_;
    const size_t dots = range.find("..");
    const auto first = number_from<int64_t>(range.substr(0, dots));
    const auto last =
        dots == std::string::npos ? first : number_from<int64_t>(range.substr(dots + 2));
    if (!first || !last || *first < 1 || *last < *first || *last > Mesh::kMaxPositions) {
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("--ranks takes a number from 1 to {}, a range as in 8..64, or auto, "
                              "not \"{}\"",
                              Mesh::kMaxPositions, ranks_));
    }
    std::vector<int64_t> out;
    for (int64_t ranks = *first; ranks <= *last; ranks *= 2) out.push_back(ranks);
    return out;
  }

  void print(Terminal& terminal, const std::string& function, const Machine& machine,
             const std::vector<api::PlansForRanks>& tried, bool searched) const {
    if (searched) print_tried(terminal, function, machine, tried);
    const auto& [ranks, plans] = tried.back();
    terminal.print(fmt::format("@{} on {} of {}, {} candidates\n", function, counted_ranks(ranks),
                               machine.name, plans.candidates));
    if (plans.layers > 1) {
      terminal.print(
          fmt::format("{} equal layers are cut alike; a cut names the first one's "
                      "parameter. `~`: predicted from fewer layers\n",
                      plans.layers));
    }
    print_excluded(terminal, plans);
    print_meshes(terminal, plans);
    print_table(terminal, plans);
    print_best(terminal, plans);
  }

  // The best plan of each number of ranks.
  void print_tried(Terminal& terminal, const std::string& function, const Machine& machine,
                   const std::vector<api::PlansForRanks>& tried) const {
    std::vector<std::vector<std::string>> rows = {{"ranks", "time", "peak memory", "mesh", "cuts"}};
    for (const api::PlansForRanks& each : tried) {
      const api::Plan& plan = each.best();
      rows.push_back({std::to_string(each.ranks), predicted_text(plan), memory_text(plan),
                      api::axes_text(plan.axes), cuts_text(plan)});
    }
    terminal.print(aligned(rows));
    const auto& last = tried.back();
    terminal.print(last.best().fits
                       ? fmt::format("@{} fits on {} of {}\n\n", function,
                                     counted_ranks(last.ranks), machine.name)
                       : fmt::format("@{} does not fit on {} of {}, nor on fewer\n\n", function,
                                     counted_ranks(last.ranks), machine.name));
  }

  void print_excluded(Terminal& terminal, const api::Plans& plans) const {
    size_t excluded = 0;
    int64_t least = INT64_MAX;
    for (const api::Plan& plan : plans.found) {
      if (plan.fits) continue;
      ++excluded;
      least = std::min(least, plan.peak_bytes);
    }
    if (excluded == 0) return;
    terminal.print(
        fmt::format("{} of {} different plans are excluded: a rank has {}, and they "
                    "need at least {} more\n",
                    excluded, plans.found.size(), bytes_text(memory_bytes_),
                    bytes_text(least - memory_bytes_)));
  }

  std::string memory_text(const api::Plan& plan) const {
    const std::string peak = bytes_text(plan.peak_bytes);
    if (plan.fits) return peak;
    return fmt::format("{} ({} too much)", peak, bytes_text(plan.peak_bytes - memory_bytes_));
  }

  // The best plan on each mesh that was tried.
  void print_meshes(Terminal& terminal, const api::Plans& plans) const {
    if (plans.meshes.size() < 2) return;
    const std::vector<const api::Plan*> sorted = by_time(plans.found);
    std::vector<std::vector<std::string>> rows = {
        {"time", "peak memory", "communication", "mesh", "cuts"}};
    std::set<std::string> listed;
    std::map<std::vector<int64_t>, std::string> alike;  // the mesh in the table, by sizes
    for (const api::Plan* plan : sorted) {
      if (!listed.insert(api::axes_text(plan->axes)).second) continue;
      alike.try_emplace(sizes_of(plan->axes), api::axes_text(plan->axes));
      rows.push_back({predicted_text(*plan), memory_text(*plan), communication_text(*plan),
                      api::axes_text(plan->axes), cuts_text(*plan)});
    }
    for (const api::MeshAxes& axes : plans.meshes) {
      if (listed.contains(api::axes_text(axes))) continue;
      const auto other = alike.find(sizes_of(axes));
      rows.push_back(
          {"-", "-", "-", api::axes_text(axes),
           other == alike.end() ? "no plan can be lowered" : "the same plans as " + other->second});
    }
    terminal.print("the best on each mesh, by predicted time:\n" + aligned(rows) + "\n");
  }

  // Lists the fastest plans, and the best of those that the file contains. Plans that cut the same
  // dimensions over other axes at the same cost share the first one's row.
  void print_table(Terminal& terminal, const api::Plans& plans) const {
    std::vector<std::vector<std::string>> rows = {
        {"time", "peak memory", "communication", "mesh", "cuts"}};
    std::map<std::vector<std::string>, size_t> row_of;
    std::vector<size_t> alike = {0};  // by row
    constexpr size_t kNotListed = 0;
    bool written = false;
    for (const api::Plan* plan : by_time(plans.found)) {
      const bool is_best = plan == &plans.found.front();
      std::vector<std::string> row = {predicted_text(*plan), memory_text(*plan),
                                      communication_text(*plan)};
      std::vector<std::string> key = row;
      for (const api::PlanCut& cut : plan->cuts)
        key.push_back(fmt::format("{}[{}]", cut.value, cut.dim));
      std::sort(key.begin() + 3, key.end());
      const bool first_written = plan->as_written && !written;
      written = written || plan->as_written;
      const auto [at, is_new] = row_of.try_emplace(std::move(key), rows.size());
      if (!is_new && !plan->as_written && !is_best) {
        if (at->second != kNotListed) ++alike[at->second];
        continue;
      }
      if (static_cast<int64_t>(rows.size()) > top_ && !first_written && !is_best) {
        at->second = kNotListed;
        continue;
      }
      row.push_back(api::axes_text(plan->axes));
      row.push_back(cuts_text(*plan));
      rows.push_back(std::move(row));
      alike.push_back(0);
    }
    for (size_t r = 1; r < rows.size(); ++r) {
      if (alike[r] > 0) rows[r].back() += fmt::format("  (and {} over other axes)", alike[r]);
    }
    terminal.print(fmt::format("the fastest plans{}:\n{}",
                               plans.found.front().fits ? "" : ", none of which fits",
                               aligned(rows)));
    if (plans.found.front().fits && by_time(plans.found).front() != &plans.found.front()) {
      terminal.print(
          "those above the best one are at most 0.1 % faster and need more memory, or are "
          "predicted from fewer layers (`~`)\n");
    }
  }

  void print_best(Terminal& terminal, const api::Plans& plans) const {
    const api::Plan& best = plans.found.front();
    if (!best.fits) {
      terminal.print(fmt::format("\nnone fits: {}, {} needs least, {} of {}: {}\n",
                                 api::axes_text(best.axes), cuts_text(best),
                                 bytes_text(best.peak_bytes), bytes_text(memory_bytes_),
                                 parts_text(best.memory)));
      return;
    }
    terminal.print(fmt::format("\nbest: {}, {}\n", api::axes_text(best.axes), cuts_text(best)));
    std::vector<NamedLine> shardings;
    for (const auto& [name, sharding] : best.shardings)
      shardings.push_back({"%" + name, sharding.to_string() + "  " + sharding.to_pytorch()});
    print_alike(terminal, shardings);
    terminal.print(fmt::format("memory of a rank at its peak: {}\n", parts_text(best.memory)));
    terminal.print("why:\n");
    print_runner_up(terminal, plans);
    for (const api::PlanWithout& without : plans.without)
      terminal.print(fmt::format("  without {}: {}, {}\n", api::cut_text(without.cut),
                                 time_text(without.plan.time_ns), memory_text(without.plan)));
    for (const interp::CollectiveCount& c : best.collectives)
      terminal.print(fmt::format("  {} x {} over {}, {} per rank\n", c.count, c.kind, c.over,
                                 bytes_text(c.bytes)));
    std::vector<NamedLine> reshards;
    for (const ExplainRecord& record : best.explanation) {
      if (record.pass == "reshard")
        reshards.push_back({"%" + record.value, record.what + ": " + record.sentence});
    }
    print_alike(terminal, reshards);
  }

  // How the best plan's time and memory differ from those of the next one.
  void print_runner_up(Terminal& terminal, const api::Plans& plans) const {
    if (plans.found.size() < 2 || !plans.found[1].fits) return;
    const api::Plan& best = plans.found[0];
    const api::Plan& next = plans.found[1];
    const std::string named =
        fmt::format("  against the next, {}, {}: ", api::axes_text(next.axes), cuts_text(next));
    if (best.time_ns == next.time_ns && best.peak_bytes == next.peak_bytes)
      return terminal.print(named + "the same time and memory\n");
    std::string parts = "compute " + signed_time(best.times.compute_ns - next.times.compute_ns);
    std::map<std::string, int64_t> axes = best.times.collectives_ns;
    for (const auto& [over, ns] : next.times.collectives_ns) axes[over] -= ns;
    for (const auto& [over, ns] : axes) {
      if (ns != 0) parts += fmt::format(", collectives over {} {}", over, signed_time(ns));
    }
    terminal.print(fmt::format("{}{} ({}), memory {}\n", named,
                               signed_time(best.time_ns - next.time_ns), parts,
                               signed_bytes(best.peak_bytes - next.peak_bytes)));
  }

  static void print_alike(Terminal& terminal, std::span<const NamedLine> lines) {
    for (const std::string& line : collapse_layer_lines(lines)) terminal.print("  " + line + "\n");
  }

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  std::vector<std::string> fixed_;
  std::string gradient_of_;  // the fusion, with --grad
  std::string ranks_;
  std::string optimizer_ = "none";
  bool json_ = false;
  bool verbose_ = false;
  int64_t top_ = 10;
  int64_t memory_bytes_ = 0;  // of a rank
};

}  // namespace

std::unique_ptr<Verb> make_plan_verb() { return std::make_unique<PlanVerb>(); }

}  // namespace hostir::cli
