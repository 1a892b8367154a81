#include "interp/session/prepare/repeated_run.h"

#include <chrono>

#include "interp/core/state.h"
#include "interp/session/prepare/run_summary.h"

namespace hostir::interp {

struct RepeatedRun::Impl {
  const Prepared& prepared;
  BackendFactory make_backend;
  RunOptions options;
  RunSummary summary;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Interpreter> interpreter;
  State beginning;  // of the interpreter and, below, of the backend, after binding
  std::unique_ptr<BackendCheckpoint> backend_beginning;
  bool started = false;

  Impl(const Prepared& p, BackendFactory factory, RunOptions run_options)
      : prepared(p),
        make_backend(std::move(factory)),
        options(std::move(run_options)),
        summary(*p.code, nullptr) {}

  Expected<void> begin() {
    interpreter.reset();
    HOSTIR_ASSIGN_OR_RETURN(backend, make_backend(options.backend));
    backend->set_value_mode(Backend::ValueMode::kNone);
    const InterpreterOptions run = interpreter_options(options, prepared.code->rank_count);
    HOSTIR_ASSIGN_OR_RETURN(interpreter,
                            Interpreter::create(prepared.code, *backend, &summary, run));
    backend->set_times(Backend::Times::kCoarse);  // the summary only counts
    for (size_t i = 0; i < prepared.inputs.size(); ++i)
      HOSTIR_TRY(interpreter->bind(i, prepared.inputs[i].second));
    beginning = interpreter->state();
    if (backend->checkpoints() == nullptr) return {};
    HOSTIR_ASSIGN_OR_RETURN(backend_beginning, backend->checkpoints()->checkpoint());
    return {};
  }

  // The run has not written the others.
  Expected<void> bind_written_inputs() {
    const Function& entry = *prepared.code->functions.front();
    for (size_t i = 0; i < prepared.inputs.size(); ++i) {
      if (entry.params[i].inout) HOSTIR_TRY(interpreter->bind(i, prepared.inputs[i].second));
    }
    return {};
  }

  Expected<void> go_back() {
    if (backend_beginning) {
      HOSTIR_TRY(backend->checkpoints()->restore(*backend_beginning));
      interpreter->restore(beginning);
    } else if (backend->restart()) {
      interpreter->restore(beginning);
      HOSTIR_TRY(bind_written_inputs());
    } else {
      HOSTIR_TRY(begin());
    }
    interpreter->set_logging(Interpreter::Logging::kSilent);
    return {};
  }
};

RepeatedRun::RepeatedRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RepeatedRun::~RepeatedRun() = default;

Expected<std::unique_ptr<RepeatedRun>> RepeatedRun::create(const Prepared& prepared,
                                                           BackendFactory make_backend,
                                                           RunOptions options) {
  auto impl = std::make_unique<Impl>(prepared, std::move(make_backend), std::move(options));
  HOSTIR_TRY(impl->begin());
  return std::unique_ptr<RepeatedRun>(new RepeatedRun(std::move(impl)));
}

Expected<double> RepeatedRun::run() {
  if (impl_->started) HOSTIR_TRY(impl_->go_back());
  impl_->started = true;
  const auto begin = std::chrono::steady_clock::now();
  impl_->interpreter->run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const Interpreter& RepeatedRun::interpreter() const { return *impl_->interpreter; }
int64_t RepeatedRun::finished_ns() const { return impl_->summary.finished_ns(); }

}  // namespace hostir::interp
