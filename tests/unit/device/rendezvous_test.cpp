// Rendezvous of processes, simulated by threads with one connection each.
#include "interp/cuda/rendezvous.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

namespace hostir::cuda {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

// The launcher owns the store, so any process may start first.
struct World {
  explicit World(int count) : count_(count) {
    auto made = RendezvousStore::open(0, count);
    EXPECT_TRUE(made);
    if (made) store = std::move(*made);
  }
  ProcessPlace place(int index) const {
    return {index, count_, index, count_, "localhost", store->port(), true};
  }
  // Runs every process in its own thread.
  void run(const std::function<void(int, Rendezvous&)>& body) const {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count_; ++i) {
      threads.emplace_back([this, i, &body] {
        const auto made = Rendezvous::create(place(i), 10 * kSecond);
        ASSERT_TRUE(made) << made.error().message();
        body(i, **made);
      });
    }
  }
  int count_;
  std::unique_ptr<RendezvousStore> store;
};

TEST(Rendezvous, EverybodyGetsWhatEverybodyGave) {
  const World world(5);
  world.run([](int index, Rendezvous& self) {
    const std::string mine(static_cast<size_t>(index) * 1000, 'x');
    for (const char* topic : {"first", "second"}) {
      const auto answers = self.exchange(topic, mine + std::to_string(index), 10 * kSecond);
      ASSERT_EQ(answers.size(), 5u);
      for (size_t p = 0; p < 5; ++p) {
        ASSERT_TRUE(answers[p].text) << answers[p].why_not;
        EXPECT_EQ(*answers[p].text, std::string(p * 1000, 'x') + std::to_string(p));
      }
    }
    self.set_rank_count(7);
    EXPECT_EQ(self.ranks_of(0), (std::vector<interp::Rank>{0, 1}));
    EXPECT_EQ(self.ranks_of(4), (std::vector<interp::Rank>{6}));
  });
}

TEST(Rendezvous, OneRunAfterTheOther) {
  const World world(3);
  for (int run = 0; run < 4; ++run) {
    world.run([run](int index, Rendezvous& self) {
      const auto answers = self.exchange("results", std::to_string(run * 10 + index), 10 * kSecond);
      for (int p = 0; p < 3; ++p) {
        const auto& answer = answers[static_cast<size_t>(p)];
        ASSERT_TRUE(answer.text) << answer.why_not;
        EXPECT_EQ(*answer.text, std::to_string(run * 10 + p));
      }
    });
  }
}

TEST(Rendezvous, WhoDoesNotAnswerIsNamedWhenTheTimeIsOver) {
  const World world(3);
  world.run([](int index, Rendezvous& self) {
    if (index == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(900));
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto answers = self.exchange("verdict", "here", kSecond / 4);
    EXPECT_GE(since(begin), kSecond / 5);
    EXPECT_LT(since(begin), kSecond * 3 / 4);
    EXPECT_TRUE(answers[0].text && answers[2].text);
    EXPECT_FALSE(answers[1].text);
    EXPECT_EQ(answers[1].why_not, "did not answer in time");
  });
}

TEST(Rendezvous, WhoHasEndedIsNotWaitedFor) {
  const World world(2);
  world.run([](int index, Rendezvous& self) {
    if (index == 1) return;  // leaves in an orderly way
    const auto begin = std::chrono::steady_clock::now();
    const auto answers = self.exchange("verdict", "here", 20 * kSecond);
    EXPECT_LT(since(begin), 10 * kSecond);
    EXPECT_EQ(answers[1].why_not, "has ended");
    EXPECT_FALSE(self.lost_process());
  });
}

TEST(Rendezvous, AProcessThatNeverComesIsNamed) {
  const World world(2);
  const auto made = Rendezvous::create(world.place(0), kSecond / 4);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().diagnostics.front().id, "rendezvous");
  EXPECT_NE(made.error().message().find("process 1 never came"), std::string::npos)
      << made.error().message();
}

TEST(Rendezvous, NobodyListens) {
  int port = 0;
  {
    const auto store = RendezvousStore::open(0, 1);
    ASSERT_TRUE(store);
    port = (*store)->port();
  }
  const auto made = Rendezvous::create({1, 2, 1, 2, "localhost", port, true}, kSecond / 10);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("reached no process"), std::string::npos)
      << made.error().message();
}

TEST(Rendezvous, ProcessZeroKeepsTheStoreWhereNoLauncherDoes) {
  const auto port = [] {
    const auto store = RendezvousStore::open(0, 1);
    return store ? (*store)->port() : 0;
  }();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([i, port] {
      const auto made = Rendezvous::create({i, 2, i, 2, "localhost", port, false}, 10 * kSecond);
      ASSERT_TRUE(made) << made.error().message();
      const auto answers = (*made)->exchange("x", std::to_string(i), 10 * kSecond);
      EXPECT_EQ(answers[0].text.value_or(""), "0");
      EXPECT_EQ(answers[1].text.value_or(""), "1");
    });
  }
}

}  // namespace
}  // namespace hostir::cuda
