// Deadlocks and mismatches: what the window says about them, and where.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "gui/panels/collectives/collective_glyph.h"
#include "gui/panels/waits/called.h"
#include "gui/panels/waits/wait_layout.h"
#include "hostir/ir/machine.h"
#include "hostir/ops/record.h"
#include "interp/model/builder.h"
#include "tests/unit/gui/workbench.h"
#include "traces/writer/log_builder.h"

namespace hostir::gui {
namespace {

constexpr const char* kMismatch = "tests/programs/mismatch.hir";
constexpr const char* kEight = "tests/scripts/regress/every_cause_of_a_deadlock.hir";

std::string program(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + name + ".hir";
  std::ofstream(path) << "mesh @m = <x=4>\n"
                         "kernel @ones() -> (%v: tensor<4xf32>) {\n"
                         "  %v = constant {value = 1} : tensor<4xf32>\n"
                         "  return %v\n"
                         "}\n"
                         "host @h on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n"
                         "  %c = comm over {x}\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
                         "  launch @ones wo(%y) on %s\n"
                      << body << "  return %y\n}\n";
  return path;
}

TEST(MismatchCard, FewerElementsAreNotASwap) {
  Workbench w(kMismatch, 1600, 1000, "", "@short");
  w.press("F5");
  w.only("ledger");
  EXPECT_TRUE(
      says(w.text("ledger/cause"),
           "rank 1 brings 3 elements, rank 0 brings 4 elements: %part is a subview %a[0:3]"))
      << w.text("ledger/cause");
  EXPECT_FALSE(says(w.text("ledger/cause"), "swapped"));
  EXPECT_EQ(w.text("ledger/branch/0"), "r0 true, r1 false");
  EXPECT_FALSE(w.has("ledger/order/1/1")) << "its call ended the run and does not come again";
}

TEST(MismatchCard, WhatComesNextStandsBesideWhatWasCalled) {
  Workbench w(kMismatch, 1600, 1000, "", "@crossed");
  w.press("F5");
  w.only("ledger");
  EXPECT_TRUE(says(w.text("ledger/cause"), "the order is swapped")) << w.text("ledger/cause");
  EXPECT_TRUE(says(w.text("ledger/order/0/1"), "all_reduce max f32[4]"));
  EXPECT_TRUE(says(w.text("ledger/order/1/0"), "\u25b7")) << w.text("ledger/order/1/0");
  EXPECT_TRUE(says(w.text("ledger/order/1/1"), "all_reduce sum f32[4]"));
}

TEST(MismatchCard, ACallThatOneRankLeavesOut) {
  const std::string path = program("left_out",
                                   "  for %i in 0..3 {\n"
                                   "    where coord(x) != 2 {\n"
                                   "      all_reduce max %c rw(%y) on %s\n"
                                   "    }\n"
                                   "    all_reduce sum %c rw(%y) on %s\n"
                                   "    all_reduce prod %c rw(%y) on %s\n"
                                   "  }\n");
  Workbench w(path);
  w.press("F5");
  w.only("ledger");
  EXPECT_TRUE(says(w.text("ledger/cause"), "rank 2 leaves out all_reduce max f32[4]"))
      << w.text("ledger/cause");
  EXPECT_EQ(w.text("ledger/0/2"), "called something else");
  EXPECT_NE(w.text("ledger/0/0"), "called something else") << "three of four called it";
  std::filesystem::remove(path);
}

// Other tools' files have calls, their times and groups; no host positions, streams or tensors.
TEST(Dump, CallsAreBarsAndPanelsSayWhatIsMissing) {
  model::RunBuilder builder;
  model::Communicator all;
  all.name = "0";
  all.description = "default_pg";
  all.members = std::vector<model::Rank>{0, 1};
  const model::CommunicatorId group = builder.communicator(all);
  all.name = "1";
  all.description = "tp";
  all.members = std::vector<model::Rank>{2, 3};
  const model::CommunicatorId other = builder.communicator(all);
  const auto call = [&](uint64_t sequence, model::Rank rank, std::optional<int64_t> finished_ns) {
    model::Instruction at;
    at.mnemonic = "all_reduce";
    at.frames = {{"ar", {"/home/ada/fr.py", 7}}};
    model::Member& m = builder.arrive(rank < 2 ? group : other, sequence, rank);
    m.state = finished_ns ? model::MemberState::kCompleted : model::MemberState::kScheduled;
    m.call.kind = OpKind::all_reduce;
    m.call.dtype = DType::kF32;
    m.call.shape = Extents{4};
    m.instruction = builder.instruction(at);
    m.order = sequence;
    m.times.issued_ns = static_cast<int64_t>(sequence) * 1000;
    m.times.finished_ns = finished_ns;
  };
  call(1, 0, 1900);
  call(1, 1, 1900);
  call(2, 0, std::nullopt);
  call(1, 2, std::nullopt);
  call(1, 3, std::nullopt);
  builder.run().motion = model::Motion::kStuck;
  const std::string path = testing::TempDir() + "dump_of_a_hang.db";
  ASSERT_TRUE(traces::write_log(path, std::move(builder).finish()));
  Workbench w(path);
  EXPECT_TRUE(says(w.text("timeline/pending/r0/default_pg"), "waits forever"));
  EXPECT_EQ(w.text("ranks/0/state"), "waits in all_reduce seq 2");
  EXPECT_EQ(w.text("ranks/1/state"), "unknown");
  EXPECT_EQ(w.text("ranks/2/state"), "in all_reduce");
  EXPECT_EQ(w.text("ranks/2/waits"), "all are in it");
  EXPECT_TRUE(says(w.text("banner"), "rank 0")) << w.text("banner");
  EXPECT_EQ(w.text("status"), std::string(glyph(StateKind::kMismatch)) + " stopped: deadlock")
      << "the banner tells the rest";
  w.only("layout");
  EXPECT_TRUE(says(w.text("hint/layout"), "has calls but no tensors"));
  const std::string listing(w.shot().program->sources->text(w.shot().program->file));
  EXPECT_TRUE(says(listing, "  all_reduce f32[4] on default_pg\n    // /home/ada/fr.py:7 in ar\n"))
      << listing;
  std::filesystem::remove(path);
}

TEST(Mismatch, AllPanelsSaySo) {
  Workbench w(kMismatch, 1600, 1000, "", "@crossed");
  w.perform("layout.Step");
  ASSERT_TRUE(w.click("tab/events"));
  w.press("F5");
  EXPECT_TRUE(w.has("ledger/mismatch")) << "the card comes forward";
  EXPECT_EQ(w.text("ranks/0/state"), "in a mismatch");
  EXPECT_EQ(w.text("ranks/1/state"), "in a mismatch");
  EXPECT_EQ(w.text("ledger/0/0"), "called something else");
  EXPECT_EQ(w.text("ledger/0/1"), "called something else");
  EXPECT_EQ(w.text("banner").rfind("mismatch: ", 0), 0u) << w.text("banner");
  ASSERT_TRUE(w.click("tab/events"));
  ASSERT_TRUE(w.click("waits/mismatch"));
  EXPECT_TRUE(w.has("ledger/mismatch"));
}

TEST(Mismatch, WhoCalledWhatFieldByField) {
  Workbench w(kMismatch, 1000, 700, "", "@crossed");
  w.perform("layout.Deadlock");
  w.press("F5");
  EXPECT_EQ(w.text("waits/called/0/op"), "all_reduce");
  EXPECT_EQ(w.text("waits/called/0/reduction"), "sum");
  EXPECT_EQ(w.text("waits/called/1/reduction"), "max");
  EXPECT_EQ(w.text("waits/called/0/dtype"), "f32");
  EXPECT_TRUE(says(w.text("waits/called/0/line"), "22: all_reduce sum %c"));
  EXPECT_FALSE(w.has("waits/called/0/root")) << "not a field of this op";
  ASSERT_TRUE(w.click("waits/called/1/line"));
  EXPECT_EQ(w.shot().program->lines[*w.model().selection.code], 25U);
  Workbench other(kMismatch, 1000, 700, "", "@short");
  other.perform("layout.Deadlock");
  other.press("F5");
  EXPECT_EQ(other.text("waits/called/0/shape"), "[4]");
  EXPECT_EQ(other.text("waits/called/1/shape"), "[3]");
}

// Three of four ranks have come when the mismatch is proved.
TEST(Mismatch, FieldsDifferFromTheExpectedCall) {
  const std::string path = program("expected",
                                   "  where coord(x) == 1 {\n"
                                   "    broadcast %c root(2) rw(%y) on %s\n"
                                   "  } else {\n"
                                   "    broadcast %c root(0) rw(%y) on %s\n"
                                   "  }\n");
  Workbench w(path);
  w.press("F5");
  ASSERT_TRUE(w.model().mismatch());
  const Called called = called_of(*w.model().mismatch());
  ASSERT_GE(called.rows.size(), 2U);
  EXPECT_TRUE(called.rows[0].expected);
  EXPECT_EQ(called.rows[1].ranks, std::vector<interp::Rank>{1});
  for (size_t i = 0; i < called.columns.size(); ++i) {
    EXPECT_FALSE(called.rows[0].differs[i]) << called.columns[i];
    EXPECT_EQ(called.rows[1].differs[i], called.columns[i] == "root") << called.columns[i];
  }
  std::filesystem::remove(path);
}

// The printed program has other lines than the file, which Host IR counts.
TEST(Mismatch, LinesAreThoseOfTheFile) {
  const std::string path = testing::TempDir() + "lines.hir";
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "host @h on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n"
                         "  %c = comm over {x}\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
                         "  launch @ones wo(%y) on %s\n"
                         "  where coord(x) == 0 {\n"
                         "    all_reduce sum %c rw(%y) on %s\n"
                         "  } else {\n"
                         "    all_reduce max %c rw(%y) on %s\n"
                         "  }\n"
                         "  return %y\n"
                         "}\n"
                         "kernel @ones() -> (%v: tensor<4xf32>) {\n"
                         "  %v = constant {value = 1} : tensor<4xf32>\n"
                         "  return %v\n"
                         "}\n";
  Workbench w(path);
  w.press("F5");
  w.only("waits");
  EXPECT_TRUE(says(w.text("waits/called/0/line"), "8: all_reduce sum"));
  EXPECT_TRUE(says(w.text("waits/called/1/line"), "10: all_reduce max"));
  w.only("ledger");
  EXPECT_TRUE(says(w.text("ledger/cause"), "coord(x) == 0")) << w.text("ledger/cause");
  std::filesystem::remove(path);
}

// The panels and the tooltip have the rest.
TEST(Banner, IsTwoLinesHighAtMost) {
  for (const char* file : {kMismatch, kEight}) {
    Workbench w(file, 1000, 700);
    w.press("F5");
    const WidgetRect* banner = w->app().ui().find("banner");
    ASSERT_TRUE(banner) << file;
    EXPECT_LE(banner->max.y - banner->min.y, 2 * ImGui::GetTextLineHeight() + 10) << file;
    EXPECT_EQ(banner->text, w.shot().stop.sentence)
        << "the tooltip and the clipboard need all of it";
  }
}

TEST(Deadlock, EveryCauseIsNamed) {
  Workbench w(kEight);
  w.press("F5");
  EXPECT_TRUE(says(w.text("waits/sentence"), "rank 6 never came to all_reduce"))
      << w.text("waits/sentence");
  EXPECT_TRUE(says(w.text("banner"), "in which rank 2 waits"));
  w.only("waits");
  EXPECT_EQ(w.text("waits/edge/2/6"), "all_reduce seq 1 of %d");
}

TEST(Deadlock, AReturnedRankIsMarkedWhereItsStreamIs) {
  Workbench w(kEight);
  w.press("F5");
  EXPECT_EQ(w.text("ranks/2/state"), "its stream is blocked in all_reduce seq 1");
  EXPECT_TRUE(says(w.text("host_ir/where"), "its stream main is blocked in all_reduce seq 0 of %d"))
      << w.text("host_ir/where");
  const interp::Snapshot& shot = w.shot();
  const uint32_t line = shot.program->lines[shot.rank(0).streams[0].tasks.front().code];
  EXPECT_EQ(w.text(fmt::format("host_ir/heads/{}", line)),
            "r0 stream main: all_reduce %y, waits for r4 (all_reduce seq 0 of %d)");
}

TEST(Ledger, GroupsHaveNamesAndAFrontier) {
  Workbench w(kEight);
  w.press("F5");
  w.only("ledger");
  EXPECT_TRUE(says(w.text("ledger/0"), "%d {tp=0} 0")) << w.text("ledger/0");
  EXPECT_TRUE(says(w.text("ledger/frontier"), "%d {tp=0} 0"));
  ASSERT_TRUE(w.fill("ledger/filter", "{tp=2}", ""));
  EXPECT_EQ(w.text("ledger/count"), "2");
}

TEST(Reshard, WhoHasNotArrivedIsSaid) {
  Workbench w(kEight);
  w.press("F5");
  w.only("layout");
  EXPECT_EQ(w.text("reshard/absent"), "r4 has not arrived: nothing moves.");
  Workbench other(kMismatch, 1600, 1000, "", "@crossed");
  other.press("F5");
  other.only("layout");
  EXPECT_EQ(other.text("reshard/absent"), "r1 called max: nothing moves.");
}

TEST(SmallWindow, WhatIsStuckComesForward) {
  Workbench w(kEight, 640, 400);
  w.press("F5");
  EXPECT_TRUE(w.has("waits/node/0"));
  Workbench other(kMismatch, 640, 400, "", "@crossed");
  other.press("F5");
  EXPECT_TRUE(other.has("ledger/mismatch"));
  Workbench middle(kEight, 1000, 700);
  middle.press("F5");
  ASSERT_TRUE(middle.has("waits/node/0"));
  const WidgetRect* leaf = middle->app().ui().find("leaf/waits");
  EXPECT_GT(leaf->max.y - leaf->min.y, 140);
}

// Cards and labels do not overlap in any graph.
void expect_apart(const WaitGraph& graph, bool below) {
  WaitSizes sizes;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    sizes.cards.emplace_back(100 + 7 * static_cast<float>(i), 24);
  sizes.labels.assign(graph.links.size(), ImVec2(130, 16));
  sizes.labels_below = below;
  sizes.width = 700;
  const WaitLayout layout = place_waits(graph, sizes);
  std::vector<WaitBox> boxes = layout.cards;
  for (const WaitLabel& l : layout.labels) boxes.push_back(l.box);
  for (size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_GE(boxes[i].min.x, 0);
    EXPECT_LE(boxes[i].max.x, layout.size.x + 1);
    EXPECT_LE(boxes[i].max.y, layout.size.y + 1);
    for (size_t j = i + 1; j < boxes.size(); ++j)
      EXPECT_FALSE(boxes[i].overlaps(boxes[j])) << graph.nodes.size() << ": " << i << ", " << j;
  }
  for (const auto& arrow : layout.arrows) EXPECT_GE(arrow.size(), 2u);
}

interp::RankWait wait(interp::Rank from, interp::Rank to, uint64_t sequence) {
  interp::RankWait e;
  e.from = from;
  e.to = to;
  e.on = fmt::format("all_reduce seq {}", sequence);
  e.comm = 0;
  e.comm_text = "%c";
  e.sequence = sequence;
  return e;
}

TEST(WaitLayout, NothingOverlaps) {
  for (const interp::Rank n : {2, 3, 4, 7, 8, 12}) {
    interp::WaitsSnapshot star, ring, chain, pairs;
    for (interp::Rank r = 0; r < n; ++r) {
      if (r > 0) star.edges.push_back(wait(r, 0, static_cast<uint64_t>(r % 3)));
      if (r + 1 < n) chain.edges.push_back(wait(r, r + 1, 0));
      ring.edges.push_back(wait(r, (r + 1) % n, 1));
      ring.cycle.push_back(r);
      if (r < n / 2) pairs.edges.push_back(wait(r, r + n / 2, 2));
    }
    for (const auto* waits : {&star, &ring, &chain, &pairs}) {
      for (const bool below : {false, true}) expect_apart(make_wait_graph(*waits, 12), below);
    }
  }
}

// Five ranks that wait for a cycle of three share a node, so that the arrows can be told apart.
TEST(WaitGraph, AThicketOfArrowsIsGrouped) {
  interp::WaitsSnapshot waits;
  for (interp::Rank r = 0; r < 3; ++r) waits.edges.push_back(wait(r, (r + 1) % 3, 0));
  for (interp::Rank r = 3; r < 8; ++r) {
    for (interp::Rank to = 0; to < 3; ++to) waits.edges.push_back(wait(r, to, 1));
  }
  waits.cycle = {0, 1, 2};
  const WaitGraph graph = make_wait_graph(waits, 12);
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.links.size(), 6u);
}

// Half of a thousand ranks wait for the other half: 262,144 edges, two nodes.
TEST(WaitGraph, ManyEdgesAreTwoNodes) {
  interp::WaitsSnapshot waits;
  for (interp::Rank r = 0; r < 512; ++r) {
    for (interp::Rank to = 512; to < 1024; ++to) waits.edges.push_back(wait(r, to, 0));
  }
  for (interp::Rank r = 512; r < 1024; ++r) waits.culprits.push_back(r);
  for (interp::Rank r = 0; r < 512; ++r) waits.cycle.push_back(r);
  const WaitGraph graph = make_wait_graph(waits, 12);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].edges, 512u);
  EXPECT_EQ(graph.nodes[0].told.size(), kMaxTold);
  EXPECT_TRUE(graph.nodes[1].culprit);
  EXPECT_EQ(graph.nodes[1].edges, 0u);
  EXPECT_EQ(graph.links.size(), 1u);
}

