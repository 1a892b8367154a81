// The orders of the schedules against the published tables, their bubbles against the formulas, and
// their exchanges against ranks that wait in circles.
#include "hostir/passes/pipeline/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "hostir/passes/pipeline/exchanges.h"

namespace hostir::pipeline {
namespace {

std::string line(const Schedule& s, size_t rank) {
  std::string out;
  for (const Action& a : s.order[rank]) out += (out.empty() ? "" : " ") + to_string(a);
  return out;
}

Schedule made(ScheduleKind kind, int64_t ranks, int64_t stages, int64_t micro_batches) {
  return make_schedule(kind, ranks, stages, micro_batches).value();
}

// Each schedule x 2 to 8 ranks x 1 to 16 micro-batches, and 1 or 2 stages on a rank where it can
// have several.
void for_each_schedule(const std::function<void(const Schedule&)>& check,
                       int64_t most_micro_batches = 16) {
  for (const ScheduleName& kind : schedule_names()) {
    const int64_t most = make_schedule(kind.kind, 2, 2, 1) ? 2 : 1;
    for (int64_t ranks = 2; ranks <= 8; ++ranks) {
      for (int64_t stages = 1; stages <= most; ++stages) {
        for (int64_t m = 1; m <= most_micro_batches; ++m) {
          SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(ranks) + " ranks, " +
                       std::to_string(stages) + " stages each, " + std::to_string(m) +
                       " micro-batches");
          check(made(kind.kind, ranks, stages, m));
        }
      }
    }
  }
}

// The bubbles of a rank by the published formula, for at least as many micro-batches m as ranks p:
// (p - 1) (F + B + W), and for ZB-H1 (p - 1) (F + B - W), where W is at most F and at most B.
// Fewer micro-batches add (v - 1) (p - m) (F + B + W), and (p - m) W to ZB-H1 with one stage per
// rank; with several there is no formula: nullopt.
std::optional<int64_t> published_idle(const Schedule& s, const Costs& costs) {
  const int64_t lacking = std::max<int64_t>(0, s.ranks - s.micro_batches);
  const int64_t pass = costs.forward + costs.backward_input + costs.backward_weight;
  if (s.kind == ScheduleKind::kZeroBubble) {
    if (lacking > 0 && s.stages_per_rank > 1) return std::nullopt;
    return (s.ranks - 1) * (pass - 2 * costs.backward_weight) + lacking * costs.backward_weight;
  }
  return (s.ranks - 1 + (s.stages_per_rank - 1) * lacking) * pass;
}

// Runs the steps of each rank in order; the transfers of one step progress together. A send ends at
// once if there are buffers, else when the receiver has reached it. Returns "" if all ranks end.
std::string find_stall(const std::vector<RankSteps>& steps, bool buffers) {
  const auto sends = [](const Transfer& t, size_t rank) {
    return t.from == static_cast<int64_t>(rank);
  };
  std::map<std::pair<int64_t, int64_t>, std::array<std::vector<Transfer>, 2>> connections;
  for (size_t rank = 0; rank < steps.size(); ++rank) {
    for (const RankStep& step : steps[rank]) {
      for (const Transfer& t : step.transfers) {
        connections[{t.from, t.to}][sends(t, rank) ? 0 : 1].push_back(t);
      }
    }
  }
  for (const auto& [ranks, sides] : connections) {
    const auto& [sent, received] = sides;
    if (sent.size() != received.size()) return "not received";
    const auto [s, r] = std::mismatch(sent.begin(), sent.end(), received.begin());
    if (s == sent.end()) continue;
    return "rank " + std::to_string(ranks.first) + " sends " + to_string(s->producer) +
           " where rank " + std::to_string(ranks.second) + " receives " + to_string(r->producer);
  }
  std::vector<size_t> at(steps.size());         // by rank: the step
  std::set<std::pair<Transfer, bool>> reached;  // true: by its sender
  for (bool moved = true; std::exchange(moved, false);) {
    for (size_t rank = 0; rank < steps.size(); ++rank) {
      for (; at[rank] < steps[rank].size(); ++at[rank], moved = true) {
        const auto& transfers = steps[rank][at[rank]].transfers;
        for (const Transfer& t : transfers) moved |= reached.insert({t, sends(t, rank)}).second;
        if (!std::all_of(transfers.begin(), transfers.end(), [&](const Transfer& t) {
              const bool send = sends(t, rank);
              return (send && buffers) || reached.count({t, !send}) != 0;
            })) {
          break;
        }
      }
    }
  }
  for (size_t rank = 0; rank < steps.size(); ++rank) {
    if (at[rank] != steps[rank].size()) return "rank " + std::to_string(rank) + " waits";
  }
  return "";
}

// torch.distributed.pipelining.ScheduleGPipe.
TEST(Schedule, GPipe) {
  const Schedule s = made(ScheduleKind::kGPipe, 3, 1, 4);
  EXPECT_EQ(line(s, 0), "0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3");
  EXPECT_EQ(line(s, 2), "2F0 2F1 2F2 2F3 2B0 2B1 2B2 2B3");
}

// Narayanan et al. 2021, figure 4, top: 4 devices, 8 micro-batches.
TEST(Schedule, OneForwardOneBackward) {
  const Schedule s = made(ScheduleKind::kOneForwardOneBackward, 4, 1, 8);
  EXPECT_EQ(line(s, 0), "0F0 0F1 0F2 0F3 0B0 0F4 0B1 0F5 0B2 0F6 0B3 0F7 0B4 0B5 0B6 0B7");
  EXPECT_EQ(line(s, 2), "2F0 2F1 2B0 2F2 2B1 2F3 2B2 2F4 2B3 2F5 2B4 2F6 2B5 2F7 2B6 2B7");
  EXPECT_EQ(line(s, 3), "3F0 3B0 3F1 3B1 3F2 3B2 3F3 3B3 3F4 3B4 3F5 3B5 3F6 3B6 3F7 3B7");
}

// Narayanan et al. 2021, figure 4, bottom: 4 devices with 2 stages each, 8 micro-batches.
TEST(Schedule, Interleaved) {
  const Schedule s = made(ScheduleKind::kInterleaved, 4, 2, 8);
  EXPECT_EQ(line(s, 0),
            "0F0 0F1 0F2 0F3 4F0 4F1 4F2 4F3 0F4 0F5 0F6 4B0 0F7 4B1 4F4 4B2 4F5 4B3 4F6 0B0 4F7 "
            "0B1 0B2 0B3 4B4 4B5 4B6 4B7 0B4 0B5 0B6 0B7");
  EXPECT_EQ(line(s, 3),
            "3F0 3F1 3F2 3F3 7F0 7B0 7F1 7B1 7F2 7B2 7F3 7B3 3F4 3B0 3F5 3B1 3F6 3B2 3F7 3B3 7F4 "
            "7B4 7F5 7B5 7F6 7B6 7F7 7B7 3B4 3B5 3B6 3B7");
}

// Qi et al. 2023, ZB-H1: 4 devices, 8 micro-batches.
TEST(Schedule, ZeroBubble) {
  const Schedule s = made(ScheduleKind::kZeroBubble, 4, 1, 8);
  EXPECT_EQ(line(s, 0),
            "0F0 0F1 0F2 0F3 0I0 0W0 0F4 0I1 0W1 0F5 0I2 0W2 0F6 0I3 0W3 0F7 0I4 0W4 0I5 0W5 0I6 "
            "0W6 0I7 0W7");
  EXPECT_EQ(line(s, 3),
            "3F0 3I0 3F1 3I1 3F2 3I2 3F3 3I3 3W0 3F4 3I4 3W1 3F5 3I5 3W2 3F6 3I6 3W3 3F7 3I7 3W4 "
            "3W5 3W6 3W7");
}

// PyTorch's test/distributed/pipelining/artifacts/zb1p_2rank_2stagep_compute.csv.
TEST(Schedule, InterleavedZeroBubble) {
  const Schedule s = made(ScheduleKind::kZeroBubble, 2, 2, 8);
  EXPECT_EQ(line(s, 0),
            "0F0 0F1 2F0 2F1 2I0 2W0 0F2 2I1 2W1 0F3 0I0 0W0 2F2 0I1 0W1 2F3 2I2 2W2 0F4 2I3 2W3 "
            "0F5 0I2 0W2 2F4 0I3 0W3 2F5 2I4 2W4 0F6 2I5 2W5 0F7 0I4 0W4 2F6 0I5 0W5 2F7 2I6 2W6 "
            "2I7 2W7 0I6 0W6 0I7 0W7");
  EXPECT_EQ(line(s, 1),
            "1F0 1F1 3F0 3I0 3F1 3I1 3W0 1F2 1I0 3W1 1F3 1I1 1W0 3F2 3I2 1W1 3F3 3I3 3W2 1F4 1I2 "
            "3W3 1F5 1I3 1W2 3F4 3I4 1W3 3F5 3I5 3W4 1F6 1I4 3W5 1F7 1I5 1W4 3F6 3I6 1W5 3F7 3I7 "
            "3W6 1I6 3W7 1I7 1W6 1W7");
}

TEST(Schedule, EveryActionOnce) {
  for_each_schedule([](const Schedule& s) {
    for (size_t rank = 0; rank < s.order.size(); ++rank) {
      std::vector<Action> wanted;
      for (int64_t stage = static_cast<int64_t>(rank); stage < s.stages(); stage += s.ranks) {
        for (int64_t m = 0; m < s.micro_batches; ++m) {
          wanted.push_back({Work::kForward, stage, m});
          if (s.kind == ScheduleKind::kZeroBubble) {
            wanted.push_back({Work::kBackwardInput, stage, m});
            wanted.push_back({Work::kBackwardWeight, stage, m});
          } else {
            wanted.push_back({Work::kBackward, stage, m});
          }
        }
      }
      std::vector<Action> found = s.order[rank];
      std::sort(found.begin(), found.end());
      std::sort(wanted.begin(), wanted.end());
      EXPECT_EQ(found, wanted) << "rank " << rank;
    }
  });
}

TEST(Schedule, BubblesAreThoseOfTheFormula) {
  for_each_schedule([](const Schedule& s) {
    for (const Costs& costs : {Costs{1, 1, 1}, Costs{5, 6, 4}}) {
      const auto times = make_timetable(s, costs);
      ASSERT_TRUE(times) << times.error().message();
      const auto published = published_idle(s, costs);
      // No formula covers several stages per rank with fewer micro-batches than ranks.
      const bool covered = s.micro_batches >= s.ranks || s.stages_per_rank == 1;
      ASSERT_TRUE(published || !covered);
      if (published) {
        EXPECT_EQ(times->idle(), *published);
      }
    }
  });
}

// The formulas as they are published, with as many micro-batches as ranks or more.
TEST(Schedule, PublishedFractions) {
  for_each_schedule([](const Schedule& s) {
    if (s.micro_batches < s.ranks) return;
    const Timetable t = make_timetable(s).value();
    const int64_t share = s.kind == ScheduleKind::kZeroBubble ? 3 : 1;
    // idle / busy == (p - 1) / (v m), and a third of it for ZB-H1
    EXPECT_EQ(t.idle() * share * s.stages_per_rank * s.micro_batches, (s.ranks - 1) * t.busy);
  });
}

// No rank of ZB-H1 has more activations in flight than in 1F1B.
TEST(Schedule, ZeroBubbleKeepsTheActivationsOf1F1B) {
  const auto most_in_flight = [](const std::vector<Action>& order) {
    int64_t now = 0;
    int64_t most = 0;
    for (const Action& a : order) {
      if (a.work == Work::kForward) most = std::max(most, ++now);
      if (a.work == Work::kBackward || a.work == Work::kBackwardWeight) --now;
    }
    return most;
  };
  const Schedule zero = made(ScheduleKind::kZeroBubble, 4, 1, 8);
  for (const auto& order : zero.order) EXPECT_LE(most_in_flight(order), 4);
  EXPECT_EQ(most_in_flight(made(ScheduleKind::kOneForwardOneBackward, 4, 1, 8).order[0]), 4);
  EXPECT_EQ(most_in_flight(made(ScheduleKind::kGPipe, 4, 1, 8).order[0]), 8);
}

TEST(Schedule, NothingStallsWithAnyBuffer) {
  for_each_schedule([](const Schedule& s) {
    const auto steps = plan_exchanges(s);
    ASSERT_TRUE(steps) << steps.error().message();
    EXPECT_EQ(find_stall(*steps, false), "");
    EXPECT_EQ(find_stall(*steps, true), "");
  });
}

// A backward pass before its forward pass is a deadlock of the order itself.
TEST(Schedule, WrongOrderIsFound) {
  for_each_schedule(
      [](Schedule s) {
        std::vector<Action>& last = s.order.back();
        std::swap(last[0], last[1]);
        if (last[0].work == Work::kForward)
          return;  // two forward passes: another order, not a mistake
        const auto times = make_timetable(s);
        ASSERT_FALSE(times);
        EXPECT_EQ(times.error().diagnostics.front().id, "pipeline_order");
        EXPECT_NE(times.error().message().find("is at " + to_string(last[0]) + " and lacks " +
                                               to_string(last[1])),
                  std::string::npos)
            << times.error().message();
      },
      6);
}

// Without a group, the transfers of one step run one after another. With receives first, both sides
// wait for each other.
TEST(Schedule, ReceivesBeforeSendsAreFound) {
  int found = 0;
  for_each_schedule(
      [&](const Schedule& s) {
        auto steps = plan_exchanges(s).value();
        for (size_t rank = 0; rank < steps.size(); ++rank) {
          RankSteps single;
          for (RankStep& step : steps[rank]) {
            const auto sends = [&](const Transfer& t) {
              return t.from == static_cast<int64_t>(rank);
            };
            std::stable_partition(step.transfers.begin(), step.transfers.end(), std::not_fn(sends));
            if (step.action) single.push_back(step);
            for (const Transfer& t : step.transfers) single.push_back({std::nullopt, {t}});
          }
          steps[rank] = std::move(single);
        }
        const bool both_ways = !find_stall(steps, false).empty();
        if (both_ways) {
          EXPECT_NE(find_stall(steps, true), "") << "no buffer helps who receives first";
          ++found;
        }
        // In the steady state of 1F1B, one sends on while the other sends back.
        if (s.kind == ScheduleKind::kOneForwardOneBackward && s.micro_batches > s.ranks) {
          EXPECT_TRUE(both_ways);
        }
      },
      6);
  EXPECT_GT(found, 100);
}

// A missing receive, and two receives of one connection in the wrong order.
TEST(Schedule, LostAndSwappedTransfersAreFound) {
  for_each_schedule(
      [](const Schedule& s) {
        auto steps = plan_exchanges(s).value();
        const auto is_receive = [](const RankStep& step) {
          return std::any_of(step.transfers.begin(), step.transfers.end(),
                             [](const Transfer& t) { return t.to == 1; });
        };
        auto lost = steps;
        const auto at = std::find_if(lost[1].begin(), lost[1].end(), is_receive);
        std::erase_if(at->transfers, [](const Transfer& t) { return t.to == 1; });
        EXPECT_EQ(find_stall(lost, false), "not received");

        std::vector<Transfer*> forward;
        for (RankStep& step : steps[1]) {
          for (Transfer& t : step.transfers) {
            if (t.from == 0 && t.to == 1 && t.producer.work == Work::kForward)
              forward.push_back(&t);
          }
        }
        if (forward.size() < 2) return;
        const std::string first = to_string(forward[0]->producer);
        const std::string second = to_string(forward[1]->producer);
        std::swap(*forward[0], *forward[1]);
        const std::string found = find_stall(steps, false);
        EXPECT_NE(found.find("rank 0 sends " + first + " where rank 1 receives " + second),
                  std::string::npos)
            << found;
      },
      6);
}

TEST(Schedule, Refused) {
  EXPECT_FALSE(make_schedule(ScheduleKind::kGPipe, 0, 1, 1));
  EXPECT_FALSE(make_schedule(ScheduleKind::kGPipe, 2, 1, 0));
  const auto several = make_schedule(ScheduleKind::kGPipe, 2, 2, 4);
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().message(),
            "gpipe has one stage per rank, not 2; use interleaved or zb-h1, or 4 ranks");
}

TEST(Schedule, Drawing) {
  const Timetable t = make_timetable(made(ScheduleKind::kOneForwardOneBackward, 2, 1, 2)).value();
  EXPECT_EQ(draw(t),
            "rank 0 0F0 0F1 .   .   0B0 -   .   0B1 -\n"
            "rank 1 .   1F0 1B0 -   1F1 1B1 -   .   .\n");
}

}  // namespace
}  // namespace hostir::pipeline
