#include <fmt/core.h>

#include "hostir/api/open/program_file.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/passes/pipeline/pipeline.h"
#include "hostir/passes/pipeline/timetable.h"
#include "hostir/text/print/printer.h"

namespace hostir::cli {

namespace {

class PipelineVerb : public Verb {
 public:
  std::string_view name() const override { return "pipeline"; }
  std::string_view summary() const override {
    return "Make a pipelined training step from one fusion per stage";
  }
  std::string_view example() const override {
    return "  hostir pipeline tests/programs/pipeline_stages.hir --stages "
           "first,middle,middle,last \\\n"
           "      --data x,target --micro-batches 8            the host program, schedule 1f1b\n"
           "  hostir pipeline ... --schedule interleaved --ranks 2    two stages on each rank\n"
           "  hostir pipeline ... --reference | hostir test -    compare with the same stages "
           "without\n"
           "                                                     a pipeline\n"
           "  hostir pipeline --table --schedule zb-h1 --ranks 4 --micro-batches 8    only the "
           "schedule\n"
           "A stage's first parameters are the results of the previous stage. --data names those "
           "that are\n"
           "given per micro-batch; they get a leading dimension. All others are weights. The last "
           "stage\n"
           "returns the loss. Loss and gradients are the means over the micro-batches.";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("file", path_, "a `.hir` file with the stages' fusions; - reads stdin",
                         Presence::kOptional);
    arguments.option("--stages", stages_, "the fusions, in order: embed,layer,layer,head");
    arguments.option("--data", data_, "parameters that are given per micro-batch: x,target");
    arguments.option("--tied", tied_,
                     "weights that several stages have, such as an embedding that is also the "
                     "output projection: their gradients are added up");
    arguments.option("--constants", constants_,
                     "integer parameters that are the same for all micro-batches");
    std::vector<std::string> names;
    for (const pipeline::ScheduleName& s : pipeline::schedule_names()) names.emplace_back(s.name);
    arguments.choice("--schedule", schedule_, std::move(names), "the order of the work");
    arguments.option("--ranks", ranks_, "ranks of the pipeline; without it, one per stage",
                     {.least = 1});
    arguments.option("--stages-per-rank", stages_per_rank_, "with --table: stages per rank",
                     {.least = 1});
    arguments.option("--micro-batches", micro_batches_, "micro-batches per batch", {.least = 1});
    arguments.choice(
        "--batch", batch_, {"mean", "sum"},
        "whether loss and gradients of the batch are the mean or the sum over its micro-batches");
    arguments.repeated("--size", sizes_, "a number for a symbolic size: B=8");
    arguments.option("--name", name_, "the name of the host function");
    arguments.flag("--reference", reference_,
                   "add the unpipelined step and a test that compares the two");
    arguments.choice("--overlap", overlap_, {"none", "collectives", "ring", "auto"},
                     "how collectives within stages overlap with kernels, as in `hostir lower`");
    arguments.flag("--table", table_, "print the schedule's timetable and bubbles instead");
  }

  int execute(Terminal& terminal) override {
    const auto done = table_ ? print_table(terminal) : make(terminal);
    return done ? 0 : terminal.report(done.error(), sources_);
  }

 private:
  static std::vector<std::string> words(const std::string& list) {
    std::vector<std::string> out;
    std::string word;
    for (const char c : list + ",") {
      if (c != ',') {
        word += c;
        continue;
      }
      if (word.starts_with('@') || word.starts_with('%')) word.erase(0, 1);
      if (!word.empty()) out.push_back(std::exchange(word, {}));
    }
    return out;
  }

  pipeline::ScheduleKind kind() const {
    for (const pipeline::ScheduleName& s : pipeline::schedule_names()) {
      if (s.name == schedule_) return s.kind;
    }
    return pipeline::ScheduleKind::kGPipe;
  }

  Expected<void> print_table(Terminal& terminal) const {
    HOSTIR_ASSIGN_OR_RETURN(
        const pipeline::Schedule schedule,
        pipeline::make_schedule(kind(), ranks_.value_or(1), stages_per_rank_, micro_batches_));
    HOSTIR_ASSIGN_OR_RETURN(const pipeline::Timetable times, pipeline::make_timetable(schedule));
    terminal.print(pipeline::draw(times));
    terminal.print(fmt::format(
        "bubbles {} of {} units on each rank, {:.1f} % of the work\n", times.idle(), times.length,
        100.0 * static_cast<double>(times.idle()) / static_cast<double>(times.busy)));
    return {};
  }

  Expected<void> make(Terminal& terminal) {
    if (path_.empty() || stages_.empty()) {
      return fail(ErrorKind::kUsage, "usage",
                  "a pipeline needs a file and its stages: hostir pipeline FILE --stages a,b; "
                  "--table needs neither");
    }
    HOSTIR_ASSIGN_OR_RETURN(const api::LoadedFile file, api::load_file(path_));
    sources_ = file.sources;
    pipeline::PipelineRequest request;
    request.name = name_;
    request.stages = words(stages_);
    request.data = words(data_);
    request.tied = words(tied_);
    request.constants = words(constants_);
    request.kind = kind();
    request.ranks = ranks_.value_or(0);
    request.micro_batches = micro_batches_;
    request.batch = batch_ == "mean" ? pipeline::Batch::kMean : pipeline::Batch::kSum;
    request.overlap = *overlap_named(overlap_);
    HOSTIR_ASSIGN_OR_RETURN(const auto sizes, api::parse_sizes(sizes_, "--size"));
    for (const auto& [size, value] : sizes) request.sizes.bind(size, value);
    HOSTIR_ASSIGN_OR_RETURN(
        const api::ChosenFunction chosen,
        api::choose_function(file, request.stages.empty() ? "" : request.stages.front()));
    HOSTIR_ASSIGN_OR_RETURN(pipeline::Pipeline made,
                            pipeline::make_pipeline(*chosen.program, request));
    if (reference_) HOSTIR_TRY(pipeline::add_reference(made, request));
    text::PrintOptions print;
    print.derived = text::DerivedComments::kNone;
    terminal.print(text::print(made.program, print));
    return {};
  }

  std::string path_;
  std::string stages_;
  std::string data_;
  std::string tied_;
  std::string constants_;
  std::string schedule_ = "1f1b";
  std::optional<int64_t> ranks_;
  int64_t stages_per_rank_ = 1;
  int64_t micro_batches_ = 4;
  std::string batch_ = "mean";
  std::vector<std::string> sizes_;
  std::string name_ = "pipeline";
  std::string overlap_ = "none";
  bool reference_ = false;
  bool table_ = false;
  SourceManager sources_;
};

}  // namespace

std::unique_ptr<Verb> make_pipeline_verb() { return std::make_unique<PipelineVerb>(); }

}  // namespace hostir::cli
