#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "hostir/api/plan.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/layer_lines.h"
#include "hostir/cli/verbs.h"
#include "hostir/support/text.h"

namespace hostir::cli {

namespace {

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

std::string memory_text(const api::Plan& plan) {
  return bytes_text(plan.peak_bytes) + (plan.fits ? "" : " (too much)");
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
           "  hostir plan tests/programs/tp_mlp.hir --mesh tp=8 --mesh dp=2,tp=4 --mesh dp=4,tp=2";
  }
  void declare(Arguments& arguments) override {
    declare_program(program_, arguments,
                    "a mesh to try, e.g. dp=4,tp=2; may be repeated; default: all with two axes, "
                    "or with as many as the fusion's mesh has");
    declare_gradient(program_, arguments);
    declare_inputs(program_, arguments);
    arguments.option("--machine", backend_.machine,
                     "a machine of the file or built in; see `hostir machines`");
    arguments.repeated("--fix", fixed_,
                       "a parameter or result that keeps the sharding it has in the file");
    arguments.option("--top", top_, "candidates to print", {.least = 1});
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
    HOSTIR_ASSIGN_OR_RETURN(const int64_t ranks, rank_count(meshes));
    program_.ranks.reset();
    program_.mesh.clear();
    std::string notice;
    HOSTIR_ASSIGN_OR_RETURN(const api::RunArguments found, program_.arguments(file, &notice));
    if (!notice.empty()) terminal.note(notice);
    backend_.backend = "shapes";
    HOSTIR_ASSIGN_OR_RETURN(const interp::BackendRequest backend, backend_.request(*found.program));
    const auto progress = [&terminal](size_t tried) {
      terminal.progress(fmt::format("{} candidates", tried));
    };
    std::vector<std::string> wrt = program_.wrt;
    for (std::vector<std::string>* names : {&fixed_, &wrt}) {
      for (std::string& name : *names) {
        if (name.starts_with('%')) name.erase(0, 1);
      }
    }
    HOSTIR_ASSIGN_OR_RETURN(const api::Plans plans, api::find_plans({.arguments = found,
                                                                     .backend = backend,
                                                                     .gradient_of = gradient_of_,
                                                                     .wrt = wrt,
                                                                     .ranks = ranks,
                                                                     .meshes = std::move(meshes),
                                                                     .fixed = fixed_,
                                                                     .progress = progress}));
    terminal.print(fmt::format("@{} on {} ranks of {}, {} candidates\n", found.options.function,
                               ranks, backend.machine.name, plans.candidates));
    if (plans.layers > 1) {
      terminal.print(
          fmt::format("{} equal layers are cut alike; a cut names the first one's "
                      "parameter. `~`: predicted from fewer layers\n",
                      plans.layers));
    }
    print_table(terminal, plans);
    print_best(terminal, plans);
    return {};
  }

  Expected<int64_t> rank_count(const std::vector<api::MeshAxes>& meshes) const {
    if (meshes.empty() && !program_.ranks) {
      return fail(ErrorKind::kUsage, "usage",
                  "plan needs the number of ranks, as in --ranks 8, or the meshes to try, as in "
                  "--mesh dp=4,tp=2");
    }
    if (meshes.empty()) return *program_.ranks;
    const int64_t ranks = api::rank_count(meshes.front());
    if (program_.ranks && *program_.ranks != ranks) {
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("--ranks {}, but --mesh {} has {} ranks: leave out --ranks, or give "
                              "a mesh of {}",
                              *program_.ranks, program_.mesh.front(), ranks, *program_.ranks));
    }
    return ranks;
  }

  // Lists the best plans, and the best of those that the file contains.
  void print_table(Terminal& terminal, const api::Plans& plans) const {
    std::vector<std::vector<std::string>> rows = {
        {"time", "peak memory", "communication", "mesh", "cuts"}};
    bool written = false;
    for (size_t i = 0; i < plans.found.size(); ++i) {
      const api::Plan& plan = plans.found[i];
      const bool first_written = plan.as_written && !written;
      written = written || plan.as_written;
      if (static_cast<int64_t>(i) >= top_ && !first_written) continue;
      rows.push_back({(plan.exact ? "" : "~") + time_text(plan.time_ns), memory_text(plan),
                      communication_text(plan), api::axes_text(plan.axes), cuts_text(plan)});
    }
    terminal.print(aligned(rows));
  }

  static void print_best(Terminal& terminal, const api::Plans& plans) {
    const api::Plan& best = plans.found.front();
    terminal.print(fmt::format("\nbest: {}, {}\n", api::axes_text(best.axes), cuts_text(best)));
    std::vector<NamedLine> shardings;
    for (const auto& [name, sharding] : best.shardings)
      shardings.push_back({"%" + name, sharding.to_string() + "  " + sharding.to_pytorch()});
    print_alike(terminal, shardings);
    terminal.print("why:\n");
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

  static void print_alike(Terminal& terminal, std::span<const NamedLine> lines) {
    for (const std::string& line : collapse_layer_lines(lines)) terminal.print("  " + line + "\n");
  }

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  std::vector<std::string> fixed_;
  std::string gradient_of_;  // the fusion, with --grad
  int64_t top_ = 10;
};

}  // namespace

std::unique_ptr<Verb> make_plan_verb() { return std::make_unique<PlanVerb>(); }

}  // namespace hostir::cli
