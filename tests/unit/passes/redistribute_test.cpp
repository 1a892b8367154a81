// Redistribution as movement of boxes. Every plan is executed element by element: on the tables
// recorded from PyTorch, on Shardy's cases and on random shardings.
#include "hostir/passes/redistribute/redistribute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "hostir/support/lists.h"
#include "hostir/text/parse/parser.h"

namespace hostir {
namespace {

// The contents of one mesh position: for each element of its box, a bit set of its contributions. A
// partial value has one contribution per combination of its unreduced coordinates.
struct Held {
  Box box;
  std::vector<uint64_t> parts;  // row-major over the box
};

std::vector<Extents> indices(const Box& box) {
  std::vector<Extents> out;
  if (box.empty()) return out;
  Extents at = box.lo;
  while (true) {
    out.push_back(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == box.hi[d - 1]) {
      at[d - 1] = box.lo[d - 1];
      --d;
    }
    if (d == 0) return out;
  }
}

uint64_t* find(Held& held, const Extents& at) {
  size_t index = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < held.box.lo[d] || at[d] >= held.box.hi[d]) return nullptr;
    index = index * static_cast<size_t>(held.box.hi[d] - held.box.lo[d]) +
            static_cast<size_t>(at[d] - held.box.lo[d]);
  }
  return &held.parts[index];
}

class Movement {
 public:
  Movement(const Mesh& mesh, Extents extents, const Sharding& from)
      : mesh_(mesh), extents_(std::move(extents)), now_(effective(mesh, from)) {
    contributions_ = part_count(mesh, now_.unreduced);
    for (int64_t p = 0; p < mesh.size(); ++p) {
      Held h{shard_box(mesh, now_, extents_, p), {}};
      int64_t bit = 0;
      for (const AxisRef& a : now_.unreduced) {
        bit = bit * mesh.axis_size(a) + mesh.coord(p, a);
      }
      h.parts.assign(static_cast<size_t>(h.box.volume()), uint64_t{1} << bit);
      held_.push_back(std::move(h));
    }
  }

  void apply(const RedistributeStep& step) {
    std::vector<Held> next;
    for (int64_t p = 0; p < mesh_.size(); ++p) {
      Held h{shard_box(mesh_, step.to, extents_, p), {}};
      for (const Extents& at : indices(h.box)) h.parts.push_back(value(step, p, at));
      next.push_back(std::move(h));
    }
    held_ = std::move(next);
    now_ = step.to;
  }

  // True if the parts of each buffer of `whole` in the boxes of `cut`, one after another in the
  // order of the group, are the buffer in row-major order.
  bool blocks_are_in_order(const AxisList& axes, const Sharding& whole, const Sharding& cut) const {
    for (const auto& group : groups_over(mesh_, axes)) {
      for (const int64_t p : group) {
        const Box own = shard_box(mesh_, whole, extents_, p);
        std::vector<Extents> blocks;
        for (const int64_t q : group) {
          for (Extents& at : indices(own.intersect(shard_box(mesh_, cut, extents_, q))))
            blocks.push_back(std::move(at));
        }
        if (indices(own) != blocks) return false;
      }
    }
    return true;
  }

  // Checks that a step copies blocks that are out of order and, if it gathers or scatters, nothing
  // else.
  void check_blocks(const RedistributeStep& step, const Sharding& before, const std::string& what) {
    const bool exchanges = step.kind == StepKind::kAllToAll;
    const auto check = [&](Blocks blocks, const Sharding& whole, const Sharding& cut) {
      const bool in_order = blocks_are_in_order(step.axes, whole, cut);
      const bool copied = blocks == Blocks::kCopied;
      EXPECT_TRUE(copied || in_order) << what << " via " << before.to_string();
      EXPECT_TRUE(exchanges || !copied || !in_order) << what << " via " << before.to_string();
    };
    if (exchanges || step.kind == StepKind::kReduceScatter) check(step.sent, before, step.to);
    if (exchanges || step.kind == StepKind::kAllGather) check(step.received, step.to, before);
  }