TEST(WaitPicture, IsLaidOutOncePerState) {
  Workbench w(kEight);
  w.press("F5");
  w.only("waits");
  const std::string laid_out = w.text("waits/picture");
  ASSERT_FALSE(laid_out.empty());
  for (int i = 0; i < 5; ++i) w->step();
  EXPECT_EQ(w.text("waits/picture"), laid_out);
}

// Two groups of eight ranks: in the first no rank calls anything; in the second rank 11 makes a
// different call.
class SecondGroup : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << R"(mesh @m = <dp=2, tp=8>
kernel @ones() -> (%v: tensor<4xf32>) {
  %v = constant {value = 1} : tensor<4xf32>
  return %v
}
host @h on @m () -> (%y: shard<4xf32, @m, [{}]>) {
  %c = comm over {tp}
  %s = stream "main"
  %y = alloc on %s : shard<4xf32, @m, [{}]>
  launch @ones wo(%y) on %s
  where coord(dp) == 1 {
    where coord(tp) == 3 {
      all_reduce max %c rw(%y) on %s
    } else {
      all_reduce sum %c rw(%y) on %s
    }
  }
  return %y
}
)";
  }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "second_group.hir";
};

TEST_F(SecondGroup, TheOddRankComesFirst) {
  Workbench w(path_);
  w.press("F5");
  ASSERT_EQ(w.model().mismatch_ranks().front(), 11);
  EXPECT_EQ(w.text("banner/focus"), "Go to rank 11");
  w.only("waits");
  EXPECT_TRUE(w.has("waits/go/11")) << "chips are counted, not filtered by number";
  EXPECT_TRUE(w.has("waits/go/8"));
  ASSERT_TRUE(w.click("waits/go/11"));
  EXPECT_EQ(w.shot().focus, 11);
}

