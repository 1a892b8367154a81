// Random products of matrices, also in batches, on grids of two axes: the compiler's plan against
// the cheapest one, found by trying every cut of the product and every way to reshard. Runs 30;
// `HOSTIR_PRODUCTS=1000` runs that many and prints a table and the plans behind it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>

#include "hostir/text/parse/parser.h"
#include "tests/unit/passes/program_price.h"

namespace hostir {
namespace {

// How much more than the cheapest plan is accepted: a plan with more parts or fewer collectives may
// win (hostir/passes/README.md).
constexpr double kNearly = 1.12;
constexpr double kNearlyPlan = 1.2;  // of one reshard
constexpr double kSame = 1.001;

constexpr uint32_t kFirstOnHosts = 1000;  // seeds from here on are on several hosts more often

constexpr int kNowhere = -1;  // places of an axis: a dimension, nothing, or unreduced
constexpr int kSummed = -2;

struct Placing {
  int x = kNowhere;
  int y = kNowhere;
  bool y_first = false;  // both cut the same dimension, y is the major one
};

std::vector<Placing> placings(int dims, int lowest) {
  std::vector<Placing> out;
  for (int x = lowest; x < dims; ++x) {
    for (int y = lowest; y < dims; ++y) {
      out.push_back({x, y, false});
      if (x == y && x >= 0) out.push_back({x, y, true});
    }
  }
  return out;
}

Sharding sharding_of_placing(const Mesh& mesh, const Placing& p, size_t dims) {
  Sharding s = Sharding::replicated(mesh.name, dims);
  const auto place = [&](int where, const std::string& axis) {
    if (where >= 0) s.dims[static_cast<size_t>(where)].axes.push_back({axis});
    if (where == kSummed) s.unreduced.push_back({axis});
  };
  if (p.y_first) place(p.y, "y");
  place(p.x, "x");
  if (!p.y_first) place(p.y, "y");
  return canonical(mesh, std::move(s));
}

struct WayPrice {
  double ns = 0;
  double bytes = 0;
};
WayPrice operator+(const WayPrice& a, const WayPrice& b) {
  return {a.ns + b.ns, a.bytes + b.bytes};
}
bool takes_less_time(const WayPrice& a, const WayPrice& b) { return a.ns < b.ns; }
bool moves_less(const WayPrice& a, const WayPrice& b) {
  return a.bytes < b.bytes || (a.bytes == b.bytes && a.ns < b.ns);
}
using Less = bool (*)(const WayPrice&, const WayPrice&);
constexpr WayPrice kNever = {1e300, 1e300};

// The best way, in one sense of best, from every sharding of a tensor to every other, by single
// steps.
class Ways {
 public:
  // `lowest`: kNowhere leaves out partial values. A gather can be written as a sum of values that
  // only one rank has. For some shapes that is cheaper than an all_gather, but nobody would
  // recognise it.
  Ways(const Mesh& mesh, const StepCost& cost, const TensorType& type, Less less, int lowest) {
    const size_t dims = type.shape.size();
    for (const Placing& p : placings(static_cast<int>(dims), lowest)) {
      shardings_.push_back(sharding_of_placing(mesh, p, dims));
    }
    const size_t n = shardings_.size();
    price_.assign(n, std::vector<WayPrice>(n, kNever));
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        const auto step = single_step(mesh, type.shape, shardings_[a], shardings_[b]);
        if (!step) continue;
        price_[a][b] = {cost.step_ns(type, shardings_[a], *step),
                        cost.step_bytes(type, shardings_[a], *step)};
      }
      price_[a][a] = {};
    }
    for (size_t via = 0; via < n; ++via) {
      for (size_t a = 0; a < n; ++a) {
        for (size_t b = 0; b < n; ++b) {
          const WayPrice detour = price_[a][via] + price_[via][b];
          if (less(detour, price_[a][b])) price_[a][b] = detour;
        }
      }
    }
  }

  const WayPrice& price(const Sharding& from, const Sharding& to) const {
    return price_[at(from)][at(to)];
  }
  const std::vector<Sharding>& shardings() const { return shardings_; }

 private:
  size_t at(const Sharding& s) const {
    return static_cast<size_t>(std::find(shardings_.begin(), shardings_.end(), s) -
                               shardings_.begin());
  }
  std::vector<Sharding> shardings_;
  std::vector<std::vector<WayPrice>> price_;
};

constexpr size_t kTensors = 3;

// c[h,i,j] = sum over k of a[h,i,k] * b[h,k,j]; without the batch h, two dimensions each.
struct Product {
  Mesh mesh;
  std::array<int64_t, 4> size = {};  // h, i, j, k; h is 0 without a batch
  std::array<Placing, kTensors> held = {};