  // Checks that the contents match `to`, with each contribution exactly once.
  void expect(const Sharding& to, const std::string& what) {
    const Sharding wanted = effective(mesh_, to);
    ASSERT_EQ(now_, wanted) << what;
    const uint64_t all = (uint64_t{1} << contributions_) - 1;
    for (const auto& group : groups_over(mesh_, wanted.unreduced)) {
      Held& first = held_[static_cast<size_t>(group.front())];
      for (const Extents& at : indices(first.box)) {
        uint64_t sum = 0;
        for (const int64_t p : group) {
          const uint64_t* part = find(held_[static_cast<size_t>(p)], at);
          ASSERT_NE(part, nullptr) << what;
          ASSERT_EQ(sum & *part, 0u) << what << ": added twice";
          sum |= *part;
        }
        ASSERT_EQ(sum, all) << what;
      }
    }
  }

 private:
  std::vector<int64_t> group_of(const AxisList& axes, int64_t p) const {
    for (const auto& group : groups_over(mesh_, axes)) {
      if (contains(group, p)) return group;
    }
    return {};
  }

  uint64_t value(const RedistributeStep& step, int64_t p, const Extents& at) {
    const auto own = [&](int64_t q) { return find(held_[static_cast<size_t>(q)], at); };
    if (step.kind == StepKind::kLocal) {
      const uint64_t* part = own(p);
      const AxisList added = without(mesh_, step.to.unreduced, now_.unreduced);
      EXPECT_TRUE(part != nullptr || !added.empty()) << "a local step reads another rank's box";
      return part == nullptr || !keeps_elements(mesh_, now_, step.to, p) ? 0 : *part;
    }
    const std::vector<int64_t> group = group_of(step.axes, p);
    if (step.kind == StepKind::kPermute) {
      for (const auto& pair : step.pairs) {
        if (group[static_cast<size_t>(pair[1])] != p) continue;
        const uint64_t* part = own(group[static_cast<size_t>(pair[0])]);
        EXPECT_NE(part, nullptr) << "a permute brings another box";
        return part == nullptr ? 0 : *part;
      }
      ADD_FAILURE() << "no rank sends to position " << p;
      return 0;
    }
    uint64_t sum = 0;
    int holders = 0;
    for (const int64_t q : group) {
      const uint64_t* part = own(q);
      if (part == nullptr) continue;
      ++holders;
      if (step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter) {
        EXPECT_EQ(sum & *part, 0u) << "reduced twice";
        sum |= *part;
      } else {
        sum = *part;
      }
    }
    if (step.kind == StepKind::kAllGather || step.kind == StepKind::kAllToAll) {
      EXPECT_EQ(holders, 1) << name(step.kind) << ": an element from " << holders << " members";
    }
    return sum;
  }

  const Mesh& mesh_;
  Extents extents_;
  Sharding now_;
  int64_t contributions_ = 1;
  std::vector<Held> held_;
};

Shape shape_of_extents(const Extents& extents) { return Shape(extents.begin(), extents.end()); }

// Plans, executes, and checks that each step, planned alone, gives the same step.
void run(const Mesh& mesh, const Extents& extents, const Sharding& from, const Sharding& to,
         std::vector<std::string>& kinds) {
  const std::string what = from.to_string() + " -> " + to.to_string();
  Redistributor moves(mesh, default_machine(), 0);
  const TensorType type{DType::kF32, shape_of_extents(extents), std::nullopt};
  const std::vector<RedistributeStep> steps = moves.plan(type, from, to).steps;
  Movement movement(mesh, extents, from);
  Sharding before = effective(mesh, from);
  for (const RedistributeStep& s : steps) {
    movement.apply(s);
    if (!contains(extents, 0)) movement.check_blocks(s, before, what);  // else nothing has an order
    if (s.kind != StepKind::kLocal) {
      kinds.emplace_back(name(s.kind));
      EXPECT_GT(part_count(mesh, s.axes), 1) << what;
    }
    const auto again = single_step(mesh, type.shape, before, s.to);
    ASSERT_TRUE(again) << what << " via " << before.to_string() << " -> " << s.to.to_string();
    EXPECT_EQ(again->kind, s.kind) << what;
    before = s.to;
  }
  movement.expect(to, what);
  // Without sizes, the plan must be valid for every size.
  Shape symbolic;
  for (size_t d = 0; d < extents.size(); ++d) symbolic.push_back(IndexExpr::size("N"));
  Movement other(mesh, extents, from);
  const TensorType unknown{DType::kF32, symbolic, std::nullopt};
  for (const RedistributeStep& s : moves.plan(unknown, from, to).steps) other.apply(s);
  other.expect(to, what + " (symbolic)");
}