TEST_F(SecondGroup, RanksAreNamedAsElsewhere) {
  Workbench w(path_);
  w.press("F5");
  w.only("ledger");
  EXPECT_FALSE(says(w.text("ledger/cause"), ", ...)")) << w.text("ledger/cause");
}

TEST_F(SecondGroup, TheMeetingOfTheMismatchIsShown) {
  Workbench w(path_);
  w.press("F5");
  w.only("layout");
  EXPECT_TRUE(says(w.text("reshard/sentence"), "group 2 of 2")) << w.text("reshard/sentence");
  EXPECT_TRUE(says(w.text("reshard/absent"), "nothing moves")) << w.text("reshard/absent");
}

// A communication op without an entry would have neither hue nor glyph in any panel.
TEST(CollectiveGlyph, EveryCommunicationOpHasOne) {
  for (const OpKind kind : kCommunicationOps) {
    const std::string_view mnemonic = record(kind).mnemonic;
    EXPECT_FALSE(collective_glyph(mnemonic).empty()) << mnemonic;
    EXPECT_NE(event_kind(mnemonic, true), EventKind::kHost) << mnemonic;
  }
}

// A waiting rank is placed to the left of the rank it waits for.
TEST(WaitLayout, CulpritsStandRight) {
  interp::WaitsSnapshot waits;
  for (interp::Rank r = 1; r < 5; ++r) waits.edges.push_back(wait(r, 0, 0));
  const WaitGraph graph = make_wait_graph(waits, 12);
  WaitSizes sizes;
  sizes.cards.assign(5, ImVec2(100, 24));
  sizes.labels.assign(4, ImVec2(100, 16));
  const WaitLayout layout = place_waits(graph, sizes);
  for (size_t i = 1; i < 5; ++i) EXPECT_LT(layout.cards[i].max.x, layout.cards[0].min.x);
}

}  // namespace
}  // namespace hostir::gui
