// Checkpoints: a state can be restored exactly, at any point and any number of times.
#include "cases.h"
#include "programs.h"
#include "tests/unit/state_digest.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

std::unique_ptr<Trial> start_busy(const BackendUnderTest& backend) {
  return start(backend, kBusy, {tensor("7xf32=[1 2 3 4 5 6 7]"), tensor("2xf32=[1 3]")});
}

// Records the digest of every position on the way forward, then revisits them in other orders.
void check_history(const BackendUnderTest& backend) {
  const auto trial = start_busy(backend);
  ASSERT_NE(trial, nullptr);
  if (trial->backend->checkpoints() == nullptr) return;
  interp::HistoryOptions options;
  options.spacing_ns = 0;  // as many checkpoints as the budget allows
  options.memory_budget_bytes = 1 << 20;
  auto made = interp::History::create(*trial->interpreter, options);
  ASSERT_TRUE(made) << made.error().message();
  interp::History& history = **made;
  std::vector<uint64_t> digests = {digest_of(*trial->interpreter)};
  while (const auto rank = trial->interpreter->next_rank()) {
    ASSERT_TRUE(history.step(*rank));
    digests.push_back(digest_of(*trial->interpreter));
  }
  ASSERT_TRUE(trial->interpreter->finished()) << trial->fault();
  const uint64_t last = history.position();
  ASSERT_EQ(digests.size(), last + 1);
  const auto expect_at = [&](uint64_t k) {
    ASSERT_TRUE(history.go_to(k));
    EXPECT_EQ(digest_of(*trial->interpreter), digests[k]) << "position " << k;
  };
  for (uint64_t k = last; k > 0; --k) expect_at(k - 1);
  for (uint64_t k = 0; k <= last; ++k) expect_at((k * 37) % (last + 1));
  expect_at(last);
  EXPECT_TRUE(trial->interpreter->finished());
}

// A checkpoint changes neither through later execution nor by being restored.
void check_twice(const BackendUnderTest& backend) {
  const auto trial = start_busy(backend);
  ASSERT_NE(trial, nullptr);
  if (trial->backend->checkpoints() == nullptr) return;
  const auto parameter = trial->interpreter->buffer(0, trial->code->parameters[0]);
  ASSERT_TRUE(parameter);
  const auto read = [&] {
    auto value = trial->backend->read(0, *parameter, parameter->placement->box);
    return value ? *value : Tensor{};
  };
  const auto saved = trial->backend->checkpoints()->checkpoint();
  ASSERT_TRUE(saved);
  const Tensor before = read();
  const Tensor other = tensor("2xf32=[50 60]");
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(
        trial->backend->write(0, parameter->allocation, *parameter->placement, 0, other.data));
    EXPECT_EQ(read(), other);
    ASSERT_TRUE(trial->backend->checkpoints()->restore(**saved));
    EXPECT_EQ(read(), before);
  }
}

void check_accounting(const BackendUnderTest& backend) {
  const auto trial = start_busy(backend);
  ASSERT_NE(trial, nullptr);
  if (trial->backend->checkpoints() == nullptr) return;
  const auto saved = trial->backend->checkpoints()->checkpoint();
  ASSERT_TRUE(saved);
  EXPECT_GE((*saved)->memory_bytes(), 0);
  for (const interp::MemoryBlock& block : (*saved)->blocks()) {
    EXPECT_NE(block.id, nullptr);
    EXPECT_GE(block.bytes, 0);
  }
}

}  // namespace

void add_checkpoint_cases(CaseList& cases) {
  cases.push_back({"checkpoint_back_and_forth", check_history});
  cases.push_back({"values_restored_twice", check_twice});
  cases.push_back({"checkpoint_accounts_for_its_memory", check_accounting});
}

}  // namespace hostir::conformance