Mesh line(int64_t n) { return Mesh{"m", {{"x", n}}, {}, {}, {}, {}, {}}; }

Sharding placement(const std::string& p, size_t rank) {
  Sharding s = Sharding::replicated("m", rank);
  if (p == "P") s.unreduced = {{"x", 1, 0}};
  if (p[0] == 'S') s.dims[static_cast<size_t>(p[1] - '0')].axes = {{"x", 1, 0}};
  return s;
}

TEST(Redistribute, TablesRecordedFromPyTorch) {
  const std::map<std::string, std::string> names = {{"all_reduce", "all_reduce"},
                                                    {"reduce_scatter_tensor", "reduce_scatter"},
                                                    {"all_gather_into_tensor", "all_gather"},
                                                    {"shard_dim_alltoall", "all_to_all"}};
  int rows = 0;
  for (const char* file : {"redistribute_w3.csv", "redistribute_w4.csv"}) {
    std::ifstream in(std::string("tests/truth/") + file);
    std::string row;
    std::getline(in, row);
    while (std::getline(in, row)) {
      std::istringstream cells(row);
      std::string n, shape, from, to, comms;
      std::getline(cells, n, ',');
      std::getline(cells, shape, ',');
      std::getline(cells, from, ',');
      std::getline(cells, to, ',');
      std::getline(cells, comms, ',');
      Extents extents;
      std::istringstream sizes(shape);
      for (std::string size; std::getline(sizes, size, 'x');) extents.push_back(std::stoll(size));
      std::vector<std::string> expected;
      for (const auto& [theirs, ours] : names) {
        if (comms.find(theirs) != std::string::npos) expected.push_back(ours);
      }
      std::vector<std::string> kinds;
      run(line(std::stoll(n)), extents, placement(from, extents.size()),
          placement(to, extents.size()), kinds);
      EXPECT_EQ(kinds, expected) << row;
      ++rows;
    }
  }
  EXPECT_GE(rows, 54);
}

// Parses a mesh and two shardings as parts of a fusion's text.
struct TextCase {
  const char* mesh;
  const char* shape;
  const char* from;
  const char* to;
  std::vector<std::string> at_most;  // Shardy's collectives; ours must be these or fewer
};

