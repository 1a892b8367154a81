// Layout geometry, what a collective moves, and the Layout panel on real programs.
#include <gtest/gtest.h>

#include <fstream>

#include "gui/panels/layout/layout_geometry.h"
#include "gui/panels/layout/reshard.h"
#include "hostir/support/text.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

// A layout that owns its boxes.
struct Held {
  Mesh mesh;
  Sharding sharding;
  std::vector<Box> boxes;
  LayoutSource source;

  Held(std::vector<MeshAxis> axes, Extents global, std::vector<std::vector<std::string>> dims) {
    mesh.name = "m";
    mesh.axes = std::move(axes);
    sharding = Sharding::replicated("m", global.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      for (const std::string& axis : dims[d]) sharding.dims[d].axes.push_back({axis});
    }
    boxes = shard_boxes(mesh, sharding, global);
    source.global = std::move(global);
    source.sharding = &sharding;
    source.mesh = &mesh;
    for (const Box& box : boxes) source.boxes.push_back(&box);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

TEST(LayoutGeometry, UnevenAndEmptyPartsAreCounted) {
  const Held uneven({{"tp", 3}}, {32, 10}, {{"tp"}, {}});
  EXPECT_EQ(cut_sizes(uneven.source, 0), (std::vector<int64_t>{11, 11, 10}));
  EXPECT_TRUE(cut_sizes(uneven.source, 1).empty());
  const Held empty({{"tp", 4}}, {5}, {{"tp"}});
  EXPECT_EQ(cut_sizes(empty.source, 0), (std::vector<int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(bands_of(empty.source, 0).front().size(), 3u);
}

TEST(LayoutGeometry, NestedAxesGiveNestedBands) {
  const Held held({{"dp", 2}, {"tp", 2}}, {5, 4}, {{"dp", "tp"}, {}});
  const auto levels = bands_of(held.source, 0);
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].size(), 2u);
  EXPECT_EQ(levels[0][0].coordinate, "dp=0");
  EXPECT_EQ(levels[0][0].hi, 3);
  EXPECT_EQ(levels[1].size(), 4u);
  EXPECT_EQ(levels[1].back().coordinate, "tp=1");
}

TEST(LayoutGeometry, CutDimensionsAreShownFirst) {
  const Held held({{"dp", 2}, {"tp", 2}}, {4, 6, 3, 8}, {{"dp"}, {"tp"}, {}, {}});
  const Plane plane = best_plane(held.source.global, shards_of(held.source));
  EXPECT_EQ(plane.row_dim, 0);
  EXPECT_EQ(plane.column_dim, 1);
}

// Addends are counted along the unreduced axes; ranks along the other axes hold copies of them.
TEST(LayoutGeometry, CopiesOfAddendsAreNoAddends) {
  Held held({{"pp", 2}, {"tp", 2}}, {4, 6}, {{}, {}});
  held.sharding.unreduced.push_back({"tp"});
  const auto shards = shards_of(held.source);
  ASSERT_EQ(shards.size(), 1u);
  EXPECT_EQ(shards[0].holders.size(), 4u);
  EXPECT_EQ(shards[0].addends, (std::vector<interp::Rank>{0, 1}));
}

// Without copies, every element of the plane is in exactly one shard.
TEST(LayoutGeometry, PartsTileThePlane) {
  const Held held({{"x", 2}, {"y", 3}, {"z", 2}}, {7, 5, 4}, {{"x"}, {"y"}, {"z"}});
  const auto shards = shards_of(held.source);
  Plane plane = best_plane(held.source.global, shards);
  for (int z = 0; z < 4; ++z) {
    plane.at[2] = z;
    int64_t covered = 0;
    for (const Shard& s : shards) {
      if (const auto p = plane.part(s.box))
        covered += (p->row_hi - p->row_lo) * (p->column_hi - p->column_lo);
    }
    EXPECT_EQ(covered, plane.rows(held.source.global) * plane.columns(held.source.global));
  }
}

TEST(LayoutGeometry, AThinTensorIsStretchedAndSaysSo) {
  EXPECT_FALSE(fit(6, 8, 500, 400, 46, 60).stretched);
  const Fit thin = fit(1, 4000, 500, 400, 46, 60);
  EXPECT_TRUE(thin.stretched);
  EXPECT_LE(thin.cell_x * 4000, 500.5f);
  EXPECT_GT(thin.cell_y, 20);
}

std::vector<Reshard> moves_of(Workbench& w) {
  std::vector<Reshard> all;
  const interp::ProgramView& program = *w.shot().program;
  for (interp::CodeIndex i = 0; i < program.instructions.size(); ++i) {
    if (is_communication(program, i)) all.push_back(*reshard_of(program, i, 0));
  }
  return all;
}

// Every element of a member's result is transferred to it: once, or from all members if the
// collective reduces.
TEST(Reshard, ResultsAreCovered) {
  for (const char* file : {"tests/programs/tp_mlp.hir", "tests/programs/sp_toy.hir",
                           "tests/programs/matmul_rowcol.hir"}) {
    Workbench w(file);
    ASSERT_TRUE(w.model().snapshot()) << file;
    const auto moves = moves_of(w);
    ASSERT_FALSE(moves.empty()) << file;
    for (const Reshard& r : moves) {
      EXPECT_EQ(r.problem, "") << file << " " << r.kind;
      const auto times = r.reduces.empty() ? 1 : static_cast<int64_t>(r.members.size());
      for (size_t m = 0; m < r.members.size(); ++m) {
        int64_t given = 0;
        for (const Transfer& t : r.transfers) given += t.to == r.members[m] ? t.box.volume() : 0;
        EXPECT_EQ(given, r.after.boxes[m]->volume() * times) << file << " " << r.kind << " " << m;
      }
    }
  }
}

constexpr const char* kSendRecv = "tests/scripts/collectives/send_recv.hir";

// A send or recv is drawn between the two ranks of its pair, before either has called it.
TEST(Reshard, SendAndRecvArePairs) {
  Workbench w(kSendRecv, 1600, 1000, "", "ring");
  const auto moves = moves_of(w);
  ASSERT_EQ(moves.size(), 2u);
  for (const Reshard& r : moves) {
    EXPECT_EQ(r.problem, "");
    EXPECT_EQ(r.before.name, "x");
    EXPECT_EQ(r.after.name, "y");
    ASSERT_EQ(r.transfers.size(), 1u);
    EXPECT_EQ(r.moved_bytes, 4);
  }
  EXPECT_EQ(moves[0].sentence, "r0 sends %x to r1.");
  EXPECT_EQ(moves[1].sentence, "r3 sends %x to r0.");
}

// Only when both ranks have called is it known which of two recvs takes the buffer.
TEST(Reshard, APeerWithTwoRecvsIsNotGuessed) {
  Workbench w(kSendRecv, 1600, 1000, "", "in_order");
  const auto moves = moves_of(w);
  ASSERT_GE(moves.size(), 2u);
  EXPECT_EQ(moves[0].before.name, "a");
  EXPECT_EQ(moves[0].after.name, "");
  EXPECT_EQ(moves[0].moved_bytes, 32);
}

// A recv that waits is the partner of the send that comes next, whichever of the peer's recvs it
// is.
TEST(Reshard, APeerThatWaitsIsKnownBeforeTheSendIsIssued) {
  Workbench w("tests/programs/pipeline.hir", 1600, 1000, "", "pipeline");
  w.only("layout");
  ASSERT_TRUE(w.perform("until send"));
  EXPECT_EQ(w.text("reshard/before/title"), "before:  %s0.y.0");
  EXPECT_EQ(w.text("reshard/after/title"), "after:  %s1.x.0");
}

TEST(LayoutPanel, UnevenShardsAndAnElementOnEveryRank) {
  Workbench w("tests/programs/sp_toy.hir");
  w.only("layout");
  w.model().selection.value = "w1";
  w->step();
  EXPECT_EQ(w.text("layout/tensor/follow"), "off");
  EXPECT_NE(w.text("layout/cut/0").find("11, 11, 10"), std::string::npos) << w.text("layout/cut/0");
  ASSERT_TRUE(w.click("layout/picture"));
  ASSERT_EQ(w.model().selection.element.size(), 2u);
  EXPECT_EQ(w.text("layout/element"), index_text(w.model().selection.element));
  EXPECT_TRUE(w.has("layout/owner/1"));
}

TEST(LayoutPanel, APartialSumSaysSoAndTheCollectiveIsDrawn) {
  Workbench w("tests/programs/tp_mlp.hir");
  w.only("layout");
  ASSERT_TRUE(w.perform("until all_reduce"));
  EXPECT_EQ(w.text("layout/tensor/follow"), "on");
  EXPECT_NE(w.text("layout/partial").find("partial"), std::string::npos);
  EXPECT_NE(w.text("reshard/sentence").find("all_reduce"), std::string::npos);
  EXPECT_NE(w.text("reshard/bytes").find("B between ranks"), std::string::npos);
  ASSERT_TRUE(w.perform("continue"));
  EXPECT_FALSE(w.has("reshard/sentence"));
}

TEST(ValuesPanel, GoesToAnElementChangesItAndComparesRanks) {
  Workbench w("tests/programs/tp_mlp.hir");
  w.only("values");
  ASSERT_TRUE(w.perform("until end"));
  w.model().selection.value = "y";
  w->wait_until_idle(10);
  ASSERT_TRUE(w.fill("values/goto", "0, 1, 2"));
  EXPECT_EQ(w.model().selection.element, (std::vector<int64_t>{0, 1, 2}));
  ASSERT_TRUE(w.has("values/set"));
}

TEST(ValuesPanel, WhatNobodyWroteIsSaidNotShownAsNumbers) {
  Workbench w("tests/programs/tp_mlp.hir");
  w.only("values");
  ASSERT_TRUE(w.perform("until launch"));  // %g is allocated but not written
  w.model().selection.value = "g";
  w->wait_until_idle(10);
  EXPECT_NE(w.text("values/unwritten").find("Nothing was written"), std::string::npos)
      << w.text("values/unwritten");
  EXPECT_FALSE(w.has("values/0"));
  // One rank moves ahead: its write is issued.
  ASSERT_TRUE(w.perform("rank 0"));
  ASSERT_TRUE(w.perform("next"));
  w.model().selection.value = "g";
  w->wait_until_idle(10);
  EXPECT_NE(w.text("values/unwritten").find("in flight on r0"), std::string::npos)
      << w.text("values/unwritten");
  ASSERT_TRUE(w.perform("rank all"));
  ASSERT_TRUE(w.perform("continue"));
  w.model().selection.value = "y";
  w->wait_until_idle(10);
  EXPECT_FALSE(w.has("values/unwritten"));
  EXPECT_TRUE(w.has("values/stats"));
}

TEST(ValuesPanel, APartThatIsWrittenIsShownAndTheRestNot) {
  const std::string path = testing::TempDir() + "part.hir";
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "kernel @ones() -> (%v: tensor<4xf32> <@m, [{x}]>) {\n"
                         "  %v = constant {value = 1} : tensor<4xf32> <@m, [{x}]>\n  return %v\n}\n"
                         "host @f on @m () -> (%y: shard<4xf32, @m, [{x}]>) {\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<4xf32, @m, [{x}]>\n"
                         "  %e = launch @ones wo(%y) on %s\n"
                         "  wait %e on host\n  return %y\n}\n";
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.perform("next 2"));  // both have allocated it
  ASSERT_TRUE(w.perform("rank 0"));
  ASSERT_TRUE(w.perform("next 2"));  // one rank has written it and waited for the write
  w.only("values");
  w.model().selection.value = "y";
  w->wait_until_idle(10);
  EXPECT_EQ(w.text("values/0"), "1");
  EXPECT_EQ(w.text("values/2"), "\u00b7");
  EXPECT_NE(w.text("values/notes").find("not yet on r1"), std::string::npos)
      << w.text("values/notes");
  ASSERT_TRUE(w.perform("rank all"));
  ASSERT_TRUE(w.perform("until end"));
  w->wait_until_idle(10);
  EXPECT_EQ(w.text("values/3"), "1");
}

TEST(HistoryPanel, AnElementIsFollowedThroughTheAllReduce) {
  Workbench w("tests/programs/tp_mlp.hir");
  ASSERT_TRUE(w.perform("continue"));
  w.only("history");
  w.model().selection.value = "y_product";
  w.model().selection.element = {0, 1, 2};
  w->wait_until_idle(10);
  int addends = 0;
  for (int i = 0; i < 100 && w.has("history/" + std::to_string(i)); ++i) {
    const std::string row = w.text("history/" + std::to_string(i));
    if (row.find("addend") != 0) continue;
    ++addends;
    // The members' results are not sources of each other.
    EXPECT_EQ(row.find("all_reduce"), std::string::npos) << row;
  }
  EXPECT_EQ(addends, 4);  // two ranks hold the sum of two addends
}

TEST(Ledger, WaitingIsNotDone) {
  Workbench w("tests/programs/deadlock.hir");
  ASSERT_TRUE(w.press("F5"));
  w.only("ledger");
  EXPECT_NE(w.text("ledger/0/0").find("waits"), std::string::npos) << w.text("ledger/0/0");
  EXPECT_EQ(w.text("ledger/0/1"), "not arrived");
}

TEST(Ledger, AMismatchNamesFieldsAndACause) {
  Workbench w("tests/programs/mismatch.hir");
  ASSERT_TRUE(w.press("F5"));
  w.only("ledger");
  EXPECT_TRUE(w.has("ledger/mismatch"));
  EXPECT_NE(w.text("ledger/cause").find("the order is swapped"), std::string::npos)
      << w.text("ledger/cause");
  ASSERT_TRUE(w.click("ledger/card/1"));
  EXPECT_EQ(w.shot().focus, 1);
}

// The receivers of a permute send nothing. That is not a mismatch: the permute runs.
TEST(Moves, APermuteThatRunsIsNotHeldUp) {
  Workbench w("tests/programs/two_stages.hir");
  w.perform("layout.Step");
  for (const char* key : {"F6", "F10", "F10"}) ASSERT_TRUE(w.press(key));
  ASSERT_TRUE(w.has("reshard/sentence"));
  EXPECT_TRUE(says(w.text("reshard/sentence"), "permute")) << w.text("reshard/sentence");
  EXPECT_FALSE(w.has("reshard/absent")) << w.text("reshard/absent");
}

// Names that are too long lose their middle, not their end.
TEST(Moves, LongNamesKeepBothEnds) {
  Workbench w("tests/programs/sp_toy_train.hir");
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  const auto& program = *w.shot().program;
  for (interp::CodeIndex i = 0; i < program.instructions.size(); ++i) {
    if (program.mnemonic(i) == "reduce_scatter") w.model().selection.code = i;
  }
  w->wait_until_idle();
  const std::string title = w.text("reshard/before/title");
  EXPECT_TRUE(title.ends_with("packed") || says(title, "\u2026")) << title;
  EXPECT_TRUE(title.ends_with("ed")) << title;
}

TEST(LayoutPanel, MovesAreOfferedOnlyWhereTheyHaveRoom) {
  for (const int height : {1000, 260}) {
    Workbench w(kMlp, 1280, height);
    ASSERT_TRUE(w.press("F5"));
    ASSERT_TRUE(w.perform("break all_reduce"));
    w.model().selection.value = "y";
    w.only("layout");
    w->step();
    if (!w.has("layout/moves")) continue;
    EXPECT_EQ(w.text("layout/moves"), height == 1000 ? "on" : "no room");
  }
}

}  // namespace
}  // namespace hostir::gui