  bool batch() const { return size[0] != 0; }
  size_t dims() const { return batch() ? 3 : 2; }
  std::vector<size_t> factors(size_t tensor) const {
    constexpr std::array<std::array<size_t, 2>, kTensors> kFactors = {{{1, 3}, {3, 2}, {1, 2}}};
    std::vector<size_t> out;
    if (batch()) out.push_back(0);
    out.insert(out.end(), kFactors[tensor].begin(), kFactors[tensor].end());
    return out;
  }
  TensorType type(size_t tensor) const {
    TensorType out{DType::kF32, {}, std::nullopt};
    for (const size_t f : factors(tensor)) out.shape.push_back(size[f]);
    return out;
  }
  Sharding sharding(size_t tensor) const { return sharding_of_placing(mesh, held[tensor], dims()); }
  bool uses(const std::string& axis) const {
    for (size_t t = 0; t < kTensors; ++t) {
      for (const AxisRef& a : dimension_axes(mesh, sharding(t))) {
        if (a.name == axis) return true;
      }
    }
    return false;
  }
  double largest_bytes() const {
    double out = 0;
    for (size_t t = 0; t < kTensors; ++t) {
      out = std::max(
          out, 4 * largest_local_elems(mesh, type(t).shape, Sharding::replicated("m", dims())));
    }
    return out;
  }
  std::string text() const {
    const auto written = [&](size_t t) {
      return shape_to_string(type(t).shape, DType::kF32) + "> " + sharding(t).to_string();
    };
    const std::string op =
        batch() ? "dot_general %a, %b {lhs_batch = [0], rhs_batch = [0], lhs_contracting = "
                  "[2], rhs_contracting = [1]}"
                : "matmul %a, %b";
    return fmt::format(
        "mesh @m = <x={}, y={}>\nfusion @f(%a: tensor<{}, %b: tensor<{}) -> (tensor<{}) {{\n"
        "  %c = {}\n  return %c\n}}\n",
        mesh.axes[0].size, mesh.axes[1].size, written(0), written(1), written(2), op);
  }
};

// The best plan, in one sense of best: each axis that cuts some tensor cuts a factor of the product
// or nothing. An axis that cuts none stays idle: to replicate over it is the user's choice.
WayPrice best_price(const Product& p, Redistributor& moves, Less less) {
  std::vector<Ways> ways;
  for (size_t t = 0; t < kTensors; ++t) {
    ways.emplace_back(p.mesh, moves.cost(), p.type(t), less, kNowhere);
  }
  const Ways partial(p.mesh, moves.cost(), p.type(2), less, kSummed);
  const auto needed = [&](const Placing& cut, size_t tensor) {
    const std::vector<size_t> factors = p.factors(tensor);
    const auto where = [&](int factor) {
      const auto at = std::find(factors.begin(), factors.end(), static_cast<size_t>(factor));
      if (factor >= 0 && at != factors.end()) return static_cast<int>(at - factors.begin());
      return factor == 3 ? kSummed : kNowhere;
    };
    return sharding_of_placing(p.mesh, {where(cut.x), where(cut.y), cut.y_first}, p.dims());
  };
  WayPrice best = kNever;
  for (const Placing& cut : placings(4, kNowhere)) {
    if (!p.batch() && (cut.x == 0 || cut.y == 0)) continue;
    if ((cut.x != kNowhere && !p.uses("x")) || (cut.y != kNowhere && !p.uses("y"))) continue;
    std::array<double, kTensors> elems = {};
    WayPrice price;
    for (size_t t = 0; t < kTensors; ++t) {
      const Sharding s = needed(cut, t);
      elems[t] = largest_local_elems(p.mesh, p.type(t).shape, s);
      const Ways& w = s.is_partial() ? partial : ways[t];
      price = price + (t < 2 ? w.price(p.sharding(t), s) : w.price(s, p.sharding(t)));
    }
    const Sharding a = needed(cut, 0);
    const double depth =
        largest_local_elems(p.mesh, {p.size[3]}, {"m", {a.dims.back()}, {}, {}, {}});
    price.ns += moves.cost().kernel_ns(DType::kF32, 2 * elems[2] * depth,
                                       4 * (elems[0] + elems[1] + elems[2]));
    if (less(price, best)) best = price;
  }
  return best;
}

Product random_product(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  constexpr std::array<int64_t, 10> kSizes = {7, 16, 30, 64, 256, 384, 1024, 1536, 4096, 8192};
  constexpr std::array<int64_t, 3> kAxes = {2, 3, 4};
  constexpr std::array<int64_t, 5> kLongAxes = {2, 3, 4, 6, 8};  // more ranks than a host has
  Product p;
  p.mesh.name = "m";
  const auto axis = [&] { return seed < kFirstOnHosts ? pick(kAxes) : pick(kLongAxes); };
  const int64_t x = axis();
  p.mesh.axes = {{"x", x}, {"y", axis()}};
  for (int64_t& n : p.size) n = pick(kSizes);
  p.size[0] = seed % 3 == 0 ? 1 + pick(kAxes) : 0;
  const std::vector<Placing> all = placings(static_cast<int>(p.dims()), kNowhere);
  for (Placing& held : p.held) held = pick(all);
  return p;
}