TEST(Redistribute, ShardysCases) {
  const std::vector<TextCase> cases = {
      {"x=2, y=2", "16x8", "[{y}, {x}]", "[{y}, {}]", {"all_gather"}},
      {"x=2, y=2, z=2", "16x8", "[{x, y, z}, {}]", "[{x}, {}]", {"all_gather"}},
      {"x=2, y=8", "16x8", "[{y}, {x}]", "[{y:(1)4}, {x}]", {"all_gather"}},
      {"x=2, y=2, z=2", "16x8", "[{}, {}]", "[{x}, {y, z}]", {}},
      {"x=2, y=2, z=2", "16x8x8", "[{x}, {y}, {}]", "[{}, {y}, {x}]", {"all_to_all"}},
      {"x=2, y=2, z=2", "16x8x8", "[{x}, {}, {y, z}]", "[{x}, {y, z}, {}]", {"all_to_all"}},
      {"x=4, y=2, z=4",
       "16x8x8",
       "[{}, {y, x}, {}]",
       "[{x}, {}, {y}]",
       {"all_to_all", "all_to_all"}},
      {"x=2, y=2, z=2",
       "16x8x8",
       "[{y}, {x, z}, {}]",
       "[{}, {}, {x, y, z}]",
       {"permute", "all_to_all", "all_to_all"}},
      {"x=4, y=2, z=4",
       "16x8x8",
       "[{x}, {z, y}, {}]",
       "[{x, z:(2)2}, {}, {y}]",
       {"all_to_all", "all_to_all", "all_gather"}},
      {"x=2, y=2, z=2, w=4", "16x8", "[{}, {w:(1)2}]", "[{w}, {}]", {"all_to_all"}},
      {"x=2, y=2, z=2", "16x8", "[{z}, {y}]", "[{z}, {x}]", {"permute"}},
      {"x=2, y=2", "16x8", "[{x}, {}]", "[{}, {y}]", {"all_gather"}},
      {"x=2, y=2", "16x8", "[{x}, {y}]", "[{y}, {x}]", {"permute"}},
      {"x=4, y=2", "16x8", "[{x}, {y}]", "[{y}, {x}]", {"permute", "all_to_all"}},
      {"x=4, y=2, z=4", "16x8", "[{x, y}, {z}]", "[{y, x}, {z}]", {"permute"}},
      {"x=2, y=3", "12x12", "[{x}, {}]", "[{y}, {}]", {"permute", "all_gather"}},
      {"x=2, y=3", "12x12", "[{x}, {y}]", "[{y}, {x}]", {"all_to_all", "permute", "all_to_all"}},
      {"x=4, y=6", "12x12", "[{x}, {y:(1)2}]", "[{y}, {}]", {"permute", "all_gather"}},
      {"x=2, y=2, z=2",
       "16x8",
       "[{y, z}, {}], unreduced={x}",
       "[{}, {y}], unreduced={x}",
       {"permute", "all_to_all", "all_gather"}},
      {"x=4, y=2, z=4",
       "16x8",
       "[{z, y}, {x}]",
       "[{x, z}, {}]",
       {"permute", "all_to_all", "all_gather"}},
      {"x=2, y=2, z=2, w=16",
       "16x8",
       "[{y, w:(4)2, z, w:(1)2}, {}]",
       "[{y}, {x, w:(2)8}]",
       {"permute", "all_to_all", "all_gather"}},
  };
  for (const TextCase& c : cases) {
    const std::string type = std::string("tensor<") + c.shape + "xf32> <@m, ";
    const auto program = text::parse_program(
        std::string("mesh @m = <") + c.mesh + ">\nfusion @f(%a: " + type + c.from +
        ">, %b: " + type + c.to + ">) -> (" + type + c.from + ">) {\n  return %a\n}\n");
    ASSERT_TRUE(program) << program.error().message();
    const Function& f = program->functions.front();
    const Extents extents = *constant_extents(shape_of(f.values[0].type));
    std::vector<std::string> kinds;
    run(program->meshes.front(), extents, *sharding_of(f.values[0].type),
        *sharding_of(f.values[1].type), kinds);
    EXPECT_LE(kinds.size(), c.at_most.size()) << c.from << " -> " << c.to;
  }
}

TEST(Redistribute, RandomShardings) {
  std::mt19937 rng(7);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const Mesh meshes[] = {Mesh{"m", {{"a", 2}, {"b", 3}}, {}, {}, {}, {}, {}},
                         Mesh{"m", {{"a", 4}, {"b", 1}, {"c", 2}}, {}, {}, {}, {}, {}},
                         Mesh{"m", {{"a", 6}, {"b", 2}}, {}, {}, {}, {}, {}}};
  for (int round = 0; round < 600; ++round) {
    const Mesh& mesh = meshes[pick(3)];
    const size_t rank = 1 + pick(3);
    Extents extents;
    for (size_t d = 0; d < rank; ++d) extents.push_back(static_cast<int64_t>(pick(8)));
    const auto random = [&] {
      Sharding s = Sharding::replicated("m", rank);
      AxisList pieces;
      for (const MeshAxis& axis : mesh.axes) {
        if (axis.size % 2 == 0 && axis.size > 2 && pick(2) == 0) {
          pieces.push_back({axis.name, 1, 2});
          pieces.push_back({axis.name, 2, axis.size / 2});
        } else {
          pieces.push_back({axis.name, 1, 0});
        }
      }
      std::shuffle(pieces.begin(), pieces.end(), rng);
      for (const AxisRef& piece : pieces) {
        const size_t where = pick(rank + 2);
        if (where < rank) s.dims[where].axes.push_back(piece);
        if (where == rank) s.unreduced.push_back(piece);
      }
      return canonical(mesh, s);
    };
    const Sharding from = random();
    const Sharding to = random();
    std::vector<std::string> kinds;
    run(mesh, extents, from, to, kinds);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hostir
