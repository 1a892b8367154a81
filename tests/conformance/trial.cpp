#include "trial.h"

#include "hostir/ir/inline_value.h"
#include "hostir/text/parse/parser.h"

namespace hostir::conformance {

void Trial::finish() {
  EXPECT_EQ(interpreter->run(), RunEnd::kFinished) << fault();
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(backend->in_flight(), 0u);
}

std::string Trial::fault() const {
  const auto& faults = interpreter->faults();
  if (faults.empty()) return {};
  return faults.front().record.kind + ": " + faults.front().record.sentence;
}

Tensor Trial::result(Rank rank, size_t index) const {
  const auto ref = interpreter->result(rank, index);
  if (!ref) {
    ADD_FAILURE() << "rank " << rank << " has returned nothing";
    return {};
  }
  auto value = backend->read(rank, *ref, ref->placement->box);
  if (value) return std::move(*value);
  ADD_FAILURE() << value.error().message();
  return Tensor::zeros(ref->placement->dtype, ref->placement->box.extents());
}

std::unique_ptr<Trial> start(const BackendUnderTest& backend, const std::string& text,
                             const std::vector<Tensor>& inputs,
                             const interp::InterpreterOptions& options) {
  auto program = text::parse_program(text);
  if (!program) {
    ADD_FAILURE() << program.error().message() << "\n" << text;
    return nullptr;
  }
  auto code = interp::compile_code(std::make_shared<Program>(std::move(*program)), {});
  if (!code) {
    ADD_FAILURE() << code.error().message() << "\n" << text;
    return nullptr;
  }
  auto trial = std::make_unique<Trial>();
  trial->code = *code;
  trial->backend = std::make_unique<WatchedBackend>(backend.make());
  trial->backend->set_value_mode(interp::Backend::ValueMode::kNone);
  interp::InterpreterOptions with_cost = options;
  if (with_cost.issue_ns == 0) with_cost.issue_ns = 10;
  auto made =
      interp::Interpreter::create(trial->code, *trial->backend, &trial->recorder, with_cost);
  if (!made) {
    ADD_FAILURE() << made.error().message();
    return nullptr;
  }
  trial->interpreter = std::move(*made);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto bound = trial->interpreter->bind(i, inputs[i]);
    if (!bound) {
      ADD_FAILURE() << bound.error().message();
      return nullptr;
    }
  }
  return trial;
}

std::unique_ptr<Trial> run(const BackendUnderTest& backend, const std::string& text,
                           const std::vector<Tensor>& inputs) {
  auto trial = start(backend, text, inputs);
  if (trial != nullptr) trial->finish();
  return trial;
}

void expect_fault(const BackendUnderTest& backend, const std::string& text,
                  const std::vector<Tensor>& inputs, const std::string& fault,
                  const interp::InterpreterOptions& options) {
  const auto trial = start(backend, text, inputs, options);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->interpreter->run(), RunEnd::kFault);
  EXPECT_EQ(trial->fault().substr(0, fault.size()), fault);
}

Tensor tensor(const std::string& text) {
  auto value = parse_inline_value(text);
  EXPECT_TRUE(value) << text;
  return value ? std::move(*value) : Tensor{};
}

}  // namespace hostir::conformance
