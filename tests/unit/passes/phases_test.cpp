// Every program of the gallery, at every phase and on several rank counts: prints, reparses to an
// equal program, verifies, and has the collectives that its comment promises.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "hostir/ops/record.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/resize_mesh.h"
#include "hostir/text/parser.h"
#include "hostir/text/printer.h"
#include "hostir/text/verifier.h"

namespace hostir {
namespace {

Program load(const std::string& file) {
  std::ifstream in("tests/programs/" + file);
  std::stringstream text;
  text << in.rdbuf();
  auto program = text::parse_program(text.str());
  if (!program) {
    ADD_FAILURE() << file << ": " << program.error().message();
    return {};
  }
  return *program;
}

// Prints, reparses and compares; returns the text.
std::string fixpoint(const Program& program, const std::string& what) {
  const std::string text = text::print(program);
  auto again = text::parse_program(text);
  EXPECT_TRUE(again) << what << ": " << (again ? "" : again.error().message()) << "\n" << text;
  if (!again) return text;
  EXPECT_EQ(text::print(*again), text) << what;
  EXPECT_TRUE(*again == program) << what << " compares unequal\n" << text;
  return text;
}

std::map<std::string, int> collectives(const Function& host) {
  std::map<std::string, int> out;
  for (const Instruction& i : host.instructions) {
    const OpRecord& op = record(i.kind);
    if (op.op_class == OpClass::kCommunication) ++out[std::string(op.mnemonic)];
  }
  return out;
}

struct Case {
  std::string file;
  std::string fusion;
  std::string axis;
  std::vector<std::pair<std::string, int64_t>> sizes;
  std::map<std::string, int> comms;  // with more than one rank
};

class Gallery : public testing::TestWithParam<Case> {};

TEST(Programs, AllParseAndPrint) {
  for (const char* file : {"simple_add.hir", "tp_mlp.hir", "tp_mlp_bf16.hir", "sp_mlp.hir",
                           "sp_toy.hir", "nvfuser_mlp.hir", "matmul_rowcol.hir", "dp_gradient.hir",
                           "deadlock.hir", "mismatch.hir", "pipeline_by_hand.hir", "mesh_3d.hir"}) {
    fixpoint(load(file), file);
  }
}

TEST_P(Gallery, EveryPhaseIsText) {
  const Case& c = GetParam();
  for (const int64_t ranks : {1, 2, 3, 5, 8}) {
    Program program = load(c.file);
    if (!c.axis.empty()) {
      auto resized = resize_mesh(program, program.meshes.front().name, c.axis, ranks);
      ASSERT_TRUE(resized) << resized.error().message();
      program = *resized;
    }
    LowerOptions options;
    for (const auto& [name, size] : c.sizes) options.sizes->bind(name, size);
    options.dump = [&](LowerPhase phase, const Program& p) {
      fixpoint(p, c.file + " " + std::string(name(phase)));
    };
    const auto lowered = lower(program, c.fusion, options);
    ASSERT_TRUE(lowered) << lowered.error().message();
    const auto found = collectives(*lowered->program.find_function(lowered->function));
    const bool alone = ranks == 1 && !c.axis.empty();
    EXPECT_EQ(found, alone ? (std::map<std::string, int>{}) : c.comms)
        << c.file << " on " << ranks << "\n"
        << text::print(lowered->program);
  }
}

const std::vector<std::pair<std::string, int64_t>> kMlpSizes = {
    {"B", 2}, {"S", 7}, {"H", 8}, {"F", 32}};

INSTANTIATE_TEST_SUITE_P(
    Programs, Gallery,
    testing::Values(
        Case{"simple_add.hir", "simple_add", "", {}, {}},
        Case{"tp_mlp.hir", "mlp", "tp", kMlpSizes, {{"all_reduce", 1}}},
        Case{"tp_mlp.hir", "mlp", "tp", {}, {{"all_reduce", 1}}},
        Case{"tp_mlp_bf16.hir", "mlp", "tp", kMlpSizes, {{"all_reduce", 1}}},
        Case{"sp_mlp.hir", "mlp", "tp", kMlpSizes, {{"all_gather", 1}, {"reduce_scatter", 1}}},
        Case{"nvfuser_mlp.hir", "mlp", "tp", {{"M", 6}, {"H", 8}, {"F", 10}}, {{"all_reduce", 1}}},
        Case{"matmul_rowcol.hir", "matmul", "", {}, {{"all_gather", 1}}},
        Case{"dp_gradient.hir", "step", "dp", {{"N", 5}}, {{"all_reduce", 1}}},
        Case{"sp_toy.hir",
             "toy",
             "tp",
             {{"B", 4}, {"S", 12}},
             {{"all_gather", 1}, {"reduce_scatter", 1}}}),
    [](const auto& test) {
      std::string name = test.param.file.substr(0, test.param.file.size() - 4) +
                         (test.param.sizes.empty() ? "_symbolic" : "");
      return name;
    });

}  // namespace
}  // namespace hostir
