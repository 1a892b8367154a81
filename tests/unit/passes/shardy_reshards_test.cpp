// Shardy's 98 reshards against ours: tests/conformance/sharding/reshards.txt has the cases,
// reshards.md the table of costs. No case may cost more than Shardy's sequence.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/text/parse/parser.h"

namespace hostir {
namespace {

constexpr const char* kCases = "tests/conformance/sharding/reshards.txt";
constexpr const char* kTable = "tests/conformance/sharding/reshards.md";
constexpr int64_t kLarge = 256;  // scales each dimension so that bytes dominate the cost

struct ShardyCase {
  std::string name;
  Program program;  // mesh @m, and @n if the target is on another one
  Shape shape;
  std::vector<Sharding> way;  // from, the shardings that Shardy passes through, to
  bool left = false;          // Shardy has no collectives for it
};

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> out;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find(by, at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + by.size();
  }
  return out;
}

std::string axes_of(const std::string& mesh) { return mesh == "none" ? "" : mesh; }

// `name | mesh | shape | from | to | through ; through`
ShardyCase read_case(const std::string& line) {
  const auto cells = split(line, " | ");
  const auto meshes = split(cells[1], " => ");
  const std::string target = meshes.size() > 1 ? "@n " : "@m ";
  ShardyCase out;
  out.name = cells[0];
  std::vector<std::string> shardings = {"@m " + cells[3]};
  const std::string through = cells.size() > 5 ? cells[5] : "";
  out.left = through == "left";
  for (const std::string& next : split(out.left ? "" : through, " ; ")) {
    shardings.push_back((next[0] == '@' ? "" : target) + next);
  }
  if (shardings.back() != target + cells[4]) shardings.push_back(target + cells[4]);
  std::string parameters;
  for (size_t i = 0; i < shardings.size(); ++i) {
    parameters += fmt::format("{}%p{}: tensor<{}xf32> <{}, {}>", i ? ", " : "", i, cells[2],
                              shardings[i].substr(0, 2), shardings[i].substr(3));
  }
  const auto program = text::parse_program(
      "mesh @m = <" + axes_of(meshes.front()) + ">\nmesh @n = <" + axes_of(meshes.back()) +
      ">\nfusion @f(" + parameters + ") -> (tensor<" + cells[2] + "xf32>) {\n  return %p0\n}\n");
  if (!program) {
    ADD_FAILURE() << line << "\n" << program.error().message();
    return out;
  }
  out.program = *program;
  for (const Value& v : program->functions.front().values) {
    out.shape = shape_of(v.type);
    const Sharding& s = *sharding_of(v.type);
    out.way.push_back(effective(*out.program.find_mesh(s.mesh), s));
  }
  return out;
}

struct Price {
  std::string collectives;
  double bytes = 0;
  double ns = 0;
};

void add(Price& price, MeshMoves& moves, const TensorType& type, const Sharding& from,
         const RedistributeStep& step) {
  price.ns += moves.step_ns(type, from, step);
  price.bytes += moves.step_bytes(type, from, step);
  if (step.kind == StepKind::kLocal || step.kind == StepKind::kRelabel) return;
  price.collectives += (price.collectives.empty() ? "" : ", ") + std::string(name(step.kind)) + " ";
  price.collectives += step.ranks.empty() ? axes_to_string(step.axes) : "between the meshes";
}

Price price_of_shardys_way(const ShardyCase& c, MeshMoves& moves, const TensorType& type) {
  Price out;
  for (size_t i = 1; i < c.way.size(); ++i) {
    if (c.way[i] == c.way[i - 1]) continue;
    const auto step =
        step_between(*c.program.find_mesh(c.way[i - 1].mesh), *c.program.find_mesh(c.way[i].mesh),
                     type.shape, c.way[i - 1], c.way[i]);
    if (!step) {
      ADD_FAILURE() << c.name << ": " << c.way[i - 1].to_string() << " -> " << c.way[i].to_string()
                    << " is not one step";
      continue;
    }
    add(out, moves, type, c.way[i - 1], *step);
  }
  return out;
}

Price price_of_ours(const ShardyCase& c, MeshMoves& moves, const TensorType& type) {
  Price out;
  Sharding at = c.way.front();
  const std::vector<RedistributeStep> steps = moves.plan(type, at, c.way.back()).steps;
  for (const RedistributeStep& step : steps) {
    add(out, moves, type, at, step);
    at = step.to;
  }
  EXPECT_EQ(at.to_string(), c.way.back().to_string()) << c.name;
  return out;
}

TensorType type_of(const ShardyCase& c, int64_t scale) {
  TensorType type{DType::kF32, {}, std::nullopt};
  for (const IndexExpr& size : c.shape) type.shape.emplace_back(size.simplified().value() * scale);
  return type;
}

std::string verdict(const Price& ours, const Price& theirs) {
  if (ours.ns > theirs.ns + 1) return "more expensive";
  return ours.ns < theirs.ns - 1 ? "cheaper" : "same";
}

TEST(ShardyReshards, NoneCostsMore) {
  std::ifstream in(kCases);
  ASSERT_TRUE(in) << kCases;
  std::string table =
      "# What Shardy's reshards cost\n\n"
      "Made by `unit_passes --gtest_filter='ShardyReshards*'`, which fails where this table is not "
      "what it makes.\nSizes of reshards.txt times 256, f32, one " +
      default_machine().name +
      "; KiB over one rank's link, and the estimated us of\nall steps. `-`: no communication.\n\n"
      "| case | ours | KiB | us | Shardy's | KiB | us | |\n|---|---|--:|--:|---|--:|--:|---|\n";
  std::map<std::string, int> count;
  int more_bytes = 0;  // of the cheaper ones
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '-') {
      ++count["not compared"];
      continue;
    }
    const ShardyCase c = read_case(line);
    if (c.way.empty()) continue;
    for (const int64_t scale : {int64_t{1}, kLarge}) {
      const TensorType type = type_of(c, scale);
      const double bytes = 4 * static_cast<double>(*element_count(*constant_extents(type.shape)));
      MeshMoves moves(c.program, default_machine(), bytes);
      const Price ours = price_of_ours(c, moves, type);
      const Price theirs = c.left ? ours : price_of_shardys_way(c, moves, type);
      const std::string is = c.left ? "Shardy leaves it" : verdict(ours, theirs);
      EXPECT_NE(is, "more expensive")
          << line << "\nours: " << ours.collectives << ", " << ours.ns
          << " ns\ntheirs: " << theirs.collectives << ", " << theirs.ns << " ns, scale " << scale;
      if (scale == 1) continue;
      ++count[is];
      const bool has_more = is == "cheaper" && ours.bytes > theirs.bytes;
      more_bytes += has_more;
      const auto cells = [](const Price& p) {
        return fmt::format("{} | {:.6g} | {:.1f}", p.collectives.empty() ? "-" : p.collectives,
                           p.bytes / 1024, p.ns / 1000);
      };
      table += fmt::format("| {} | {} | {} | {} |\n", c.name, cells(ours),
                           c.left ? "reshard | | " : cells(theirs),
                           has_more ? is + ", but more bytes" : is);
    }
  }
  table += "\n";
  for (const auto& [what, n] : count) {
    table += what == "cheaper"
                 ? fmt::format("{} cheaper in time, {} of these with more bytes. ", n, more_bytes)
                 : fmt::format("{} {}. ", n, what);
  }
  table.back() = '\n';
  std::ifstream kept_file(kTable);
  std::stringstream kept;
  kept << kept_file.rdbuf();
  if (kept.str() == table) return;
  const std::string made = testing::TempDir() + "reshards.md";
  std::ofstream(made) << table;
  ADD_FAILURE() << kTable << " is not what the test makes; the new one is " << made;
}

}  // namespace
}  // namespace hostir
