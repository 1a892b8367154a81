// Every record is complete: documentation, operands, constraints with negative scripts.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "hostir/ops/record.h"

namespace hostir {
namespace {

std::vector<OpKind> all_kinds() {
  std::vector<OpKind> kinds;
  for (size_t i = 0; i < kOpCount; ++i) kinds.push_back(static_cast<OpKind>(i));
  return kinds;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Records, DocumentationIsComplete) {
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    SCOPED_TRACE(op.mnemonic);
    EXPECT_TRUE(op.summary.ends_with('.'));
    for (const std::string_view text : {op.doc.shapes, op.doc.sharding, op.doc.dtypes, op.doc.cost,
                                        op.gradient, op.example, op.source}) {
      EXPECT_FALSE(text.empty());
    }
    EXPECT_NE(op.example.find(std::string(op.mnemonic)), std::string_view::npos);
    for (const OperandSpec& operand : op.operands)
      EXPECT_FALSE(operand.doc.empty()) << operand.name;
    for (const AttributeSpec& a : op.attributes) {
      EXPECT_FALSE(a.doc.empty()) << a.name;
      EXPECT_EQ(a.type == AttributeSpec::Type::kKeyword, !a.keywords.empty()) << a.name;
    }
  }
}

TEST(Records, MnemonicsAreUniqueAndFound) {
  std::set<std::string_view> seen;
  for (const OpKind kind : all_kinds()) {
    EXPECT_TRUE(seen.insert(record(kind).mnemonic).second);
    EXPECT_EQ(find_op(record(kind).mnemonic), kind);
  }
  EXPECT_FALSE(find_op("no_such_op"));
}

TEST(Records, ComputeOpsInferAndHaveRulesAndCosts) {
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    if (op.op_class != OpClass::kCompute) continue;
    SCOPED_TRACE(op.mnemonic);
    EXPECT_NE(op.infer, nullptr);
    EXPECT_NE(op.cost, nullptr);
    const bool composite = op.shape == OpShape::kComposite;
    const bool early = composite && op.expand_blocks == nullptr;  // before propagation
    EXPECT_EQ(op.rule == nullptr, op.shape == OpShape::kLayout || early);
    EXPECT_EQ(op.expand == nullptr, op.needs_expand == nullptr && !composite);
    EXPECT_FALSE(op.results.empty());
    EXPECT_FALSE(op.results.front().optional);
  }
}

TEST(Records, EachComputeOpHasAGradientOrTheReasonWhyNot) {
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    if (op.op_class != OpClass::kCompute || op.shape == OpShape::kLayout) continue;
    SCOPED_TRACE(op.mnemonic);
    const bool none = op.gradient.starts_with("none");
    const bool from_parts = op.shape == OpShape::kComposite;
    EXPECT_TRUE(none ? op.vjp == nullptr : op.vjp != nullptr || from_parts);
  }
}

TEST(Records, EachConstraintIsNamedAndHasItsNegativeScript) {
  const std::filesystem::path folder = "tests/scripts/negative";
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    int number = 0;
    for (const Constraint& c : op.constraints) {
      EXPECT_EQ(c.id, std::string(op.mnemonic) + "_c" + std::to_string(++number));
      EXPECT_FALSE(c.text.empty()) << c.id;
      const std::string script = content(folder / (std::string(c.id) + ".hir"));
      EXPECT_NE(script.find("expected-error"), std::string::npos)
          << c.id << " has no negative script";
    }
  }
}

TEST(Records, EachComputeOpHasAScript) {
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    if (op.op_class != OpClass::kCompute) continue;
    const std::string script =
        content(std::filesystem::path("tests/scripts/ops") / (std::string(op.mnemonic) + ".hir"));
    EXPECT_NE(script.find("expect"), std::string::npos) << op.mnemonic << " has no script";
  }
}

TEST(Records, EachCommunicationOpHasAScript) {
  std::string scripts;
  for (const auto& file : std::filesystem::directory_iterator("tests/scripts/collectives"))
    scripts += content(file.path());
  for (const OpKind kind : all_kinds()) {
    const OpRecord& op = record(kind);
    if (op.op_class != OpClass::kCommunication) continue;
    EXPECT_NE(scripts.find("  " + std::string(op.mnemonic) + " "), std::string::npos)
        << op.mnemonic << " is in no script of tests/scripts/collectives";
  }
}

}  // namespace
}  // namespace hostir
