// Every sharding of the operands and the result of a matrix product on a grid: the compiler's plan
// against the cheapest one, found by trying every cut of the product and every way to reshard. Runs
// a few of the 729 combinations of each grid, and all if HOSTIR_ALL_PRODUCTS is set.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "hostir/text/parser.h"
#include "tests/unit/passes/program_price.h"

namespace hostir {
namespace {

// How much more than the cheapest plan is accepted: a plan with fewer collectives may win.
constexpr double kNearly = 1.25;

constexpr int kNowhere = 2;  // places of an axis: dimension 0 or 1, else
constexpr int kSummed = 3;

struct Placing {
  int x = kNowhere;
  int y = kNowhere;
  bool y_first = false;  // both cut the same dimension, y is the major one
};

std::vector<Placing> placings(int places) {
  std::vector<Placing> out;
  for (int x = 0; x < places; ++x) {
    for (int y = 0; y < places; ++y) {
      out.push_back({x, y, false});
      if (x == y && x < kNowhere) out.push_back({x, y, true});
    }
  }
  return out;
}

Sharding sharding_of_placing(const Mesh& mesh, const Placing& p) {
  Sharding s = Sharding::replicated(mesh.name, 2);
  const auto place = [&](int where, const std::string& axis) {
    if (where < kNowhere) s.dims[static_cast<size_t>(where)].axes.push_back({axis});
    if (where == kSummed) s.unreduced.push_back({axis});
  };
  if (p.y_first) place(p.y, "y");
  place(p.x, "x");
  if (!p.y_first) place(p.y, "y");
  return s;
}

// The cost of the cheapest way from every sharding of a tensor to every other, by single steps.
class Ways {
 public:
  Ways(const Mesh& mesh, const StepCost& cost, const TensorType& type) {
    const std::vector<Placing> all = placings(4);
    for (const Placing& p : all) shardings_.push_back(sharding_of_placing(mesh, p));
    const size_t n = shardings_.size();
    ns_.assign(n, std::vector<double>(n, 1e300));
    for (size_t a = 0; a < n; ++a) {
      ns_[a][a] = 0;
      for (size_t b = 0; b < n; ++b) {
        const auto step = single_step(mesh, type.shape, shardings_[a], shardings_[b]);
        if (step) ns_[a][b] = cost.step_ns(type, shardings_[a], *step);
      }
    }
    for (size_t via = 0; via < n; ++via) {
      for (size_t a = 0; a < n; ++a) {
        for (size_t b = 0; b < n; ++b) ns_[a][b] = std::min(ns_[a][b], ns_[a][via] + ns_[via][b]);
      }
    }
  }

  double ns(const Sharding& from, const Sharding& to) const { return ns_[at(from)][at(to)]; }

 private:
  size_t at(const Sharding& s) const {
    return static_cast<size_t>(std::find(shardings_.begin(), shardings_.end(), s) -
                               shardings_.begin());
  }
  std::vector<Sharding> shardings_;
  std::vector<std::vector<double>> ns_;
};

struct Product {
  Mesh mesh;
  std::array<int64_t, 3> size = {};  // i, j, k

  std::string text(const Placing& a, const Placing& b, const Placing& c) const {
    const auto written = [&](int64_t rows, int64_t columns, const Placing& p) {
      return fmt::format("tensor<{}x{}xf32> {}", rows, columns,
                         sharding_of_placing(mesh, p).to_string());
    };
    return fmt::format(
        "mesh @m = <x={}, y={}>\nfusion @f(%a: {}, %b: {}) -> ({}) {{\n  %c = matmul %a, %b\n"
        "  return %c\n}}\n",
        mesh.axes[0].size, mesh.axes[1].size, written(size[0], size[2], a),
        written(size[2], size[1], b), written(size[0], size[1], c));
  }
};

// The cheapest cut of the product: each axis cuts i (0), j (1), nothing (2) or k (3).
class CheapestProduct {
 public:
  CheapestProduct(const Product& product, Redistributor& moves)
      : product_(product),
        moves_(moves),
        a_(product.mesh, moves.cost(), type(0, 2)),
        b_(product.mesh, moves.cost(), type(2, 1)),
        c_(product.mesh, moves.cost(), type(0, 1)) {
    for (int x = 0; x < 4; ++x) {
      for (int y = 0; y < 4; ++y) {
        cuts_.push_back({x, y, false});
        if (x == y && x != kNowhere) cuts_.push_back({x, y, true});
      }
    }
  }

