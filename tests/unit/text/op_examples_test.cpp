// The example in each op's record is valid text and a fixpoint of the printer.
#include <gtest/gtest.h>

#include "hostir/ops/record.h"
#include "hostir/text/parse/parser.h"

namespace hostir::text {
namespace {

TEST(OpExamples, ParseAndVerify) {
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpRecord& op = record(static_cast<OpKind>(i));
    SourceManager sources;
    const uint32_t file = sources.add(std::string(op.mnemonic), std::string(op.example) + "\n");
    const auto result = parse(sources, file);
    EXPECT_TRUE(result.diagnostics.empty()) << render(result.diagnostics, sources);
  }
}

}  // namespace
}  // namespace hostir::text