TEST(MatmulChoice, IsNearlyTheCheapest) {
  const char* wanted = std::getenv("HOSTIR_PRODUCTS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 30;
  std::map<std::string, int> table;
  std::string dear;
  for (int seed = 0; seed < count; ++seed) {
    const Product p = random_product(static_cast<uint32_t>(seed));
    const auto program = text::parse_program(p.text());
    ASSERT_TRUE(program) << program.error().message() << p.text();
    Redistributor moves(p.mesh, default_machine(), p.largest_bytes());
    const ProgramPrice ours = compiled_price(*program, "f");
    const WayPrice quickest = best_price(p, moves, takes_less_time);
    const WayPrice fewest = best_price(p, moves, moves_less);
    const bool splits_axes = ours.collectives.find(":(") != std::string::npos;  // ours alone does
    EXPECT_TRUE(splits_axes || ours.ns * kSame >= quickest.ns)
        << "the search missed a plan: " << p.text();
    const bool late = ours.shared_ns > quickest.ns * kNearly;
    const bool more = ours.bytes > fewest.bytes * kSame;
    const bool pays = ours.ns <= fewest.ns * kSame;
    ++table[!more  ? "the fewest bytes"
            : pays ? "more bytes, not more time than with the fewest"
                   : "more bytes and more time than with the fewest"];
    ++table[ours.ns <= quickest.ns * kSame ? "the shortest time"
            : late                         ? "more time than accepted"
                                           : "nearly the shortest time"];
    if (!late && (!more || pays)) continue;
    const std::string line = fmt::format(
        "seed {}: {:.2f} times the time, {:.2f} times the bytes ({:.1f} us, {:.0f} bytes; shortest "
        "{:.1f} us, fewest {:.0f} bytes in {:.1f} us): {}; {} {} x {} -> {}\n",
        seed, ours.ns / quickest.ns, ours.bytes / std::max(1.0, fewest.bytes), ours.ns / 1000,
        ours.bytes, quickest.ns / 1000, fewest.bytes, fewest.ns / 1000, ours.collectives,
        fmt::format("{}x{}, {}", p.mesh.axes[0].size, p.mesh.axes[1].size, fmt::join(p.size, "x")),
        p.sharding(0).dims_to_string(), p.sharding(1).dims_to_string(),
        p.sharding(2).dims_to_string());
    if (wanted != nullptr) fmt::print("{}", line);
    if (late) dear += line;
  }
  for (const auto& [what, n] : table) {
    if (wanted != nullptr) fmt::print("{}: {} of {}\n", what, n, count);
  }
  EXPECT_EQ(dear, "");
}

// Between any two shardings, the plan is nearly the best that single steps can make.
TEST(MatmulChoice, PlansAreNearlyTheCheapest) {
  const size_t every = std::getenv("HOSTIR_PRODUCTS") != nullptr ? 1 : 11;
  size_t number = 0;
  std::map<std::string, int> table;
  std::string dear;
  for (uint32_t n = 0; n < 24; ++n) {
    const uint32_t seed = n < 12 ? n : kFirstOnHosts + n;
    const Product p = random_product(seed);
    Redistributor moves(p.mesh, default_machine(), p.largest_bytes());
    const Ways ways(p.mesh, moves.cost(), p.type(0), takes_less_time, kNowhere);
    const Ways partial(p.mesh, moves.cost(), p.type(0), takes_less_time, kSummed);
    for (const Sharding& from : partial.shardings()) {
      for (const Sharding& to : partial.shardings()) {
        if (++number % every != 0) continue;
        const bool whole = !from.is_partial() && !to.is_partial();
        const double best = (whole ? ways : partial).price(from, to).ns;
        const double ours = moves.cost_ns(p.type(0), from, to);
        ++table[ours <= best * kSame ? "same" : ours <= best * kNearlyPlan ? "nearly" : "dearer"];
        if (ours <= best * kNearlyPlan) continue;
        if (ours <= best * kSame) continue;
        std::string steps;
        for (const RedistributeStep& s : moves.plan(p.type(0), from, to).steps) {
          steps += fmt::format("{} {}, ", name(s.kind), s.to.dims_to_string());
        }
        dear += fmt::format("seed {} {}x{} {}: {} to {}: {:.1f} us instead of {:.1f}: {}\n", seed,
                            p.mesh.axes[0].size, p.mesh.axes[1].size,
                            shape_to_string(p.type(0).shape, DType::kF32), from.dims_to_string(),
                            to.dims_to_string(), ours / 1000, best / 1000, steps);
      }
    }
  }
  if (every == 1) fmt::print("same {}, nearly {}\n", table["same"], table["nearly"]);
  EXPECT_EQ(dear, "") << table["dearer"];
}

}  // namespace
}  // namespace hostir