  double ns(const Placing& a, const Placing& b, const Placing& c) const {
    double best = 1e300;
    for (const Placing& cut : cuts_) {
      // Where the factors are: in a, i is 0 and k is 1; in b, k is 0 and j is 1.
      const Sharding need_a = placed(cut, {0, kNowhere, kNowhere, 1});
      const Sharding need_b = placed(cut, {kNowhere, 1, kNowhere, 0});
      const Sharding made = placed(cut, {0, 1, kNowhere, kSummed});
      best = std::min(best, a_.ns(placed(a), need_a) + b_.ns(placed(b), need_b) +
                                work_ns(need_a, need_b, made) + c_.ns(made, placed(c)));
    }
    return best;
  }

 private:
  TensorType type(size_t rows, size_t columns) const {
    return {DType::kF32, {product_.size[rows], product_.size[columns]}, std::nullopt};
  }
  Sharding placed(const Placing& p, std::array<int, 4> where = {0, 1, 2, 3}) const {
    Placing q = {where[static_cast<size_t>(p.x)], where[static_cast<size_t>(p.y)], p.y_first};
    return canonical(product_.mesh, sharding_of_placing(product_.mesh, q));
  }
  double work_ns(const Sharding& a, const Sharding& b, const Sharding& c) const {
    const double in_a = largest_local_elems(product_.mesh, type(0, 2).shape, a);
    const double in_b = largest_local_elems(product_.mesh, type(2, 1).shape, b);
    const double in_c = largest_local_elems(product_.mesh, type(0, 1).shape, c);
    const Shape depth = {product_.size[2]};
    const double k = largest_local_elems(product_.mesh, depth, {a.mesh, {a.dims[1]}, {}, {}, {}});
    return moves_.cost().kernel_ns(DType::kF32, 2 * in_c * k, 4 * (in_a + in_b + in_c));
  }

  const Product& product_;
  Redistributor& moves_;
  Ways a_, b_, c_;
  std::vector<Placing> cuts_;
};

std::string dims(const Mesh& mesh, const Placing& p) {
  return sharding_of_placing(mesh, p).dims_to_string();
}

// Compares all combinations; returns those that cost too much.
std::string dear_plans(const Product& product, int every, int& count) {
  int number = 0;
  Redistributor moves(product.mesh, default_machine(),
                      4.0 * static_cast<double>(std::max({product.size[0] * product.size[1],
                                                          product.size[0] * product.size[2],
                                                          product.size[1] * product.size[2]})));
  const CheapestProduct cheapest(product, moves);
  std::string out;
  const std::vector<Placing> all = placings(3);
  for (const Placing& a : all) {
    for (const Placing& b : all) {
      for (const Placing& c : all) {
        if (a.y_first || b.y_first || c.y_first) continue;
        if (++number % every != 0) continue;
        const std::string text = product.text(a, b, c);
        const auto program = text::parse_program(text);
        if (!program) return program.error().message();
        const ProgramPrice ours = compiled_price(*program, "f");
        const double best = cheapest.ns(a, b, c);
        EXPECT_GE(ours.ns, best * 0.999) << "the search missed a plan: " << text;
        ++count;
        if (ours.ns <= best * kNearly) continue;
        out += fmt::format("{} x {} -> {}: {:.1f} us, cheapest {:.1f}: {}\n", dims(product.mesh, a),
                           dims(product.mesh, b), dims(product.mesh, c), ours.ns / 1000,
                           best / 1000, ours.collectives);
      }
    }
  }
  return out;
}

class MatmulChoice : public testing::TestWithParam<std::array<int64_t, 5>> {};

TEST_P(MatmulChoice, IsNearlyTheCheapest) {
  const auto [x, y, i, j, k] = GetParam();
  Mesh mesh;
  mesh.name = "m";
  mesh.axes = {{"x", x}, {"y", y}};
  const Product product{mesh, {i, j, k}};
  const bool all = std::getenv("HOSTIR_ALL_PRODUCTS") != nullptr;
  int count = 0;
  const std::string dear = dear_plans(product, all ? 1 : 29, count);
  EXPECT_EQ(dear, "") << std::count(dear.begin(), dear.end(), '\n') << " of " << count;
}

INSTANTIATE_TEST_SUITE_P(Grids, MatmulChoice,
                         testing::Values(std::array<int64_t, 5>{2, 2, 1024, 1024, 1024},
                                         std::array<int64_t, 5>{2, 3, 6144, 1536, 384},
                                         std::array<int64_t, 5>{2, 2, 64, 4096, 4096}));

}  // namespace
}  // namespace hostir
